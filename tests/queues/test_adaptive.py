import asyncio

import pytest

from queues.adaptive import Adaptive, Pace
from queues.retry import DeadlinePassed, Retry


class Limited(Exception):
    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("slow down")
        self.retry_after = retry_after


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Running(Clock):
    """Seconds of which one passes at every look."""

    def __call__(self) -> float:
        self.now += 1
        return self.now


# ---------------------------------------------------------------------------------------- the pace


def test_workers_are_halved_once_for_requests_that_are_limited_together():
    clock = Clock()
    pace = Pace(64, calm=3, clock=clock)
    for _ in range(40):
        pace.slow_down(0)
    assert pace.workers == 32
    clock.now += 3
    pace.slow_down(0)
    assert pace.workers == 16


def test_at_least_one_worker_is_left():
    clock = Clock()
    pace = Pace(2, clock=clock)
    for _ in range(5):
        pace.slow_down(0)
        clock.now += 10
    assert pace.workers == 1


def test_workers_grow_by_one_after_each_round_of_successes_up_to_the_most():
    pace = Pace(8)
    pace.slow_down(0)
    rounds = []
    for _ in range(4 + 5 + 6 + 7 + 20):
        pace.go_on()
        rounds.append(pace.workers)
    assert rounds[2:4] == [4, 5]
    assert rounds[4 + 5 - 2 : 4 + 5] == [5, 6]
    assert rounds[4 + 5 + 6 - 2 : 4 + 5 + 6] == [6, 7]
    assert rounds[-1] == 8


def test_a_limit_restarts_the_count_of_successes():
    clock = Clock()
    pace = Pace(4, clock=clock)
    pace.slow_down(0)
    pace.go_on()
    pace.slow_down(0)
    pace.go_on()
    assert pace.workers == 2


def test_the_longest_pause_that_was_asked_for_counts():
    clock = Clock()
    pace = Pace(4, clock=clock)
    pace.slow_down(5)
    pace.slow_down(2)
    assert pace.quiet == 5
    clock.now += 6
    assert pace.quiet == 0


# --------------------------------------------------------------------------------------- the stage


def key(item: int) -> bytes:
    return item.to_bytes(4)


async def at_once(seconds: float) -> None:
    await asyncio.sleep(0)


class Other:
    """The other side: it lets so many in at a time, and tells the rest to slow down."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.inside = self.calls = self.told = 0

    async def __call__(self, item: int) -> int:
        self.calls += 1
        if self.inside >= self.room:
            self.told += 1
            raise Limited(0.001)
        self.inside += 1
        for _ in range(5):
            await asyncio.sleep(0)
        self.inside -= 1
        return item


async def test_the_stage_finds_the_concurrency_of_the_service_and_loses_no_call():
    other = Other(room=5)
    node = Adaptive(
        "ask",
        other,
        key=key,
        most=64,
        limited=Limited,
        retry=Retry((Limited,), attempts=50, sleep=at_once),
        pace=Pace(64, calm=0, clock=Running()),
    )
    ends = await node.many(range(500))
    assert ends == list(range(500))
    assert node.workers < 20
    assert node.counters.done == 500
    assert node.counters.retries == other.told
    assert node.counters.failed == 0


async def test_workers_come_back_when_the_limit_is_gone():
    other = Other(room=1)
    node = Adaptive(
        "ask",
        other,
        key=key,
        most=4,
        limited=Limited,
        retry=Retry((Limited,), attempts=50, sleep=at_once),
    )
    await node.many(range(10))
    assert node.workers < 4
    other.room = 100
    await node.many(range(10, 40))
    assert node.workers == 4


class Noted(Pace):
    """A pace that notes the pauses and makes none."""

    def __init__(self) -> None:
        super().__init__(4)
        self.pauses: list[float] = []

    def slow_down(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.mark.parametrize(("asked", "pause"), [(0.2, 0.2), (7, 7), (60, 30), (None, 1), (0, 1)])
async def test_the_pause_is_the_one_of_the_error_up_to_the_longest_wait(
    asked: float | None, pause: float
) -> None:
    errors = [Limited(asked)]

    async def work(item: int) -> int:
        if errors:
            raise errors.pop()
        return item

    pace = Noted()
    node = Adaptive(
        "ask",
        work,
        key=key,
        most=4,
        limited=Limited,
        retry=Retry((Limited,), attempts=8, longest=30, sleep=at_once),
        pace=pace,
    )
    assert await node(1) == 1
    assert pace.pauses == [pause]


async def test_no_attempt_starts_during_the_pause():
    loop = asyncio.get_running_loop()
    begun: list[float] = []

    async def work(item: int) -> int:
        begun.append(loop.time())
        if len(begun) == 1:
            raise Limited(0.2)
        return item

    node = Adaptive(
        "ask",
        work,
        key=key,
        most=1,
        limited=Limited,
        retry=Retry((Limited,), attempts=8, sleep=at_once),
        deadline=0.1,  # of the work; the quiet is not part of it
    )
    assert await node.many([1, 2, 3]) == [1, 2, 3]
    assert all(later - begun[0] >= 0.19 for later in begun[1:])


async def test_other_failures_do_not_change_the_number_of_workers():
    async def work(item: int) -> int:
        if item:
            await asyncio.sleep(10)
        raise ConnectionError

    node = Adaptive(
        "ask",
        work,
        key=key,
        most=8,
        limited=Limited,
        retry=Retry((ConnectionError,), attempts=3, sleep=at_once),
        deadline=0.01,
    )
    with pytest.raises(ConnectionError):
        await node(0)
    with pytest.raises(DeadlinePassed):
        await node(1)
    assert node.workers == 8
    assert node.counters.retries == 4
