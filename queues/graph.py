"""The stages of one grader, which are stopped together."""

import asyncio
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from queues.node import Counters, Node


class Graph:
    """The nodes of one grader. Leaving its `async with` block stops them; no task is left over.

    Raises ValueError if two nodes have one name: they would share their rows in the store.
    """

    def __init__(self, nodes: Iterable[Node[Any, Any]]) -> None:
        self.nodes: dict[str, Node[Any, Any]] = {}
        for node in nodes:
            if node.name in self.nodes:
                raise ValueError(f"two nodes are named {node.name!r}")
            self.nodes[node.name] = node

    @property
    def counters(self) -> dict[str, Counters]:
        """What each stage has done so far, by its name."""
        return {name: node.counters for name, node in self.nodes.items()}

    async def stop(self, grace_seconds: float = 0.0) -> None:
        """Stop all nodes at the same time, as `Node.stop` does. May be called again."""
        await asyncio.gather(*(node.stop(grace_seconds) for node in self.nodes.values()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()
