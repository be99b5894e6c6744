"""The caches and stages of one grader: pages, worker processes, the judge."""

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
from judges.endpoint.identity import judge_identity
from judges.records.conditions import Undecided
from queues.graph import Graph
from queues.pool import Pool

T = TypeVar("T")

PAGES_IN_FLIGHT = 2_000
"""Pages whose records are graded at once, over all submissions."""
CPU_SECONDS = 60.0
"""Seconds of CPU after which a worker process is stopped and its task fails with TimedOut."""
CPU_BYTES = 4 << 30
"""Address space of a worker process, in bytes. The pages that it reads may be hostile."""


class Pipeline:
    """The caches, the pages and the judge of one grader, with their stages as one graph.

    An async context manager. `page_slots` limits the pages whose records are graded at once:
    hold one slot for each page.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self.spending: Spending | None = None
        self.page_slots = asyncio.Semaphore(PAGES_IN_FLIGHT)

    async def __aenter__(self) -> Self:
        """Open everything. Raises CacheError, ArchiveError or ModelUnusable if a cache folder, an
        archive or a model of the settings cannot be used."""
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
        # Start the processes now: they are ready when the client is loaded and a page is read.
        warming = asyncio.create_task(self._pool.run(workers.ready))
        stack.callback(warming.cancel)
        await asyncio.sleep(0)
        # This import takes half a second, and `rules` does not need it.
        from judges.endpoint.endpoint import Endpoint

        endpoint = await stack.enter_async_context(Endpoint(settings.workers))
        self.spending = Spending(endpoint.spent, settings.prices, settings.budget, settings.dry)
        return ByModel(
            ledger,
            self._on_page,
            endpoint.ask,
            settings.judge,
            judge_identity(settings.judge, settings.judge_id),
            self.spending,
            settings.workers,
            settings.judge_timeout,
        )

    async def compute(self, function: Callable[..., T], *args: Any) -> T:
        """Run `function(*args)` in a worker process and return its result.

        Raises the function's own exception, Crashed or TimedOut.
        """
        return await self._pool.run(function, *args)

    async def _on_page(self, function: Callable[..., Any], case: Case, *args: Any) -> Any:
        """Run a function of `workers` on a case in a worker process (see `OnPage`)."""
        work = partial(self._pool.run, function, case.spec, case.record, case.page, *args)
        try:
            return await work()
        except MissingBody:  # the text is lost: extract it from the body again
            await self.pages.extract_again(case.page)
            return await work()
