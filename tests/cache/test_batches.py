"""Blocking iteration outside the event loop."""

import threading
from collections.abc import Iterator

from cache.batches import batches


async def test_items_come_in_lists_of_a_size() -> None:
    assert [batch async for batch in batches(range(5), 2)] == [[0, 1], [2, 3], [4]]
    assert [batch async for batch in batches([], 2)] == []


async def test_one_thread_reads_all_items() -> None:
    def threads() -> Iterator[int]:
        for _ in range(20):
            yield threading.get_ident()

    seen = {thread async for batch in batches(threads(), 3) for thread in batch}
    assert len(seen) == 1
    assert threading.get_ident() not in seen
