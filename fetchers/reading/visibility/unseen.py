"""Removes the text of a page that CSS hides from readers.

`fetchers/reading/visibility/opening.py` defines which text is hidden.
"""

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetchers.reading.css.budget import MAX_STEPS, Budget, TooMuch
from fetchers.reading.css.cascade import MAX_INLINE, Cascade, Values
from fetchers.reading.css.declarations import with_plain_escapes, without_comments
from fetchers.reading.css.document import Document, Element
from fetchers.reading.css.matching import Match
from fetchers.reading.css.media import media_matches
from fetchers.reading.css.sheets import Sheets
from fetchers.reading.visibility.opening import Opening, hides_until_loaded
from fetchers.reading.visibility.painting import LEGACY, Painting
from fetchers.reading.visibility.ways import BY_NAME, WAYS, Way

MARK = "data-assay-unseen"
"""Attribute of the elements of a rendered page that the browser does not show. Its value is the
name of a way, "colour", or "shown" for an element that is visible inside a hidden one."""

_WHOLE = ("html", "body")  # hidden as a whole only until a script shows them
_LINKED = 'link[rel~="stylesheet" i]'
_IMPORT = re.compile(r"@import\b", re.I)


def remove_unseen(tree: LexborHTMLParser, blocks: frozenset[str], budget: Budget) -> None:
    """Remove the text that style sheets, inline styles and the marks of a browser hide.

    `blocks` are the tags of block elements. `budget` is shared with the documents inside the page.
    If it is used up, only inline styles and marks count.
    """
    try:
        sheets, is_whole = _read_sheets(tree, budget)
        unseen = _Unseen(tree, sheets, is_whole, blocks, budget).find()
    except TooMuch:
        try:
            rest = Budget(steps=MAX_STEPS // 4)
            unseen = _Unseen(tree, Sheets(rest), False, blocks, rest).find()
        except TooMuch:
            return
    for node in unseen:
        node.decompose(recursive=False)


def _read_sheets(tree: LexborHTMLParser, budget: Budget) -> tuple[Sheets, bool]:
    """The style sheets in the page, and whether there are no others."""
    sheets = Sheets(budget)
    is_whole = True
    for node in tree.css("style"):
        if _is_fallback(node):
            continue
        attributes = node.attributes
        kind = (attributes.get("type") or "text/css").strip().lower()
        if kind != "text/css" or media_matches(attributes.get("media") or "all") is False:
            continue
        text = node.text()
        is_whole = is_whole and not _IMPORT.search(text)
        sheets.add(text)
    return sheets, is_whole and tree.css_first(_LINKED) is None


def _is_fallback(node: LexborNode) -> bool:
    """Whether a node is for readers without scripts."""
    at = node.parent
    while at is not None and at.tag != "noscript":
        at = at.parent
    return at is not None


class _Unseen:
    """Finds the nodes of one page that nobody sees."""

    def __init__(
        self,
        tree: LexborHTMLParser,
        sheets: Sheets,
        is_whole: bool,
        blocks: frozenset[str],
        budget: Budget,
    ) -> None:
        self._tree = tree
        self._blocks = blocks
        self._is_whole = is_whole
        self._document = Document(tree, budget)
        self._cascade = Cascade(self._document, sheets)
        self._opening = Opening(tree, self._cascade)
        self._painting = Painting(self._cascade, is_whole)
        self._found: dict[int, LexborNode] = {}
        self._styled: list[tuple[LexborNode, str]] = []
        self._marked: list[tuple[LexborNode, str]] = []

    def find(self) -> list[LexborNode]:
        """The nodes to remove, elements and texts. Raises TooMuch."""
        self._read_special()
        for way in WAYS:
            for element, is_stable, selector in self._suspects(way):
                if not (element.tag in _WHOLE or element.is_blank or self._is_in_found(element)):
                    self._judge(element, way, is_stable, selector)
        for element in self._painting.unreadable():
            if element.tag not in _WHOLE and not self._painting.can_change(element):
                self._take_texts(element, self._painting.may_differ)
        for node, mark in self._marked:
            if mark == "colour":
                self._take_texts(self._document.element(node), lambda _: True)
        return list(self._found.values())

    def _is_in_found(self, element: Element) -> bool:
        """Whether an element, or an element around it, will be removed already."""
        at: Element | None = element
        while at is not None:
            if at.key in self._found:
                return True
            at = at.parent
        return False

    def _suspects(self, way: Way) -> Iterator[tuple[Element, bool, str]]:
        """The elements that may be hidden in this way. With each: whether the rule that hides it
        holds in every state, and the selector of the rule ("" for inline styles and marks)."""
        found: dict[int, tuple[Element, Match, str]] = {}
        for applied in self._cascade.rules(way.suspects):
            selector = applied.selector
            if not applied.rule.certain or selector.pseudo_element:
                continue
            for node in self._document.nodes(selector.keys[0]):
                element = self._document.element(node)
                if match := selector.matches_now(self._document, element):
                    found[element.key] = (element, match, selector.source)
        styled = [node for node, style in self._styled if way.suspects_style(style)]
        marked = [node for node, mark in self._marked if mark == way.name]
        for node in (*styled, *marked):
            found[node.mem_id] = (self._document.element(node), Match.ALWAYS, "")
        for element, match, source in found.values():
            yield element, match is Match.ALWAYS, source

    def _read_special(self) -> None:
        """Read the elements with an inline style, a mark or an old attribute for colours."""
        for node in self._tree.css(f"[style], [{MARK}], {LEGACY}"):
            attributes = node.attributes
            style = (attributes.get("style") or "")[:MAX_INLINE]
            if style:
                style = with_plain_escapes(without_comments(style)).lower()
                self._styled.append((node, style))
            if mark := attributes.get(MARK):
                self._marked.append((node, mark))
            self._painting.add(node, style)

    def _judge(self, element: Element, way: Way, is_stable: bool, selector: str) -> None:
        if self._opening.is_folded(element, way):
            return
        is_marked = element.attributes.get(MARK) == way.name
        if way.required and not is_marked and not self._cascade.values(element, way.required):
            return
        values = self._cascade.values(element, way.properties)
        if not is_marked and not way.hides(values):
            return
        is_stable = is_stable and not hides_until_loaded(selector)
        if self._was_folded_by_script(element, way, values):
            return
        if self._opening.can_show(element, way, values, is_stable):
            return
        if way.is_inherited:
            self._take_texts(element, self._shows_again(way))
        else:
            self._found[element.key] = element.node

    def _was_folded_by_script(self, element: Element, way: Way, values: Values) -> bool:
        """Whether the style attribute folds a block with an id: this is how scripts fold galleries,
        tabs and answers. A height of zero is also theirs."""
        if not element.style or element.tag not in self._blocks:
            return False
        inline = self._cascade.inline(element)
        if way.name == "display":
            return bool(element.id) and "display" in inline
        return way.name == "size" and "max-height" in inline

    def _shows_again(self, way: Way) -> Callable[[Element], bool]:
        """A test of elements inside one that is hidden in an inherited way."""

        def shows(element: Element) -> bool:
            if element.attributes.get(MARK) == "shown":
                return True
            values = self._cascade.values(element, way.properties)
            if way.name == "font":
                return self._may_have_size(element, values)
            value = values.get("visibility", "inherit")
            return value != "inherit" and not way.hides(values)

        return shows

    def _may_have_size(self, element: Element, values: Values) -> bool:
        """Whether text inside text of font size 0 may have a size. Other files may set it."""
        size = values.get("font-size", "")
        if not size or size == "inherit":
            return not self._is_whole or bool(element.id or element.classes)
        return not BY_NAME["font"].hides(values) and size[-1] not in "m%"

    def _take_texts(self, element: Element, is_other: Callable[[Element], bool]) -> None:
        """Take the texts of an element and of the elements in it. `is_other` tells the elements to
        leave out."""
        todo = [element.node]
        while todo:
            for child in todo.pop().iter(include_text=True):
                self._document.spend()
                if child.is_text_node:
                    self._found[child.mem_id] = child
                elif child.is_element_node and not is_other(self._document.element(child)):
                    todo.append(child)
