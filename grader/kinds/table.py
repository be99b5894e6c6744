"""How a table is graded: its response in a process of its own, without a model."""

import pickle

from grader import workers
from grader.pipeline import Pipeline
from grader.results import Result
from grader.submissions import Submission
from grader.table_grader import GradedTable
from grader.table_task import TableTask


class TableKind:
    """Grades the submissions of one table task."""

    def __init__(self, task: TableTask) -> None:
        self._task = task
        self._pickled = pickle.dumps(task)  # once: a task travels with every response

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """One submission's result. A failed attempt handed in an empty text."""
        graded: GradedTable = await pipeline.compute(
            workers.grade_table, self._pickled, submission.response
        )
        names = {
            "run": submission.run,
            "task": self._task.name,
            "rollout": submission.rollout,
        }
        figures = graded.score.plain()
        failed = {"error": submission.error} if submission.error else {}
        return Result(
            **names,
            ordinal=ordinal,
            kind="table",
            ungraded=0,
            error=submission.error,
            metrics={name: value for name, value in figures.items() if name != "counts"},
            score={**names, "kind": "table", "complete": True, **failed, **figures},
            rows=[{**names, "kind": "table", **row} for row in graded.rows],
        )
