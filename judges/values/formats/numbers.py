"""The formats `int` and `float:N` (tables.md, "The comparator")."""

from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from judges.text.amounts import NoAmountError, read_amount, round_to
from judges.values.formats.cell import Cell
from judges.values.formats.text import TextFormat, shortened


class IntFormat(TextFormat):
    """The format `int`: equal if both cells write the same whole number, with any unit."""

    kind: ClassVar[str] = "whole number"

    def _value(self, shown: str, lower: str) -> Hashable:
        amount = read_amount(shown)
        if amount != amount.to_integral_value():
            raise NoAmountError(f"{amount:f} has a fraction")
        return amount

    def _written(self, cell: Cell) -> str:
        return shortened(f"{cell.value:.0f}")


_NARROWEST = Decimal("1e-9")


@dataclass(frozen=True)
class FloatFormat(TextFormat):
    """The format `float:N`: equal if both numbers round to the same number of `places` decimal
    places, or differ by at most `tolerance`, a fraction of the gold number."""

    places: int
    tolerance: Decimal
    kind: ClassVar[str] = "number"

    def _value(self, shown: str, lower: str) -> Hashable:
        return read_amount(shown, decimal_comma=True)

    def exact(self, cell: Cell) -> Hashable:
        """The rounded number: cells with the same one are equal."""
        return round_to(cell.value, self.places) if isinstance(cell.value, Decimal) else cell.form

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """The form, the rounded number, and two buckets of the number's logarithm.

        A bucket is as wide as the tolerance, so that two numbers within it share a bucket."""
        found = super().aliases(cell)
        if not self.tolerance or not isinstance(cell.value, Decimal):
            return found
        if self.tolerance >= 1:
            return frozenset((*found, "any"))
        if cell.value:
            width = max(-(1 - self.tolerance).ln(), _NARROWEST)
            bucket = int(abs(cell.value).ln() / width // 1)
            found |= {(cell.value > 0, bucket), (cell.value > 0, bucket + 1)}
        return found

    def _same(self, gold: Hashable, pred: Hashable) -> bool:
        assert isinstance(gold, Decimal)
        assert isinstance(pred, Decimal)
        return (
            round_to(gold, self.places) == round_to(pred, self.places)
            or abs(gold - pred) <= abs(gold) * self.tolerance
        )

    def _written(self, cell: Cell) -> str:
        assert isinstance(cell.value, Decimal)
        return shortened(f"{round_to(cell.value, self.places):f}")
