"""Pages as a browser shows them, for those that plain http could not get.

One Chromium with a fresh context a page; all that it sends goes through fetchers/proxy.py. Pages
are hostile: they loop, hang, crash, swallow memory, open windows, and never fall silent.
"""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urldefrag

import psutil
from playwright.async_api import Browser as Launched
from playwright.async_api import (
    BrowserContext,
    CDPSession,
    Error,
    Page,
    ProxySettings,
    async_playwright,
)

from fetchers.address import Guard
from fetchers.page import Dead, Refused, Response, Unreachable, Unvisitable, now
from fetchers.web.headers import joined, of_the_content
from fetchers.web.proxy import Pass, Proxy
from fetchers.web.rendered import Rendered

T = TypeVar("T")

# The one without windows first: it takes a third of the time for a page.
_NAMES = (
    "chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser",
    "google-chrome", "google-chrome-stable", "chrome",
)  # fmt: skip
_PLAYWRIGHTS_OWN = "chromium*-*/chrome-*/*"
_FLAGS = (
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-gpu",
    "--disable-remote-fonts",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    # A page with all of its frames is one process, to be read at once and killed at once. There is
    # nothing that one site could steal from another: a context holds no page but one.
    "--disable-site-isolation-trials",
    "--js-flags=--max-old-space-size=512",
)
# What Playwright turns off and hostile pages are held back by.
_KEPT_ON = ("--disable-popup-blocking", "--disable-ipc-flooding-protection")

_ENOUGH = 120  # words; a challenge, a shell or a loading screen has fewer
_STEADY = 0.5  # seconds without a change after which a page with enough words is taken as whole
_POLL = 0.2  # seconds between two looks
_MAX_DOCUMENTS = 20  # a page may lead through, as in browsers
_RECYCLED = 200  # pages, after which a browser is replaced
_ANSWERS = 10.0  # seconds in which a browser does what it is told, unless it hangs
_WATCH = 0.3  # seconds between two looks at what its processes hold


class NoBrowser(Exception):
    """No browser is installed, or none starts; the message says what to do."""


class Died(Exception):
    """The browser is gone, and its pages with it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a page. Times are in seconds: `read` is the part of `total` that is kept for
    reading what has come, `patience` how long a page that says little may stay as it is before it
    is taken for whole. `size` is in bytes of the rendered document, `memory` in bytes of the
    process that renders it."""

    total: float = 30
    read: float = 8
    patience: float = 5
    size: int = 20_000_000
    memory: int = 1_000_000_000


def find() -> str | None:
    """The path of the system's Chromium or Chrome, else of Playwright's own, if there is one."""
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    default = Path.home() / ".cache" / "ms-playwright"
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default)
    found = [p for p in root.glob(_PLAYWRIGHTS_OWN) if p.name in ("chrome", "headless_shell")]
    return str(max(found)) if found else None


