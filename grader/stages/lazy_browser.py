"""The browser of a grader, started with the first page that needs it: many calls need none."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from fetchers.guard import Guard
from fetchers.page import Response
from queues.pool import Crashed

if TYPE_CHECKING:
    from fetchers.web.browser import Browser


class BrowserMissing(Exception):
    """No browser is installed: nothing can be rendered in this call."""


class LazyBrowser:
    """Renders pages in a browser that it starts when it is needed, and that `stack` closes.

    `workers` pages are open at once. `problem` is the message for the user if no browser is
    installed, empty otherwise.
    """

    def __init__(self, guard: Guard, workers: int, stack: AsyncExitStack) -> None:
        self._guard = guard
        self._workers = workers
        self._stack = stack
        self._starting = asyncio.Lock()
        self._browser: Browser | None = None
        self.problem = ""

    async def render(self, url: str) -> Response:
        """The page as the browser shows it. Raises BrowserMissing, Crashed if the browser died of
        the page, and Dead, Refused or Unreachable as a visit does."""
        from fetchers.web.chromium import Died
        from fetchers.web.launch import NoBrowser

        browser = await self._started()
        try:
            return await browser.render(url)
        except Died as end:
            raise Crashed(str(end)) from None
        except NoBrowser as absent:
            self.problem = str(absent)
            raise BrowserMissing from None

    async def _started(self) -> "Browser":
        from fetchers.web.browser import Browser
        from fetchers.web.launch import NoBrowser

        async with self._starting:
            if self._browser is None and not self.problem:
                browser = Browser(self._guard, workers=self._workers)
                try:
                    self._browser = await self._stack.enter_async_context(browser)
                except NoBrowser as absent:
                    self.problem = str(absent)
        if self._browser is None:
            raise BrowserMissing
        return self._browser
