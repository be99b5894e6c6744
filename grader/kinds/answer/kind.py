"""How a short answer is graded: extracted and matched in a process of its own; by a model, where
one judges, what form does not decide, and how a wrong attempt failed."""

from dataclasses import dataclass, replace
from typing import Any

from grader.kinds.answer.scoring import Attempt, assess
from grader.kinds.result import Result
from grader.runs.submissions import Submission
from grader.stages.pipeline import Pipeline
from grader.stages.roles import Roles
from grader.tasks.answer import AnswerTask
from judges.values.judged_answers import Failed, doubt, steps
from queues.pool import Crashed, TimedOut


@dataclass(frozen=True, slots=True)
class _Judged:
    """An attempt with what a model said of it: why it is right or wrong, and how it failed; or
    why it said nothing: `error` of the outcome, `failure_error` of the failure mode."""

    attempt: Attempt
    reason: str = ""
    failure_reason: str = ""
    error: str = ""
    failure_error: str = ""

    def row(self) -> dict[str, Any]:
        """What it adds to a line of records.jsonl."""
        said = {
            "reason": self.reason,
            "failure_reason": self.failure_reason,
            "failure_error": self.failure_error,
        }
        return {
            **{name: text for name, text in said.items() if text},
            "state": "ungraded" if self.error else "graded",
            "error": self.error or None,
        }


class AnswerKind:
    """Grades the submissions of one question."""

    def __init__(self, task: AnswerTask) -> None:
        self._task = task
        self._golds = (task.answer, *task.aliases)

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """One submission's result. A failed attempt handed in an empty text; a response that no
        process can read is undecided."""
        try:
            judged = await self._judge(submission, pipeline)
        except (Crashed, TimedOut) as error:
            attempt = Attempt("undecided", None, 1.0)
            judged = _Judged(attempt, error=f"cannot be read: {error}")
        return self._result(ordinal, submission, judged)

    async def _judge(self, submission: Submission, pipeline: Pipeline) -> _Judged:
        """By form, then by a model where one judges."""
        attempt: Attempt = await pipeline.compute(
            assess,
            self._task,
            submission.response,
            submission.trajectory,
            submission.search_calls,
        )
        roles = pipeline.judge.roles
        if roles is None:
            return _Judged(attempt)
        judged = await self._decide(attempt, submission, pipeline, roles)
        return await self._label(judged, submission, pipeline, roles)

    def _result(self, ordinal: int, submission: Submission, judged: _Judged) -> Result:
        names: dict[str, Any] = {
            "run": submission.run,
            "task": self._task.name,
            "rollout": submission.rollout,
        }
        attempt = judged.attempt
        failed = {"error": submission.error} if submission.error else {}
        complete = not judged.error
        row = attempt.row(submission.response)
        return Result(
            **names,
            ordinal=ordinal,
            kind="answer",
            ungraded=int(not complete),
            error=submission.error,
            metrics=attempt,
            score={**names, "kind": "answer", "complete": complete, **failed, **attempt.score()},
            rows=[{**names, "kind": "answer", **row, **judged.row()}],
        )

    async def _decide(
        self, attempt: Attempt, submission: Submission, pipeline: Pipeline, roles: Roles
    ) -> _Judged:
        """What form does not decide."""
        if attempt.outcome != "undecided":
            return _Judged(attempt)
        question = await pipeline.compute(
            doubt, self._task.prompt, self._golds, submission.response
        )
        (said,) = await roles.answer.many([question])
        if isinstance(said, Exception):
            return _Judged(attempt, error=f"cannot be judged: {said}")
        extracted = said.extracted or attempt.extracted
        return _Judged(replace(attempt, outcome=said.outcome, extracted=extracted), said.reason)

    async def _label(
        self, judged: _Judged, submission: Submission, pipeline: Pipeline, roles: Roles
    ) -> _Judged:
        """How a wrong attempt failed, where it tells what it did. The outcome stands without."""
        attempt = judged.attempt
        if attempt.outcome != "wrong" or not submission.trajectory:
            return judged
        shown = await pipeline.compute(steps, submission.trajectory)
        failed = Failed(self._task.prompt, self._golds, attempt.extracted or "", shown)
        (said,) = await roles.failure.many([failed])
        if isinstance(said, Exception):
            return replace(judged, failure_error=f"cannot be judged: {said}")
        return replace(judged, attempt=replace(attempt, mode=said.mode), failure_reason=said.reason)
