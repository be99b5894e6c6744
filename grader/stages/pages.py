"""From a URL to a page: fetch (archive, cache or network), extract and triage, render in a browser,
give up.

The steps are separate methods. `grader/kinds/collection/kind.py` calls them in order.
"""

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

import orjson

from cache.digests import digest
from cache.errors import MissingBody
from cache.folder import Cache
from fetchers.archives.archive import Archives
from fetchers.guard import Guard
from fetchers.page import Dead, Page, Refused, Response, Unreachable, Unvisitable, now
from fetchers.reading.extract import EXTRACTOR_VERSION
from fetchers.triage.triage import triage, worth_a_browser
from fetchers.urls import hostname
from fetchers.web.http import Http, Limits
from grader.settings import Settings
from grader.stages import workers
from grader.stages.archive_damage import find_damage
from grader.stages.lazy_browser import BrowserMissing, LazyBrowser
from grader.stages.network import Network
from grader.stages.stored import decoder
from grader.stages.unreachable import Failures, GaveUp
from grader.stages.visits import FailedVisit, Visit, dead_visit, given_up_visit, no_page
from grader.stages.workers import Reading
from queues.node import Node
from queues.pool import Crashed, Pool, TimedOut
from queues.retry import Retry
from queues.store import Memory

MOST_VISITS_QUEUED = 2_000
"""Visits that may wait for a connection at once. Few connections go to one host, so many visits
must be able to wait: a slow host must not hold up the others."""

VISIT_ATTEMPTS = 3
"""Attempts at one visit in a call."""


