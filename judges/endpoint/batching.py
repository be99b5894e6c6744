"""Questions that arrive one by one and are sent together in one request."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from judges.endpoint.questions import Rejected, TooLong, UnusableReply

In = TypeVar("In")
Out = TypeVar("Out")

_ABOUT_THE_CONTENT = (UnusableReply, Rejected, TooLong)
"""Failures that a smaller batch may not have. Other kinds of Rejected are about all requests."""


class Batcher(Generic[In, Out]):
    """Answers questions, one a call. Questions of one `group` that arrive in the same turn of the
    event loop go into one call of `work`, at most `most` of them.

    `work` returns for each question its answer or the failure of this question. A question whose
    batch failed, or that failed in its batch because of the content, is asked once more alone, so
    that one question does not cost the others their answers.
    """

    def __init__(
        self,
        work: Callable[[Sequence[In]], Awaitable[Sequence[Out | Exception]]],
        group: Callable[[In], Hashable],
        most: int,
    ) -> None:
        self._work = work
        self._group = group
        self._most = most
        self._open: dict[Hashable, _Batch[In, Out]] = {}

    async def __call__(self, question: In) -> Out:
        """The answer. Raises what `work` raises or returns for this question."""
        name = self._group(question)
        batch = self._open.get(name)
        if batch is None or len(batch.questions) == self._most:
            batch = self._open[name] = _Batch()
            batch.task = asyncio.create_task(self._answer(name, batch))
        batch.questions.append(question)
        number = len(batch.questions) - 1
        end = (await asyncio.shield(batch.task))[number]  # others may wait for the task
        if isinstance(end, BaseException):
            raise end
        return end

    async def _answer(
        self, name: Hashable, batch: "_Batch[In, Out]"
    ) -> Sequence[Out | BaseException]:
        """Starts when all questions of the same turn have joined."""
        if self._open.get(name) is batch:
            del self._open[name]
        questions = batch.questions
        ends: Sequence[Out | BaseException]
        try:
            ends = await self._work(questions)
        except (UnusableReply, Rejected) as error:
            ends = [error] * len(questions)
        if len(questions) == 1:
            return ends
        return await asyncio.gather(*map(self._once_more, questions, ends), return_exceptions=True)

    async def _once_more(self, question: In, end: Out | BaseException) -> Out:
        if type(end) in _ABOUT_THE_CONTENT:
            (end,) = await self._work([question])
        if isinstance(end, BaseException):
            raise end
        return end


@dataclass(eq=False, slots=True)
class _Batch(Generic[In, Out]):
    questions: list[In] = field(default_factory=list)
    task: "asyncio.Task[Sequence[Out | BaseException]]" = field(init=False)
