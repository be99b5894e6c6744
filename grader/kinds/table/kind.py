"""How a table is graded: its response in a process of its own, and what strict comparison leaves
open by a model, where one judges."""

import pickle
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from grader.kinds.result import Result
from grader.kinds.table import process
from grader.kinds.table.judged import JudgedTable, Rulings
from grader.kinds.table.scoring import GradedTable, TableScore
from grader.runs.submissions import Submission
from grader.stages.pipeline import Pipeline
from grader.stages.roles import Roles
from grader.tasks.table import TableTask
from queues.pool import Crashed, TimedOut

JUDGED = ("item", "column", "row", "cell", "success", "formats")
"""The figures that are told of the judged variant, beside the strict ones."""

_SOURCES = count()  # numbers of responses that a model is asked about


class TableKind:
    """Grades the submissions of one table task."""

    def __init__(self, task: TableTask) -> None:
        self._task = task
        self._pickled = pickle.dumps(task)  # once: a task travels with every response

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """One submission's result. A failed attempt handed in an empty text. The strict score is
        the same whoever judges; a response that no process can read has none."""
        rows: Sequence[Mapping[str, Any]]
        try:
            graded, judged = await self._grade(submission.response, pipeline)
        except (Crashed, TimedOut) as error:
            why = f"cannot be read: {error}"
            rows, figures = [{"row": None, "cells": {}, "state": "ungraded", "error": why}], {}
        else:
            rows, figures = graded.rows, {**graded.score.plain(), **judged}
        names: dict[str, Any] = {
            "run": submission.run,
            "task": self._task.name,
            "rollout": submission.rollout,
        }
        failed = {"error": submission.error} if submission.error else {}
        ungraded = sum(row["state"] == "ungraded" for row in rows)
        return Result(
            **names,
            ordinal=ordinal,
            kind="table",
            ungraded=ungraded,
            error=submission.error,
            metrics={name: value for name, value in figures.items() if name != "counts"},
            score={**names, "kind": "table", "complete": not ungraded, **failed, **figures},
            rows=[{**names, "kind": "table", **row} for row in rows],
        )

    async def _grade(
        self, response: str, pipeline: Pipeline
    ) -> tuple[GradedTable, Mapping[str, Any]]:
        """The strict score, and the judged figures where a model judges."""
        if roles := pipeline.judge.roles:
            return await self._judge(response, pipeline, roles)
        return await pipeline.compute(process.grade_table, self._pickled, response), {}

    async def _judge(
        self, response: str, pipeline: Pipeline, roles: Roles
    ) -> tuple[GradedTable, Mapping[str, Any]]:
        """The strict score with what a model said in its lines, and the judged figures: keys
        first, as they bring rows together whose cells may be in other words."""

        source = next(_SOURCES)

        async def ruled(rulings: Rulings) -> JudgedTable:
            return await pipeline.compute(
                process.judge_table, self._pickled, response, rulings, source
            )

        table = await ruled(Rulings())
        rows, unfound = await roles.keys.each(table.keys)
        if rows:
            table = await ruled(Rulings(rows))
        cells, unruled = await roles.cells.each(table.cells)
        failures = {**unfound, **{row: why for (row, _), why in unruled.items()}}
        errors = {row: f"cannot be judged: {why}" for row, why in failures.items()}
        if cells or errors:
            table = await ruled(Rulings(rows, cells, errors))
        return table.strict, {"judged": None if errors else _figures(table.score)}


def _figures(score: TableScore) -> dict[str, Any]:
    figures = score.plain()
    return {name: figures[name] for name in JUDGED}
