"""The retry policy of a stage."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import RetryCallState
from tenacity.wait import wait_exponential, wait_random


class DeadlinePassed(TimeoutError):
    """An attempt took longer than the deadline of the stage. The policy retries it."""


def _retry_after(error: BaseException) -> float | None:
    asked: float | None = getattr(error, "retry_after", None)
    return asked


@dataclass(frozen=True, slots=True)
class Retry:
    """Which failures are retried, how often, and after how many seconds.

    Retries the exceptions in `transient`, and `DeadlinePassed`. `attempts` is the most attempts,
    the first one included. The wait before a retry is `first` seconds, then doubles each time up
    to `longest`. If the error names a wait (`retry_after` reads it, in seconds, for example from a
    `Retry-After` header), that wait is used instead, up to `longest`. Up to `first` seconds are
    added at random, so that retries do not come all at once. `sleep` waits.
    """

    transient: tuple[type[BaseException], ...]
    attempts: int
    first: float = 1.0
    longest: float = 60.0
    retry_after: Callable[[BaseException], float | None] = _retry_after
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def wait(self, state: RetryCallState) -> float:
        """The seconds to wait before the next attempt."""
        error = state.outcome.exception() if state.outcome else None
        asked = self.retry_after(error) if error else None
        if asked is not None and asked > 0:
            return min(asked, self.longest) + random.uniform(0, self.first)
        grown = wait_exponential(multiplier=self.first, max=self.longest)
        return (grown + wait_random(0, self.first))(state)
