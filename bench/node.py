"""The overhead of a Node. Run: `python bench/node.py`. Last output (2 cores, Python 3.11):

cache hit                        3.6 us of CPU a call
no work, no store                8.8 us of CPU a call
no work, no store, deadline     14.1 us of CPU a call
no work, no store, retry        42.5 us of CPU a call
no work, miss and append         9.9 us of CPU a call
64 workers, 100 ms of work     97.3% of full use, busy 98.8%
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from queues.node import Node
from queues.retry import Retry
from queues.store import Memory


class Known:
    """A store that has a row for every key, at no cost."""

    async def get_many(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return dict.fromkeys(keys, b"known")

    async def append_many(self, stage: str, rows: Sequence[tuple[bytes, bytes]]) -> None:
        pass


class Empty(Known):
    """A store that has no rows and accepts all rows, at no cost."""

    async def get_many(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {}


def key(item: int) -> bytes:
    return item.to_bytes(8)


def as_is(value: bytes) -> bytes:
    return value


async def nothing(item: int) -> bytes:
    return b"worked"


async def hundred_ms(item: int) -> bytes:
    await asyncio.sleep(0.1)
    return b"worked"


async def feed(node: Node[int, bytes], items: int, callers: int) -> tuple[float, float]:
    """The CPU and wall-clock seconds of `items` calls from `callers` tasks, each of which makes one
    call after another."""
    numbers = iter(range(items))

    async def caller() -> None:
        for number in numbers:
            await node(number)

    cpu, wall = time.process_time(), time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(callers):
            tasks.create_task(caller())
    return time.process_time() - cpu, time.perf_counter() - wall


async def main() -> None:
    items = 100_000
    known, empty = (Memory(store, as_is, as_is) for store in (Known(), Empty()))
    retry = Retry(transient=(OSError,), attempts=8)
    for label, node in {
        "cache hit": Node("hit", nothing, key=key, workers=64, memory=known),
        "no work, no store": Node("bare", nothing, key=key, workers=64),
        "no work, no store, deadline": Node("late", nothing, key=key, workers=64, deadline=60),
        "no work, no store, retry": Node("retry", nothing, key=key, workers=64, retry=retry),
        "no work, miss and append": Node("miss", nothing, key=key, workers=64, memory=empty),
    }.items():
        cpu, _ = await feed(node, items, callers=1000)
        print(f"{label:30}{cpu / items * 1e6:6.1f} us of CPU a call")
    busy = Node("busy", hundred_ms, key=key, workers=64, memory=empty, deadline=60, retry=retry)
    cpu, wall = await feed(busy, 64 * 40, callers=256)
    full = busy.counters.seconds / (wall * 64)
    print(f"{'64 workers, 100 ms of work':30}{40 * 0.1 / wall:6.1%} of full use, busy {full:.1%}")


if __name__ == "__main__":
    asyncio.run(main())
