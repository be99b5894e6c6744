import asyncio
import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import pytest
from tenacity import Future, RetryCallState
from tenacity.asyncio import AsyncRetrying

from queues.retry import DeadlinePassed, Retry


class Limited(Exception):
    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("slow down")
        self.retry_after = retry_after


def wait(retry: Retry, attempt: int, error: BaseException | None) -> float:
    """The wait after an attempt that raised `error`."""
    state = RetryCallState(AsyncRetrying(), None, (), {})
    state.attempt_number = attempt
    if error is not None:
        state.outcome = Future(attempt)
        state.outcome.set_exception(error)
    return retry.wait(state)


def between(low: float, high: float, one: Callable[[], float]) -> None:
    """Many waits fill an interval."""
    waits = [one() for _ in range(300)]
    quarter = (high - low) / 4
    assert low <= min(waits) < low + quarter
    assert high - quarter < max(waits) <= high


def test_the_defaults_are_eight_attempts_in_about_two_minutes() -> None:
    retry = Retry((), attempts=8)
    assert (retry.attempts, retry.first, retry.longest) == (8, 1.0, 60.0)
    assert retry.sleep is asyncio.sleep


@pytest.mark.parametrize(
    ("attempt", "least"), [(1, 2), (2, 4), (3, 8), (4, 16), (5, 20), (50, 20), (5000, 20)]
)
def test_the_wait_doubles_up_to_the_longest(attempt: int, least: float) -> None:
    retry = Retry((OSError,), attempts=8, first=2, longest=20)
    between(least, least + 2, lambda: wait(retry, attempt, OSError("down")))


@pytest.mark.parametrize(
    ("asked", "least"), [(7, 7), (0.5, 0.5), (3600, 20), (math.inf, 20), (None, 8), (0, 8), (-5, 8)]
)
def test_a_wait_that_the_error_names_is_used_up_to_the_longest(
    asked: float | None, least: float
) -> None:
    retry = Retry((Limited,), attempts=8, first=2, longest=20)
    between(least, least + 2, lambda: wait(retry, 3, Limited(asked)))


def test_a_stage_may_read_the_wait_from_its_errors_in_another_way() -> None:
    retry = Retry((OSError,), attempts=8, first=0, retry_after=lambda error: float(str(error)))
    assert wait(retry, 1, OSError("7")) == 7


def test_without_an_outcome_the_wait_is_the_first() -> None:
    assert 2 <= wait(Retry((), attempts=8, first=2), 1, None) <= 4


def test_a_policy_does_not_change():
    with pytest.raises(FrozenInstanceError):
        Retry((), attempts=8).attempts = 3  # type: ignore[misc]


def test_a_deadline_is_a_timeout() -> None:
    assert issubclass(DeadlinePassed, TimeoutError)
