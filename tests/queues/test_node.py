import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from node_cases import Flaky, Gate, Shelf, call, idle, make, memory

from queues.batches import BATCH_SIZE
from queues.node import Node, Stopped
from queues.store import Memory


@pytest.fixture(autouse=True)
async def no_task_is_left() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    left = asyncio.all_tasks() - before
    assert {task for task in left if task is not asyncio.current_task()} == set()


# Workers


async def test_work_starts_in_the_order_of_the_calls_with_at_most_the_given_workers() -> None:
    gate = Gate()
    node = make(gate, workers=2)
    calls = call(node, *"abcde")
    await idle()
    assert (gate.started, node.running, node.queued) == ([*"ab"], 2, 3)
    await gate.end("b")
    assert gate.started == [*"abc"]
    await gate.end("a", "c")
    await gate.end("d", "e")
    assert await asyncio.gather(*calls) == [*"ABCDE"]
    assert (gate.started, gate.most_at_once) == ([*"abcde"], 2)
    assert (node.running, node.queued, node.counters.done) == (0, 0, 5)


async def test_the_number_of_workers_can_change_while_work_runs() -> None:
    gate = Gate()
    node = make(gate, workers=3)
    calls = call(node, *"abcdefg")
    await idle()
    node.workers = 1
    await gate.end("a", "b")
    assert gate.started == [*"abc"]
    await gate.end("c")
    assert (gate.started, node.running) == ([*"abcd"], 1)
    node.workers = 3
    await idle()
    assert gate.started == [*"abcdef"]
    await gate.end(*"def")
    await gate.end("g")
    assert await asyncio.gather(*calls) == [*"ABCDEFG"]
    with pytest.raises(ValueError, match="at least one worker"):
        node.workers = 0


