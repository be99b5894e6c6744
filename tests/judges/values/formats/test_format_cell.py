"""The interface that all comparators implement."""

import pytest

from judges.values.cells import comparator_for
from judges.values.formats.cell import Cell, Comparator, Match
from judges.values.formats.widesearch import WideSearchComparator

COMPARATORS: list[Comparator] = [
    *map(comparator_for, ("text", "int", "float:1", "date:YYYY", "enum:A|B", "name", "url")),
    WideSearchComparator(["norm_str"], ["exact_match"]),
]


@pytest.mark.parametrize("comparator", COMPARATORS)
def test_a_comparator_reads_and_compares_cells(comparator: Comparator) -> None:
    cell = comparator.read("a cell that has no value in most formats")
    assert isinstance(cell, Cell)
    assert comparator.compare(cell, cell).match
    assert isinstance(comparator.compare(cell, comparator.read("another")), Match)
    assert comparator.exact(cell) == comparator.exact(comparator.read(cell.shown))
    assert comparator.aliases(cell)
