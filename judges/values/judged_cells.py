"""Questions to a model about tables: whether two cells say the same under their column's criterion,
and which row of a gold table a key in other words names (Ko-WideSearch, "Scoring Details";
WideSearch's metric `llm_judge`).

What strict comparison shows to differ binds the model: see `differs`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Template
from typing import Any

from judges.endpoint.batching import Batcher
from judges.endpoint.prompting import (
    REASON,
    as_json,
    by_number,
    closed,
    fenced,
    numbered,
    read_prompt,
    reason,
)
from judges.endpoint.questions import Ask, Effort, Request, Usage
from judges.names.blocks import contradict
from judges.names.folding import fold
from judges.values import surface
from judges.values.formats.cell import Cell

_LAYOUT = 1
_CELLS, CELLS_VERSION = read_prompt(__file__, "cells", _LAYOUT)
_KEYS, KEYS_VERSION = read_prompt(__file__, "keys", _LAYOUT)

TOGETHER = 25
"""Cells of a column, or keys of a table, that are asked about at once, at most."""
LONGEST = 1_000
"""Characters of a cell that a model is shown."""


def differs(kind: str, gold: Cell, pred: Cell) -> bool:
    """Whether strict comparison shows that two cells that do not match are not one, whatever a
    model says of them: two numbers, dates or members of a roster, in a column of such; elsewhere
    two values beside one another, and names of which each has a number that the other lacks."""
    if kind in MEASURED:
        return gold.value is not None and pred.value is not None
    if surface.differ(surface.clean(gold.shown), surface.clean(pred.shown)):
        return True
    names = fold(gold.shown[:LONGEST]), fold(pred.shown[:LONGEST])
    return kind == "name" and contradict(*names)


MEASURED = frozenset(("int", "float", "date", "enum"))
"""Kinds of columns whose cells say a value that can be put beside another."""


# -------------------------------------------------------------------------------------------- cells


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold cell and a predicted one that strict comparison does not find the same. `source` is
    whose it is: what one source wrote is not shown beside what another did."""

    column: str
    criterion: str
    gold: str
    pred: str
    source: int

    @property
    def parts(self) -> tuple[str, ...]:
        """All that the answer depends on."""
        return self.column, self.criterion, self.gold, self.pred


@dataclass(frozen=True, slots=True)
class Ruled:
    """Whether a pair is the same, why, and what asking took."""

    same: bool
    reason: str
    usage: Usage


_TALKATIVE = 60
"""Characters. Shorter cells turn up in many tables, with one answer for all of them: it is not
given beside what is long enough to talk the model round."""


def judging_cells(ask: Ask, model: str, effort: Effort) -> Batcher[Pair, Ruled]:
    """Rules on pairs, many of one column and one source in a request."""

    async def rule(pairs: Sequence[Pair]) -> list[Ruled | Exception]:
        shown = [{"gold": _cut(pair.gold), "predicted": _cut(pair.pred)} for pair in pairs]
        system = Template(_CELLS).substitute(
            column=as_json(pairs[0].column), criterion=as_json(pairs[0].criterion)
        )
        reply = await ask(
            Request(
                "cells",
                model,
                effort,
                system,
                _numbered("cells", shown),
                _same(len(pairs)),
                items=len(pairs),
            )
        )
        return [
            said if isinstance(said, Exception) else Ruled(said["same"], reason(said), usage)
            for said, usage in by_number(reply, len(pairs))
        ]

    return Batcher(
        rule,
        lambda pair: (pair.source, pair.column, pair.criterion, len(pair.pred) > _TALKATIVE),
        TOGETHER,
    )


@lru_cache(maxsize=64)
def _same(count: int) -> str:
    one = closed(reason=REASON, same={"type": "boolean"})
    return json.dumps(numbered([one] * count))


# --------------------------------------------------------------------------------------------- keys


@dataclass(frozen=True, slots=True)
class Roster:
    """The keys of gold rows: the names of the key columns, and a row's number with its cells."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a predicted row that no gold row has in these words. `source` as in Pair."""

    roster: Roster
    cells: tuple[str, ...]
    source: int


@dataclass(frozen=True, slots=True)
class Found:
    """The number of the gold row that a key names (None: of none), why, and what asking took."""

    gold_row: int | None
    reason: str
    usage: Usage


def finding_rows(ask: Ask, model: str, effort: Effort) -> Batcher[Key, Found]:
    """Finds the rows of keys, many of one table and one source in a request."""

    async def find(keys: Sequence[Key]) -> list[Found | Exception]:
        roster = keys[0].roster
        system = Template(_KEYS).substitute(
            columns=as_json(roster.columns),
            rows="\n".join(f"{n}: {as_json([*map(_cut, cells)])}" for n, cells in roster.rows),
        )
        shown = [dict(zip(roster.columns, map(_cut, key.cells), strict=True)) for key in keys]
        numbers = tuple(number for number, _ in roster.rows)
        reply = await ask(
            Request(
                "keys",
                model,
                effort,
                system,
                _numbered("keys", shown),
                _row(len(keys), numbers),
                items=len(keys),
            )
        )
        return [
            said if isinstance(said, Exception) else Found(said["row"], reason(said), usage)
            for said, usage in by_number(reply, len(keys))
        ]

    return Batcher(find, lambda key: (key.source, key.roster), TOGETHER)


@lru_cache(maxsize=64)
def _row(count: int, numbers: tuple[int, ...]) -> str:
    one = closed(reason=REASON, row={"$ref": "#/$defs/row"})
    schema = numbered([one] * count)
    row = {"type": ["integer", "null"], "enum": [*numbers, None]}
    return json.dumps({**schema, "$defs": {"row": row}})


# ----------------------------------------------------------------------------------------- for both


def _numbered(what: str, values: Sequence[Any]) -> str:
    """Strangers' values as one JSON object by number, fenced."""
    content = json.dumps(dict(enumerate(values, 1)), ensure_ascii=False, indent=0)
    return fenced(what, content)[0]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} […]"
