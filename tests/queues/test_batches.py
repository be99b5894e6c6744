import asyncio

import pytest

from queues.batches import BATCH_SIZE, Batches


class Handler:
    """Notes the batches; the first waits until it is released."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.released = asyncio.Event()

    async def __call__(self, batch: list[int]) -> None:
        self.batches.append(batch)
        await self.released.wait()


async def test_items_that_come_meanwhile_are_the_next_batch() -> None:
    handler = Handler()
    batches = Batches(handler)
    batches.add(0)
    await asyncio.sleep(0)
    for item in range(1, 4):
        batches.add(item)
    assert handler.batches == [[0]]
    handler.released.set()
    await batches.empty()
    assert handler.batches == [[0], [1, 2, 3]]


async def test_a_batch_has_at_most_500_items_and_the_order_stays() -> None:
    assert BATCH_SIZE == 500
    handler = Handler()
    handler.released.set()
    batches = Batches(handler)
    for item in range(1207):
        batches.add(item)
    await batches.empty()
    assert [len(batch) for batch in handler.batches] == [500, 500, 207]
    assert [item for batch in handler.batches for item in batch] == list(range(1207))


async def test_empty_returns_at_once_if_nothing_was_added_and_items_may_follow() -> None:
    handler = Handler()
    handler.released.set()
    batches = Batches(handler)
    await batches.empty()
    batches.add(1)
    await batches.empty()
    batches.add(2)
    await batches.empty()
    assert handler.batches == [[1], [2]]


async def test_items_are_handled_after_a_handler_has_failed() -> None:
    handled: list[list[int]] = []

    async def fail_once(batch: list[int]) -> None:
        handled.append(batch)
        if len(handled) == 1:
            raise OSError("disk gone")

    batches = Batches(fail_once)
    batches.add(1)
    task = batches._task
    await batches.empty()
    assert task is not None
    assert isinstance(task.exception(), OSError)
    batches.add(2)
    await batches.empty()
    assert handled == [[1], [2]]


@pytest.mark.parametrize("items", [1, 3])
async def test_one_batch_is_handled_at_a_time(items: int) -> None:
    running = most = 0

    async def handle(batch: list[int]) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    batches = Batches(handle)
    for item in range(items):
        batches.add(item)
        await asyncio.sleep(0)
    await batches.empty()
    assert most == 1
