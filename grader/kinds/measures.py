"""Precision, recall and F1, as every score that has them."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Measures:
    """Precision, recall and their harmonic mean within the task (0 where both are 0)."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, precision: float, recall: float) -> Self:
        """Complete the two by their F1."""
        total = precision + recall
        return cls(precision, recall, 2 * precision * recall / total if total else 0.0)
