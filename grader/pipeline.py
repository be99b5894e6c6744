"""The stages of one grader and the way through them: a URL to a page, a record to a verdict."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Self, TypeVar

import orjson

from cache.errors import MissingBody
from cache.folder import Cache
from cache.keys import digest
from fetchers.address import Guard
from fetchers.archive import Archives
from fetchers.extract import EXTRACTOR_VERSION
from fetchers.http import Http
from fetchers.page import Dead, Page, Refused, Response, State, Unreachable, Via
from fetchers.signals import Signals
from fetchers.triage import triage
from grader import workers
from grader.judging import ByModel, ByRules, Case, Judge
from grader.settings import RULES, Settings
from grader.spending import Spending
from grader.workers import Reading
from queues.graph import Graph
from queues.node import Memory, Node, Retry
from queues.pool import Crashed, Pool, TimedOut

T = TypeVar("T")

PAGES_AT_ONCE = 2_000
"""Pages whose records are under way at once, over all submissions."""

CPU_SECONDS = 60.0
"""A page or a record that keeps a process busy for longer is given up."""
CPU_BYTES = 4 << 30
"""Address space of a process that reads hostile pages."""


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


class Pipeline:
    """The stages of one grader: archive, fetch, extract, and those of the judge. An async context
    manager. `slots` is held by whoever has the records of a page under way."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self.spending: Spending | None = None
        self.slots = asyncio.Semaphore(PAGES_AT_ONCE)

    async def __aenter__(self) -> Self:
        """Raises CacheError where the cache cannot be used, ArchiveError for an archive."""
        settings = self._settings
        async with AsyncExitStack() as stack:
            self._cache = await stack.enter_async_context(Cache.open(settings.cache))
            self._guard = Guard(settings.allow_hosts)
            self._http = await stack.enter_async_context(Http(self._guard))
            self._archives = Archives(settings.pages)
            self._archive_digest = await self._archives.digest() if settings.pages else ""
            self._pool = Pool(
                settings.cpu_workers,
                deadline=CPU_SECONDS,
                memory_bytes=CPU_BYTES,
                initializer=workers.open_store,
                initargs=(settings.cache / "bodies",),
            )
            stack.push_async_callback(self._pool.close)
            self.judge = await self._judge_of(stack)
            nodes = [*self._nodes(), *self.judge.nodes]
            self.graph = await stack.enter_async_context(Graph(nodes))
            self._unreachable: dict[str, Page] = {}
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)

    def _nodes(self) -> list[Node[Any, Any]]:
        settings, ledger = self._settings, self._cache.ledger
        again = Retry((Unreachable,), attempts=3)
        self._archive: Node[str, Visit | None] = Node(
            "archive",
            self._look_in_archives,
            key=lambda url: digest(self._archive_digest, url),
            workers=settings.fetch_workers,
            memory=Memory(ledger, orjson.dumps, _visit_or_none),
        )
        self._fetch: Node[str, Visit] = Node(
            "fetch",
            self._stay_offline if settings.offline else self._visit,
            key=digest,
            workers=settings.fetch_workers,
            memory=Memory(ledger, orjson.dumps, _visit_from, fresh=self._is_fresh),
            retry=None if settings.offline else again,
        )
        self._extract: Node[tuple[str, str], Reading] = Node(
            "extract",
            self._read,
            key=lambda body: digest(EXTRACTOR_VERSION, *body),
            workers=2 * settings.cpu_workers,
            memory=Memory(ledger, orjson.dumps, _reading_from),
        )
        return [self._archive, self._fetch, self._extract]

    async def _judge_of(self, stack: AsyncExitStack) -> Judge:
        settings, ledger = self._settings, self._cache.ledger
        if settings.judge == RULES:
            return ByRules(ledger, self._on_page, settings.cpu_workers)
        from judges.endpoint import Endpoint  # takes half a second, which only models are worth

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

    @property
    def problems(self) -> tuple[str, ...]:
        """What was found damaged in the archives so far."""
        return tuple(self._archives.problems)

    async def page(self, url: str) -> Page:
        """The page behind a canonical URL: visited, read and triaged. Never raises for what the
        page or its host does; one that could not be had this time has the state `unreachable`."""
        if url in self._unreachable:  # tried in vain in this call, retries and all
            return self._unreachable[url]
        try:
            try:
                return await self._page(await self._find(url))
            except MissingBody:  # the cache has lost it
                return await self._page(await self._find(url, anew=True))
        except Refused as refused:
            return _no_page(url, "refused", str(refused))
        except Unreachable as failure:
            page = _no_page(url, "unreachable", str(failure))
            if failure.response is not None:
                page = await self._page(await self._kept(failure.response))
                page = page if page.state == "blocked" else replace(page, state="unreachable")
            self._unreachable[url] = page
            return page

    async def _find(self, url: str, anew: bool = False) -> Visit:
        """The visit that answers for a URL: an archive's, or else the network's."""
        visit = await self._archive(url, anew=anew) if self._settings.pages else None
        return visit or await self._fetch(url, anew=anew)

    async def compute(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function in a process of its own. Raises what it raises, Crashed or TimedOut."""
        return await self._pool.run(function, *args)

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
            return Visit(None, url, {}, "", "archive", _now(), str(end))
        return None if response is None else await self._kept(response)

    async def _visit(self, url: str) -> Visit:
        try:
            return await self._kept(await self._http.fetch(url))
        except Dead as end:
            return Visit(None, url, {}, "", "http", _now(), str(end))

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

    async def _on_page(self, function: Callable[..., Any], case: Case, *args: Any) -> Any:
        """Run a worker's function on a case, as OnPage has it."""
        work = partial(self._pool.run, function, case.spec, case.record, case.page, *args)
        try:
            return await work()
        except MissingBody:  # the cache has lost the text: read the body again
            await self._extract((case.page.sha256, case.page.content_type), anew=True)
            return await work()

    def _is_fresh(self, visit: Visit) -> bool:
        age = datetime.now(UTC) - datetime.fromisoformat(visit.fetched_at)
        return self._settings.max_age is None or age.total_seconds() <= self._settings.max_age


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _no_page(url: str, state: State, reason: str) -> Page:
    return Page(state, reason, "http", None, url, "", "", 0, "", "")


# What the stages keep, read back.


def _visit_from(row: bytes) -> Visit:
    return Visit(**orjson.loads(row))


def _visit_or_none(row: bytes) -> Visit | None:
    fields = orjson.loads(row)
    return fields and Visit(**fields)


def _reading_from(row: bytes) -> Reading:
    fields = orjson.loads(row)
    signals = fields.pop("signals")
    signals["marks"] = tuple(signals["marks"])
    return Reading(**fields, signals=Signals(**signals))
