"""The interface of a kind of task, and the kind of each task."""

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
        """Grade one submission. `ordinal` is its place in the input."""


def kind_of(task: AnyTask) -> Kind:
    """Make the kind that grades the submissions of a task."""
    match task:
        case CollectionTask():
            return CollectionKind(task)
        case AnswerTask():
            return AnswerKind(task)
        case _:
            return TableKind(task)
