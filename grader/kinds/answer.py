"""How a short answer is graded: extracted and matched in a process of its own, without a model."""

from grader.answer_grader import Attempt, assess
from grader.answer_task import AnswerTask
from grader.pipeline import Pipeline
from grader.results import Result
from grader.submissions import Submission


class AnswerKind:
    """Grades the submissions of one question."""

    def __init__(self, task: AnswerTask) -> None:
        self._task = task

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """One submission's result. A failed attempt handed in an empty text."""
        attempt: Attempt = await pipeline.compute(
            assess,
            self._task,
            submission.response,
            submission.trajectory,
            submission.search_calls,
        )
        names = {
            "run": submission.run,
            "task": self._task.name,
            "rollout": submission.rollout,
        }
        failed = {"error": submission.error} if submission.error else {}
        row = attempt.row(submission.response)
        return Result(
            **names,
            ordinal=ordinal,
            kind="answer",
            ungraded=0,
            error=submission.error,
            metrics=attempt,
            score={**names, "kind": "answer", "complete": True, **failed, **attempt.score()},
            rows=[{**names, "kind": "answer", **row, "state": "graded", "error": None}],
        )
