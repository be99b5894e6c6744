"""Questions that come one by one and are asked together."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from judges.endpoint.questions import Rejected, TooLong, Unreadable

In = TypeVar("In")
Out = TypeVar("Out")


class Together(Generic[In, Out]):
    """Answers questions, one a call. Those of one `group` whose calls come at one moment are asked
    about in one `work`, `most` at once at most; each gets an answer of its own, and may be kept so.

    Of a group that gets no answer for what is in it each is asked about alone, so that one does
    not cost the others theirs.
    """

    def __init__(
        self,
        work: Callable[[Sequence[In]], Awaitable[Sequence[Out]]],
        group: Callable[[In], Hashable],
        most: int,
    ) -> None:
        self._work = work
        self._group = group
        self._most = most
        self._open: dict[Hashable, _Gathered[In, Out]] = {}

    async def __call__(self, question: In) -> Out:
        """The answer. Raises what the work raises."""
        name = self._group(question)
        gathered = self._open.get(name)
        if gathered is None or len(gathered.questions) == self._most:
            gathered = self._open[name] = _Gathered()
            gathered.task = asyncio.create_task(self._answer(name, gathered))
        gathered.questions.append(question)
        number = len(gathered.questions) - 1
        end = (await asyncio.shield(gathered.task))[number]  # which others may wait for, too
        if isinstance(end, BaseException):
            raise end
        return end

    async def _answer(
        self, name: Hashable, gathered: "_Gathered[In, Out]"
    ) -> list[Out | BaseException]:
        """Begins when all whose calls came at one moment have joined."""
        if self._open.get(name) is gathered:
            del self._open[name]
        questions = gathered.questions
        try:
            return [*await self._work(questions)]
        except (Unreadable, Rejected) as error:
            if type(error) not in _FOR_ITS_CONTENT or len(questions) == 1:
                raise
        ends = await asyncio.gather(
            *(self._work([question]) for question in questions), return_exceptions=True
        )
        return [end if isinstance(end, BaseException) else end[0] for end in ends]


@dataclass(eq=False, slots=True)
class _Gathered(Generic[In, Out]):
    questions: list[In] = field(default_factory=list)
    task: "asyncio.Task[list[Out | BaseException]]" = field(init=False)


_FOR_ITS_CONTENT = (Unreadable, Rejected, TooLong)  # other kinds of Rejected concern all requests