@given(order=st.permutations(range(12)), workers=st.integers(1, 5))
def test_results_do_not_depend_on_the_order_of_arrival(order: list[int], workers: int) -> None:
    async def run() -> dict[int, str]:
        async def work(item: int) -> str:
            for _ in range(item % 4):
                await asyncio.sleep(0)
            if item % 5 == 4:
                raise ValueError(item)
            return f"<{item // 2}>"

        shelf = Shelf()
        node: Node[int, str] = Node(
            "stage", work, key=lambda n: b"%d" % (n // 2), workers=workers, memory=memory(shelf)
        )
        await asyncio.gather(*(node(item) for item in (6, 7)))
        results = await asyncio.gather(*(node(item) for item in order if item % 5 != 4))
        await node.stop()
        return dict(zip((item for item in order if item % 5 != 4), results, strict=True))

    assert asyncio.run(run()) == {n: f"<{n // 2}>" for n in range(12) if n % 5 != 4}


# Callers who share work


async def test_callers_of_one_key_share_one_run() -> None:
    gate = Gate()
    node = make(gate)
    calls = call(node, "a", "a", "b", "a")
    await idle()
    await gate.end("a", "b")
    assert await asyncio.gather(*calls) == ["A", "A", "B", "A"]
    assert (gate.started, node.counters.coalesced, node.counters.done) == (["a", "b"], 2, 2)


async def test_cancelling_the_first_caller_leaves_the_others_served() -> None:
    gate = Gate()
    node = make(gate)
    first, second = call(node, "a", "a")
    await idle()
    first.cancel()
    await idle()
    assert first.cancelled()
    await gate.end("a")
    assert await second == "A"
    assert gate.cancelled == []


async def test_the_work_is_cancelled_with_its_last_caller() -> None:
    gate = Gate()
    node = make(gate, workers=1)
    callers = call(node, "a", "a", "b")
    await idle()
    for caller in callers[:2]:
        caller.cancel()
    await idle()
    assert (gate.cancelled, gate.started) == (["a"], ["a", "b"])
    again = call(node, "a")
    await gate.end("b")
    await gate.end("a")
    assert await asyncio.gather(*callers[2:], *again) == ["B", "A"]
    assert node.counters.failed == 0


async def test_work_that_is_cancelled_before_it_starts_frees_its_worker() -> None:
    gate = Gate()
    node = make(gate, workers=1)
    _, next_one, other = call(node, *"abc")
    await idle()
    gate.ends["a"].set_result("A")  # frees the worker for b, in the same turn of the loop
    next_one.cancel()  # that cancels b, before its task has had its first step
    await idle()
    assert (gate.started, node.running, node.queued) == (["a", "c"], 1, 0)
    await gate.end("c")
    assert await other == "C"


async def test_a_call_that_is_cancelled_during_the_look_up_does_not_run() -> None:
    shelf, gate = Shelf(), Gate()
    node = make(gate, memory=memory(shelf))
    shelf.open.clear()
    asked = call(node, "a")
    await idle()
    gathered = call(node, "b")
    await idle()
    for caller in asked + gathered:
        caller.cancel()
    await idle()
    shelf.open.set()
    await idle()
    assert (shelf.asked, gate.started) == ([1], [])


async def test_a_finished_result_is_stored_although_its_caller_was_cancelled() -> None:
    shelf, gate = Shelf(), Gate()
    node = make(gate, memory=memory(shelf))
    (caller,) = call(node, "a")
    await idle()
    shelf.open.clear()
    await gate.end("a")
    caller.cancel()
    await idle()
    (late,) = call(node, "a")
    await idle()
    assert node.counters.coalesced == 1
    shelf.open.set()
    assert await late == "A"
    assert (shelf.rows, gate.started) == ({b"a": b"A"}, ["a"])


@pytest.mark.parametrize("error", [None, OSError("disk full")])
async def test_a_caller_that_is_cancelled_while_the_result_arrives_does_not_affect_the_others(
    error: OSError | None,
) -> None:
    shelf = Shelf()
    first, second = callers = call(make(Flaky(), memory=memory(shelf)), "a", "a")

    def cancel() -> None:
        first.cancel()
        if error:
            raise error

    shelf.meanwhile = cancel
    await asyncio.wait(callers)
    assert first.cancelled()
    assert second.exception() is error


async def test_an_exception_reaches_every_caller_and_the_next_call_runs_the_work_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate, shelf = Gate(), Shelf()
    node = make(gate, memory=memory(shelf))
    callers = call(node, "a", "a", "a")
    await idle()
    callers[0].cancel()
    error = ValueError("no")
    await gate.fail("a", error)
    results = await asyncio.gather(*callers[1:], return_exceptions=True)
    assert results == [error, error]
    assert (shelf.rows, node.counters.failed) == ({}, 1)
    (again,) = call(node, "a")
    await idle()
    await gate.end("a")
    assert await again == "A"
    del callers, results
    gc.collect()
    assert caplog.messages == []


async def test_work_that_cancels_itself_fails_and_does_not_cancel_its_callers() -> None:
    gate = Gate()
    (caller,) = call(make(gate), "a")
    await idle()
    await gate.fail("a", asyncio.CancelledError())
    with pytest.raises(RuntimeError, match="the work cancelled itself"):
        await caller


async def test_any_kind_of_exception_is_delivered() -> None:
    def work(item: str) -> Any:
        return next(iter([]))  # StopIteration, which no future can hold

    with pytest.raises(RuntimeError):
        await make(work)("a")


# The store


async def test_a_result_is_kept_and_used_again() -> None:
    shelf, work = Shelf(), Flaky()
    assert await make(work, memory=memory(shelf))("a") == "A"
    node = make(work, memory=memory(shelf))
    assert await asyncio.gather(*call(node, "a", "a")) == ["A", "A"]
    assert (work.calls, node.counters.cache_hits, node.counters.coalesced) == (1, 1, 1)


async def test_a_caller_waits_for_the_commit_but_the_worker_does_not() -> None:
    shelf, gate = Shelf(), Gate()
    node = make(gate, workers=1, memory=memory(shelf))
    calls = call(node, "a", "b")
    await idle()
    shelf.open.clear()
    await gate.end("a")
    assert gate.started == ["a", "b"]
    assert not calls[0].done()
    shelf.open.set()
    await idle()
    assert calls[0].result() == "A"
    await gate.end("b")


async def test_a_result_that_keep_rejects_is_not_stored() -> None:
    shelf = Shelf()
    node = make(Flaky(), memory=memory(shelf, keep=lambda out: out != "A"))
    assert await asyncio.gather(*call(node, "a", "b")) == ["A", "B"]
    assert shelf.rows == {b"b": b"B"}


async def test_a_stored_result_that_is_not_fresh_is_computed_again_and_replaced() -> None:
    shelf = Shelf()
    shelf.rows = {b"a": b"old", b"b": b"good"}
    node = make(Flaky(), memory=memory(shelf, fresh=lambda out: out != "old"))
    assert await asyncio.gather(*call(node, "a", "b")) == ["A", "good"]
    assert shelf.rows == {b"a": b"A", b"b": b"good"}
    assert (node.counters.done, node.counters.cache_hits) == (1, 1)


async def test_an_unreadable_row_is_a_miss_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shelf = Shelf()
    shelf.rows = {b"a": b"\xff"}
    node = make(Flaky(), memory=memory(shelf))
    assert await node("a") == "A"
    assert (node.counters.damaged, node.counters.cache_hits, shelf.rows) == (1, 0, {b"a": b"A"})
    assert "stored value of 61 is unreadable" in caplog.text


async def test_look_ups_and_appends_come_in_batches() -> None:
    shelf, gate = Shelf(), Gate()
    node = make(gate, workers=2000, memory=memory(shelf))
    shelf.open.clear()
    items = [f"{n:04}" for n in range(BATCH_SIZE * 2 + 7)]
    calls = call(node, "first")
    await idle()
    calls += call(node, *items)
    await idle()
    assert shelf.asked == [1]
    shelf.open.set()
    await idle()
    assert shelf.asked == [1, BATCH_SIZE, BATCH_SIZE, 7]
    await gate.end("first", *items)
    await asyncio.gather(*calls)
    assert sum(shelf.appended) == len(items) + 1
    assert len(shelf.appended) == 3


async def test_a_store_that_cannot_be_read_fails_the_calls_and_recovers() -> None:
    shelf, work = Shelf(), Flaky()
    node = make(work, memory=memory(shelf))
    shelf.error = OSError("disk gone")
    results = await asyncio.gather(*call(node, "a", "a", "b"), return_exceptions=True)
    assert results == [shelf.error] * 3
    assert work.calls == 0
    shelf.error = None
    assert await node("a") == "A"


async def test_a_store_that_cannot_be_written_fails_the_calls() -> None:
    shelf, gate = Shelf(), Gate()
    node = make(gate, memory=memory(shelf))
    calls = call(node, "a", "a")
    await idle()
    shelf.error = OSError("disk full")
    await gate.end("a")
    assert await asyncio.gather(*calls, return_exceptions=True) == [shelf.error] * 2
    assert (node.counters.failed, node.counters.done, node.running) == (1, 0, 0)


async def test_a_value_that_cannot_be_encoded_fails_its_own_call_only() -> None:
    shelf = Shelf()
    strict = make(Flaky(), memory=Memory(shelf, lambda out: out.encode("ascii"), bytes.decode))
    odd, even = await asyncio.gather(strict("\xf6"), strict("c"), return_exceptions=True)
    assert isinstance(odd, UnicodeEncodeError)
    assert even == "C"


async def test_refresh_runs_the_work_although_the_store_has_a_result() -> None:
    shelf = Shelf()
    shelf.rows = {b"a": b"old"}
    node = make(Flaky(), memory=memory(shelf))
    assert await node("a") == "old"
    assert await node("a", refresh=True) == "A"
    assert await node("a") == "A"
    assert (node.counters.done, node.counters.cache_hits) == (1, 2)


# Many calls at once


async def test_many_returns_results_and_exceptions_in_the_order_of_the_items() -> None:
    error = ValueError("no")

    async def work(item: str) -> str:
        if item == "b":
            raise error
        return item.upper()

    node = make(work, workers=1)
    assert await node.many("abcab") == ["A", error, "C", "A", error]
    assert (node.counters.done, node.counters.failed, node.counters.coalesced) == (2, 1, 2)
    assert await node.many([]) == []


async def test_cancelling_many_cancels_the_work_that_no_other_caller_waits_for() -> None:
    gate = Gate()
    node = make(gate, workers=2)
    (other,) = call(node, "a")
    many = asyncio.create_task(node.many("abc"))
    await idle()
    many.cancel()
    await idle()
    assert many.cancelled()
    assert (gate.cancelled, node.queued, node.running) == (["b"], 0, 1)
    await gate.end("a")
    assert await other == "A"


async def test_many_raises_when_the_stage_is_stopped() -> None:
    node = make(Flaky())
    await node.stop()
    with pytest.raises(Stopped, match="stage: stopped"):
        await node.many("ab")


async def test_the_seconds_of_the_work_are_counted() -> None:
    async def work(item: str) -> str:
        await asyncio.sleep(0.02)
        return item

    node = make(work)
    await node.many("ab")
    assert 0.03 < node.counters.seconds < 10
