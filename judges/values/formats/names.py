"""The formats `enum:A|B` and `name` (tables.md, "The comparator")."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from judges.values.formats.cell import Cell
from judges.values.formats.text import TextFormat, shown_text, unspaced

_LONGEST_ENUM = 1000
"""The characters of a cell that are searched for members."""


@dataclass(frozen=True)
class EnumFormat(TextFormat):
    """The format `enum:A|B`: equal if both cells name the same member and no other member."""

    members: tuple[str, ...]
    kind: ClassVar[str] = "member"

    def _value(self, shown: str, lower: str) -> Hashable:
        names, pattern = _roster(self.members)
        if (whole := unspaced(lower)) in names:
            return names[whole]
        found = {names[unspaced(match[0])] for match in pattern.finditer(lower[:_LONGEST_ENUM])}
        if len(found) != 1:
            count = "more than one" if found else "none"
            raise ValueError(f"{count} of {'|'.join(self.members)}")
        return found.pop()


@cache
def _roster(members: tuple[str, ...]) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """The members by their form, and a pattern that finds a member among other words."""
    names = {unspaced(shown_text(member).casefold()): member for member in members}
    either = "|".join(
        r"\s?".join(map(re.escape, name)) for name in sorted(names, key=len, reverse=True)
    )
    return names, re.compile(rf"(?<!\w)(?:{either})(?!\w)")


_COMPANY = re.compile(r"\((?:주|株)\)|주식회사|株式会社")
_GLOSS = re.compile(r"\(([^()]*+)\)")
_MOST_GLOSSES = 4
_OTHER_NAME = re.compile(r"\s*(?:or|not|또는|혹은|아니면)\s")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Names:
    """The names in a cell: the whole cell, the name without glosses, the glosses in parentheses,
    and the numbers in the glosses."""

    whole: str
    name: str
    glosses: tuple[str, ...]
    numbers: tuple[str, ...]


class NameFormat(TextFormat):
    """The format `name`: equal if the names are, or if one is the other's gloss in parentheses."""

    kind: ClassVar[str] = "name"

    def _value(self, shown: str, lower: str) -> Hashable:
        bare = _COMPANY.sub("", lower).strip() or lower
        glosses = _GLOSS.findall(bare)[:_MOST_GLOSSES] if "(" in bare else []
        if any(map(_OTHER_NAME.match, glosses)):
            glosses = []  # "(or B)" offers another answer, not another name
        name = unspaced(" ".join(_GLOSS.sub(" ", bare).split())) if glosses else ""
        numbers = tuple(number for gloss in glosses for number in _DIGITS.findall(gloss))
        whole = unspaced(bare)
        return _Names(whole, name or whole, tuple(map(unspaced, map(str.strip, glosses))), numbers)

    def exact(self, cell: Cell) -> Hashable:
        """The whole cell, glosses included."""
        assert isinstance(cell.value, _Names)
        return cell.value.whole

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """The whole cell, the name and each gloss."""
        assert isinstance(cell.value, _Names)
        return frozenset((cell.form, cell.value.whole, cell.value.name, *cell.value.glosses))

    def _same(self, gold: Hashable, pred: Hashable) -> bool:
        assert isinstance(gold, _Names)
        assert isinstance(pred, _Names)
        if gold.name == pred.name:
            # A number in the gloss, such as the year of a film, tells two things of one name apart.
            return gold.whole == pred.whole or not (
                gold.numbers and pred.numbers and gold.numbers != pred.numbers
            )
        # A cell with several glosses may list candidates: none of its glosses counts as its name.
        return (len(pred.glosses) == 1 and gold.name in pred.glosses) or (
            len(gold.glosses) == 1 and pred.name in gold.glosses
        )
