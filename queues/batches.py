"""Batches: many small calls to the store become few large ones."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")

BATCH_SIZE = 500
"""The most rows in one query or one transaction."""


class Batches(Generic[T]):
    """Calls `handle` with batches of the items that are added, one batch at a time.

    The first item is handled at once. Items that are added meanwhile form the next batch.
    """

    def __init__(self, handle: Callable[[list[T]], Awaitable[None]]) -> None:
        self._handle = handle
        self._waiting: deque[T] = deque()
        self._task: asyncio.Task[None] | None = None

    def add(self, item: T) -> None:
        """Add an item to the next batch."""
        self._waiting.append(item)
        if self._task is None:
            self._task = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        try:
            while self._waiting:
                size = min(BATCH_SIZE, len(self._waiting))
                await self._handle([self._waiting.popleft() for _ in range(size)])
        finally:
            self._task = None

    async def empty(self) -> None:
        """Return when all items that were added have been handled."""
        while self._task:
            await asyncio.wait([self._task])
