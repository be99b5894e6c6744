"""The kinds of task, as the grader knows them."""

from typing import Protocol

from grader.kinds.answer.kind import AnswerKind
from grader.kinds.collection.kind import CollectionKind
from grader.kinds.result import Result
from grader.kinds.table.kind import TableKind
from grader.runs.submissions import Submission
from grader.stages.pipeline import Pipeline
from grader.tasks.answer import AnswerTask
from grader.tasks.collection import CollectionTask
from grader.tasks.packages import AnyTask


class Kind(Protocol):
    """Grades the submissions of one task."""

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """One submission's result."""


def kind_of(task: AnyTask) -> Kind:
    """The kind that grades a task's submissions."""
    match task:
        case CollectionTask():
            return CollectionKind(task)
        case AnswerTask():
            return AnswerKind(task)
        case _:
            return TableKind(task)
