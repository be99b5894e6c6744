"""Selectors: parsed by cssselect2, matched against the tree with more than yes and no.

A page changes while its reader uses it: the mouse hovers, a box is ticked, a script adds a class.
So a match says whether it holds for good, now, after such a change, or never (`Match`).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

from cssselect2 import parser as css
from selectolax.lexbor import LexborHTMLParser, LexborNode
from tinycss2.nth import parse_nth

from fetchers.reading.css.sheets import Budget, TooMuch

MAX_SELECTOR = 400  # characters


class Match(IntEnum):
    """Whether a selector matches an element.

    NEVER: not without another page. CHANGED: after a change of state that a reader or a script
    makes. NOW: as the page stands, but a change of state may end it. ALWAYS: whatever the state.
    """

    NEVER = 0
    CHANGED = 1
    NOW = 2
    ALWAYS = 3


# Classes and attributes that scripts set and take away. Split at hyphens and underscores.
_STATES = frozenset((
    "active", "checked", "clicked", "close", "closed", "collapsed", "collapsing", "current",
    "disabled", "enabled", "entered", "expanded", "expand", "fixed", "focus", "focused", "hover",
    "in", "inactive", "inview", "invisible", "loaded", "loading", "on", "open", "opened",
    "pressed", "ready", "revealed", "selected", "show", "showing", "shown", "sticky", "toggled",
    "unfolded", "visible",
))  # fmt: skip
_NO_SCRIPT = re.compile(r"(?:^|[-_])no[-_]?(?:js|javascript|script)(?:$|[-_])", re.I)
_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+")


def is_state(name: str) -> bool:
    """Whether a class is named like a state ("is-open", "menu--active")."""
    return not _STATES.isdisjoint(word.lower() for word in _WORD.findall(name[:200]))


class Element:
    """An element with what selectors ask for, read once."""

    def __init__(self, node: LexborNode, parent: "Element | None") -> None:
        self.node = node
        self.parent = parent
        self.key = node.mem_id
        self.tag = node.tag or ""
        self.attributes = {name: value or "" for name, value in node.attributes.items()}
        self.id = self.attributes.get("id", "")
        self.classes = frozenset(self.attributes.get("class", "")[:10_000].split())

    @cached_property
    def around(self) -> frozenset[str]:
        """The tag, the ".class" and the "#id" names of the element and of those around it."""
        own = {self.tag, f"#{self.id}", *(f".{name}" for name in self.classes)}
        if self.parent is None:
            return frozenset(own)
        around = self.parent.around
        return around if own <= around else around | own

    @cached_property
    def is_blank(self) -> bool:
        """Whether there is no text in the element."""
        return self.node.first_child is None or not self.node.text().strip()

    @cached_property
    def style(self) -> str:
        """The inline style."""
        return self.attributes.get("style", "")


class Document:
    """The elements of a tree by class, id and tag, and the work that may still be done on them."""

    def __init__(self, tree: LexborHTMLParser, budget: Budget) -> None:
        self.tree = tree
        self._budget = budget
        self._elements: dict[int, Element] = {}
        self._queried: dict[str, list[LexborNode]] = {}
        self._places: dict[int, tuple[int, int, int, int]] = {}
        self._states: dict[str, bool] = {}
        self.matches: dict[tuple[int, int], Match] = {}

    def spend(self, steps: int = 1) -> None:
        """Counts work. Raises TooMuch if there was too much."""
        self._budget.steps -= steps
        if self._budget.steps < 0:
            raise TooMuch

    @cached_property
    def named(self) -> dict[str, list[LexborNode]]:
        """The nodes by ".class" and "#id"."""
        found: dict[str, list[LexborNode]] = {}
        for node in self.tree.css("[class], [id]"):
            attributes = node.attributes
            for name in set((attributes.get("class") or "")[:10_000].split()):
                found.setdefault(f".{name}", []).append(node)
            if key := attributes.get("id"):
                found.setdefault(f"#{key}", []).append(node)
        return found

    def may_be_added(self, name: str) -> bool:
        """Whether a script may give a class to an element that does not have it: one that is named
        like a state, or that no element has as the page loads."""
        known = self._states.get(name)
        if known is None:
            known = self._states[name] = f".{name}" not in self.named or is_state(name)
        return known

    def nodes(self, key: str) -> list[LexborNode]:
        """The nodes that a selector with this key may match, in document order."""
        if key[0] in ".#":
            return self.named.get(key, [])
        if key not in self._queried:
            self._queried[key] = self.tree.css(key)
        return self._queried[key]

    def element(self, node: LexborNode) -> Element:
        """The element of a node."""
        if (known := self._elements.get(node.mem_id)) is not None:
            return known
        path = []
        at: LexborNode | None = node
        while at is not None and at.is_element_node and at.mem_id not in self._elements:
            path.append(at)
            at = at.parent
        known = self._elements.get(at.mem_id) if at is not None and at.is_element_node else None
        for node_ in reversed(path):
            self.spend()
            known = self._elements[node_.mem_id] = Element(node_, known)
        return known if known is not None else self._elements[node.mem_id]

    def place(self, element: Element) -> tuple[int, int, int, int]:
        """The number of an element among its siblings, from the start and from the end, then the
        same among those with its tag. Numbers begin with 1."""
        if element.key not in self._places:
            parent = element.node.parent
            children = list(parent.iter()) if parent is not None else [element.node]
            self.spend(len(children))
            seen: dict[str | None, int] = {}
            among: list[int] = []
            for child in children:
                seen[child.tag] = seen.get(child.tag, 0) + 1
                among.append(seen[child.tag])
            for number, child in enumerate(children):
                self._places[child.mem_id] = (
                    number + 1,
                    len(children) - number,
                    among[number],
                    seen[child.tag] - among[number] + 1,
                )
        return self._places.get(element.key, (1, 1, 1, 1))

    def before(self, element: Element) -> Iterator[Element]:
        """The siblings before an element, the nearest first."""
        at = element.node.prev
        while at is not None:
            self.spend()
            if at.is_element_node:
                yield self.element(at)
            at = at.prev


@dataclass(frozen=True)
class Selector:
    """A complex selector.

    An element that matches now has all of the `keys`: the ".class" and "#id" names of the last
    compound, else "tag", "[name]" or "*". `names` are the tags, classes and ids that the element
    and those around it must have. `pseudo_element` is "before", "after" … or "".
    """

    tree: Any
    keys: tuple[str, ...]
    specificity: tuple[int, int, int]
    pseudo_element: str
    source: str
    names: frozenset[str]

    def match(self, document: Document, element: Element) -> Match:
        """Whether `element` matches. Raises TooMuch."""
        document.spend()
        place = id(self.tree), element.key
        found = document.matches.get(place)
        if found is None:
            found = document.matches[place] = _Matching(document).complex(self.tree, element)
        return found

    def matches_now(self, document: Document, element: Element) -> Match:
        """The same, but NEVER instead of CHANGED. It is faster."""
        if not self.names <= element.around:
            document.spend()
            return Match.NEVER
        found = self.match(document, element)
        return found if found >= Match.NOW else Match.NEVER


def parse(source: str) -> Selector | None:
    """The selector that a text is (one of a list), or None if it is invalid or not supported."""
    if len(source) > MAX_SELECTOR:
        return None
    if _PLAIN.fullmatch(source):
        tree, specificity, pseudo = _parse_plain(source)
    else:
        try:
            (found,) = css.parse(source)
        except (ValueError, AttributeError, RecursionError):  # SelectorError is a ValueError
            return None
        tree, specificity = found.parsed_tree, found.specificity
        pseudo = found.pseudo_element or ""
    return Selector(tree, _keys(tree), specificity, pseudo, source, frozenset(_names(tree)))


# cssselect2 takes 20 times as long for the selectors that most rules have.
_SIMPLE = re.compile(r"[.#]?[a-zA-Z_][\w-]*|::?[a-z-]+|\s*[>+~]\s*|\s+", re.A)
_PSEUDO = "hover|focus|active|first-child|last-child|checked|focus-within|link|visited|root"
_COMPOUND = rf"(?:[a-zA-Z][\w-]*|(?=[.#:]))(?:[.#][a-zA-Z_][\w-]*|:(?:{_PSEUDO}))*"
_PLAIN = re.compile(
    rf"{_COMPOUND}(?:(?:\s*[>+~]\s*|\s+){_COMPOUND})*(?:::?(?:before|after))?", re.A
)


def _parse_plain(source: str) -> tuple[Any, tuple[int, int, int], str]:
    """The tree, the specificity and the pseudo-element of a selector of names and combinators."""
    tree, combinator, pseudo = None, "", ""
    ids = names = tags = 0
    simples: list[Any] = []
    for token in (*_SIMPLE.findall(source), ""):
        sign = token[:1]
        if sign == "." or sign == "#":
            made = css.ClassSelector(token[1:]) if sign == "." else css.IDSelector(token[1:])
            simples.append(made)
            ids, names = ids + (sign == "#"), names + (sign == ".")
        elif sign == ":" and token.endswith(("before", "after")):
            pseudo, tags = token.lstrip(":"), tags + 1
        elif sign == ":":
            simples.append(css.PseudoClassSelector(token[1:]))
            names += 1
        elif sign.isalpha():
            simples.append(css.LocalNameSelector((token, token.lower())))
            tags += 1
        else:
            compound = css.CompoundSelector(simples)
            tree = compound if tree is None else css.CombinedSelector(tree, combinator, compound)
            combinator, simples = token.strip() or " ", []
    return tree, (ids, names, tags), pseudo


_PLAIN_KEY = re.compile(r"[a-z][a-z0-9-]*|\[[a-z][a-z0-9-]*\]")


def _keys(tree: Any) -> tuple[str, ...]:
    compound = tree.right if isinstance(tree, css.CombinedSelector) else tree
    names: list[str] = []
    others: list[str] = []
    for simple in compound.simple_selectors:
        if isinstance(simple, css.IDSelector):
            names.append(f"#{simple.ident}")
        elif isinstance(simple, css.ClassSelector):
            names.append(f".{simple.class_name}")
        elif isinstance(simple, css.LocalNameSelector):
            others.insert(0, simple.lower_local_name)
        elif isinstance(simple, css.AttributeSelector):
            others.append(f"[{simple.lower_name}]")
    plain = [other for other in others if _PLAIN_KEY.fullmatch(other)]
    return tuple(names or plain[:1] or ["*"])


def _names(tree: Any) -> Iterator[str]:
    """The names in a selector that an element and those around it must have; siblings aside."""
    combinator = ""
    while True:
        is_last = not isinstance(tree, css.CombinedSelector)
        compound = tree if is_last else tree.right
        for simple in compound.simple_selectors if combinator not in ("+", "~") else ():
            if isinstance(simple, css.IDSelector):
                yield f"#{simple.ident}"
            elif isinstance(simple, css.ClassSelector):
                yield f".{simple.class_name}"
            elif isinstance(simple, css.LocalNameSelector):
                yield simple.lower_local_name
        if is_last:
            return
        combinator, tree = tree.combinator, tree.left


# ---------------------------------------------------------------------------------------- matching


class _Matching:
    """One comparison of a selector with an element."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[int, int], Match] = {}

    def complex(self, tree: Any, element: Element) -> Match:
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
