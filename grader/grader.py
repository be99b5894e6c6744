"""Grader: opens the caches and stages, grades a stream of submissions, yields each result as it
ends."""

import asyncio
import threading
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Self, TypeVar

from fetchers.page import Page
from fetchers.urls import canonical
from grader.kinds.kind import Kind, kind_of
from grader.kinds.result import Result
from grader.runs.submissions import Submission, read_submission
from grader.settings import Settings
from grader.stages.pipeline import Pipeline
from grader.tasks.packages import AnyTask
from queues.node import Node, Stopped

T = TypeVar("T")

IN_FLIGHT = 2_000
"""Records of submissions that are under way at once, so that memory does not grow with a run."""
BATCH = 200
"""Records that are read ahead in one go."""
WAITING = 16
"""Results that wait to be taken, before no more are made."""


@dataclass(slots=True)
class Progress:
    """What a call has done so far."""

    records_read: int = 0
    records_done: int = 0
    ungraded: int = 0


class Grader:
    """Grades submissions with the caches and stages that `settings` describe.

        async with Grader(Settings(offline=True)) as grader:
            async for result in grader.grade(submissions):
                print(result.score)

    One event loop, any number of `grade` calls: they share caches, stages and limits.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()
        self._pipeline = Pipeline(self._settings)
        self._kinds: dict[str, Kind] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._stopped = False
        self.progress = Progress()

    async def __aenter__(self) -> Self:
        """Raises CacheError or ArchiveError where what the settings name cannot be used."""
        await self._pipeline.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._pipeline.__aexit__(*error)

    async def page(self, url: str) -> Page:
        """The page at a URL, as the records that cite it are judged on it."""
        pages, url = self._pipeline.pages, canonical(url)
        page = await pages.triage(url, await pages.fetch(url))
        if pages.worth_a_browser(page):
            page = await pages.render(url, page)
        return await pages.give_up(url, page) if page.state == "unreachable" else page

    async def stop(self, grace: float) -> None:
        """Take no new work, give what is under way `grace` seconds to end, keep its results.

        `grade` ends after the submissions that are whole by then; the same call in a new grader
        goes on with the rest. May be called again, to cut the grace short.
        """
        self._stopped = True
        for reading in self._reading:  # which may wait for input that never comes
            reading.cancel()
        await self._pipeline.graph.stop(grace)

    async def pages(self, urls: Sequence[str]) -> list[Page]:
        """The pages behind some URLs, in their order."""
        return await asyncio.gather(*map(self.page, urls))

    def stages(self) -> Mapping[str, Node[Any, Any]]:
        """The stages by name, with what each has running and queued and its counters."""
        return self._pipeline.graph.nodes

    @property
    def problems(self) -> tuple[str, ...]:
        """What a user should know: damage in the archives, a browser that would have been used."""
        return self._pipeline.pages.problems

    def work(self) -> dict[str, Any]:
        """What was done so far (`work` of summary.json): by stage, with what models took and
        cost in it, and under `saved` what cache and shared work spared them."""
        stages: dict[str, Any] = {n: asdict(c) for n, c in self._pipeline.graph.counters.items()}
        if spending := self._pipeline.spending:
            for role, models in spending.by_role().items():
                stages[role]["models"] = models
            stages["saved"] = spending.saved()
        return stages

    async def grade(
        self, submissions: Iterable[Submission] | AsyncIterable[Submission]
    ) -> AsyncIterator[Result]:
        """Grade a stream of submissions and yield each result as soon as it is whole; its
        `ordinal` tells its place in the stream. A bounded number of records is in flight.

        A plain iterable is read in a thread. Raises CacheError where the cache fails; what was
        done until then is kept.
        """
        results: asyncio.Queue[Result] = asyncio.Queue(maxsize=WAITING)
        feed = asyncio.create_task(self._feed(_stream(submissions), results))
        try:
            while not (feed.done() and results.empty()):
                getter = asyncio.create_task(results.get())
                await asyncio.wait((getter, feed), return_when=asyncio.FIRST_COMPLETED)
                if getter.done():
                    yield getter.result()
                else:
                    getter.cancel()
            await feed
        finally:
            feed.cancel()
            await asyncio.wait([feed])

    async def _feed(
        self, submissions: AsyncIterator[Submission], results: "asyncio.Queue[Result]"
    ) -> None:
        """Start submissions until there are no more or the grader is stopped, and see them end."""
        try:
            async with asyncio.TaskGroup() as tasks:
                reading = tasks.create_task(self._start(submissions, results, tasks))
                self._reading.add(reading)
                reading.add_done_callback(self._reading.discard)
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _start(
        self,
        submissions: AsyncIterator[Submission],
        results: "asyncio.Queue[Result]",
        tasks: asyncio.TaskGroup,
    ) -> None:
        """Start submissions while there is room for their records."""
        room = _Room(IN_FLIGHT)
        ordinal = 0
        async for submission in submissions:
            if self._stopped:
                break
            self.progress.records_read += submission.size
            await room.take(submission.size)
            tasks.create_task(self._grade(ordinal, submission, results, room))
            ordinal += 1

    async def _grade(
        self,
        ordinal: int,
        submission: Submission,
        results: "asyncio.Queue[Result]",
        room: "_Room",
    ) -> None:
        kind = self._kinds.get(submission.task.name)
        if kind is None:
            kind = self._kinds[submission.task.name] = kind_of(submission.task)
        try:
            result = await kind.grade(ordinal, submission, self._pipeline)
            await results.put(result)
        except Stopped:
            return
        finally:
            room.give(submission.size)
        self.progress.records_done += submission.size
        self.progress.ungraded += result.ungraded


async def grade(
    submissions: Iterable[Mapping[str, Any]],
    tasks: Sequence[AnyTask],
    settings: Settings | None = None,
) -> AsyncIterator[Result]:
    """Grade one batch of submissions, and yield each result as soon as it is complete.

    A submission is an object as a line of a run file has it: `task` (a name), `run`, `rollout`,
    and `records`, a `response` or an `error` (formats.md, section 2). `ordinal` of a result is the
    submission's place in the batch. To grade many batches, keep one `Grader` open instead.

    Raises ValueError for a submission that cannot be read or whose task is not in `tasks`, before
    any work; otherwise what `Grader` raises.
    """
    by_name = {task.name: task for task in tasks}
    batch = []
    for place, data in enumerate(submissions):
        if (task := by_name.get(data.get("task", ""))) is None:
            raise ValueError(f"submission {place}: unknown task {data.get('task')!r}")
        try:
            batch.append(read_submission(task, data))
        except ValueError as fault:
            raise ValueError(f"submission {place}: {fault}") from None
    async with Grader(settings) as grader:
        async for result in grader.grade(batch):
            yield result


class _Room:
    """Admits submissions while their records fit in together; one that alone does not fit is
    admitted by itself."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        self._freed = asyncio.Event()

    async def take(self, records: int) -> None:
        while self._taken and self._taken + records > self._size:
            self._freed.clear()
            await self._freed.wait()
        self._taken += records

    def give(self, records: int) -> None:
        self._taken -= records
        self._freed.set()


async def _stream(
    submissions: Iterable[Submission] | AsyncIterable[Submission],
) -> AsyncIterator[Submission]:
    if isinstance(submissions, AsyncIterable):
        async for submission in submissions:
            yield submission
        return
    iterator = iter(submissions)
    while batch := await _in_a_thread(partial(_batch, iterator)):
        for submission in batch:
            yield submission


async def _in_a_thread(read: Callable[[], T]) -> T:
    """What `read` gives, in a thread that nobody has to wait for: it may never come back from a
    pipe to which nothing is written."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(finish: Callable[[Any], None], outcome: Any) -> None:
        if not done.done():
            finish(outcome)

    def work() -> None:
        try:
            told = partial(tell, done.set_result, read())
        except Exception as error:
            told = partial(tell, done.set_exception, error)
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(told)

    threading.Thread(target=work, daemon=True).start()
    return await done


def _batch(iterator: Iterator[Submission]) -> list[Submission]:
    """The next few submissions: one where it is large, more where a thread would only hop."""
    batch, records = [], 0
    for submission in iterator:
        batch.append(submission)
        records += submission.size + 1
        if records >= BATCH:
            break
    return batch
