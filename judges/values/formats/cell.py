"""What a comparator reads from a cell, and what it answers about two cells."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as the comparator of its column reads it.

    `shown` is the text without the marks that never count. `form` is `shown` in one letter case
    and without spaces. `value` is what the cell says in its format, for example a number; it is
    None if the cell says nothing in that format, and `fault` then has the reason.
    """

    shown: str
    form: str
    value: Hashable
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """Whether two cells are equal, and the reason, which is shown in records.jsonl."""

    match: bool
    why: str


class Comparator(Protocol):
    """Compares the cells of one column. Reading costs more than comparing: read each cell once."""

    def read(self, text: str) -> Cell:
        """Read a cell. Never raises. Takes time in proportion to the length of the text."""

    def compare(self, gold: Cell, pred: Cell) -> Match:
        """Compare a predicted cell with the gold cell."""

    def exact(self, cell: Cell) -> Hashable:
        """A key for an index: two cells with the same key are always equal."""

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """A few keys for an index: two cells that are equal always share at least one of them."""
