"""One running Chromium: start it, create contexts in it, watch its memory, and close or kill it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Self, TypeVar

import psutil
from playwright.async_api import Browser, BrowserContext, Error, ProxySettings, async_playwright

from fetchers.web.launch import NoBrowser, first_line, launch

T = TypeVar("T")

_COMMAND_TIMEOUT = 10.0  # seconds; a browser that takes longer for a command hangs
_MEMORY_INTERVAL = 0.3  # seconds between two checks of the memory of the processes


class Died(Exception):
    """The browser has ended, and all its pages with it."""


class Chromium:
    """The processes of one browser, from start to end.

    `served` is the number of pages that it has begun.
    """

    def __init__(self, path: str, port: int, memory: int) -> None:
        self._path = path
        self._proxy: ProxySettings = {"server": f"http://127.0.0.1:{port}"}
        self._memory = memory
        self._stack = AsyncExitStack()
        self._pages = 0
        self._idle = asyncio.Event()
        self._is_gone = False
        self.served = 0

    @classmethod
    async def start(cls, path: str, port: int, memory: int) -> Self:
        """Start the browser at `path`.

        `port` is the port of the proxy on 127.0.0.1. `memory` is the limit in bytes for a process
        that renders a page. Raises NoBrowser if the browser does not start.
        """
        chromium = cls(path, port, memory)
        try:
            await chromium._start()
        except Error as error:
            await chromium._stack.aclose()
            raise NoBrowser(f"{path} does not start: {first_line(error)}") from None
        return chromium

    async def _start(self) -> None:
        playwright = await self._stack.enter_async_context(async_playwright())
        self._browser: Browser = await launch(playwright, self._path, self._proxy)
        version = self._browser.version.partition(".")[0]
        self._agent = (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
            f"Chrome/{version}.0.0.0 Safari/537.36 (compatible; Assay)"
        )
        self._session = await self._browser.new_browser_cdp_session()
        self._pid = next(pid for kind, pid in await self._processes() if kind == "browser")
        self._memory_watch = asyncio.create_task(self._watch_memory())

    async def close(self) -> None:
        """Wait for the last page, then close the browser. Kill it if it does not close."""
        if self._pages:
            await self._idle.wait()
        self._memory_watch.cancel()
        try:
            async with asyncio.timeout(_COMMAND_TIMEOUT):
                await self._browser.close()
        except (Error, TimeoutError):
            _kill(self._pid)
        await self._stack.aclose()

    @property
    def is_alive(self) -> bool:
        """Whether the browser can take pages, without asking it."""
        return self._browser.is_connected() and not self._is_gone

    async def answers(self) -> bool:
        """Whether the browser replies to a command.

        `is_alive` alone is not enough: no event reports that the Playwright driver has died.
        """
        try:
            await self._or_kill(self._session.send("Browser.getVersion"))
        except (Error, Died):
            self._is_gone = True
        return self.is_alive

    def enter(self) -> None:
        """Count a page that begins."""
        self.served += 1
        self._pages += 1
        self._idle.clear()

    def leave(self) -> None:
        """Count a page that has ended."""
        self._pages -= 1
        if not self._pages:
            self._idle.set()

    @asynccontextmanager
    async def context(self) -> AsyncIterator[BrowserContext]:
        """A new, empty context for one page. It is deleted at the end.

        Raises Died, and kills the browser, if the browser does not reply in time. A browser that
        hangs would block all other pages.
        """
        context = await self._or_kill(
            self._browser.new_context(
                proxy=self._proxy,
                user_agent=self._agent,
                locale="en-US",
                accept_downloads=False,
                service_workers="block",
            )
        )
        try:
            yield context
        finally:
            await self._or_kill(context.close())

    async def _or_kill(self, command: Coroutine[Any, Any, T]) -> T:
        """Run a command. Raises Died, and kills the browser, if the command times out."""
        try:
            return await asyncio.wait_for(command, _COMMAND_TIMEOUT)
        except TimeoutError:
            self._is_gone = True
            _kill(self._pid)
            raise Died from None

    async def _watch_memory(self) -> None:
        """Kill each page process that is over the memory limit. Only that page crashes."""
        with suppress(Error):  # the browser has ended
            while True:
                await asyncio.sleep(_MEMORY_INTERVAL)
                for kind, pid in await self._processes() if self._pages else ():
                    if kind == "renderer" and _resident(pid) > self._memory:
                        _kill(pid)

    async def _processes(self) -> list[tuple[str, int]]:
        """The type and process id of each process of the browser."""
        info = await self._session.send("SystemInfo.getProcessInfo")
        return [(process["type"], process["id"]) for process in info["processInfo"]]


def _resident(pid: int) -> int:
    """The resident memory of a process in bytes; 0 if it has ended."""
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0


def _kill(pid: int) -> None:
    with suppress(psutil.Error):
        psutil.Process(pid).kill()
