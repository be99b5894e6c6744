"""The way of a URL to a page: an archive or a visit, a browser where that shows too little, what
is read in the body, and what state that is."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

import orjson

from cache.errors import MissingBody
from cache.folder import Cache
from cache.keys import digest
from fetchers.address import Guard
from fetchers.archives.archive import Archives
from fetchers.page import Dead, Page, Refused, Response, State, Unreachable, Via, now
from fetchers.reading.extract import EXTRACTOR_VERSION
from fetchers.triage.triage import triage, worth_a_browser
from fetchers.web.http import Http, Limits
from grader.settings import Settings
from grader.stages import workers
from grader.stages.stored import kept
from grader.stages.workers import Reading
from queues.node import Memory, Node, Retry
from queues.pool import Crashed, Pool, TimedOut

if TYPE_CHECKING:
    from fetchers.web.browser import Browser


@dataclass(frozen=True, slots=True)
class Visit:
    """What is kept of a visit: the response with its body by digest (`sha256`). Where the
    address leads nowhere `dead` says why, and there is no status and no body."""

    status: int | None
    final_url: str
    headers: Mapping[str, str]
    sha256: str
    via: Via
    fetched_at: str
    dead: str = ""


WAITING_VISITS = 2_000
"""Visits that may wait for a connection, of which few go to one host: a slow host must not keep
the others waiting."""


class NoBrowserHere(Exception):
    """Nothing can be rendered in this call."""


class Pages:
    """Pages by URL, with the stages that make them: archive, fetch, render, extract. An async
    context manager."""

    def __init__(self, settings: Settings, cache: Cache, pool: Pool) -> None:
        self._settings = settings
        self._cache = cache
        self._pool = pool
        self._guard = Guard(settings.allow_hosts)
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._browser: Browser | None = None
        self._no_browser = ""
        self._in_vain: dict[str, Page] = {}  # what retries did not better in this call
        self.nodes = self._make_nodes()

    async def __aenter__(self) -> Self:
        """Raises ArchiveError for an archive that cannot be used."""
        self._archives = Archives(self._settings.pages)
        self._archive_digest = await self._archives.digest() if self._settings.pages else ""
        self._http = await self._stack.enter_async_context(
            Http(self._guard, Limits(connections=self._settings.fetch_workers))
        )
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)

    def _make_nodes(self) -> list[Node[Any, Any]]:
        settings, ledger, offline = self._settings, self._cache.ledger, self._settings.offline
        again = None if offline else Retry((Unreachable,), attempts=3)
        visits: Memory[Visit] = Memory(ledger, orjson.dumps, kept(Visit), fresh=self._is_fresh)
        self._archive: Node[str, Visit | None] = Node(
            "archive",
            self._look_in_archives,
            key=lambda url: digest(self._archive_digest, url),
            workers=settings.fetch_workers,
            memory=Memory(ledger, orjson.dumps, kept(Visit | None)),
        )
        self._fetch: Node[str, Visit] = Node(
            "fetch",
            self._stay_offline if offline else self._visit,
            key=digest,
            workers=WAITING_VISITS,
            memory=visits,
            retry=again,
        )
        self._render: Node[str, Visit] = Node(
            "render",
            self._stay_offline if offline else self._show,
            key=digest,
            workers=settings.browser_workers,
            memory=visits,
        )
        self._extract: Node[tuple[str, str], Reading] = Node(
            "extract",
            self._read,
            key=lambda body: digest(EXTRACTOR_VERSION, *body),
            workers=2 * settings.cpu_workers,
            memory=Memory(ledger, orjson.dumps, kept(Reading)),
        )
        return [self._archive, self._fetch, self._render, self._extract]

    @property
    def problems(self) -> tuple[str, ...]:
        """What a user should know: damage in the archives, a browser that would have been used."""
        return (*self._archives.problems, *filter(None, (self._no_browser,)))

    async def page(self, url: str) -> Page:
        """The page behind a canonical URL: visited, read and triaged. Never raises for what the
        page or its host does; one that could not be had this time has the state `unreachable`."""
        if url in self._in_vain:
            return self._in_vain[url]
        try:
            page = await self._first(url)
        except Refused as refused:
            return _no_page(url, "refused", str(refused))
        except Unreachable as failure:
            page = _no_page(url, "unreachable", str(failure))
            if failure.response is not None:
                page = await self._page(await self._kept(failure.response))
                page = page if page.state == "blocked" else replace(page, state="unreachable")
        if self._settings.browser and page.via == "http" and worth_a_browser(page.state):
            page = await self._better(url, page)
        if page.state == "unreachable":
            self._in_vain[url] = page
        return page

    async def read_again(self, page: Page) -> None:
        """Read a page's body anew, whose text the cache has lost."""
        await self._extract((page.sha256, page.content_type), anew=True)

    async def _first(self, url: str) -> Page:
        """The page without a browser, from an archive or else the network."""
        try:
            return await self._page(await self._find(url))
        except MissingBody:  # the cache has lost it
            return await self._page(await self._find(url, anew=True))

    async def _find(self, url: str, anew: bool = False) -> Visit:
        visit = await self._archive(url, anew=anew) if self._settings.pages else None
        return visit or await self._fetch(url, anew=anew)

    async def _better(self, url: str, page: Page) -> Page:
        """The page as a browser shows it, where that is more: a page that can be used, or that is
        said to be something where http saw nothing. Else the page as it is, or none where the
        browser has died of it."""
        try:
            try:
                shown = await self._page(await self._render(url))
            except MissingBody:
                shown = await self._page(await self._render(url, anew=True))
        except Unreachable:
            self._in_vain[url] = page  # it takes a browser long to give up
            return page
        except Crashed as end:
            return replace(page, state="unreachable", reason=str(end))
        except (NoBrowserHere, Refused):
            return page
        more = page.state == "unrendered" and shown.state not in ("unreachable", "unrendered")
        return shown if shown.state == "ok" or more else page

    async def _page(self, visit: Visit) -> Page:
        if visit.status is None:
            page = _no_page(visit.final_url, "dead", visit.dead)
            return replace(page, via=visit.via, fetched_at=visit.fetched_at)
        content_type = visit.headers.get("content-type", "")
        try:
            reading = await self._extract((visit.sha256, content_type))
        except (Crashed, TimedOut) as failure:
            return _no_page(visit.final_url, "unreachable", f"cannot be read: {failure}")
        state, reason = triage(visit.status, visit.headers, visit.final_url, reading)
        return Page(
            state=state,
            reason=reason,
            via=visit.via,
            status=visit.status,
            final_url=visit.final_url,
            sha256=visit.sha256,
            fetched_at=visit.fetched_at,
            words=reading.words,
            text=reading.text,
            content_type=content_type,
        )

    # What the stages do.

    async def _look_in_archives(self, url: str) -> Visit | None:
        try:
            response = await self._archives.fetch(url)
        except Dead as end:
            return Visit(None, url, {}, "", "archive", now(), str(end))
        return None if response is None else await self._kept(response)

    async def _visit(self, url: str) -> Visit:
        try:
            return await self._kept(await self._http.fetch(url))
        except Dead as end:
            return Visit(None, url, {}, "", "http", now(), str(end))

    async def _show(self, url: str) -> Visit:
        from fetchers.web.browser import Died, NoBrowser

        browser = await self._open_browser()
        try:
            return await self._kept(await browser.render(url))
        except Dead as end:
            return Visit(None, url, {}, "", "browser", now(), str(end))
        except Died as end:
            raise Crashed(str(end)) from None
        except NoBrowser as absent:
            self._no_browser = str(absent)
            raise NoBrowserHere from None

    async def _open_browser(self) -> "Browser":
        """The browser, opened with the first page that needs it: many calls need none."""
        from fetchers.web.browser import Browser, NoBrowser

        async with self._opening:
            if self._browser is None and not self._no_browser:
                browser = Browser(self._guard, workers=self._settings.browser_workers)
                try:
                    self._browser = await self._stack.enter_async_context(browser)
                except NoBrowser as absent:
                    self._no_browser = str(absent)
        if self._browser is None:
            raise NoBrowserHere
        return self._browser

    async def _stay_offline(self, url: str) -> Visit:
        self._guard.target(url)  # what may not be visited is refused, offline as online
        raise Unreachable("offline, and neither in an archive nor in the cache")

    async def _kept(self, response: Response) -> Visit:
        body = await self._cache.bodies.aput(response.body)
        return Visit(
            response.status,
            response.final_url,
            response.headers,
            body,
            response.via,
            response.fetched_at,
        )

    async def _read(self, body: tuple[str, str]) -> Reading:
        return await self._pool.run(workers.read_body, *body)

    def _is_fresh(self, visit: Visit) -> bool:
        age = datetime.now(UTC) - datetime.fromisoformat(visit.fetched_at)
        return self._settings.max_age is None or age.total_seconds() <= self._settings.max_age


def _no_page(url: str, state: State, reason: str) -> Page:
    return Page(state, reason, "http", None, url, "", "", 0, "", "")
