"""Precision, recall and F1."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Measures:
    """Precision, recall and their harmonic mean, from 0 to 1. F1 is 0 if both are 0 (scoring.md,
    section 4)."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, precision: float, recall: float) -> Self:
        """Add F1 to a precision and a recall."""
        total = precision + recall
        return cls(precision, recall, 2 * precision * recall / total if total else 0.0)
