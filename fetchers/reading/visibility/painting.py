"""Text in the colour of its background.

The background of a text is known if an element around it sets a plain colour, and no element
between the two can be painted or moved. A page without style sheets in other files has a white
canvas. Everything else counts as readable.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import islice

from selectolax.lexbor import LexborNode

from fetchers.reading.css.cascade import Cascade, Values
from fetchers.reading.css.colours import BLACK, WHITE, Colour, read_colour, read_legacy_colour
from fetchers.reading.css.document import Element

_COLOUR = ("color", "-webkit-text-fill-color")
_BACKGROUND = ("background",)
_PLACEMENT = (
    "position", "text-shadow", "-webkit-text-stroke", "mix-blend-mode", "-webkit-background-clip",
)  # fmt: skip
_ANY = (re.compile(r"color\s*:"), re.compile(r"background\s*:"))
# If other files may set colours too, only what one block says is compared.
_BOTH = (
    re.compile(r"background[^{}]{1,400}color\s*:"),
    re.compile(r"color\s*:[^{}]{1,400}background"),
    re.compile(r"color\s*:\s*(?:transparent|#\w{3}0\b|#\w{6}00\b)"),
    re.compile(r"color\s*:\s*(?:rgb|hsl)a?\([^()]{1,40}[,/]\s*0?\.?0*%?\s*\)"),
)
_SEE_THROUGH = re.compile(
    r"(?<!-)color\s*:\s*(?:transparent|(?:rgb|hsl)a?\([^()]{0,60}[,/]\s*0?\.?0*%?\s*\)|#\w{3}0\b|#\w{6}00\b)"
    r"|currentcolor",
    re.I,
)
_VARIABLE = re.compile(r"(?<!-)color\s*:[^;]{0,80}var\(")
_DECLARED = re.compile(
    r"(?<![\w-])(color|-webkit-text-fill-color|background(?:-color)?)\s*:([^;]{1,80})", re.I
)
_COLOURS = 200  # of a page that are compared
LEGACY = "[bgcolor], font[color], body[text]"
_CSS_NAMES = {"bgcolor": "background-color", "color": "color", "text": "color"}
_PICTURES = "img, video, picture, svg, canvas, iframe, object, embed"
_INHERITED = ("inherit", "currentcolor", "unset", "revert", "revert-layer", "")
_UNPAINTED = ("none", "transparent", "initial", "unset", "revert", "")


class Painting:
    """The colours of one page. `is_whole` says that the page has all of its style sheets in it."""

    def __init__(self, cascade: Cascade, is_whole: bool) -> None:
        self._cascade = cascade
        self._is_whole = is_whole
        self._added: dict[int, tuple[LexborNode, str]] = {}
        self._texts: dict[int, Values] = {}
        self._backs: dict[int, Values] = {}
        self._colours: dict[int, Colour | None] = {}
        self._grounds: dict[int, Colour | None] = {}
        self._moved: dict[int, bool] = {}
        self._decorated: dict[int, bool] = {}

    def add(self, node: LexborNode, style: str) -> None:
        """Add an element that may set a colour itself: by its inline style, which is given in
        lower case, or by an old attribute."""
        attributes = node.attributes
        named = {name: attributes[name] or "" for name in _CSS_NAMES if name in attributes}
        if named or "color" in style or "background" in style:
            block = ";".join(
                f"{_CSS_NAMES[name]}:{_legacy(value)}" for name, value in named.items()
            )
            self._added[node.mem_id] = (node, f"{style};{block}")

    def unreadable(self) -> Iterator[Element]:
        """The elements whose own text cannot be read, nor the text that inherits its colour."""
        for element in self._painted():
            if not element.is_blank and self._is_unreadable(element):
                yield element

    def may_differ(self, element: Element) -> bool:
        """Whether an element inside such text may have another colour or background. One that
        only repeats or inherits the colours around it does not."""
        if element.tag in _COLOURED or self._text(element) or self._back(element):
            return not self._is_unreadable(element) or self.can_change(element)
        return not self._is_whole and bool(element.id or element.classes)

    def can_change(self, element: Element) -> bool:
        """Whether a rule gives the element another colour after a change of state."""
        changes = self._cascade.after_changes(element, (*_COLOUR, *_BACKGROUND))
        return any(name.startswith((*_COLOUR, *_BACKGROUND)) for each in changes for name in each)

    def _painted(self) -> Iterator[Element]:
        """The elements with a colour or a background that may make text unreadable, each once."""
        document = self._cascade.document
        seen: set[int] = set()
        is_suspect = self._suspects()
        for applied in self._cascade.rules(_ANY if self._is_whole else _BOTH, is_suspect):
            for key in applied.selector.keys[:1]:
                for node in document.nodes(key):
                    if node.mem_id in seen:
                        continue
                    element = document.element(node)
                    if applied.selector.matches_now(document, element):
                        seen.add(node.mem_id)
                        yield element
        for node, style in self._added.values():
            if node.mem_id not in seen and is_suspect(style):
                yield document.element(node)

    def _suspects(self) -> Callable[[str], bool]:
        """A quick test of blocks: whether they set a text colour that is near to a background of
        the page, or the reverse. If other files have style sheets too, only the colours of one
        block are compared."""
        texts, grounds = {BLACK}, {WHITE}
        if self._is_whole:
            blocks = [rule.block for rule in self._cascade.sheets.search(*_ANY)]
            for block in (*blocks, *(style for _, style in self._added.values())):
                text, ground = _colours(block)
                texts.update(text)
                grounds.update(ground)
        texts, grounds = set(islice(texts, _COLOURS)), set(islice(grounds, _COLOURS))

        def is_suspect(block: str) -> bool:
            if _SEE_THROUGH.search(block) or (self._is_whole and _VARIABLE.search(block)):
                return True
            text, ground = _colours(block)
            if any(colour.alpha < 1 for colour in (*text, *ground)):
                return self._is_whole  # what is behind decides
            if text and ground:
                return _any_near(text, ground)
            if self._is_whole:
                return _any_near(text, grounds) or _any_near(ground, texts)
            return False

        return is_suspect

    def _is_unreadable(self, element: Element) -> bool:
        colour = self._colour(element)
        if colour is None:
            return False
        if colour.alpha == 0:
            return not self._is_decorated(element)
        ground = self._ground(element)
        if ground is None or not colour.over(ground).is_near(ground):
            return False
        return not (
            self._is_decorated(element)
            or self._is_moved(element)
            or self._has_picture_around(element)
        )

    def _text(self, element: Element) -> Values:
        """The values that an element sets for the colour of its text."""
        if element.key not in self._texts:
            values = self._cascade.values(element, _COLOUR)
            name = {"font": "color", "body": "text"}.get(element.tag, "")
            if name in element.attributes:
                values.setdefault("color", _legacy(element.attributes[name]))
            self._texts[element.key] = values
        return self._texts[element.key]

    def _back(self, element: Element) -> Values:
        """The values that an element sets for its background."""
        if element.key not in self._backs:
            values = self._cascade.values(element, _BACKGROUND)
            if "bgcolor" in element.attributes:
                values.setdefault("background-color", _legacy(element.attributes["bgcolor"]))
            self._backs[element.key] = values
        return self._backs[element.key]

    def _colour(self, element: Element) -> Colour | None:
        """The colour of the text; None if it is unknown."""
        path: list[int] = []
        found: Colour | None = BLACK
        at: Element | None = element
        while at is not None:
            if at.key in self._colours:
                found = self._colours[at.key]
                break
            path.append(at.key)
            values = self._text(at)
            value = values.get("-webkit-text-fill-color") or values.get("color", "")
            value = values.get("color", "") if value == "currentcolor" else value
            if value == "initial":
                break
            if value not in _INHERITED:
                found = _colour_of(value)
                break
            if at.tag in _COLOURED or not self._is_whole:
                found = None
                break
            at = at.parent
        self._colours.update(dict.fromkeys(path, found))
        return found

    def _ground(self, element: Element) -> Colour | None:
        """The colour behind the text; None if it is unknown."""
        if element.key not in self._grounds:
            self._grounds[element.key] = self._find_ground(element)
        return self._grounds[element.key]

    def _find_ground(self, element: Element) -> Colour | None:
        path: list[Element] = []
        ground: Colour | None = WHITE
        at: Element | None = element
        while at is not None:
            if at.key in self._grounds:
                ground = self._grounds[at.key]
                break
            path.append(at)
            at = at.parent
            if path[-1].tag in _COLOURED:
                ground = None
                break
        for at in reversed(path):
            ground = self._painted_on(ground, at)
            self._grounds[at.key] = ground
        return ground

    def _painted_on(self, ground: Colour | None, element: Element) -> Colour | None:
        """The colour behind the text of an element that stands on `ground`."""
        values = self._back(element)
        if element.tag in _COLOURED or not self._is_plain(element, values):
            return None
        value = values.get("background-color", "")
        colour = None
        if value not in _UNPAINTED:
            colour = read_colour(value, self._colour(element))
            if colour is None and not _NO_COLOUR.fullmatch(value):
                return None
        if colour is not None and colour.alpha == 1:
            return colour
        if ground is None or not self._is_whole:  # other files may paint what is around
            return None
        return colour.over(ground) if colour is not None else ground

    def _is_plain(self, element: Element, values: Values) -> bool:
        """Whether no picture is painted behind an element."""
        if values.get("background-image", "none") not in _UNPAINTED:
            return False
        return not any(
            name.startswith("background")
            for decoration in self._cascade.decorations(element, ("background",))
            for name in decoration
        )

    def _is_moved(self, element: Element) -> bool:
        """Whether the element, or one around it up to its background, may stand elsewhere."""

        def own(at: Element) -> bool | None:
            colour = _colour_of(self._back(at).get("background-color", ""))
            if colour is not None and colour.alpha == 1:
                return False
            return self._cascade.values(at, _PLACEMENT).get("position") in _MOVED or None

        return _nearest(element, self._moved, own)

    def _has_picture_around(self, element: Element) -> bool:
        """Whether a picture beside the text may lie behind it."""
        at: Element | None = element
        for _ in range(_NEAR_BY):
            if at is None or at.tag in ("body", "html"):
                return False
            if at.key in self._around_pictures:
                return True
            at = at.parent
        return False

    @cached_property
    def _around_pictures(self) -> frozenset[int]:
        """The keys of the elements that have a picture in them."""
        document = self._cascade.document
        found: set[int] = set()
        for node in document.nodes(_PICTURES):
            at = document.element(node).parent
            while at is not None and at.key not in found:
                found.add(at.key)
                at = at.parent
        return frozenset(found)

    def _is_decorated(self, element: Element) -> bool:
        """Whether a shadow or an outline shows the letters, or the background shows through them,
        as gradients in headings do."""

        def own(at: Element) -> bool | None:
            values = {**self._cascade.values(at, _PLACEMENT), **self._back(at)}
            return (
                any(values.get(name, "none") not in _UNDECORATED for name in _DECORATIONS)
                or any("text" in values.get(name, "") for name in _CLIPS)
                or None
            )

        return _nearest(element, self._decorated, own)


def _nearest(
    element: Element, known: dict[int, bool], own: Callable[[Element], bool | None]
) -> bool:
    """The answer of the nearest element, from `element` outwards, that has one; False if there is
    none. Each element is asked once, since `known` keeps the answers by key."""
    path: list[int] = []
    answer = False
    at: Element | None = element
    while at is not None:
        if at.key in known:
            answer = known[at.key]
            break
        path.append(at.key)
        if (own_answer := own(at)) is not None:
            answer = own_answer
            break
        at = at.parent
    known.update(dict.fromkeys(path, answer))
    return answer


_MOVED = ("absolute", "fixed", "sticky")
_NO_COLOUR = re.compile(r"none\b.*|0(?:px|%)?(?: 0(?:px|%)?)?")
_NEAR_BY = 6  # elements around a text in which pictures are looked for
_DECORATIONS = ("text-shadow", "-webkit-text-stroke", "mix-blend-mode")
_UNDECORATED = ("none", "normal", "initial", "inherit", "unset", "0")
_CLIPS = ("background-clip", "-webkit-background-clip", "background")
_COLOURED = ("a", "button", "select", "textarea", "input", "mark")  # by the browser itself


@lru_cache(2048)
def _colour_of(value: str) -> Colour | None:
    return read_colour(value)


def _colours(block: str) -> tuple[set[Colour], set[Colour]]:
    """The colours of text and of backgrounds that a block names."""
    texts: set[Colour] = set()
    grounds: set[Colour] = set()
    for name, value in _DECLARED.findall(block):
        colour = _colour_of(value.strip().lower())
        if colour is not None:
            (grounds if name.lower().startswith("background") else texts).add(colour)
    return texts, grounds


def _any_near(some: set[Colour], others: set[Colour]) -> bool:
    return any(one.over(other).is_near(other) for one in some for other in others)


def _legacy(value: str) -> str:
    colour = read_legacy_colour(value)
    if colour is None:
        return ""
    channels = (colour.red, colour.green, colour.blue)
    return f"rgb({' '.join(str(round(channel * 255)) for channel in channels)})"
