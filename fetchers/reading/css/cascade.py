"""The values that the rules of a page and its inline styles give to an element.

Only the style sheets of the page are read. Among their rules, importance, layers,
specificity and order decide (CSS Cascading and Inheritance, level 5, section 6). A rule is parsed
when somebody asks for a property that it sets, of an element that its selector may match.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fetchers.reading.css.declarations import (
    Declared,
    declarations,
    with_plain_escapes,
    without_comments,
)
from fetchers.reading.css.document import Document, Element, is_state
from fetchers.reading.css.matching import Match
from fetchers.reading.css.selectors import MAX_SELECTOR, Selector, parse
from fetchers.reading.css.sheets import Rule, Sheets, split_list

Values = Mapping[str, str]
"""Values by property name; a property that nothing sets is missing."""

_NAME = re.compile(r"[.#](?:[\w-]|\\.|[^\x00-\x7f])+")
_COMBINATOR = re.compile(r"[\s>+~]+")
_ARGUMENTS = re.compile(r"\(.*\)", re.S)  # also the names between two pairs, which does no harm
_BRACKETS = re.compile(r"\[[^\]]*\]")
_VAR = re.compile(r"var\(\s*(--[^\s,()]{1,100})\s*(?:,([^()]*))?\)")
_MAX_VALUE = 500  # characters of a value with its variables put in
_ROUNDS = 8  # of putting in variables that contain variables
_INLINE = 2_000_000  # ranks above every layer
MAX_INLINE = 4_000  # characters of an inline style that are read


@dataclass(frozen=True, slots=True)
class Applied:
    """A selector of a rule, and the rule."""

    selector: Selector
    rule: Rule


class Cascade:
    """The values of the elements of a document."""

    def __init__(self, document: Document, sheets: Sheets) -> None:
        self.document = document
        self.sheets = sheets
        self._parts: dict[tuple[int, bool], list[Applied]] = {}
        self._selectors_by_source: dict[str, Selector | None] = {}
        self._declared: dict[str, dict[str, Declared]] = {}
        self._by_key: dict[tuple[tuple[str, ...], bool], dict[str, list[Applied]]] = {}
        self._filtered: dict[tuple[str, tuple[str, ...]], list[tuple[str, Declared]]] = {}
        self._custom: dict[tuple[int, str], str] = {}

    def rules(
        self,
        patterns: tuple[re.Pattern[str], ...],
        is_wanted: Callable[[str], object] | None = None,
    ) -> Iterator[Applied]:
        """The selectors that can match an element of the document as the page stands, of the rules
        whose block has a match of a pattern, in lower case, and `is_wanted`. Raises TooMuch, as
        all methods do."""
        for rule in self.sheets.search(*patterns):
            if is_wanted is None or is_wanted(rule.block):
                yield from self._selectors(rule, after_changes=False)

    def declared(self, block: str) -> dict[str, Declared]:
        """The declarations of a block."""
        if block not in self._declared:
            self.document.spend(1 + len(block) // 20)
            self._declared[block] = declarations(block)
        return self._declared[block]

    def values(self, element: Element, properties: tuple[str, ...]) -> dict[str, str]:
        """The values that rules and the inline style give to an element as the page stands.
        `properties` are names, or beginnings of names, such as "background"."""
        declared = self._winners(element, properties)
        return {name: self._resolved(element, value) for name, value in declared.items()}

    def _winners(self, element: Element, properties: tuple[str, ...]) -> dict[str, str]:
        """The values that win, with their variables."""
        winners: dict[str, tuple[tuple[object, ...], str]] = {}

        def add(pairs: list[tuple[str, Declared]], layer: int, *rank: object) -> None:
            for name, value in pairs:
                # Among important values the first layer wins, and the inline style before all.
                place = -layer if value.important and layer != _INLINE else layer
                key = (value.important, place, *rank)
                if name not in winners or winners[name][0] <= key:
                    winners[name] = key, value.value

        for applied in self._candidates(element, properties):
            selector, rule = applied.selector, applied.rule
            if not rule.certain or selector.pseudo_element:
                continue
            if selector.matches_now(self.document, element):
                pairs = self._pairs(rule.block, properties)
                add(pairs, rule.layer, selector.specificity, rule.order)
        if element.style:
            inline = self.inline(element)
            pairs = [pair for pair in inline.items() if pair[0].startswith(properties)]
            add(pairs, _INLINE, (0, 0, 0), 0)
        return {name: value for name, (_, value) in winners.items()}

    def _pairs(self, block: str, properties: tuple[str, ...]) -> list[tuple[str, Declared]]:
        """The declarations of a block that set the properties."""
        known = self._filtered.get((block, properties))
        if known is None:
            declared = self.declared(block)
            known = [pair for pair in declared.items() if pair[0].startswith(properties)]
            self._filtered[block, properties] = known
        return known

    def inline(self, element: Element) -> dict[str, Declared]:
        """The declarations of an element's style attribute."""
        style = element.style[:MAX_INLINE]
        if style not in self._declared:
            self._declared[style] = self.declared(with_plain_escapes(without_comments(style)))
        return self._declared[style]

    def after_changes(self, element: Element, properties: tuple[str, ...]) -> Iterator[Values]:
        """The values that each rule would give to an element after a change of state: the mouse is
        over it, a box is ticked, a class is set. Rules of uncertain conditions are among them."""
        for applied in self._candidates(element, properties, after_changes=True):
            selector, rule = applied.selector, applied.rule
            if selector.pseudo_element:
                continue
            match = selector.match(self.document, element)
            is_possible = match is Match.CHANGED and self._is_anchored(selector)
            if is_possible or (match >= Match.NOW and not rule.certain):
                declared = self.declared(rule.block)
                yield {name: self._resolved(element, each.value) for name, each in declared.items()}

    def decorations(self, element: Element, properties: tuple[str, ...]) -> Iterator[Values]:
        """The values that rules give to pseudo-elements of an element, such as `::before`."""
        for applied in self._candidates(element, properties):
            if applied.selector.pseudo_element and applied.selector.match(self.document, element):
                declared = self.declared(applied.rule.block)
                yield {name: each.value for name, each in declared.items()}

    def _is_anchored(self, selector: Selector) -> bool:
        """Whether a selector names something of this page, not just a state: `.open p` does not."""
        if selector.keys[0][0] in ".#":
            return True
        named = self.document.named
        names = _NAME.findall(selector.source)
        return ":" in selector.source or any(n in named and not is_state(n[1:]) for n in names)

    def _candidates(
        self, element: Element, properties: tuple[str, ...], after_changes: bool = False
    ) -> list[Applied]:
        by_key = self._indexed(properties, after_changes)
        if not by_key:
            return []
        keys = [f".{name}" for name in element.classes]
        keys += [f"#{element.id}", element.tag, "*", *(f"[{name}]" for name in element.attributes)]
        found = {id(each): each for key in keys for each in by_key.get(key, ())}
        self.document.spend(len(keys) + len(found))
        return list(found.values())

    def _indexed(
        self, properties: tuple[str, ...], after_changes: bool
    ) -> dict[str, list[Applied]]:
        """The rules that set one of the properties, by the keys of their selectors."""
        known = self._by_key.get((properties, after_changes))
        if known is None:
            known = self._by_key[properties, after_changes] = {}
            if properties[0].startswith("--"):
                rules = self._variables.get(properties[0], [])
            else:
                rules = self.sheets.search_words(*properties)
            for rule in rules:
                for applied in self._selectors(rule, after_changes):
                    for key in applied.selector.keys:
                        known.setdefault(key, []).append(applied)
        return known

    @cached_property
    def _variables(self) -> dict[str, list[Rule]]:
        return self.sheets.variables()

    def _selectors(self, rule: Rule, after_changes: bool) -> list[Applied]:
        known = self._parts.get((rule.order, after_changes))
        if known is None:
            known = self._parts[rule.order, after_changes] = []
            for part in split_list(rule.selectors):
                self.document.spend()
                if len(part) > MAX_SELECTOR or not self._may_match(part, after_changes):
                    continue
                if (selector := self._parsed(part)) is not None:
                    known.append(Applied(selector, rule))
        return known

    def _parsed(self, part: str) -> Selector | None:
        if part not in self._selectors_by_source:
            self.document.spend(10)
            self._selectors_by_source[part] = parse(part)
        return self._selectors_by_source[part]

    def _may_match(self, part: str, after_changes: bool) -> bool:
        """Whether the page has the names in a selector, or after a change of state one of those in
        its last compound. This is cheap, and spares most selectors the parsing."""
        if "\\" in part:
            return True
        named = self.document.named
        if "(" in part:
            part = _ARGUMENTS.sub("", part)
        if "[" in part:
            part = _BRACKETS.sub("", part)
        if not after_changes:
            return all(name in named for name in _NAME.findall(part))
        names = _NAME.findall(_COMBINATOR.split(part)[-1])
        return not names or any(name in named for name in names)

    # Custom properties.

    def _resolved(self, element: Element, value: str) -> str:
        """A value with its `var()` replaced."""
        for _ in range(_ROUNDS):
            if "var(" not in value or len(value) > _MAX_VALUE:
                break
            value = _VAR.sub(
                lambda found: self._variable(element, found[1]) or (found[2] or "").strip(), value
            )
        return value[:_MAX_VALUE]

    def _variable(self, element: Element, name: str) -> str:
        """The value of a custom property, inherited if the element does not set it."""
        at: Element | None = element
        path = []
        value = ""
        while at is not None:
            known = self._custom.get((at.key, name))
            if known is not None:
                value = known
                break
            path.append(at.key)
            if own := self._winners(at, (name,)).get(name, ""):
                value = own
                break
            at = at.parent
        for key in path:
            self._custom[key, name] = value
        return value
