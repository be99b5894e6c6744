"""How a table is graded. A worker process reads and scores the response. If the judge is a model,
it decides the keys and cells that strict comparison leaves open."""

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
"""The figures of the judged score. They stand beside the strict ones."""

_SOURCES = count()  # a number for each response that a model is asked about


class TableKind:
    """Grades the submissions of one table task."""

    def __init__(self, task: TableTask) -> None:
        self._task = task
        self._pickled = pickle.dumps(task)  # once: it goes to a process with every response

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """Grade one submission. The response of a failed attempt is an empty text. The strict score
        does not depend on the judge. If the worker process fails on a response, the submission is
        ungraded and has no figures."""
        rows: Sequence[Mapping[str, Any]]
        try:
            graded, judged = await self._grade(submission.response, pipeline)
        except (Crashed, TimedOut) as error:
            reason = f"cannot be read: {error}"
            rows, figures = [{"row": None, "cells": {}, "state": "ungraded", "error": reason}], {}
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
        """The strict score, and the judged figures if the judge is a model."""
        if roles := pipeline.judge.roles:
            return await self._judge(response, pipeline, roles)
        return await pipeline.compute(process.grade_table, self._pickled, response), {}

    async def _judge(
        self, response: str, pipeline: Pipeline, roles: Roles
    ) -> tuple[GradedTable, Mapping[str, Any]]:
        """The strict score with a model's answers in its lines, and the judged figures. Keys are
        judged first, because they match more rows, whose cells are then judged."""
        source = next(_SOURCES)

        async def score(rulings: Rulings) -> JudgedTable:
            return await pipeline.compute(
                process.judge_table, self._pickled, response, rulings, source
            )

        table = await score(Rulings())
        rows, key_errors = await roles.keys.each(table.keys)
        if rows:
            table = await score(Rulings(rows))
        cells, cell_errors = await roles.cells.each(table.cells)
        failures = {**key_errors, **{row: error for (row, _), error in cell_errors.items()}}
        errors = {row: f"cannot be judged: {error}" for row, error in failures.items()}
        if cells or errors:
            table = await score(Rulings(rows, cells, errors))
        return table.strict, {"judged": None if errors else _figures(table.score)}


def _figures(score: TableScore) -> dict[str, Any]:
    figures = score.plain()
    return {name: figures[name] for name in JUDGED}
