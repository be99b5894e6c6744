"""The elements of a page, read once, with what selectors ask for."""

import re
from collections.abc import Iterator
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetchers.reading.css.budget import Budget, TooMuch

# Classes and attributes that scripts set and take away. Split at hyphens and underscores.
_STATES = frozenset((
    "active", "checked", "clicked", "close", "closed", "collapsed", "collapsing", "current",
    "disabled", "enabled", "entered", "expanded", "expand", "fixed", "focus", "focused", "hover",
    "in", "inactive", "inview", "invisible", "loaded", "loading", "on", "open", "opened",
    "pressed", "ready", "revealed", "selected", "show", "showing", "shown", "sticky", "toggled",
    "unfolded", "visible",
))  # fmt: skip
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
        self.matches: dict[tuple[int, int], int] = {}

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
