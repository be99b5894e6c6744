import asyncio
import math
from collections.abc import AsyncIterator

import pytest
from node_cases import Busy, Flaky, Gate, Naps, call, idle, make

from queues.node import Node
from queues.retry import DeadlinePassed, Retry


@pytest.fixture(autouse=True)
async def no_task_is_left() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    left = asyncio.all_tasks() - before
    assert {task for task in left if task is not asyncio.current_task()} == set()


async def test_transient_failures_are_retried_with_growing_waits() -> None:
    naps, work = Naps(), Flaky(*[Busy()] * 5)
    node: Node[str, str] = make(
        work, retry=Retry((Busy,), attempts=6, first=1, longest=6, sleep=naps)
    )
    assert await node("a") == "A"
    for seconds, least in zip(naps.seconds, (1, 2, 4, 6, 6), strict=True):
        assert least <= seconds <= least + 1
    assert (node.counters.retries, node.counters.failed, node.counters.done) == (5, 0, 1)


async def test_after_the_last_attempt_every_caller_gets_the_original_exception() -> None:
    errors = [Busy(), Busy(), Busy()]
    work = Flaky(*errors)
    node = make(work, retry=Retry((Busy,), attempts=3, sleep=Naps()))
    results = await asyncio.gather(*call(node, "a", "a"), return_exceptions=True)
    assert results == [errors[2], errors[2]]
    assert (work.calls, node.counters.retries, node.counters.failed) == (3, 2, 1)


async def test_other_failures_are_not_retried() -> None:
    work = Flaky(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        await make(work, retry=Retry((Busy,), attempts=8, sleep=Naps()))("a")
    assert work.calls == 1


@pytest.mark.parametrize(
    ("asked", "least"), [(7, 7), (3600, 60), (math.inf, 60), (0, 1), (-5, 1), (math.nan, 1)]
)
async def test_the_wait_of_the_error_is_used_up_to_the_longest(asked: float, least: float) -> None:
    naps = Naps()
    assert await make(Flaky(Busy(asked)), retry=Retry((Busy,), attempts=8, sleep=naps))("a") == "A"
    assert least <= naps.seconds[0] <= least + 1


async def test_a_job_between_attempts_frees_its_worker_and_is_first_in_the_queue_afterwards() -> (
    None
):
    naps, gate = Naps(held=True), Gate()
    node = make(gate, workers=1, retry=Retry((Busy,), attempts=8, sleep=naps))
    calls = call(node, *"abc")
    await idle()
    await gate.fail("a", Busy())
    assert (gate.started, node.running, node.queued) == (["a", "b"], 1, 1)
    naps.wake.set()
    await idle()
    assert (gate.started, node.queued) == (["a", "b"], 2)
    await gate.end("b")
    assert gate.started == ["a", "b", "a"]
    await gate.end("a")
    await gate.end("c")
    assert await asyncio.gather(*calls) == ["A", "B", "C"]
    assert gate.most_at_once == 1


@pytest.mark.parametrize("awake", [False, True])
async def test_a_job_can_be_cancelled_between_attempts(awake: bool) -> None:
    naps, gate = Naps(held=True), Gate()
    node = make(gate, workers=1, retry=Retry((Busy,), attempts=8, sleep=naps))
    retried, other = call(node, "a", "b")
    await idle()
    await gate.fail("a", Busy())
    if awake:
        naps.wake.set()
        await idle()
        assert node.queued == 1
    retried.cancel()
    await idle()
    assert node.queued == 0
    await gate.end("b")
    assert await other == "B"
    assert (gate.started, node.running) == (["a", "b"], 0)


async def test_an_attempt_past_its_deadline_is_cancelled_and_retried() -> None:
    gate = Gate()
    with pytest.raises(DeadlinePassed, match="stage: no result in 0 s"):
        await make(gate, deadline=0)("a")
    naps = Naps()
    node = make(gate, deadline=0, retry=Retry((), attempts=2, sleep=naps))
    with pytest.raises(DeadlinePassed):
        await node("b")
    assert gate.cancelled == ["a", "b", "b"]
    assert (node.counters.retries, node.running) == (1, 0)


async def test_a_timeout_that_the_work_raises_is_not_the_deadline() -> None:
    error = TimeoutError("mine")
    with pytest.raises(TimeoutError) as raised:
        await make(Flaky(error), deadline=60, retry=Retry((), attempts=8, sleep=Naps()))("a")
    assert raised.value is error