class Pages:
    """Pages by URL, with the stages that make them: archive, fetch, extract, render, unreachable.

    An async context manager. A URL that was `unreachable` is not tried again in the same call.
    `clock` gives the time in Unix seconds.
    """

    def __init__(
        self,
        settings: Settings,
        cache: Cache,
        pool: Pool,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._cache = cache
        self._pool = pool
        self._guard = Guard(settings.allow_hosts)
        self._network = Network(self._probe)
        self._failures = Failures(settings, cache.ledger, self._network, clock)
        self._stack = AsyncExitStack()
        self._browser = LazyBrowser(self._guard, settings.browser_workers, self._stack)
        self._failed_visits: dict[str, FailedVisit] = {}
        # By URL: pages that another attempt in this call would not improve. Many rollouts cite the
        # same page, and an attempt may take a minute.
        self._final_pages: dict[str, Page] = {}
        self._counted_failures: set[str] = set()
        self.nodes = self._make_nodes()

    async def __aenter__(self) -> Self:
        """Open archives and http client. Raises ArchiveError if an archive cannot be used."""
        self._archives = Archives(self._settings.pages)
        self._archive_digest = await self._archives.digest() if self._settings.pages else ""
        await find_damage(self._archives, self._cache.ledger)
        self._http = await self._stack.enter_async_context(
            Http(self._guard, Limits(connections=self._settings.fetch_workers))
        )
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)

    def _make_nodes(self) -> list[Node[Any, Any]]:
        settings, ledger, offline = self._settings, self._cache.ledger, self._settings.offline
        retry = None if offline else Retry((Unreachable,), attempts=VISIT_ATTEMPTS)
        visits: Memory[Visit] = Memory(ledger, orjson.dumps, decoder(Visit), fresh=self._is_fresh)
        self._archive: Node[str, Visit | None] = Node(
            "archive",
            self._find_in_archives,
            key=lambda url: digest(self._archive_digest, url),
            workers=settings.fetch_workers,
            memory=Memory(ledger, orjson.dumps, decoder(Visit | None)),
        )
        self._fetch: Node[str, Visit] = Node(
            "fetch",
            self._answer_offline if offline else self._visit,
            key=digest,
            workers=MOST_VISITS_QUEUED,
            memory=visits,
            retry=retry,
        )
        self._render: Node[str, Visit] = Node(
            "render",
            self._answer_offline if offline else self._show_in_browser,
            key=digest,
            workers=settings.browser_workers,
            memory=visits,
        )
        self._extract: Node[tuple[str, str], Reading] = Node(
            "extract",
            self._extract_body,
            key=lambda body: digest(EXTRACTOR_VERSION, *body),
            workers=2 * settings.cpu_workers,
            memory=Memory(ledger, orjson.dumps, decoder(Reading)),
        )
        return [self._archive, self._fetch, self._render, self._extract, self._failures.node]

    @property
    def problems(self) -> tuple[str, ...]:
        """Messages for the user: damage in the archives; a browser that is missing but needed."""
        return (*self._archives.problems, *filter(None, (self._browser.problem,)))

    # The steps, in order.

    async def fetch(self, url: str, *, refresh: bool = False) -> Visit | FailedVisit:
        """Fetch a canonical URL: from an archive, the cache or the network, in this order. With
        `refresh`, the cache is not used.

        Never raises for anything that the host does.
        """
        if not refresh and (failed := self._failed_visits.get(url)):
            return failed
        try:
            visit = await self._archive(url, refresh=refresh) if self._settings.pages else None
            if visit is None:
                with self._network.visiting(hostname(url)):
                    visit = await self._fetch(url, refresh=refresh)
        except Refused as refused:
            return FailedVisit("refused", str(refused))
        except GaveUp as end:
            return given_up_visit(url, end.history)
        except Unreachable as failure:
            partial = await self._store(failure.response) if failure.response else None
            failed = FailedVisit("unreachable", str(failure), partial)
            self._failed_visits[url] = failed
            return failed
        if self._network.wants_known_urls and visit.status is not None and visit.via == "http":
            self._network.add_known_url(hostname(visit.final_url), visit.final_url)
        return visit

    async def triage(self, url: str, visit: Visit | FailedVisit) -> Page:
        """Extract the text of a visit of `url`, and name the state of the page.

        A page whose text cannot be extracted is `unreachable` in this call. Raises MissingBody if
        the cache loses the body again after a second fetch.
        """
        if page := self._final_pages.get(url):
            return page
        try:
            page = await self._page_of(url, visit)
        except MissingBody:  # the cache has lost the body
            page = await self._page_of(url, await self.fetch(url, refresh=True))
        if page.state == "unreachable":
            self._final_pages[url] = page
        return page

    def worth_a_browser(self, page: Page) -> bool:
        """Whether a browser may show more of a page than plain http did."""
        return self._settings.browser and page.via == "http" and worth_a_browser(page.state)

    async def render(self, url: str, page: Page) -> Page:
        """Render a page in a browser. Return the rendered page if it shows more than `page`.

        It shows more if it is `ok`, or if `page` is `unrendered` and it has another state. If the
        page ends the browser, the result is `unreachable`. Otherwise the result is `page`.
        """
        if failed := self._final_pages.get(url):
            return failed
        try:
            rendered = await self._rendered(url)
        except (BrowserMissing, Refused):
            return page
        except Unreachable:
            self._final_pages[url] = page
            return page
        except Crashed as crash:
            failed = replace(page, state="unreachable", reason=str(crash))
            self._final_pages[url] = failed
            return failed
        if rendered.state == "ok":
            return rendered
        named = rendered.state not in ("unreachable", "unrendered")
        return rendered if page.state == "unrendered" and named else page

    async def give_up(self, url: str, page: Page) -> Page:
        """Count this call against an `unreachable` page. If it was unreachable too often or for
        too long (formats.md, section 3), the result is `dead`; otherwise it is `page`.

        Each URL is counted once in a call, and only if another host answers. Offline, nothing is
        counted, but a page that was given up before is `dead` too.
        """
        if url in self._counted_failures:
            return page
        history = await self._failures.count(url, page)
        if history is None or not history.given_up(self._settings.give_up_after):
            self._counted_failures.add(url)
            return page
        self._final_pages[url] = await self._page_of(url, given_up_visit(url, history))
        return self._final_pages[url]

    async def extract_again(self, page: Page) -> None:
        """Extract the text of a page's body again, because the cache has lost the text."""
        await self._extract((page.sha256, page.content_type), refresh=True)

    # Helpers of the steps.

    async def _rendered(self, url: str) -> Page:
        """The page as the browser shows it. Raises BrowserMissing, Refused, Unreachable or
        Crashed."""
        try:
            return await self._page_of(url, await self._render(url))
        except MissingBody:  # the cache has lost the body
            return await self._page_of(url, await self._render(url, refresh=True))

    async def _page_of(self, url: str, visit: Visit | FailedVisit) -> Page:
        """Extract and triage a visit. Raises MissingBody if its body is not in the cache."""
        if isinstance(visit, FailedVisit):
            if visit.partial is None:
                return no_page(url, visit.state, visit.reason)
            page = await self._page_of(url, visit.partial)
            # A bot wall may answer 429 or 503. Any other partial page is not judged.
            blocked = page.state == "blocked"
            return page if blocked else replace(page, state=visit.state, reason=visit.reason)
        if visit.status is None:
            page = no_page(visit.final_url, "dead", visit.dead)
            return replace(page, via=visit.via, fetched_at=visit.fetched_at)
        content_type = visit.headers.get("content-type", "")
        try:
            reading = await self._extract((visit.sha256, content_type))
        except (Crashed, TimedOut) as failure:
            return no_page(visit.final_url, "unreachable", f"cannot be read: {failure}")
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

    # The work of the stages.

    async def _find_in_archives(self, url: str) -> Visit | None:
        try:
            response = await self._archives.fetch(url)
        except Dead as end:
            return dead_visit(url, "archive", now(), str(end))
        return None if response is None else await self._store(response)

    async def _visit(self, url: str) -> Visit:
        history = await self._failures.history(url)
        try:
            response = await self._http.fetch(url)
        except Dead as end:
            visit = dead_visit(url, "http", now(), str(end))
        except Unreachable as failure:
            if failure.response is not None:
                self._network.add_answer(hostname(failure.response.final_url))
            raise
        else:
            self._network.add_answer(hostname(response.final_url))
            visit = await self._store(response)
        if history is not None:  # the address has answered: later failures start anew
            await self._failures.forget(url)
        return visit

    async def _probe(self, url: str) -> bool:
        """Whether a URL answers now, with any status. The response is not kept."""
        try:
            await self._http.fetch(url)
        except Unreachable as failure:
            return failure.response is not None
        except Unvisitable:
            return False
        return True

    async def _show_in_browser(self, url: str) -> Visit:
        try:
            return await self._store(await self._browser.render(url))
        except Dead as end:
            return dead_visit(url, "browser", now(), str(end))

    async def _answer_offline(self, url: str) -> Visit:
        self._guard.target(url)  # raises Refused, offline and online alike
        raise Unreachable("offline, and neither in an archive nor in the cache")

    async def _store(self, response: Response) -> Visit:
        """Put the body of a response into the store of bodies."""
        body = await self._cache.bodies.aput(response.body)
        return Visit(
            response.status,
            response.final_url,
            response.headers,
            body,
            response.via,
            response.fetched_at,
        )

    async def _extract_body(self, body: tuple[str, str]) -> Reading:
        return await self._pool.run(workers.read_body, *body)

    def _is_fresh(self, visit: Visit) -> bool:
        age = datetime.now(UTC) - datetime.fromisoformat(visit.fetched_at)
        return self._settings.max_age is None or age.total_seconds() <= self._settings.max_age
