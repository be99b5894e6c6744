"""One page load in a browser: from a URL to the response with the rendered HTML."""

import asyncio
import re
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag

from playwright.async_api import CDPSession, Error, Page

from fetchers.guard import Guard
from fetchers.page import Dead, Refused, Response, Unreachable, Unvisitable, now
from fetchers.web.headers import merge_headers, without_transfer_headers
from fetchers.web.launch import first_line
from fetchers.web.proxy import Ticket
from fetchers.web.rendered import Rendered

_ENOUGH_WORDS = 120  # a challenge, an empty shell or a loading screen has fewer
_STABLE_TIME = 0.5  # seconds; a page with enough words is complete if it is stable for this long
_POLL_INTERVAL = 0.2  # seconds between two counts of the words
_MAX_DOCUMENTS = 20  # redirects and navigations of one page; browsers have the same limit
_BLOCKED_TYPES = ("Image", "Media", "Font")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one page load.

    Times are in seconds. `total` is the time for everything. `read` is the part of `total` that is
    reserved for reading the page. `patience` is how long a page with few words must stay unchanged
    before it counts as complete. `size` is in bytes of the rendered HTML. `memory` is in bytes of
    the process that renders the page.
    """

    total: float = 30
    read: float = 8
    patience: float = 5
    size: int = 20_000_000
    memory: int = 1_000_000_000


@dataclass(frozen=True, slots=True)
class _Document:
    """The reply of a server with a document of the page."""

    url: str
    status: int
    headers: dict[str, str]


class PageLoad:
    """Loads one URL in `page`, an empty page of a browser, and reads what the page shows.

    `session` is a CDP session of the page. `ticket` is the page's permission to use the proxy.
    """

    def __init__(
        self, guard: Guard, limits: Limits, ticket: Ticket, page: Page, session: CDPSession
    ) -> None:
        self._guard = guard
        self._limits = limits
        self._ticket = ticket
        self._page = page
        self._session = session
        self._rendered = Rendered(session)
        self._requested = 0  # number of documents
        self._documents: dict[str, _Document] = {}  # by loader id
        self._document: _Document | None = None  # the document that is shown now
        self._failure: asyncio.Future[Unvisitable] = asyncio.get_running_loop().create_future()
        self._background: set[asyncio.Task[Any]] = set()

    async def run(self, url: str) -> Response:
        """Load `url` and return the response with the rendered HTML.

        Raises Unvisitable if the page cannot be loaded, and playwright's Error for any other
        failure of the browser.
        """
        await self._prepare()
        load = asyncio.create_task(self._load(url))
        try:
            either: set[asyncio.Future[Any]] = {load, self._failure}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if self._failure.done():
                raise self._failure.result()
            return load.result()
        finally:
            # A pop-up window may never report that it is closed. Closing the context ends it.
            for task in (load, *self._background):
                task.cancel()
            await asyncio.gather(load, *self._background, return_exceptions=True)

    async def _prepare(self) -> None:
        page, session = self._page, self._session
        page.on("crash", lambda _: self._fail(Unreachable("the page crashed")))
        page.on("close", lambda _: self._fail(Unreachable("the page closed itself")))
        page.context.on("page", lambda popup: self._run_in_background(popup.close()))
        session.on("Fetch.requestPaused", self._on_paused)
        session.on("Fetch.authRequired", self._on_auth_required)
        session.on("Page.frameNavigated", self._on_navigated)
        await session.send("Page.enable")
        await session.send("DOM.enable")
        tree = await session.send("Page.getFrameTree")
        self._main_frame = tree["frameTree"]["frame"]["id"]
        patterns = [
            {"resourceType": "Document", "requestStage": "Request"},
            {"resourceType": "Document", "requestStage": "Response"},
            *({"resourceType": kind} for kind in _BLOCKED_TYPES),
        ]
        await session.send("Fetch.enable", {"patterns": patterns, "handleAuthRequests": True})

    async def _load(self, url: str) -> Response:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._limits.total - self._limits.read
        await self._page.goto(url, wait_until="commit", timeout=0)
        while True:
            await self._wait_for_content(deadline)
            document = self._document
            with suppress(Error):  # the page has navigated while it was read
                html = await self._rendered.html(self._limits.size)
                if document is not None and document is self._document:
                    return self._response(document, html)
            await asyncio.sleep(_POLL_INTERVAL)

    async def _wait_for_content(self, deadline: float) -> None:
        """Wait until the page is complete, at most until `deadline` (a time of the event loop).

        A page with enough words is complete if it is stable for a short time. A page with few words
        must be stable for `Limits.patience`.
        """
        loop = asyncio.get_running_loop()
        document, words, since = self._document, -1, loop.time()
        while loop.time() < deadline:
            try:
                count = await self._rendered.words(_ENOUGH_WORDS)
            except Error:  # the page is navigating
                count = -1
            # 5 % may change: a clock or a ticker changes some words for ever.
            if self._document is not document or abs(count - words) > words * 0.05:
                document, words, since = self._document, count, loop.time()
            else:
                needed = _STABLE_TIME if words >= _ENOUGH_WORDS else self._limits.patience
                if loop.time() - since >= needed:
                    return
            await asyncio.sleep(_POLL_INTERVAL)

    def _response(self, document: _Document, html: str) -> Response:
        response = Response(
            status=document.status,
            final_url=self._final_url(document),
            headers={**document.headers, "content-type": "text/html; charset=utf-8"},
            body=html.encode()[: self._limits.size],
            via="browser",
            fetched_at=now(),
        )
        if document.status == 429 or 500 <= document.status <= 599:
            raise Unreachable(f"status {document.status}", response=response)
        return response

    def _final_url(self, document: _Document) -> str:
        """The URL that the page shows. A script may have changed it within its site."""
        try:
            return self._guard.target(self._page.url).url
        except Refused:  # about:blank, written by a script
            return urldefrag(document.url).url

    # Handlers of the browser's events.

    def _on_paused(self, event: dict[str, Any]) -> None:
        request = {"requestId": event["requestId"]}
        if event["resourceType"] in _BLOCKED_TYPES:
            self._send("Fetch.failRequest", {**request, "errorReason": "BlockedByClient"})
            return
        if event["frameId"] == self._main_frame:
            self._on_document(event)
        self._send("Fetch.continueRequest", request)

    def _on_document(self, event: dict[str, Any]) -> None:
        """Handle a request, a reply or a failure of a document of the main frame."""
        url, status, error = (
            event["request"]["url"],
            event.get("responseStatusCode"),
            event.get("responseErrorReason"),
        )
        if status is None and error is None:
            self._requested += 1
            if self._requested > _MAX_DOCUMENTS:
                self._fail(Dead("redirect loop"))
        elif fault := self._proxy_fault(url):
            self._fail(fault)
        elif error not in (None, "Aborted"):
            self._fail(Unreachable(f"no connection: {error}"))
        elif status is not None:
            pairs = ((pair["name"], pair["value"]) for pair in event.get("responseHeaders", ()))
            loader = event.get("networkId", "")
            headers = without_transfer_headers(merge_headers(pairs))
            self._documents[loader] = _Document(url, status, headers)

    def _proxy_fault(self, url: str) -> Unvisitable | None:
        """Why the proxy did not connect to the server of `url`; None if it did."""
        try:
            target = self._guard.target(url)
        except Refused as refused:
            return refused
        return self._ticket.faults.get((target.host, target.port))

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if frame["id"] == self._main_frame:
            self._document = self._documents.get(frame["loaderId"])

    def _on_auth_required(self, event: dict[str, Any]) -> None:
        """Send the page's ticket to the proxy. Send no credentials to servers."""
        reply = {"response": "CancelAuth"}
        if event["authChallenge"].get("source") == "Proxy":
            reply = {
                "response": "ProvideCredentials",
                "username": self._ticket.user,
                "password": self._ticket.password,
            }
        self._send(
            "Fetch.continueWithAuth",
            {"requestId": event["requestId"], "authChallengeResponse": reply},
        )

    def _fail(self, failure: Unvisitable) -> None:
        """End the load with `failure`. Only the first failure counts."""
        if not self._failure.done():
            self._failure.set_result(failure)

    def _send(self, command: str, arguments: dict[str, Any]) -> None:
        self._run_in_background(self._session.send(command, arguments))

    def _run_in_background(self, command: Coroutine[Any, Any, Any]) -> None:
        """Run a command in a new task. Its target may have gone, so ignore its error."""

        async def run() -> None:
            with suppress(Error):
                await command

        task = asyncio.create_task(run())
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def failure_of(error: Error) -> Unvisitable:
    """Convert an error of Playwright into Dead or Unreachable with a reason."""
    line = first_line(error)
    if "ERR_TOO_MANY_REDIRECTS" in line:
        return Dead("redirect loop")
    if "Download is starting" in line:
        return Unreachable("a download, not a page")
    if code := re.search(r"net::(ERR_\w+)", line):
        return Unreachable(f"no page: {code[1]}")
    return Unreachable(line)
