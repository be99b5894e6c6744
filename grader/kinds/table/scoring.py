"""How a table is scored: rows are matched one to one on their keys, and cells are compared by the
format of their column (Ko-WideSearch, "Task and metrics" and "Scoring Details"). WideSearch's item
score is `cell` here."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from statistics import fmean
from typing import Any

from grader.kinds.measures import Measures
from grader.tasks.table import Column, TableTask
from judges.values.formats.cell import Cell, Match
from judges.values.formats.text import is_blank
from judges.values.tables import Row, TableReader


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The measures of the attribute cells of matched rows: over all cells (micro), and as a mean
    over columns (macro)."""

    micro: Measures
    macro: Measures


@dataclass(frozen=True, slots=True)
class TableScore:
    """The scores of one response. `formats` has the micro measures by kind of column format."""

    parsed: bool
    item: Measures
    column: ColumnFigures
    row: Measures
    cell: Measures
    success: bool
    formats: Mapping[str, Measures]
    counts: Mapping[str, int]

    def plain(self) -> dict[str, Any]:
        """The fields of a line of scores.jsonl."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class GradedTable:
    """A score, and a line of records.jsonl for every row, without run, task and rollout."""

    score: TableScore
    rows: Sequence[Mapping[str, Any]]


Cells = Sequence[Cell]
"""The cells of a row, as the comparators read them."""

Matches = Sequence[Match | None]
"""The comparison of each cell of a row. None if the gold cell has no value to score."""

NOT_SCORED = "not scored: the gold has no value"


@dataclass(slots=True)
class Tally:
    """Counts of scored cells in matched rows: all of them, those that the response fills, and those
    that are right."""

    cells: int = 0
    predicted: int = 0
    right: int = 0

    @property
    def measures(self) -> Measures:
        """Precision over the predicted cells, and recall over all cells. Both are 1 without a
        cell."""
        if not self.cells:
            return Measures.of(1.0, 1.0)
        return _measures(self.right, self.predicted, self.cells)


def _measures(right: int, predicted: int, wanted: int) -> Measures:
    return Measures.of(right / predicted if predicted else 0.0, right / wanted if wanted else 0.0)


class TableGrader:
    """Grades responses to one table task. The gold table is read once."""

    def __init__(self, task: TableTask) -> None:
        self._columns = task.columns
        self._keys = [n for n, column in enumerate(task.columns) if column.name in task.key_columns]
        self._attributes = [n for n in range(len(task.columns)) if n not in self._keys]
        self._reader = TableReader([column.name for column in task.columns], task.key_columns)
        self._texts: list[Row] = [
            tuple(row.get(column.name) or "" for column in task.columns) for row in task.rows
        ]
        self._gold = [read_row(task.columns, texts) for texts in self._texts]
        sentinels = {sentinel.strip() for sentinel in task.sentinels}
        self._scored = [
            [
                column.counts_blanks or not (is_blank(text) or text.strip() in sentinels)
                for column, text in zip(task.columns, texts, strict=True)
            ]
            for texts in self._texts
        ]

    def grade(self, response: str) -> GradedTable:
        """Score a system's raw response. Pure; never raises for anything in the response."""
        rows = self._reader.read(response)
        return self.grade_rows(rows or [], parsed=rows is not None)

    def grade_rows(self, rows: Sequence[Row], *, parsed: bool = True) -> GradedTable:
        """Score rows that were read already. Their cells are in the order of the task's columns."""
        return self._graded(rows, *self._match(rows), parsed)

    def _graded(
        self,
        rows: Sequence[Row],
        found: Sequence[int | None],
        matches: Sequence[Matches],
        parsed: bool,
    ) -> GradedTable:
        pairs = enumerate(zip(found, matches, rows, strict=True))
        lines = [self._row_line(number, *row) for number, row in pairs]
        missed = sorted(set(range(len(self._gold))) - set(found))
        lines += [self._missed_line(gold_row) for gold_row in missed]
        return GradedTable(self._score(found, matches, self._tally(rows, matches), parsed), lines)

    def tallies(self, rows: Sequence[Row]) -> dict[str, Tally]:
        """The counts of each attribute column, in matched rows."""
        tallies = self._tally(rows, self._match(rows)[1])
        return {self._columns[place].name: tallies[place] for place in self._attributes}

    def _match(self, rows: Sequence[Row]) -> tuple[list[int | None], list[Matches]]:
        """The gold row of each row, and the comparison of its cells (empty without a gold row)."""
        pred = [read_row(self._columns, row) for row in rows]
        found = match_rows(self._columns, self._keys, self._gold, pred)
        matches = [
            [] if gold_row is None else self._compare(gold_row, cells, texts)
            for gold_row, cells, texts in zip(found, pred, rows, strict=True)
        ]
        return found, matches

    def _tally(self, rows: Sequence[Row], matches: Sequence[Matches]) -> list[Tally]:
        tallies = [Tally() for _ in self._columns]
        for texts, row in zip(rows, matches, strict=True):
            for tally, text, match in zip(tallies, texts, row, strict=False):
                if match is not None:
                    tally.cells += 1
                    tally.right += match.match
                    # A right blank counts as predicted. Otherwise precision could exceed 1.
                    tally.predicted += match.match or not is_blank(text)
        return tallies

    def _compare(self, gold_row: int, pred: Cells, texts: Row) -> Matches:
        """The comparison of each cell of a matched row. None if the cell is not scored."""
        gold, scored = self._gold[gold_row], self._scored[gold_row]
        return [
            None
            if not scored[place]
            else Match(False, "blank")
            if not column.counts_blanks and is_blank(texts[place])
            else column.comparator.compare(gold[place], pred[place])
            for place, column in enumerate(self._columns)
        ]

    def _score(
        self,
        found: Sequence[int | None],
        matches: Sequence[Matches],
        tallies: Sequence[Tally],
        parsed: bool,
    ) -> TableScore:
        width, golds, rows = len(self._columns), len(self._gold), len(found)
        matched = [gold_row for gold_row in found if gold_row is not None]
        right = [sum(match.match for match in row if match) for row in matches]
        scored = [sum(self._scored[gold_row]) for gold_row in matched]
        whole = sum(
            gold_row is not None and right[number] == sum(self._scored[gold_row])
            for number, gold_row in enumerate(found)
        )
        return TableScore(
            parsed=parsed,
            item=_measures(len(matched), rows, golds),
            column=_column_figures([tallies[place] for place in self._attributes], bool(matched)),
            row=_measures(whole, rows, golds),
            cell=_cell_figures(
                sum(right),
                sum(scored) + width * (rows - len(matched)),
                sum(map(sum, self._scored)),
                bool(matched),
            ),
            success=whole == rows == golds,
            formats=self._formats(tallies, bool(matched)),
            counts={"gold_rows": golds, "rows": rows, "matched": len(matched)},
        )

    def _formats(self, tallies: Sequence[Tally], matched: bool) -> dict[str, Measures]:
        """The micro measures of the attribute columns, by kind of format."""
        kinds: dict[str, list[Tally]] = defaultdict(list)
        for place in self._attributes:
            kinds[self._columns[place].kind].append(tallies[place])
        return {kind: _column_figures(kinds[kind], matched).micro for kind in sorted(kinds)}

    # The lines of records.jsonl.

    def _row_line(
        self, number: int, gold_row: int | None, matches: Matches, texts: Row
    ) -> dict[str, Any]:
        if gold_row is None:
            cells = [
                _cell(None, text, False, "no gold row is left with this key") for text in texts
            ]
        else:
            cells = [
                _cell(
                    gold, text, match.match if match else None, match.why if match else NOT_SCORED
                )
                for gold, text, match in zip(self._texts[gold_row], texts, matches, strict=True)
            ]
        return _line(self._columns, number, gold_row, cells)

    def _missed_line(self, gold_row: int) -> dict[str, Any]:
        cells = [
            _cell(gold, None, False, "no row has this key")
            if scored
            else _cell(gold, None, None, NOT_SCORED)
            for gold, scored in zip(self._texts[gold_row], self._scored[gold_row], strict=True)
        ]
        return _line(self._columns, None, gold_row, cells)


