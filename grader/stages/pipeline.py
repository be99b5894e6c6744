"""The stages of one grader: from a URL to a page, from a record to a verdict."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Self, TypeVar

from cache.errors import CacheError, MissingBody
from cache.folder import Cache
from grader.settings import RULES, Settings
from grader.stages import workers
from grader.stages.judging import ByModel, ByRules, Case, Judge
from grader.stages.pages import Pages
from grader.stages.spending import Spending
from judges.records.rules import Undecided
from queues.graph import Graph
from queues.pool import Pool

T = TypeVar("T")

PAGES_AT_ONCE = 2_000
"""Pages whose records are under way at once, over all submissions."""
FEW = 500
"""Records, or values of records, that the event loop itself sees to: some 15 ms of work."""
CPU_SECONDS = 60.0
"""A page or a record that keeps a process busy for longer is given up."""
CPU_BYTES = 4 << 30
"""Address space of a process that reads hostile pages."""


class Pipeline:
    """The caches, the pages and the judge of one grader, and their stages as one graph. An async
    context manager. `slots` is held by whoever has the records of a page under way."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self.spending: Spending | None = None
        self.slots = asyncio.Semaphore(PAGES_AT_ONCE)

    async def __aenter__(self) -> Self:
        """Raises CacheError, ArchiveError and ModelUnusable for what the settings name and cannot
        be used."""
        settings = self._settings
        async with AsyncExitStack() as stack:
            self._cache = await stack.enter_async_context(Cache.open(settings.cache))
            self._pool = Pool(
                settings.cpu_workers,
                deadline=CPU_SECONDS,
                memory_bytes=CPU_BYTES,
                initializer=workers.open_store,
                initargs=(settings.cache / "bodies",),
                raises=(CacheError, Undecided),
            )
            stack.push_async_callback(self._pool.close)
            pages = Pages(settings, self._cache, self._pool)
            self.pages = await stack.enter_async_context(pages)
            self.judge = await self._judge_of(stack)
            nodes = [*self.pages.nodes, *self.judge.nodes]
            self.graph = await stack.enter_async_context(Graph(nodes))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)

    async def _judge_of(self, stack: AsyncExitStack) -> Judge:
        settings, ledger = self._settings, self._cache.ledger
        if settings.judge == RULES:
            return ByRules(ledger, self._on_page, settings.cpu_workers)
        # Begun now, the processes are there when the client is loaded and the first page is read.
        warming = asyncio.create_task(self._pool.run(workers.ready))
        stack.callback(warming.cancel)
        await asyncio.sleep(0)
        from judges.endpoint.endpoint import (
            Endpoint,  # takes half a second, which only models are worth
        )

        endpoint = await stack.enter_async_context(Endpoint(settings.workers))
        self.spending = Spending(endpoint.spent, settings.prices, settings.budget, settings.dry)
        return ByModel(
            ledger,
            self._on_page,
            endpoint.ask,
            settings.judge,
            self.spending,
            settings.workers,
            settings.judge_timeout,
        )

    async def compute(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function in a process of its own. Raises what it raises, Crashed or TimedOut."""
        return await self._pool.run(function, *args)

    async def _on_page(self, function: Callable[..., Any], case: Case, *args: Any) -> Any:
        """Run a worker's function on a case, as OnPage has it."""
        work = partial(self._pool.run, function, case.spec, case.record, case.page, *args)
        try:
            return await work()
        except MissingBody:  # the cache has lost the text: read the body again
            await self.pages.read_again(case.page)
            return await work()


async def aside(items: int, function: Callable[..., T], *args: Any) -> T:
    """Call a function whose work grows with `items`, off the event loop where they are many. A
    few are done sooner than a thread is woken, and threads slow one another."""
    if items <= FEW:
        return function(*args)
    return await asyncio.to_thread(function, *args)
