"""Questions that come one by one, asked together."""

import asyncio
from collections.abc import Sequence

import pytest

from judges.endpoint.questions import Rejected, TooLong, Trouble, Unreadable
from judges.endpoint.together import Together


class Work:
    """Doubles numbers; a group that holds `bad` raises."""

    def __init__(self, error: Exception | None = None, bad: int = 0) -> None:
        self.groups: list[list[int]] = []
        self._error = error
        self._bad = bad

    async def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.groups.append(list(numbers))
        await asyncio.sleep(0)
        if self._error and self._bad in numbers:
            raise self._error
        return [2 * number for number in numbers]


def together(work: Work, most: int = 10) -> Together[int, int]:
    return Together(work, lambda number: number % 2, most)


async def test_what_comes_at_one_moment_is_asked_together_by_group() -> None:
    work = Work()
    ask = together(work)
    assert await asyncio.gather(*map(ask, [1, 2, 3, 4])) == [2, 4, 6, 8]
    assert work.groups == [[1, 3], [2, 4]]


async def test_a_group_has_a_bound() -> None:
    work = Work()
    ask = together(work, most=2)
    assert await asyncio.gather(*map(ask, [1, 3, 5, 7, 9])) == [2, 6, 10, 14, 18]
    assert work.groups == [[1, 3], [5, 7], [9]]


@pytest.mark.parametrize("error", [Unreadable("no"), Rejected("no"), TooLong("no")])
async def test_one_question_does_not_cost_the_others_their_answers(error: Exception) -> None:
    work = Work(error, bad=3)
    ends = await asyncio.gather(*map(together(work), [1, 3, 5]), return_exceptions=True)
    assert ends == [2, error, 10]
    assert work.groups == [[1, 3, 5], [1], [3], [5]]


async def test_what_concerns_all_is_not_asked_again() -> None:
    work = Work(Trouble("down"), bad=3)
    ends = await asyncio.gather(*map(together(work), [1, 3]), return_exceptions=True)
    assert all(isinstance(end, Trouble) for end in ends)
    assert work.groups == [[1, 3]]


async def test_who_goes_away_leaves_the_others_served() -> None:
    ask = together(Work())
    one, other = asyncio.ensure_future(ask(1)), asyncio.ensure_future(ask(3))
    await asyncio.sleep(0)
    one.cancel()
    assert await other == 6