def _line(
    columns: Sequence[Column], row: int | None, gold_row: int | None, cells: Sequence[Any]
) -> dict[str, Any]:
    """A line of records.jsonl. `cells` are in the order of the columns."""
    names = (column.name for column in columns)
    return {
        "row": row,
        "gold_row": gold_row,
        "cells": dict(zip(names, cells, strict=True)),
        "state": "graded",
    }


def _cell(gold: str | None, pred: str | None, match: bool | None, why: str) -> dict[str, Any]:
    return {"gold": gold, "pred": pred, "match": match, "why": why}


def _cell_figures(right: int, predicted: int, wanted: int, matched: bool) -> Measures:
    """The measures of all cells. Both are 1 if rows match and no cell is scored."""
    if matched and not predicted and not wanted:
        return Measures.of(1.0, 1.0)
    return _measures(right, predicted, wanted)


def _column_figures(tallies: Sequence[Tally], matched: bool) -> ColumnFigures:
    """The micro and macro measures of some columns. They are 0 if no row matches, and 1 if rows
    match and no cell is scored."""
    if not matched:
        return ColumnFigures(Measures.of(0.0, 0.0), Measures.of(0.0, 0.0))
    micro = Tally(
        sum(tally.cells for tally in tallies),
        sum(tally.predicted for tally in tallies),
        sum(tally.right for tally in tallies),
    ).measures
    each = [tally.measures for tally in tallies if tally.cells] or [micro]
    return ColumnFigures(micro, Measures(*map(fmean, zip(*map(astuple, each), strict=True))))


