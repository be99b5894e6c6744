"""Selectors, parsed by cssselect2."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cssselect2 import parser as css

from fetchers.reading.css.document import Document, Element
from fetchers.reading.css.matching import Match, Matching

MAX_SELECTOR = 400  # characters


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
            found = document.matches[place] = Matching(document).complex(self.tree, element)
        return Match(found)

    def matches_now(self, document: Document, element: Element) -> Match:
        """The same, but NEVER instead of CHANGED. It is faster."""
        if not self.names <= element.around:
            document.spend()
            return Match.NEVER
        found = self.match(document, element)
        return found if found >= Match.NOW else Match.NEVER


def parse(source: str) -> Selector | None:
    """Parse one selector (not a list). None if it is invalid or not supported."""
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