class Browser:
    """Renders URLs, `workers` at once; an async context manager of one event loop.

    Entering it raises NoBrowser where none is installed. It starts with the first page.
    """

    def __init__(self, guard: Guard, limits: Limits | None = None, workers: int = 4) -> None:
        self._guard = guard
        self._limits = limits or Limits()
        self._slots = asyncio.Semaphore(workers)
        self._changing = asyncio.Lock()
        self._chromium: _Chromium | None = None
        self._absent: NoBrowser | None = None
        self._retiring: set[asyncio.Task[None]] = set()
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
        await asyncio.gather(*self._retiring)
        await self._stack.aclose()

    async def render(self, url: str) -> Response:
        """The page behind `url` as it stands once its text does: HTML in UTF-8, with frames and
        open shadow roots in place. Status, headers and URL are those of where it ended.

        Raises Refused, Dead and Unreachable as Http.fetch does, Died where this took the browser
        with it, and NoBrowser where none starts.
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
                        visit = _Visit(self._guard, self._limits, ticket, page, session)
                        return await visit.run(url)
                except TimeoutError:
                    raise Unreachable("timed out") from None
                except (Error, Unreachable) as failure:  # a page is closed with its browser, too
                    if not await chromium.answers():
                        raise Died from None
                    raise _fate(failure) if isinstance(failure, Error) else failure from None

    @asynccontextmanager
    async def _running(self) -> AsyncIterator["_Chromium"]:
        """The browser under way, or a new one where it has died or served its time."""
        async with self._changing:
            chromium = self._chromium
            if chromium is not None and (not chromium.is_alive or chromium.served >= _RECYCLED):
                self._retire(chromium)
                chromium = None
            if chromium is None:
                chromium = self._chromium = await self._start()
            chromium.enter()
        try:
            yield chromium
        finally:
            chromium.leave()

    async def _start(self) -> "_Chromium":
        if self._absent is None:
            try:
                return await _Chromium.start(self._path, self._proxy.port, self._limits.memory)
            except NoBrowser as absent:
                self._absent = absent  # it will not start the next time either
        raise self._absent

    def _retire(self, chromium: "_Chromium") -> None:
        self._chromium = None
        task = asyncio.create_task(chromium.close())
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)


class _Chromium:
    """A browser's processes, from their start to their end."""

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
        """Raises NoBrowser where it does not start."""
        chromium = cls(path, port, memory)
        try:
            await chromium._start()
        except Error as error:
            await chromium._stack.aclose()
            raise NoBrowser(f"{path} does not start: {_line(error)}") from None
        return chromium

    async def _start(self) -> None:
        playwright = await self._stack.enter_async_context(async_playwright())
        self._browser: Launched = await playwright.chromium.launch(
            executable_path=self._path,
            args=_FLAGS,
            ignore_default_args=_KEPT_ON,
            chromium_sandbox=os.geteuid() != 0,
            proxy=self._proxy,
            timeout=30_000,
        )
        version = self._browser.version.partition(".")[0]
        self._agent = (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
            f"Chrome/{version}.0.0.0 Safari/537.36 (compatible; Assay)"
        )
        self._session = await self._browser.new_browser_cdp_session()
        self._pid = next(pid for kind, pid in await self._processes() if kind == "browser")
        self._watch = asyncio.create_task(self._kill_what_swells())

    async def close(self) -> None:
        """Ends it when its last page has ended; kills it if it does not go."""
        if self._pages:
            await self._idle.wait()
        self._watch.cancel()
        try:
            async with asyncio.timeout(_ANSWERS):
                await self._browser.close()
        except (Error, TimeoutError):
            _kill(self._pid)
        await self._stack.aclose()

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked for pages, as far as is known."""
        return self._browser.is_connected() and not self._is_gone

    async def answers(self) -> bool:
        """Whether it is still there: where its driver has died, nobody tells."""
        try:
            await self._or_kill(self._session.send("Browser.getVersion"))
        except (Error, Died):
            self._is_gone = True
        return self.is_alive

    def enter(self) -> None:
        """Counts a page that begins."""
        self.served += 1
        self._pages += 1
        self._idle.clear()

    def leave(self) -> None:
        """Counts a page that has ended."""
        self._pages -= 1
        if not self._pages:
            self._idle.set()

    @asynccontextmanager
    async def context(self) -> AsyncIterator[BrowserContext]:
        """A context for one page, with nothing in it and nothing left of it. A browser that hangs
        here is killed: it would keep all others waiting."""
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

    async def _or_kill(self, doing: Coroutine[Any, Any, T]) -> T:
        try:
            return await asyncio.wait_for(doing, _ANSWERS)
        except TimeoutError:
            self._is_gone = True
            _kill(self._pid)
            raise Died from None

    async def _kill_what_swells(self) -> None:
        """Kills a page's process when it holds too much; the page crashes, and no other."""
        with suppress(Error):  # the browser has gone
            while True:
                await asyncio.sleep(_WATCH)
                for kind, pid in await self._processes() if self._pages else ():
                    if kind == "renderer" and _held(pid) > self._memory:
                        _kill(pid)

    async def _processes(self) -> list[tuple[str, int]]:
        found = await self._session.send("SystemInfo.getProcessInfo")
        return [(process["type"], process["id"]) for process in found["processInfo"]]


