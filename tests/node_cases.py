"""A store, work and sleep for tests of a node, which do what a test tells them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from queues.node import Node
from queues.store import Memory


class Shelf:
    """A store in memory that notes each call, and fails or waits when told to."""

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes] = {}
        self.asked: list[int] = []
        self.appended: list[int] = []
        self.error: Exception | None = None
        self.meanwhile: Callable[[], object] = lambda: None
        self.open = asyncio.Event()
        self.open.set()

    async def get_many(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        self.asked.append(len(keys))
        await self.open.wait()
        if self.error:
            raise self.error
        return {key: self.rows[key] for key in keys if key in self.rows}

    async def append_many(self, stage: str, rows: Sequence[tuple[bytes, bytes]]) -> None:
        self.appended.append(len(rows))
        await self.open.wait()
        self.meanwhile()
        if self.error:
            raise self.error
        self.rows.update(rows)


class Gate:
    """Work that ends when it is told to, and notes who started, ended or was cancelled."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.cancelled: list[str] = []
        self.at_once = self.most_at_once = 0
        self.ends: dict[str, asyncio.Future[str]] = {}

    async def __call__(self, item: str) -> str:
        self.started.append(item)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.ends[item] = asyncio.get_running_loop().create_future()
        try:
            return await self.ends[item]
        except asyncio.CancelledError:
            self.cancelled.append(item)
            raise
        finally:
            self.at_once -= 1

    async def end(self, *items: str) -> None:
        for item in items:
            self.ends[item].set_result(item.upper())
        await idle()

    async def fail(self, item: str, error: BaseException) -> None:
        self.ends[item].set_exception(error)
        await idle()


class Flaky:
    """Work that raises what it is given, in turn, then answers."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self, item: str) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return item.upper()


class Busy(Exception):
    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("busy")
        self.retry_after = retry_after


class Naps:
    """Stands in for sleep: notes how long, and returns when woken (at once unless held)."""

    def __init__(self, held: bool = False) -> None:
        self.seconds: list[float] = []
        self.wake = asyncio.Event()
        if not held:
            self.wake.set()

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await self.wake.wait()


async def idle() -> None:
    """Let everything happen that can happen now."""
    for _ in range(20):
        await asyncio.sleep(0)


def call(node: Node[str, str], *items: str) -> list[asyncio.Task[str]]:
    return [asyncio.create_task(node(item)) for item in items]


def make(work: Any, workers: int = 2, **options: Any) -> Node[str, str]:
    return Node("stage", work, key=str.encode, workers=workers, **options)


def memory(shelf: Shelf, **options: Any) -> Memory[str]:
    return Memory(shelf, str.encode, bytes.decode, **options)
