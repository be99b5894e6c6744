"""Style sheets to rules: splitting, conditional groups, layers and nesting.

Most rules of a page do not matter to its visibility. So a sheet is first split into texts by one
linear scan. Selectors and declarations are parsed when they are needed.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from fetchers.reading.css.budget import Budget
from fetchers.reading.css.declarations import with_plain_escapes, without_comments
from fetchers.reading.css.media import media_matches

_MAX_NESTING = 16
_MAX_SELECTORS = 400  # characters of nested selectors, written out


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
        self._starts = array("I")  # of the rules of the sheet that is being added

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
        """Add a style sheet. Raises TooMuch if the sheets together are too large."""
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
        """Add the declarations between two places as a rule of the block that they stand in."""
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
    if len(inner) + len(outer) > _MAX_SELECTORS:
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