def _held(pid: int) -> int:
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0


def _kill(pid: int) -> None:
    with suppress(psutil.Error):
        psutil.Process(pid).kill()


@dataclass(frozen=True, slots=True)
class _Document:
    """What a server said of a document of the page."""

    url: str
    status: int
    headers: dict[str, str]


class _Visit:
    """One page's way, from its URL to what is read of it."""

    def __init__(
        self, guard: Guard, limits: Limits, ticket: Pass, page: Page, session: CDPSession
    ) -> None:
        self._guard = guard
        self._limits = limits
        self._ticket = ticket
        self._page = page
        self._session = session
        self._rendered = Rendered(session)
        self._requested = 0  # documents
        self._documents: dict[str, _Document] = {}  # by their loaders' ids
        self._document: _Document | None = None  # the one that is shown
        self._end: asyncio.Future[Unvisitable] = asyncio.get_running_loop().create_future()
        self._replies: set[asyncio.Task[Any]] = set()

    async def run(self, url: str) -> Response:
        """Raises Unvisitable, and playwright's Error for what it did not foresee."""
        await self._prepare()
        way = asyncio.create_task(self._way(url))
        try:
            first: set[asyncio.Future[Any]] = {way, self._end}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if self._end.done():
                raise self._end.result()
            return way.result()
        finally:
            # A window that the page opened may never say that it is closed; its context ends it.
            for task in (way, *self._replies):
                task.cancel()
            await asyncio.gather(way, *self._replies, return_exceptions=True)

    async def _prepare(self) -> None:
        page, session = self._page, self._session
        page.on("crash", lambda _: self._finish(Unreachable("the page crashed")))
        page.on("close", lambda _: self._finish(Unreachable("the page closed itself")))
        page.context.on("page", lambda other: self._reply(other.close()))
        session.on("Fetch.requestPaused", self._on_paused)
        session.on("Fetch.authRequired", self._on_challenge)
        session.on("Page.frameNavigated", self._on_navigated)
        await session.send("Page.enable")
        await session.send("DOM.enable")
        tree = await session.send("Page.getFrameTree")
        self._main = tree["frameTree"]["frame"]["id"]
        patterns = [
            {"resourceType": "Document", "requestStage": "Request"},
            {"resourceType": "Document", "requestStage": "Response"},
            *({"resourceType": kind} for kind in _UNLOADED),
        ]
        await session.send("Fetch.enable", {"patterns": patterns, "handleAuthRequests": True})

    async def _way(self, url: str) -> Response:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limits.total - self._limits.read
        await self._page.goto(url, wait_until="commit", timeout=0)
        while True:
            await self._settle(until)
            document = self._document
            with suppress(Error):  # it has gone on meanwhile
                html = await self._rendered.html(self._limits.size)
                if document is not None and document is self._document:
                    return self._response(document, html)
            await asyncio.sleep(_POLL)

    async def _settle(self, until: float) -> None:
        """Waits for content: until there is enough text and it stays, or has been little for long,
        or the time is up."""
        loop = asyncio.get_running_loop()
        seen, words, since = self._document, -1, loop.time()
        while loop.time() < until:
            try:
                now = await self._rendered.words(_ENOUGH)
            except Error:  # it is going on to another document
                now = -1
            # A clock or a ticker changes some words for ever.
            if self._document is not seen or abs(now - words) > words * 0.05:
                seen, words, since = self._document, now, loop.time()
            elif loop.time() - since >= (_STEADY if words >= _ENOUGH else self._limits.patience):
                return
            await asyncio.sleep(_POLL)

    def _response(self, document: _Document, html: str) -> Response:
        size = self._limits.size
        body = html.encode()
        response = Response(
            status=document.status,
            final_url=self._final_url(document),
            headers={**document.headers, "content-type": "text/html; charset=utf-8"},
            body=body[:size],
            via="browser",
            fetched_at=now(),
            truncated=len(body) >= size,
        )
        if document.status == 429 or 500 <= document.status <= 599:
            raise Unreachable(f"status {document.status}", response=response)
        return response

    def _final_url(self, document: _Document) -> str:
        """Where the page says it is, which a script may have changed within its site."""
        try:
            return self._guard.target(self._page.url).url
        except Refused:  # about:blank, written by a script
            return urldefrag(document.url).url

    # What the browser tells.

    def _on_paused(self, event: dict[str, Any]) -> None:
        request = {"requestId": event["requestId"]}
        if event["resourceType"] in _UNLOADED:
            self._send("Fetch.failRequest", {**request, "errorReason": "BlockedByClient"})
            return
        if event["frameId"] == self._main:
            self._on_document(event)
        self._send("Fetch.continueRequest", request)

    def _on_document(self, event: dict[str, Any]) -> None:
        """A document of the main frame is asked for, has an answer, or fails."""
        url, status, error = (
            event["request"]["url"],
            event.get("responseStatusCode"),
            event.get("responseErrorReason"),
        )
        if status is None and error is None:
            self._requested += 1
            if self._requested > _MAX_DOCUMENTS:
                self._finish(Dead("redirect loop"))
        elif fault := self._fault(url):
            self._finish(fault)
        elif error not in (None, "Aborted"):
            self._finish(Unreachable(f"no connection: {error}"))
        elif status is not None:
            pairs = ((pair["name"], pair["value"]) for pair in event.get("responseHeaders", ()))
            loader = event.get("networkId", "")
            self._documents[loader] = _Document(url, status, of_the_content(joined(pairs)))

    def _fault(self, url: str) -> Unvisitable | None:
        """Why the proxy did not pass a document on, if it did not."""
        try:
            target = self._guard.target(url)
        except Refused as refused:
            return refused
        return self._ticket.faults.get((target.host, target.port))

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if frame["id"] == self._main:
            self._document = self._documents.get(frame["loaderId"])

    def _on_challenge(self, event: dict[str, Any]) -> None:
        answer = {"response": "CancelAuth"}
        if event["authChallenge"].get("source") == "Proxy":
            answer = {
                "response": "ProvideCredentials",
                "username": self._ticket.user,
                "password": self._ticket.password,
            }
        self._send(
            "Fetch.continueWithAuth",
            {"requestId": event["requestId"], "authChallengeResponse": answer},
        )

    def _finish(self, end: Unvisitable) -> None:
        if not self._end.done():
            self._end.set_result(end)

    def _send(self, command: str, arguments: dict[str, Any]) -> None:
        self._reply(self._session.send(command, arguments))

    def _reply(self, reply: Coroutine[Any, Any, Any]) -> None:
        """Sees to a reply aside; what it was for may be gone already."""

        async def quietly() -> None:
            with suppress(Error):
                await reply

        task = asyncio.create_task(quietly())
        self._replies.add(task)
        task.add_done_callback(self._replies.discard)


_UNLOADED = ("Image", "Media", "Font")


def _fate(error: Error) -> Unvisitable:
    line = _line(error)
    if "ERR_TOO_MANY_REDIRECTS" in line:
        return Dead("redirect loop")
    if "Download is starting" in line:
        return Unreachable("a download, not a page")
    if failed := re.search(r"net::(ERR_\w+)", line):
        return Unreachable(f"no page: {failed[1]}")
    return Unreachable(line)


def _line(error: Error) -> str:
    return error.message.partition("\n")[0][:200]
