import asyncio

import pytest

from queues.graph import Graph
from queues.node import Node, Stopped


async def forever(item: str) -> str:
    await asyncio.Event().wait()
    return item


async def shout(item: str) -> str:
    return item.upper()


def node(name: str, work: object = shout) -> Node[str, str]:
    return Node(name, work, key=str.encode, workers=1)  # type: ignore[arg-type]


async def test_a_graph_counts_by_name_and_stops_all_its_nodes() -> None:
    before = asyncio.all_tasks()
    quick, slow = node("quick"), node("slow", forever)
    async with Graph([quick, slow]) as graph:
        assert await quick("a") == "A"
        waiting = asyncio.create_task(slow("b"))
        await asyncio.sleep(0)
        assert graph.counters["quick"].done == 1
        await asyncio.gather(graph.stop(), graph.stop())
        with pytest.raises(Stopped, match="slow"):
            await waiting
        with pytest.raises(Stopped, match="quick"):
            await quick("c")
    assert asyncio.all_tasks() == before


async def test_an_exception_in_the_block_leaves_no_task() -> None:
    before = asyncio.all_tasks()
    slow = node("slow", forever)

    async def grade() -> None:
        async with Graph([slow]):
            async with asyncio.timeout(0):
                await slow("a")

    with pytest.raises(TimeoutError):
        await grade()
    assert asyncio.all_tasks() == before


def test_two_nodes_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="'a'"):
        Graph([node("a"), node("b"), node("a")])
