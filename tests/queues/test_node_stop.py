import asyncio
from collections.abc import AsyncIterator

import pytest
from node_cases import Busy, Gate, Naps, Shelf, call, idle, make, memory

from queues.node import Stopped
from queues.retry import Retry


@pytest.fixture(autouse=True)
async def no_task_is_left() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    left = asyncio.all_tasks() - before
    assert {task for task in left if task is not asyncio.current_task()} == set()


async def test_stop_refuses_new_and_queued_calls_and_stores_results_within_the_grace_period() -> (
    None
):
    shelf, gate = Shelf(), Gate()
    node = make(gate, workers=2, memory=memory(shelf))
    calls = call(node, *"abc")
    await idle()
    stop = asyncio.create_task(node.stop(grace_seconds=1000))
    await idle()
    assert isinstance(calls[2].exception(), Stopped)
    with pytest.raises(Stopped, match="stage"):
        await node("d")
    await gate.end("a")
    assert (await calls[0], shelf.rows) == ("A", {b"a": b"A"})
    assert not stop.done()
    await node.stop()  # cuts the grace short
    await stop
    assert isinstance(calls[1].exception(), Stopped)
    assert (gate.cancelled, gate.started) == (["b"], ["a", "b"])
    assert node.counters.failed == 0
    await node.stop()


async def test_stop_stores_a_result_within_the_grace_period_although_its_caller_was_cancelled() -> (
    None
):
    """One who asked for more than this ends when the rest is refused."""
    shelf, gate = Shelf(), Gate()
    node = make(gate, memory=memory(shelf))
    (caller,) = call(node, "a")
    await idle()
    stop = asyncio.create_task(node.stop(grace_seconds=1000))
    await idle()
    caller.cancel()
    await idle()
    await gate.end("a")
    await stop
    assert shelf.rows == {b"a": b"A"}


@pytest.mark.parametrize("steps", range(6))
async def test_stop_loses_no_result_that_has_just_arrived(steps: int) -> None:
    gate = Gate()
    node = make(gate, retry=Retry((Busy,), attempts=8))
    (caller,) = call(node, "a")
    await idle()
    gate.ends["a"].set_result("A")
    for _ in range(steps):
        await asyncio.sleep(0)
    await node.stop(grace_seconds=1000)
    assert await caller == "A"


async def test_stop_returns_after_the_results_are_stored() -> None:
    shelf, gate = Shelf(), Gate()
    node = make(gate, memory=memory(shelf))
    (caller,) = call(node, "a")
    await idle()
    shelf.open.clear()
    await gate.end("a")
    stop = asyncio.create_task(node.stop())
    await idle()
    assert not stop.done()
    shelf.open.set()
    await stop
    assert (await caller, shelf.rows) == ("A", {b"a": b"A"})


@pytest.mark.parametrize("awake", [False, True])
async def test_stop_does_not_wait_for_retries(awake: bool) -> None:
    naps, gate = Naps(held=True), Gate()
    node = make(gate, workers=1, retry=Retry((Busy,), attempts=8, sleep=naps))
    retried, running = call(node, "a", "b")
    await idle()
    await gate.fail("a", Busy())
    if awake:
        naps.wake.set()
        await idle()
    stop = asyncio.create_task(node.stop(grace_seconds=1000))
    await idle()
    assert isinstance(retried.exception(), Stopped)
    await gate.fail("b", Busy())
    assert isinstance(running.exception(), Stopped)
    await stop
    assert gate.started == ["a", "b"]


async def test_stop_during_a_look_up() -> None:
    shelf, gate = Shelf(), Gate()
    node = make(gate, memory=memory(shelf))
    shelf.open.clear()
    calls = call(node, "a", "b")
    await idle()
    stop = asyncio.create_task(node.stop(grace_seconds=1000))
    await idle()
    assert not stop.done()
    shelf.open.set()
    await stop
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result) for result in results] == [Stopped, Stopped]
    assert gate.started == []
