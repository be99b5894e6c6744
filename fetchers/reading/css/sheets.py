"""Style sheets to rules: splitting, conditional groups, layers, nesting, declarations.

Most rules of a page do not matter to its visibility. So a sheet is first split into texts by one
linear scan, and tinycss2 parses only the blocks that somebody asks for.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import tinycss2
from tinycss2 import ast

MAX_CSS = 2_000_000
"""Characters of all style sheets of a page that are read."""
MAX_RULES = 100_000
_MAX_NESTING = 16
_MAX_VALUE = 400  # characters of a value that is kept


MAX_STEPS = 300_000
"""Steps of work on all style sheets of a page, such as one comparison of one simple selector with
one element. A step takes about three microseconds."""


class TooMuch(Exception):
    """The style sheets are larger, or take more work, than the budget allows."""


@dataclass(slots=True)
class Budget:
    """The work that may still be done on the style sheets of one page and of the documents in it:
    characters of CSS, rules, and steps."""

    css: int = MAX_CSS
    rules: int = MAX_RULES
    steps: int = MAX_STEPS

    def spend(self, *, css: int = 0, rules: int = 0, steps: int = 0) -> None:
        """Counts work. Raises TooMuch if nothing is left."""
        self.css -= css
        self.rules -= rules
        self.steps -= steps
        if self.css < 0 or self.rules < 0 or self.steps < 0:
            raise TooMuch


class Rule(NamedTuple):
    """A style rule: `selectors` and `block` are its source texts, without comments.

    `order` numbers the rules of a page. `layer` is the rank of its cascade layer; rules outside
    layers have the highest rank. `certain` is False if the rule depends on a condition that only
    a browser can decide, such as `@container`.
    """

    selectors: str
    block: str
    order: int
    layer: int = 0
    certain: bool = True


class Declared(NamedTuple):
    """A declared value, in lower case, with single spaces."""

    value: str
    important: bool


# ---------------------------------------------------------------------------------------- splitting

_COMMENT = re.compile(r"""/\*.*?(?:\*/|\Z)|"(?>[^"\\\n]+|\\.)*"?|'(?>[^'\\\n]+|\\.)*'?""", re.S)
_BRACE = re.compile(
    r"""[{}]|"(?>[^"\\\n]+|\\.)*"?|'(?>[^'\\\n]+|\\.)*'?|\\.|\burl\(\s*[^"'\s)][^)]*\)?""",
    re.S | re.I,
)
_GROUPS = ("@media", "@supports", "@layer", "@container", "@scope", "@starting-style")
_UNLAYERED = 1_000_000


class _Open(NamedTuple):
    """A block that is open: a style rule if it has `selectors`, a group if they are None."""

    selectors: str | None
    certain: bool
    layer: int
    is_read: bool = True


_UNREAD = _Open(None, False, 0, is_read=False)


def without_comments(css: str) -> str:
    """`css` with each comment replaced by a space."""
    if "/*" not in css:
        return css
    return _COMMENT.sub(lambda found: " " if found[0].startswith("/*") else found[0], css)


_ESCAPE = re.compile(
    r"""("(?>[^"\\\n]+|\\.)*"?|'(?>[^'\\\n]+|\\.)*'?)|\\(?:([0-9a-f]{1,6})\s?|([g-z-]))""",
    re.S | re.I,
)


def with_plain_escapes(block: str) -> str:
    """`block` with the letters, digits and hyphens that it writes as escapes outside strings, so
    that a search for a property name finds it."""

    def plain(found: re.Match[str]) -> str:
        string, code, letter = found.groups()
        if string:
            return str(string)
        sign = letter or (chr(int(code, 16)) if int(code, 16) < 128 else "")
        return sign if re.fullmatch(r"[A-Za-z0-9-]", sign) else found[0]

    return _ESCAPE.sub(plain, block) if "\\" in block else block


