"""The Grader: it opens the caches and stages, and grades a stream of submissions. It yields each
result as soon as it is complete."""

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
from grader.stages.event_loop import first_error
from grader.stages.pipeline import Pipeline
from grader.tasks.packages import AnyTask
from queues.node import Node, Stopped

T = TypeVar("T")

IN_FLIGHT = 2_000
"""Records whose submissions are graded at once. The limit keeps memory independent of the run."""
READ_AHEAD = 200
"""Records that are read from an iterable in one batch."""
MOST_RESULTS_QUEUED = 16
"""Results that may wait to be taken. The next result waits until one is taken."""


@dataclass(slots=True)
class Progress:
    """Records that a grader has read and graded so far."""

    records_read: int = 0
    records_done: int = 0
    ungraded: int = 0


class Grader:
    """Grades submissions with the caches and stages that `settings` describe.

        async with Grader(Settings(offline=True)) as grader:
            async for result in grader.grade(submissions):
                print(result.score)

    Use one grader in one event loop. All of its `grade` calls share caches, stages and limits.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()
        self._pipeline = Pipeline(self._settings)
        self._kinds: dict[str, Kind] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._stopped = False
        self.progress = Progress()

    async def __aenter__(self) -> Self:
        """Open everything. Raises CacheError, ArchiveError or ModelUnusable if a cache folder, an
        archive or a model of the settings cannot be used."""
        await self._pipeline.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._pipeline.__aexit__(*error)

    async def page(self, url: str) -> Page:
        """The page at a URL, as the records that cite it are judged on it."""
        # The same steps as in `CollectionKind.grade`.
        pages, url = self._pipeline.pages, canonical(url)
        page = await pages.triage(url, await pages.fetch(url))
        if pages.worth_a_browser(page):
            page = await pages.render(url, page)
        return await pages.give_up(url, page) if page.state == "unreachable" else page

    async def stop(self, grace: float) -> None:
        """Start no new work. Give work in progress `grace` seconds to end, and keep its results.

        `grade` then ends after the submissions that are complete. The same call in a new grader
        grades the rest. A second call with a shorter grace replaces the first one's.
        """
        self._stopped = True
        for reading in self._reading:  # it may wait for input that never comes
            reading.cancel()
        await self._pipeline.graph.stop(grace)

    async def pages(self, urls: Sequence[str]) -> list[Page]:
        """The pages at some URLs, in the order of the URLs."""
        return await asyncio.gather(*map(self.page, urls))

    def stages(self) -> Mapping[str, Node[Any, Any]]:
        """The stages by name. Each has its counters and the numbers of running and queued jobs."""
        return self._pipeline.graph.nodes

    @property
    def problems(self) -> tuple[str, ...]:
        """Messages for the user: damage in the archives; a browser that is missing but needed."""
        return self._pipeline.pages.problems

    def work(self) -> dict[str, Any]:
        """The work so far, as `work` of summary.json: the counters of each stage, with the tokens
        and the cost of models. `saved` has the tokens and the cost that the cache and shared work
        saved."""
        stages: dict[str, Any] = {n: asdict(c) for n, c in self._pipeline.graph.counters.items()}
        if spending := self._pipeline.spending:
            for role, models in spending.by_role().items():
                stages[role]["models"] = models
            stages["saved"] = spending.saved()
        return stages

    async def grade(
        self, submissions: Iterable[Submission] | AsyncIterable[Submission]
    ) -> AsyncIterator[Result]:
        """Grade a stream of submissions. Yield each result as soon as it is complete; its
        `ordinal` is its place in the stream. A bounded number of records is in flight.

        A plain iterable is read in a thread. Raises CacheError if the cache fails; the work done
        until then is kept.
        """
        results: asyncio.Queue[Result] = asyncio.Queue(maxsize=MOST_RESULTS_QUEUED)
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
        """Start submissions until the stream ends or the grader is stopped. Wait until they end."""
        with first_error():
            async with asyncio.TaskGroup() as tasks:
                reading = tasks.create_task(self._start(submissions, results, tasks))
                self._reading.add(reading)
                reading.add_done_callback(self._reading.discard)

    async def _start(
        self,
        submissions: AsyncIterator[Submission],
        results: "asyncio.Queue[Result]",
        tasks: asyncio.TaskGroup,
    ) -> None:
        """Start each submission as soon as there is room for its records."""
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

    A submission is an object like a line of a run file: `task` (a name), `run`, `rollout`, and
    `records`, `response` or `error` (formats.md, section 2). The `ordinal` of a result is the
    submission's place in the batch. To grade many batches, keep one `Grader` open instead.

    Raises ValueError before any work if a submission cannot be read or its task is not in `tasks`.
    Raises the errors of `Grader` too.
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
    """Limits the records in flight. A submission with more records than that is graded alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        self._freed = asyncio.Event()

    async def take(self, records: int) -> None:
        """Wait until there is room for some records, and take it."""
        while self._taken and self._taken + records > self._size:
            self._freed.clear()
            await self._freed.wait()
        self._taken += records

    def give(self, records: int) -> None:
        """Give back the room of some records."""
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
    """Call `read` in a thread that does not have to end: reading from an idle pipe may block for
    ever."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def finish(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not done.done():
            set_outcome(outcome)

    def work() -> None:
        try:
            report = partial(finish, done.set_result, read())
        except Exception as error:
            report = partial(finish, done.set_exception, error)
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(report)

    threading.Thread(target=work, daemon=True).start()
    return await done


def _batch(iterator: Iterator[Submission]) -> list[Submission]:
    """The next submissions: one large one, or several small ones, so that threads are worth it."""
    batch, records = [], 0
    for submission in iterator:
        batch.append(submission)
        records += submission.size + 1
        if records >= READ_AHEAD:
            break
    return batch
