"""The judged score of a table, beside the strict one (tables.md, section 5). A model may decide
keys that no gold row has in the same words, and cells that the comparator failed, under the
criterion of their column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.kinds.table.scoring import (
    NOT_SCORED,
    GradedTable,
    Matches,
    TableGrader,
    TableScore,
    read_row,
)
from grader.tasks.table import Column, TableTask
from judges.values.formats.cell import Cell, Comparator, Match
from judges.values.formats.text import is_blank
from judges.values.formats.widesearch import WideSearchComparator
from judges.values.judged_cells import MEASURED, Found, Key, Pair, Roster, Ruled, differs
from judges.values.tables import Row

Place = tuple[int, int]
"""The number of a row of the response, and of a column."""

MOST_KEYS = 300
"""Rows of a response whose keys a model is asked about, at most: the first ones."""
LONGEST_KEY, LONGEST_CELL = 200, 10_000
"""Characters of a cell in a key column and in another column. A model is not asked about longer
cells."""
MOST_ROWS, MOST_CHARACTERS = 500, 15_000
"""Gold rows that a model is shown, and their characters, at most. Endpoints limit how many values a
schema may enumerate."""


@dataclass(frozen=True, slots=True)
class Rulings:
    """A model's answers about a response: the gold row of a key, by row; if a cell is right, by
    place; and errors, by row, if there was no usable answer."""

    rows: Mapping[int, Found] = field(default_factory=dict)
    cells: Mapping[Place, Ruled] = field(default_factory=dict)
    errors: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """The strict score with the lines of the rows, and the judged score. `keys` and `cells` are the
    questions for a model. The questions on cells depend on the rulings on keys."""

    strict: GradedTable
    score: TableScore
    keys: Mapping[int, Key]
    cells: Mapping[Place, Pair]


class TableJudge(TableGrader):
    """Grades responses to one table task, with or without a model's rulings."""

    def __init__(self, task: TableTask) -> None:
        super().__init__(task)
        self._criteria = [_criterion(column) for column in task.columns]
        self._others = [_other_metrics(column) for column in task.columns]
        self._gold_keys = {self._key_form(cells) for cells in self._gold}

    def judge(self, response: str, rulings: Rulings, source: int) -> JudgedTable:
        """The strict and the judged score of a response. `source` is a number that no other
        response has. Pure; never raises for anything in the response."""
        read = self._reader.read(response)
        rows = read or []
        found, matches = self._match(rows)
        strict = self._graded(rows, found, matches, parsed=read is not None)
        keys = dict(self._open_keys(rows, found, source))
        joined = self._joined(rows, found, rulings.rows)
        for number, gold_row in joined.items():
            found[number] = gold_row
            matches[number] = self._compare_renamed(gold_row, rows[number], rulings.rows[number])
        cells = dict(self._open_cells(rows, found, matches, source))
        lines = self._annotated(strict.rows, joined, matches, rulings)
        judged = [list(row) for row in matches]
        for (number, place), ruled in rulings.cells.items():
            if ruled.same and (number, place) in cells:
                judged[number][place] = Match(True, ruled.reason)
        tallies = self._tally(rows, judged)
        score = self._score(found, judged, tallies, strict.score.parsed)
        return JudgedTable(GradedTable(strict.score, lines), score, keys, cells)

    # Keys

    def _key_form(self, cells: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self._columns[place].comparator.exact(cells[place]) for place in self._keys)

    def _open_keys(
        self, rows: Sequence[Row], found: Sequence[int | None], source: int
    ) -> Iterator[tuple[int, Key]]:
        """The keys to ask a model about: those that no gold row has in the same words.
        Yields nothing if every gold row has a match."""
        missed = sorted(set(range(len(self._gold))) - set(found))
        if not missed:
            return
        roster = self._roster(missed)
        left = MOST_KEYS
        for number, gold_row in enumerate(found):
            if gold_row is not None or not left:
                continue
            key = tuple(rows[number][place] for place in self._keys)
            if any(len(cell) > LONGEST_KEY for cell in key) or all(map(is_blank, key)):
                continue
            if self._key_form(read_row(self._columns, rows[number])) not in self._gold_keys:
                left -= 1
                yield number, Key(roster, key, source)

    def _roster(self, missed: Sequence[int]) -> Roster:
        """The gold keys that a model is shown: all of them, so that an answer holds for every
        response. If the table is too large, only the keys of the missed gold rows, as many as
        fit."""
        names = tuple(self._columns[place].name for place in self._keys)
        every = range(len(self._gold))
        for numbers in (every, missed):
            keys = [(n, tuple(self._texts[n][place] for place in self._keys)) for n in numbers]
            room, fitting = MOST_CHARACTERS, []
            for number, key in keys[:MOST_ROWS]:
                room -= sum(map(len, key))
                if room < 0:
                    break
                fitting.append((number, key))
            if len(fitting) == len(keys):
                break
        return Roster(names, tuple(fitting))

    def _joined(
        self, rows: Sequence[Row], found: Sequence[int | None], rulings: Mapping[int, Found]
    ) -> dict[int, int]:
        """The gold row of each row whose key a model finds to be the same in other words, one to
        one. Left out if strict comparison shows that the keys differ."""
        taken = {gold_row for gold_row in found if gold_row is not None}
        joined = {}
        for number, ruled in sorted(rulings.items()):
            gold_row = ruled.gold_row
            if gold_row is None or gold_row in taken or found[number] is not None:
                continue
            gold, pred = self._gold[gold_row], read_row(self._columns, rows[number])
            if not any(self._keys_differ(place, gold[place], pred[place]) for place in self._keys):
                taken.add(gold_row)
                joined[number] = gold_row
        return joined

    def _keys_differ(self, place: int, gold: Cell, pred: Cell) -> bool:
        """Whether strict comparison shows that two key cells differ. A blank cell names nothing."""
        column = self._columns[place]
        if column.comparator.compare(gold, pred).match:
            return False
        kind = column.kind if column.kind in MEASURED else "name"
        return is_blank(gold.shown) or is_blank(pred.shown) or differs(kind, gold, pred)

    def _compare_renamed(self, gold_row: int, texts: Row, ruled: Found) -> list[Match | None]:
        """Compare the cells of a row whose key a model finds to be the same in other words."""
        matches = list(self._compare(gold_row, read_row(self._columns, texts), texts))
        for place in self._keys:
            if (match := matches[place]) and not match.match:
                matches[place] = Match(True, ruled.reason)
        return matches

    # Cells

    def _open_cells(
        self,
        rows: Sequence[Row],
        found: Sequence[int | None],
        matches: Sequence[Matches],
        source: int,
    ) -> Iterator[tuple[Place, Pair]]:
        """The cells to ask a model about: they failed, their column has a criterion, and no strict
        fact shows that they differ."""
        for number, gold_row in enumerate(found):
            if gold_row is None:
                continue
            for place, (match, criterion) in enumerate(
                zip(matches[number], self._criteria, strict=True)
            ):
                gold, pred = self._texts[gold_row][place], rows[number][place]
                if match is None or match.match or criterion is None:
                    continue
                if len(pred) > LONGEST_CELL or is_blank(gold) or is_blank(pred):
                    continue
                if self._is_final(place, gold, pred):
                    continue
                column = self._columns[place].name
                yield (number, place), Pair(column, criterion, gold, pred, source)

    def _is_final(self, place: int, gold: str, pred: str) -> bool:
        """Whether a failed cell is wrong and no model may change that."""
        comparator: Comparator = self._others[place] or self._columns[place].comparator
        cells = comparator.read(gold), comparator.read(pred)
        if self._others[place]:
            return not comparator.compare(*cells).match
        return differs(self._columns[place].kind, *cells)

    # The lines of records.jsonl.

    def _annotated(
        self,
        lines: Sequence[Mapping[str, Any]],
        joined: Mapping[int, int],
        matches: Sequence[Matches],
        rulings: Rulings,
    ) -> list[Mapping[str, Any]]:
        """The strict lines with a model's answers. A cell that was judged has `judged`. A row whose
        key was found has `judged_gold_row`, and the line of a missed gold row that was found has
        `judged_row`."""
        finders = {gold_row: number for number, gold_row in joined.items()}
        annotated: list[Mapping[str, Any]] = []
        for line in lines:
            number = line["row"]
            if number is None:
                finder = finders.get(line["gold_row"])
                annotated.append(line if finder is None else {**line, "judged_row": finder})
                continue
            cells: dict[int, dict[str, Any]] = {}
            if number in joined:
                line = {**line, "judged_gold_row": joined[number]}
                cells = dict(enumerate(self._cells_found(joined[number], matches[number])))
            elif number in rulings.rows:
                reason = rulings.rows[number].reason
                cells = {place: {"judged": False, "why": reason} for place in self._keys}
            for place in range(len(self._columns)):
                if ruled := rulings.cells.get((number, place)):
                    cells.setdefault(place, {}).update(judged=ruled.same, why=ruled.reason)
            named = {self._columns[place].name: more for place, more in cells.items()}
            merged = {name: {**cell, **named.get(name, {})} for name, cell in line["cells"].items()}
            error = rulings.errors.get(number)
            state = {"state": "ungraded", "error": error} if error else {}
            annotated.append({**line, "cells": merged, **state})
        return annotated

    def _cells_found(self, gold_row: int, matches: Matches) -> Iterator[dict[str, Any]]:
        for gold, match in zip(self._texts[gold_row], matches, strict=True):
            if match is None:
                yield {"gold": gold, "judged": None, "why": NOT_SCORED}
            else:
                yield {"gold": gold, "judged": match.match, "why": match.why}


DEFAULT_CRITERION = "It says the same as the gold cell, in whatever words, language or form."


def _criterion(column: Column) -> str | None:
    """The criterion by which a model judges the cells of a column. None if it may not judge
    them."""
    if isinstance(column.criterion, str) and (column.format or column.metric == (LLM_JUDGE,)):
        return column.criterion
    return DEFAULT_CRITERION if LLM_JUDGE in column.metric else None


LLM_JUDGE = "llm_judge"


def _other_metrics(column: Column) -> WideSearchComparator | None:
    """The other metrics of a WideSearch column that has `llm_judge`. A cell that fails them is
    wrong, whatever a model says. None if there are no others."""
    others = [name for name in column.metric if name != LLM_JUDGE]
    if not others or LLM_JUDGE not in column.metric:
        return None
    comparator = column.comparator
    assert isinstance(comparator, WideSearchComparator)
    return WideSearchComparator(comparator.preprocess, others, comparator.criterion)