def _places(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


_CUSTOM = re.compile(r"(--[^\s:;,(){}]{1,100})\s*:")


class Sheets:
    """The style sheets of a page, read in document order."""

    def __init__(self, budget: Budget) -> None:
        self.rules: list[Rule] = []
        self._budget = budget
        self._layers: dict[str, int] = {}
        self._texts: list[tuple[str, int, array[int]]] = []  # lower case, first rule, their starts
        self._escaped: list[Rule] = []

    def search(self, *patterns: re.Pattern[str]) -> list[Rule]:
        """The rules whose block, in lower case, has a match of a pattern; in order. One search of
        the whole text is much faster than one of each block, above all if a pattern begins with
        plain letters."""
        return self._rules_at(
            lambda text: (found.start() for each in patterns for found in each.finditer(text)),
            lambda block: any(each.search(block) for each in patterns),
        )

    def search_words(self, *words: str) -> list[Rule]:
        """The rules whose block, in lower case, contains a word; in order."""
        return self._rules_at(
            lambda text: (at for word in words for at in _places(word, text)),
            lambda block: any(word in block for word in words),
        )

    def variables(self) -> dict[str, list[Rule]]:
        """The rules that set custom properties, by the name of the property."""
        found: dict[str, list[Rule]] = {}
        for rule in self.search(_CUSTOM):
            for name in dict.fromkeys(_CUSTOM.findall(rule.block)):
                found.setdefault(name, []).append(rule)
        return found

    def _rules_at(
        self, places: Callable[[str], Iterable[int]], matches: Callable[[str], bool]
    ) -> list[Rule]:
        found: dict[int, Rule] = {}
        for text, first, starts in self._texts:
            for at in places(text):
                place = bisect_right(starts, at) - 1
                if place >= 0 and first + place not in found:
                    rule = self.rules[first + place]
                    if at < starts[place] + len(rule.block):
                        found[rule.order] = rule
        for rule in self._escaped:
            if matches(rule.block.lower()):
                found[rule.order] = rule
        return [found[order] for order in sorted(found)]

    def add(self, css: str) -> None:
        """Adds a style sheet. Raises TooMuch if the sheets together are too large."""
        self._budget.spend(css=len(css))
        css = without_comments(css.replace("<!--", " ").replace("-->", " "))
        path = [_Open(None, True, _UNLAYERED)]
        at, first, self._starts = 0, len(self.rules), array("I")
        for found in _BRACE.finditer(css):
            place = found.start()
            if css[place] == "{":
                last = css.rfind(";", at, place) + 1
                if last:
                    self._end_declarations(css, at, last, path[-1])
                path.append(self._opened(css[max(at, last) : place].strip(), path))
            elif css[place] == "}" and len(path) > 1:
                self._end_declarations(css, at, place, path[-1])
                path.pop()
            else:  # a string, or a bracket too many, which makes the next rule invalid
                continue
            at = place + 1
        self._end_declarations(css, at, len(css), path[-1])
        lower = css.replace("\u0130", "i").lower()  # the one letter whose lower case is longer
        self._texts.append((lower, first, self._starts))

    def _opened(self, prelude: str, path: list[_Open]) -> _Open:
        outer = path[-1]
        if not outer.is_read or len(path) > _MAX_NESTING:
            return _UNREAD
        if not prelude.startswith("@"):
            selectors = prelude if outer.selectors is None else _nested(prelude, outer.selectors)
            return _Open(selectors, outer.certain, outer.layer, is_read=bool(selectors))
        name, _, condition = prelude.partition(" ")
        name, bracket, rest = name.partition("(")  # "@media(min-width:1px)"
        name, condition = name.lower(), bracket + rest + " " + condition
        if name not in _GROUPS:
            return _UNREAD
        holds: bool | None = None
        layer = outer.layer
        if name == "@media":
            holds = media_matches(condition)
        elif name == "@supports":
            holds = None if re.match(r"\s*not\b", condition, re.I) else True
        elif name == "@layer":
            holds, layer = True, self._layer(condition)
        if holds is False:
            return _UNREAD
        return _Open(outer.selectors, outer.certain and holds is True, layer)

    def _layer(self, names: str) -> int:
        """The rank of a layer; layers rank in the order in which they are first named."""
        return self._layers.setdefault(names.strip(), len(self._layers))

    def _end_declarations(self, css: str, start: int, end: int, block_of: _Open) -> None:
        """Adds the declarations between two places as a rule of the block that they stand in."""
        if not block_of.is_read or end <= start:
            return
        if block_of.selectors is None:
            for names in re.findall(r"@layer\s+([^;{}]{1,500});", css[start:end], re.I):
                for name in names.split(","):
                    self._layer(name)
            return
        self._add_rule(css, start, end, block_of.selectors, block_of)

    def _add_rule(self, css: str, start: int, end: int, selectors: str, outer: _Open) -> None:
        block = css[start:end]
        if ":" not in block:
            return
        self._budget.spend(rules=1)
        plain = with_plain_escapes(block)
        rule = Rule(selectors, plain, len(self.rules), outer.layer, outer.certain)
        self.rules.append(rule)
        self._starts.append(start)
        if plain is not block:
            self._escaped.append(rule)


def _nested(inner: str, outer: str) -> str:
    """The selectors of a nested rule, written without nesting; "" if they grow too long."""
    if len(inner) + len(outer) > _MAX_VALUE:
        return ""
    around = f":is({outer})"
    parts = (
        part.replace("&", around) if "&" in part else f"{around} {part}"
        for part in split_list(inner)
    )
    return ", ".join(parts)


def split_list(selectors: str) -> list[str]:
    """The selectors of a list, split at the commas outside parentheses and brackets."""
    if "(" not in selectors and "[" not in selectors:
        return [part.strip() for part in selectors.split(",")]
    parts, depth, at = [], 0, 0
    for place, sign in enumerate(selectors):
        if sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "," and depth <= 0:
            parts.append(selectors[at:place].strip())
            at = place + 1
    return [*parts, selectors[at:].strip()]


# ---------------------------------------------------------------------------------- media queries

_WIDTH, _HEIGHT, _EM = 1280, 800, 16  # the window of a desktop reader, in px
_LENGTH = r"(-?[\d.]{1,9})(px|r?em|)"
_BOUND = re.compile(rf"(min|max)-(?:device-)?(width|height)\s*:\s*{_LENGTH}")
_RANGE = re.compile(rf"(width|height)\s*(<=?|>=?)\s*{_LENGTH}")
_RANGE_BEFORE = re.compile(rf"{_LENGTH}\s*(<=?|>=?)\s*(width|height)(?:\s*(<=?|>=?)\s*{_LENGTH})?")
_FACTS = {
    "orientation: landscape": True,
    "orientation: portrait": False,
    "hover": True,
    "hover: hover": True,
    "hover: none": False,
    "any-hover: hover": True,
    "pointer: fine": True,
    "pointer: coarse": False,
    "pointer: none": False,
    "any-pointer: fine": True,
    "prefers-color-scheme: light": True,
    "prefers-color-scheme: dark": False,
    "prefers-reduced-motion: no-preference": True,
    "prefers-reduced-motion": False,
    "prefers-reduced-motion: reduce": False,
    "scripting: enabled": True,
    "scripting: none": False,
    "color": True,
}
_TYPES = {"": True, "all": True, "screen": True}


def media_matches(query: str) -> bool | None:
    """Whether a media query list matches a desktop window of 1280 x 800 px; None if unknown."""
    answers = [_query_matches(part) for part in query[:1000].lower().split(",")]
    return True if True in answers else None if None in answers else False


def _query_matches(query: str) -> bool | None:
    query = query.strip()
    is_negated = query.startswith("not ")
    query = re.sub(r"^(?:not|only)\s+", "", query)
    answers: list[bool | None] = []
    for part in re.split(r"\s+and\s+|\s*\band(?=\()", query):
        if part.startswith("(") and part.endswith(")"):
            answers.append(_feature_matches(part[1:-1].strip()))
        else:
            answers.append(_TYPES.get(part, False if re.fullmatch(r"[a-z-]+", part) else None))
    answer = False if False in answers else None if None in answers else True
    return answer if answer is None or not is_negated else not answer


def _feature_matches(feature: str) -> bool | None:
    if found := _BOUND.fullmatch(feature):
        end, side, number, unit = found.groups()
        return _compare(side, ">=" if end == "min" else "<=", number, unit)
    if found := _RANGE.fullmatch(feature):
        side, sign, number, unit = found.groups()
        return _compare(side, sign, number, unit)
    if found := _RANGE_BEFORE.fullmatch(feature):
        number, unit, sign, side, upper, limit, limit_unit = found.groups()
        first = _compare(side, sign.translate(str.maketrans("<>", "><")), number, unit)
        return first and _compare(side, upper, limit, limit_unit) if upper else first
    return _FACTS.get(re.sub(r"\s*:\s*", ": ", feature))


def _compare(side: str, sign: str, number: str, unit: str) -> bool | None:
    try:
        limit = float(number) * (_EM if "em" in unit else 1)
    except ValueError:
        return None
    size = _WIDTH if side == "width" else _HEIGHT
    return {">": size > limit, ">=": size >= limit, "<": size < limit, "<=": size <= limit}[sign]


# ----------------------------------------------------------------------------------- declarations


def declarations(block: str) -> dict[str, Declared]:
    """The declared values of a block by property name; `font`, `background`, `inset` and the like
    also give the longhand properties that they set. A later value replaces an earlier one, unless
    only the earlier one is important."""
    declared: dict[str, Declared] = {}
    for name, value, is_important in _pairs(block):
        for longhand, part in _longhands(name, value):
            before = declared.get(longhand)
            if before is None or is_important or not before.important:
                declared[longhand] = Declared(part, is_important)
    return declared


_INTRICATE = re.compile(r"[\"'({\[\\@]")
_IMPORTANT = re.compile(r"\s*!\s*important$")


def _pairs(block: str) -> Iterator[tuple[str, str, bool]]:
    """Name, value and importance of each declaration. tinycss2 is asked if a block has more in it
    than words, which is not often."""
    if not _INTRICATE.search(block):
        for part in block.split(";"):
            name, colon, value = part.partition(":")
            value = " ".join(value.split())
            if colon and value and len(value) <= _MAX_VALUE:
                value = value if name.strip()[:2] == "--" else value.lower()
                plain = _IMPORTANT.sub("", value)
                name = name.strip()
                yield name if name[:2] == "--" else name.lower(), plain, plain != value
        return
    for item in tinycss2.parse_blocks_contents(block, skip_comments=True, skip_whitespace=True):
        if not isinstance(item, ast.Declaration):
            continue
        try:
            value = " ".join(tinycss2.serialize(item.value).split())
        except RecursionError:
            continue
        if not value or len(value) > _MAX_VALUE:
            continue
        if item.name[:2] == "--":
            yield item.name, value, item.important
        else:
            yield item.lower_name, value.lower(), item.important


_SIZE = re.compile(r"(?<![\w/.-])([\d.]+(?:px|pt|r?em|%|vw|vh)?)(?=\s*/|\s)")
_SIDES = ("top", "right", "bottom", "left")


def _longhands(name: str, value: str) -> Iterator[tuple[str, str]]:
    yield name, value
    if name == "font":
        sizes = [size for size in _SIZE.findall(value) if not re.fullmatch(r"[1-9]\d\d", size)]
        if sizes:
            yield "font-size", sizes[0]
    elif name == "background":
        yield "background-image", value if re.search(r"url\(|gradient|image", value) else "none"
        yield "background-color", value
    elif name == "inset":
        yield from zip(_SIDES, _four(value.split()), strict=True)
    elif name == "padding":
        pads = zip(_SIDES, _four(value.split()), strict=True)
        yield from ((f"padding-{side}", pad) for side, pad in pads)


def _four(values: list[str]) -> list[str]:
    """The values of the four sides, from one to four values of a shorthand."""
    top = values[0]
    right = values[1] if len(values) > 1 else top
    bottom = values[2] if len(values) > 2 else top
    return [top, right, bottom, values[3] if len(values) > 3 else right]
