"""Blocking iteration outside the event loop."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


async def batches(items: Iterable[T], size: int) -> AsyncIterator[list[T]]:
    """Give `items` in lists of up to `size`.

    One thread reads all of them, since an iterator of diskcache belongs to the thread that began.
    """
    iterator = iter(items)
    with ThreadPoolExecutor(1) as thread:
        loop = asyncio.get_running_loop()
        while batch := await loop.run_in_executor(thread, lambda: list(islice(iterator, size))):
            yield batch
