"""Pages of a call, over a cache that calls share, and the steps from a URL to a page."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cache.folder import Cache
from fetchers.page import Page
from grader.settings import Settings
from grader.stages import workers
from grader.stages.pages import Pages
from queues.graph import Graph


class Inline:
    """Workers in this process."""

    def __init__(self, folder: Path) -> None:
        workers.open_store(folder)
        self.failure: Exception | None = None
        self.runs = 0

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        self.runs += 1
        if self.failure:
            raise self.failure
        return function(*args)


@asynccontextmanager
async def opened_pages(
    folder: Path, port: int, clock: Callable[[], float] | None = None, **settings: Any
) -> AsyncIterator[Pages]:
    """The pages of a call that may visit a port here, with the cache in `folder`."""
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
    made = Settings(cache=folder, allow_hosts=hosts, **settings)
    more = {} if clock is None else {"clock": clock}
    async with Cache.open(folder) as cache:
        pool: Any = Inline(folder / "bodies")
        async with Pages(made, cache, pool, **more) as pages, Graph(pages.nodes):
            yield pages


async def visit(pages: Pages, url: str) -> Page:
    """The page at a URL, by the steps of `CollectionKind.grade`."""
    page = await pages.triage(url, await pages.fetch(url))
    if pages.worth_a_browser(page):
        page = await pages.render(url, page)
    return await pages.give_up(url, page) if page.state == "unreachable" else page
