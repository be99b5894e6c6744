"""Questions to a model about tables (tables.md, item 5; Ko-WideSearch, "Scoring Details";
WideSearch's metric `llm_judge`): whether two cells say the same under the criterion of their
column, and which gold row a key in other words names.

A model cannot overrule a difference that the strict comparison shows: see `differs`.
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

BATCH_SIZE = 25
"""The most cells of a column, or keys of a table, in a request."""
LONGEST = 1_000
"""The characters of a cell that a request shows."""


def differs(kind: str, gold: Cell, pred: Cell) -> bool:
    """Whether two cells that are not equal differ for certain, so that no model is asked.

    In a column of the MEASURED kinds: both cells have a value. In other columns: comparable values
    in them differ (`surface.differ`), or, for names, each has a number that the other lacks.
    """
    if kind in MEASURED:
        return gold.value is not None and pred.value is not None
    if surface.differ(surface.clean(gold.shown), surface.clean(pred.shown)):
        return True
    names = fold(gold.shown[:LONGEST]), fold(pred.shown[:LONGEST])
    return kind == "name" and contradict(*names)


MEASURED = frozenset(("int", "float", "date", "enum"))
"""The kinds of columns whose values are comparable."""


# -------------------------------------------------------------------------------------------- cells


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold cell and a predicted cell that are not equal by the strict comparison. `source` is the
    number of the submission: a request shows the cells of one submission only."""

    column: str
    criterion: str
    gold: str
    pred: str
    source: int

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that the answer depends on, for the cache key."""
        return self.column, self.criterion, self.gold, self.pred


@dataclass(frozen=True, slots=True)
class Ruled:
    """Whether the cells of a pair say the same, the reason, and the usage of the request."""

    same: bool
    reason: str
    usage: Usage


_LONGEST_SHARED = 60
"""The characters of a short cell. The answer about a short cell serves many tables, so its request
must not show longer cells, which could influence the answer."""


def judging_cells(ask: Ask, model: str, effort: Effort) -> Batcher[Pair, Ruled]:
    """A batcher that asks about pairs, many of one column and one source in a request."""

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
        lambda pair: (pair.source, pair.column, pair.criterion, len(pair.pred) > _LONGEST_SHARED),
        BATCH_SIZE,
    )


@lru_cache(maxsize=64)
def _same(count: int) -> str:
    one = closed(reason=REASON, same={"type": "boolean"})
    return json.dumps(numbered([one] * count))


# --------------------------------------------------------------------------------------------- keys


@dataclass(frozen=True, slots=True)
class Roster:
    """The keys of gold rows: the names of the key columns, and each row's number and cells."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a predicted row that equals no gold key. `source` as in Pair."""

    roster: Roster
    cells: tuple[str, ...]
    source: int


@dataclass(frozen=True, slots=True)
class Found:
    """The number of the gold row that a key names (None: no row), the reason, and the usage of the
    request."""

    gold_row: int | None
    reason: str
    usage: Usage


def finding_rows(ask: Ask, model: str, effort: Effort) -> Batcher[Key, Found]:
    """A batcher that asks for the rows of keys, many of one table and one source in a request."""

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

    return Batcher(find, lambda key: (key.source, key.roster), BATCH_SIZE)


@lru_cache(maxsize=64)
def _row(count: int, numbers: tuple[int, ...]) -> str:
    one = closed(reason=REASON, row={"$ref": "#/$defs/row"})
    schema = numbered([one] * count)
    row = {"type": ["integer", "null"], "enum": [*numbers, None]}
    return json.dumps({**schema, "$defs": {"row": row}})


# ------------------------------------------------------------------------------------------- shared


def _numbered(what: str, values: Sequence[Any]) -> str:
    """Untrusted values as one JSON object by number, fenced."""
    content = json.dumps(dict(enumerate(values, 1)), ensure_ascii=False, indent=0)
    return fenced(what, content)[0]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} […]"