def read_row(columns: Sequence[Column], texts: Row) -> list[Cell]:
    """The cells of a row, as the comparators of their columns read them."""
    return [column.comparator.read(text) for column, text in zip(columns, texts, strict=True)]


def match_rows(
    columns: Sequence[Column], keys: Sequence[int], gold: Sequence[Cells], pred: Sequence[Cells]
) -> list[int | None]:
    """The gold row of each predicted row, one to one, by the comparators of the key columns.

    1. If the gold table has a key several times, rows that are equal in every column match.
    2. Keys with the same exact form match, in the order of the rows.
    3. Other rows are compared if they share an alias in every key column.
    """
    comparators = [column.comparator for column in columns]
    found: list[int | None] = [None] * len(pred)
    left = dict.fromkeys(range(len(gold)))

    def form(row: Cells, places: Iterable[int]) -> tuple[Hashable, ...]:
        return tuple(comparators[place].exact(row[place]) for place in places)

    def claim(number: int, gold_row: int) -> None:
        found[number] = gold_row
        del left[gold_row]

    def join(gold_rows: Iterable[int], places: Sequence[int]) -> None:
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for gold_row in gold_rows:
            waiting[form(gold[gold_row], places)].append(gold_row)
        for group in waiting.values():
            group.reverse()
        for number in _open(found):
            if group := waiting.get(form(pred[number], places), []):
                claim(number, group.pop())

    counts = Counter(form(row, keys) for row in gold)
    if repeated := [g for g in left if counts[form(gold[g], keys)] > 1]:
        join(repeated, range(len(columns)))
    join(left, keys)

    rows_of: list[dict[Hashable, set[int]]] = [defaultdict(set) for _ in keys]
    for gold_row in left:
        for place, rows in zip(keys, rows_of, strict=True):
            for alias in comparators[place].aliases(gold[gold_row][place]):
                rows[alias].add(gold_row)
    for number in _open(found) if left else ():
        candidates = set(left)
        for place, rows in zip(keys, rows_of, strict=True):
            aliases = comparators[place].aliases(pred[number][place])
            candidates &= set().union(*(rows.get(alias, ()) for alias in aliases))
        for gold_row in sorted(candidates):
            if all(
                comparators[place].compare(gold[gold_row][place], pred[number][place]).match
                for place in keys
            ):
                claim(number, gold_row)
                break
    return found


def _open(found: Sequence[int | None]) -> list[int]:
    """The numbers of the rows that have no gold row yet."""
    return [number for number, gold_row in enumerate(found) if gold_row is None]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a column between a gold table and a second source. `compared` counts the
    scored cells of rows that both have, `equal` those that are equal. `keep` says if the column is
    kept."""

    compared: int
    equal: int
    keep: bool


def agreement(task: TableTask, second: Sequence[Row], enough: float) -> dict[str, Agreement]:
    """Check a gold table against the rows of a second source (Ko-WideSearch, gate 3: a column on
    which the sources differ is dropped). An attribute column is kept if its share of equal cells is
    at least `enough`, from 0 to 1. A column without a compared cell is not kept."""
    tallies = TableGrader(task).tallies(second)
    return {
        name: Agreement(
            tally.cells, tally.right, tally.cells > 0 and tally.right >= enough * tally.cells
        )
        for name, tally in tallies.items()
    }
