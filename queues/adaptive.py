"""A stage whose other side says when it is asked too much."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from queues.node import Node
from queues.retry import Retry

In = TypeVar("In")
Out = TypeVar("Out")


class Pace:
    """How many may work at once: halved when one is told to slow down, but once in `calm`
    seconds, as those at work are all told; one more for every round of successes, up to `most`.
    `quiet_until` is when to begin again after the last telling. `clock` counts seconds."""

    def __init__(
        self, most: int, calm: float = 3.0, clock: Callable[[], float] = monotonic
    ) -> None:
        self.workers = most
        self.quiet_until = 0.0
        self._most = most
        self._calm = calm
        self._clock = clock
        self._halved = float("-inf")
        self._successes = 0

    def slow_down(self, seconds: float) -> None:
        """Told to ask no more for so long."""
        now = self._clock()
        self.quiet_until = max(self.quiet_until, now + seconds)
        self._successes = 0
        if now - self._halved >= self._calm:
            self._halved = now
            self.workers = max(1, self.workers // 2)

    def go_on(self) -> None:
        """One has succeeded."""
        self._successes += 1
        if self._successes >= self.workers:
            self._successes = 0
            self.workers = min(self._most, self.workers + 1)

    @property
    def quiet(self) -> float:
        """Seconds until asking may begin again."""
        return max(0.0, self.quiet_until - self._clock())


class Adaptive(Node[In, Out]):
    """A stage that works at the pace of its other side, `most` at once at most. What is `limited`
    tells it to slow down, and for how many seconds to ask nothing in its `retry_after`: nobody
    begins then, the retried as little as the new."""

    def __init__(
        self,
        name: str,
        work: Callable[[In], Awaitable[Out]],
        *,
        key: Callable[[In], bytes],
        most: int,
        limited: type[Exception],
        retry: Retry,
        deadline: float | None = None,
        pace: Pace | None = None,
    ) -> None:
        super().__init__(name, work, key=key, workers=most, retry=retry, deadline=deadline)
        self._limited = limited
        self._longest = retry.longest
        self._pace = pace or Pace(most)

    async def attempt(self, item: In) -> Out:
        """As Node has it, once it is quiet no more."""
        while quiet := self._pace.quiet:  # noqa: ASYNC110 (it may grow meanwhile)
            await asyncio.sleep(quiet)
        try:
            out = await super().attempt(item)
        except self._limited as error:
            asked = getattr(error, "retry_after", None) or _QUIET
            self._pace.slow_down(min(asked, self._longest))
            self.workers = self._pace.workers
            raise
        self._pace.go_on()
        self.workers = self._pace.workers
        return out


_QUIET = 1.0  # seconds, where the other side names none
