"""Compares selectors with elements.

A page changes while its reader uses it: the mouse hovers, a box is ticked, a script adds a class.
So a match says whether it holds for good, now, after such a change, or never (`Match`).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import Any

from cssselect2 import parser as css
from tinycss2.nth import parse_nth

from fetchers.reading.css.document import Document, Element, is_state

_NO_SCRIPT = re.compile(r"(?:^|[-_])no[-_]?(?:js|javascript|script)(?:$|[-_])", re.I)


class Match(IntEnum):
    """Whether a selector matches an element.

    NEVER: not without another page. CHANGED: after a change of state that a reader or a script
    makes. NOW: as the page stands, but a change of state may end it. ALWAYS: whatever the state.
    """

    NEVER = 0
    CHANGED = 1
    NOW = 2
    ALWAYS = 3


class Matching:
    """One comparison of a selector with an element."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[int, int], Match] = {}

    def complex(self, tree: Any, element: Element) -> Match:
        """Whether a complex selector matches. Raises TooMuch."""
        if not isinstance(tree, css.CombinedSelector):
            return self._compound(tree, element)
        known = self._known.get((id(tree), element.key))
        if known is None:
            known = self._compound(tree.right, element)
            if known:
                others = self._others(tree.combinator, element)
                known = min(known, self._best(tree.left, others))
            self._known[id(tree), element.key] = known
        return known

    def _others(self, combinator: str, element: Element) -> Iterable[Element]:
        """The elements that the left side of a combinator may match."""
        if combinator == ">":
            return (element.parent,) if element.parent is not None else ()
        if combinator == " ":
            return _ancestors(element)
        before = self._document.before(element)
        return before if combinator == "~" else [first for first in [next(before, None)] if first]

    def _best(self, tree: Any, elements: Iterable[Element]) -> Match:
        best = Match.NEVER
        for element in elements:
            best = max(best, self.complex(tree, element))
            if best is Match.ALWAYS:
                break
        return best

    def _compound(self, compound: Any, element: Element) -> Match:
        found = Match.ALWAYS
        for simple in compound.simple_selectors:
            self._document.spend()
            found = min(found, self._simple(simple, element))
            if not found:
                break
        return found

    def _simple(self, simple: Any, element: Element) -> Match:
        if isinstance(simple, css.ClassSelector):
            return self._class(simple.class_name, element)
        if isinstance(simple, css.LocalNameSelector):
            return _always(simple.lower_local_name == element.tag)
        if isinstance(simple, css.IDSelector):
            return _always(simple.ident == element.id)
        if isinstance(simple, css.AttributeSelector):
            return _attribute(simple, element)
        if isinstance(simple, css.NegationSelector):
            return self._not(simple.selector_list, element)
        if isinstance(simple, (css.MatchesAnySelector, css.SpecificityAdjustmentSelector)):
            matches = (self.complex(each.parsed_tree, element) for each in simple.selector_list)
            return max(matches, default=Match.NEVER)
        if isinstance(simple, css.PseudoClassSelector):
            return self._pseudo_class(simple.name, element)
        if isinstance(simple, css.FunctionalPseudoClassSelector):
            return self._nth(simple, element)
        if isinstance(simple, css.RelationalSelector):
            return Match.CHANGED  # :has() most often asks for the state of a control
        return Match.NEVER

    def _class(self, name: str, element: Element) -> Match:
        if name in element.classes:
            # A reader has scripts: `no-js` goes away before anything is seen.
            return Match.NEVER if _NO_SCRIPT.search(name) else Match.ALWAYS
        return Match.CHANGED if self._document.may_be_added(name) else Match.NEVER

    def _not(self, selectors: list[Any], element: Element) -> Match:
        found = Match.ALWAYS
        for selector in selectors:
            inner = self.complex(selector.parsed_tree, element)
            if inner is Match.ALWAYS and _names_state(selector.parsed_tree):
                inner = Match.NOW
            found = min(found, Match(Match.ALWAYS - inner))
        return found

    def _pseudo_class(self, name: str, element: Element) -> Match:
        if name in _PLACES:
            first, last, first_of_type, last_of_type = self._document.place(element)
            place = {
                "first-child": first == 1,
                "last-child": last == 1,
                "only-child": first == last == 1,
                "first-of-type": first_of_type == 1,
                "last-of-type": last_of_type == 1,
                "only-of-type": first_of_type == last_of_type == 1,
            }
            return _always(place[name])
        if name == "root":
            return _always(element.parent is None)
        if name == "empty":
            return _always(element.node.first_child is None)
        if name in ("link", "any-link"):
            return _always(element.tag in ("a", "area") and "href" in element.attributes)
        if name == "defined":
            return Match.ALWAYS
        return Match.CHANGED if _DYNAMIC.get(name, _nobody)(element) else Match.NEVER

    def _nth(self, simple: Any, element: Element) -> Match:
        which = _NTH.get(simple.name)
        nth = parse_nth(simple.arguments) if which is not None else None
        if which is None or nth is None:
            return Match.NEVER
        step, offset = nth
        distance = self._document.place(element)[which] - offset
        if step == 0:
            return _always(distance == 0)
        return _always(distance % step == 0 and distance // step >= 0)


def _always(holds: bool) -> Match:
    return Match.ALWAYS if holds else Match.NEVER


def _ancestors(element: Element) -> Iterator[Element]:
    at = element.parent
    while at is not None:
        yield at
        at = at.parent


def _names_state(tree: Any) -> bool:
    """Whether a compound selector names nothing but classes that are states."""
    if isinstance(tree, css.CombinedSelector):
        return False
    return all(
        isinstance(simple, css.ClassSelector) and is_state(simple.class_name)
        for simple in tree.simple_selectors
    )


_STATEFUL = re.compile(r"aria-|data-|x-|v-|ng-|open$|checked$|hidden$|style$")
_OPERATORS: dict[str | None, Callable[[str, str], bool]] = {
    None: lambda value, wanted: True,
    "=": lambda value, wanted: value == wanted,
    "~=": lambda value, wanted: wanted in value.split(),
    "|=": lambda value, wanted: value == wanted or value.startswith(f"{wanted}-"),
    "^=": lambda value, wanted: bool(wanted) and value.startswith(wanted),
    "$=": lambda value, wanted: bool(wanted) and value.endswith(wanted),
    "*=": lambda value, wanted: bool(wanted) and wanted in value,
}


def _attribute(simple: Any, element: Element) -> Match:
    value, wanted = element.attributes.get(simple.lower_name), simple.value or ""
    if simple.case_sensitive is False:
        value, wanted = value and value.lower(), wanted.lower()
    if value is not None and _OPERATORS[simple.operator](value[:10_000], wanted):
        return Match.ALWAYS
    return Match.CHANGED if _STATEFUL.match(simple.lower_name) else Match.NEVER


def _is_focusable(element: Element) -> bool:
    return (
        (element.tag == "a" and "href" in element.attributes)
        or element.tag in ("button", "input", "select", "textarea", "summary")
        or "tabindex" in element.attributes
    )


def _nobody(element: Element) -> bool:
    return False


def _anybody(element: Element) -> bool:
    return True


_DYNAMIC: dict[str, Callable[[Element], bool]] = {
    "hover": _anybody,
    "active": _anybody,
    "focus": _is_focusable,
    "focus-visible": _is_focusable,
    "focus-within": _anybody,
    "target": lambda element: bool(element.id),
    "target-within": _anybody,
    "checked": lambda element: element.tag in ("input", "option"),
    "open": lambda element: element.tag in ("details", "dialog", "select"),
    "popover-open": lambda element: "popover" in element.attributes,
    "modal": lambda element: element.tag == "dialog",
    "visited": lambda element: element.tag == "a",
    "valid": _is_focusable,
    "invalid": _is_focusable,
    "placeholder-shown": _is_focusable,
}
_PLACES = frozenset((
    "first-child", "last-child", "only-child", "first-of-type", "last-of-type", "only-of-type",
))  # fmt: skip
_NTH = {"nth-child": 0, "nth-last-child": 1, "nth-of-type": 2, "nth-last-of-type": 3}
