"""A stage that slows down when the service behind it answers "too many requests"."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from queues.node import Node
from queues.retry import Retry

In = TypeVar("In")
Out = TypeVar("Out")


class Pace:
    """The number of workers and the pause that a service tolerates.

    `workers` is halved when the service limits a request, at most once in `calm` seconds, since the
    other requests in flight get the same reply. It grows by one after `workers` successes in a row,
    up to `most`. `quiet_until` is the time (of `clock`, in seconds) until which no request starts.
    """

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
        """Note that the service asked for a pause of `seconds`."""
        now = self._clock()
        self.quiet_until = max(self.quiet_until, now + seconds)
        self._successes = 0
        if now - self._halved >= self._calm:
            self._halved = now
            self.workers = max(1, self.workers // 2)

    def go_on(self) -> None:
        """Note that a request succeeded."""
        self._successes += 1
        if self._successes >= self.workers:
            self._successes = 0
            self.workers = min(self._most, self.workers + 1)

    @property
    def quiet(self) -> float:
        """The seconds until the next request may start."""
        return max(0.0, self.quiet_until - self._clock())


class Adaptive(Node[In, Out]):
    """A stage that adapts the number of its workers, up to `most`, to a service.

    An exception of type `limited` tells the stage to slow down. Its `retry_after` is the pause in
    seconds; no attempt starts during the pause, neither first attempts nor retries.
    """

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
        """Run the work once, as `Node.attempt` does, after the pause."""
        while quiet := self._pace.quiet:  # noqa: ASYNC110 (the pause may grow meanwhile)
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


_QUIET = 1.0  # seconds, if the service names no pause
