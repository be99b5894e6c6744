"""Render pages in a browser, for pages that plain http cannot show.

One Chromium runs at a time, with a new context for each page (fetchers/web/chromium.py and
fetchers/web/page_load.py). All its requests go through fetchers/web/proxy.py. Pages are hostile:
they loop, hang, crash, use too much memory, open windows, and send requests without end.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from types import TracebackType
from typing import Self

from playwright.async_api import Error

from fetchers.guard import Guard
from fetchers.page import Response, Unreachable
from fetchers.web.chromium import Chromium, Died
from fetchers.web.launch import NoBrowser, find
from fetchers.web.page_load import Limits, PageLoad, failure_of
from fetchers.web.proxy import Proxy

_MAX_PAGES = 200  # pages after which a browser is replaced


class Browser:
    """Renders URLs, at most `workers` at once. An async context manager for one event loop.

    To enter it raises NoBrowser if no browser is installed. Chromium starts with the first page.
    """

    def __init__(self, guard: Guard, limits: Limits | None = None, workers: int = 4) -> None:
        self._guard = guard
        self._limits = limits or Limits()
        self._slots = asyncio.Semaphore(workers)
        self._replacing = asyncio.Lock()
        self._chromium: Chromium | None = None
        self._start_failure: NoBrowser | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        path = await asyncio.to_thread(find)
        if path is None:
            raise NoBrowser("no browser: install chromium (on Debian: apt-get install chromium)")
        self._path = path
        self._proxy = await self._stack.enter_async_context(Proxy(self._guard))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._chromium is not None:
            self._retire(self._chromium)
        await asyncio.gather(*self._closing)
        await self._stack.aclose()

    async def render(self, url: str) -> Response:
        """Render the page at `url` and return it when its text is stable.

        The body is HTML in UTF-8. It contains the frames and the open shadow roots at their places.
        Status, headers and URL belong to the last document, after redirects and navigations.

        Raises Refused, Dead and Unreachable as Http.fetch does. Raises Died if the browser died
        twice with this page, and NoBrowser if no browser starts.
        """
        target = self._guard.target(url)
        async with self._slots:
            for _ in range(2):
                with suppress(Died):
                    return await self._render(target.url)
        raise Died("the browser died")

    async def _render(self, url: str) -> Response:
        async with self._running() as chromium:
            with self._proxy.admit() as ticket:
                try:
                    async with asyncio.timeout(self._limits.total), chromium.context() as context:
                        page = await context.new_page()
                        session = await context.new_cdp_session(page)
                        load = PageLoad(self._guard, self._limits, ticket, page, session)
                        return await load.run(url)
                except TimeoutError:
                    raise Unreachable("timed out") from None
                except (Error, Unreachable) as failure:
                    # The end of the browser also ends its pages, so ask which of the two failed.
                    if not await chromium.answers():
                        raise Died from None
                    raise failure_of(failure) if isinstance(failure, Error) else failure from None

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[Chromium]:
        """The running browser. A browser that died or has served its pages is replaced first."""
        async with self._replacing:
            chromium = self._chromium
            if chromium is not None and (not chromium.is_alive or chromium.served >= _MAX_PAGES):
                self._retire(chromium)
                chromium = None
            if chromium is None:
                chromium = self._chromium = await self._start()
            chromium.enter()
        try:
            yield chromium
        finally:
            chromium.leave()

    async def _start(self) -> Chromium:
        if self._start_failure is None:
            try:
                return await Chromium.start(self._path, self._proxy.port, self._limits.memory)
            except NoBrowser as failure:
                self._start_failure = failure  # do not try again: it would fail again
        raise self._start_failure

    def _retire(self, chromium: Chromium) -> None:
        """Close a browser in the background, when its last page has ended."""
        self._chromium = None
        task = asyncio.create_task(chromium.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
