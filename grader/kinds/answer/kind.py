"""How a short answer is graded. A worker process extracts and matches it. If the judge is a model,
it decides the answers that matching leaves undecided, and names the failure mode of wrong
attempts."""

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
    """An attempt, with a model's reason for its outcome (`reason`) and for its failure mode
    (`failure_reason`). If the model gave no usable reply, `error` or `failure_error` says why."""

    attempt: Attempt
    reason: str = ""
    failure_reason: str = ""
    error: str = ""
    failure_error: str = ""

    def row(self) -> dict[str, Any]:
        """The fields that it adds to a line of records.jsonl."""
        texts = {
            "reason": self.reason,
            "failure_reason": self.failure_reason,
            "failure_error": self.failure_error,
        }
        return {
            **{name: text for name, text in texts.items() if text},
            "state": "ungraded" if self.error else "graded",
            "error": self.error or None,
        }


class AnswerKind:
    """Grades the submissions of one short-answer task."""

    def __init__(self, task: AnswerTask) -> None:
        self._task = task
        self._golds = (task.answer, *task.aliases)

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """Grade one submission. The response of a failed attempt is an empty text. If the worker
        process fails on a response, the result is undecided and ungraded."""
        try:
            judged = await self._judge(submission, pipeline)
        except (Crashed, TimedOut) as error:
            attempt = Attempt("undecided", None, 1.0)
            judged = _Judged(attempt, error=f"cannot be read: {error}")
        return self._result(ordinal, submission, judged)

    async def _judge(self, submission: Submission, pipeline: Pipeline) -> _Judged:
        """Decide an answer without a model, then with a model if the judge is one."""
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
        """Ask a model for the outcome of an attempt that is undecided."""
        if attempt.outcome != "undecided":
            return _Judged(attempt)
        question = await pipeline.compute(
            doubt, self._task.prompt, self._golds, submission.response
        )
        (reply,) = await roles.answer.many([question])
        if isinstance(reply, Exception):
            return _Judged(attempt, error=f"cannot be judged: {reply}")
        extracted = reply.extracted or attempt.extracted
        return _Judged(replace(attempt, outcome=reply.outcome, extracted=extracted), reply.reason)

    async def _label(
        self, judged: _Judged, submission: Submission, pipeline: Pipeline, roles: Roles
    ) -> _Judged:
        """Ask a model for the failure mode of a wrong attempt that has a trajectory. Without a
        reply, the outcome stays as it is."""
        attempt = judged.attempt
        if attempt.outcome != "wrong" or not submission.trajectory:
            return judged
        shown = await pipeline.compute(steps, submission.trajectory)
        failed = Failed(self._task.prompt, self._golds, attempt.extracted or "", shown)
        (reply,) = await roles.failure.many([failed])
        if isinstance(reply, Exception):
            return replace(judged, failure_error=f"cannot be judged: {reply}")
        attempt = replace(attempt, mode=reply.mode)
        return replace(judged, attempt=attempt, failure_reason=reply.reason)
