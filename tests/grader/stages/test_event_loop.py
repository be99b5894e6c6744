"""Helpers for work that runs side by side."""

import asyncio
import threading

import pytest

from grader.stages import event_loop
from grader.stages.event_loop import first_error, in_thread_if_many


@pytest.mark.parametrize(("more", "inline"), [(0, True), (1, False)])
async def test_only_many_items_are_processed_in_a_thread(more: int, inline: bool) -> None:
    items = event_loop.MOST_INLINE + more
    thread, total = await in_thread_if_many(
        items, lambda *parts: (threading.current_thread(), sum(parts)), 2, 3
    )
    assert (thread is threading.current_thread()) is inline
    assert total == 5


async def test_a_task_group_raises_the_error_that_came_first() -> None:
    ended: list[str] = []

    async def fail() -> None:
        raise KeyError("first")

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def run() -> None:
        with first_error():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(wait())
                tasks.create_task(fail())

    with pytest.raises(KeyError, match="first"):
        await run()
    assert ended == ["cancelled"]
