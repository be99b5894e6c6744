"""Questions that arrive one by one and are sent together."""

import asyncio
from collections.abc import Sequence

import pytest

from judges.endpoint.batching import Batcher
from judges.endpoint.questions import Rejected, TooLong, Trouble, UnusableReply


class Work:
    """Doubles numbers. It raises `error` for a batch that has the number `bad`, or returns it for
    this number only."""

    def __init__(
        self, error: Exception | None = None, bad: int = 0, only_this_one: bool = False
    ) -> None:
        self.batches: list[list[int]] = []
        self._error = error
        self._bad = bad
        self._only_this_one = only_this_one

    async def __call__(self, numbers: Sequence[int]) -> list[int | Exception]:
        self.batches.append(list(numbers))
        await asyncio.sleep(0)
        if self._error and self._bad in numbers:
            if not self._only_this_one:
                raise self._error
            return [self._error if one == self._bad else 2 * one for one in numbers]
        return [2 * number for number in numbers]


def batcher(work: Work, most: int = 10) -> Batcher[int, int]:
    return Batcher(work, lambda number: number % 2, most)


async def ends(work: Work, *numbers: int) -> list[int | Exception]:
    """The answers, or the exceptions that the calls raised."""
    ask = batcher(work)

    async def end(number: int) -> int | Exception:
        try:
            answer = await ask(number)
        except Exception as error:
            return error
        assert isinstance(answer, int)
        return answer

    return await asyncio.gather(*map(end, numbers))


async def test_questions_of_one_turn_are_sent_together_by_group() -> None:
    work = Work()
    assert await ends(work, 1, 2, 3, 4) == [2, 4, 6, 8]
    assert work.batches == [[1, 3], [2, 4]]


async def test_a_batch_has_a_bound() -> None:
    work = Work()
    ask = batcher(work, most=2)
    assert await asyncio.gather(*map(ask, [1, 3, 5, 7, 9])) == [2, 6, 10, 14, 18]
    assert work.batches == [[1, 3], [5, 7], [9]]


@pytest.mark.parametrize("error", [UnusableReply("no"), Rejected("no"), TooLong("no")])
async def test_questions_of_a_failed_batch_are_asked_alone(error: Exception) -> None:
    work = Work(error, bad=3)
    assert await ends(work, 1, 3, 5) == [2, error, 10]
    assert work.batches == [[1, 3, 5], [1], [3], [5]]


@pytest.mark.parametrize("error", [UnusableReply("no"), Rejected("no")])
async def test_a_question_that_failed_in_its_batch_is_asked_alone(error: Exception) -> None:
    work = Work(error, bad=3, only_this_one=True)
    assert await ends(work, 1, 3, 5) == [2, error, 10]
    assert work.batches == [[1, 3, 5], [3]]


async def test_a_question_alone_is_asked_once() -> None:
    for only_this_one in (False, True):
        error = UnusableReply("no")
        work = Work(error, 3, only_this_one)
        assert await ends(work, 3) == [error]
        assert work.batches == [[3]]


class OverBudget(Rejected):
    pass


@pytest.mark.parametrize("error", [Trouble("down"), OverBudget("spent")])
async def test_a_failure_of_all_requests_is_not_tried_question_by_question(
    error: Exception,
) -> None:
    work = Work(error, bad=3)
    assert await ends(work, 1, 3) == [error, error]
    assert work.batches == [[1, 3]]


async def test_a_cancelled_question_leaves_the_others_their_answers() -> None:
    ask = batcher(Work())
    one, other = asyncio.ensure_future(ask(1)), asyncio.ensure_future(ask(3))
    await asyncio.sleep(0)
    one.cancel()
    assert await other == 6
