"""A stage of the work: an async function with a queue in front of it.

`await node(item)` looks the item's key up in the store, joins the same work if it is under way,
waits for one of the stage's workers, runs, appends the result to the store and returns it.
"""

import asyncio
import logging
import random
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Generic, Protocol, TypeVar

from tenacity import RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.asyncio import AsyncRetrying
from tenacity.wait import wait_exponential, wait_random

log = logging.getLogger(__name__)

In = TypeVar("In")
Out = TypeVar("Out")
T = TypeVar("T")

GROUP = 500  # rows in one query or one transaction


class Stopped(Exception):
    """The stage was stopped before this was done; the same call in a later run does it."""


class DeadlinePassed(TimeoutError):
    """An attempt took longer than the stage allows. Transient."""


class Store(Protocol):
    """Where results are kept between runs: an append-only ledger of rows by stage and key."""

    async def get_many(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The newest row of each key that has one."""

    async def append_many(self, stage: str, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Commit `rows`; when this returns they are kept."""


@dataclass(frozen=True, slots=True)
class Memory(Generic[Out]):
    """How a stage remembers: where, in which form, and what of it.

    Only a result for which `keep` is true is stored. A stored one for which `fresh` is false is
    worked again, and a newer row appended. What `decode` raises on counts as not stored.
    """

    store: Store
    encode: Callable[[Out], bytes]
    decode: Callable[[bytes], Out]
    keep: Callable[[Out], bool] = lambda out: True
    fresh: Callable[[Out], bool] = lambda out: True


def _retry_after(error: BaseException) -> float | None:
    asked: float | None = getattr(error, "retry_after", None)
    return asked


@dataclass(frozen=True, slots=True)
class Retry:
    """Which failures are tried again, how often and when.

    `attempts` counts the first one. Between two of them pass `first` seconds, doubled each time up
    to `longest`, and up to `first` more by chance; or what `retry_after` reads from the error (the
    other side's own wish in seconds), up to `longest` as well.
    """

    transient: tuple[type[BaseException], ...]
    attempts: int = 8
    first: float = 1.0
    longest: float = 60.0
    retry_after: Callable[[BaseException], float | None] = _retry_after
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def wait(self, state: RetryCallState) -> float:
        """Seconds until the next attempt."""
        error = state.outcome.exception() if state.outcome else None
        asked = self.retry_after(error) if error else None
        if asked is not None and asked > 0:
            return min(asked, self.longest) + random.uniform(0, self.first)
        grown = wait_exponential(multiplier=self.first, max=self.longest)
        return (grown + wait_random(0, self.first))(state)


@dataclass(slots=True)
class Counters:
    """What a stage did. Every call is one of `done` (worked), `cache_hits` (answered from the
    store), `coalesced` (joined work under way), `failed`, or was cancelled or stopped. `damaged`
    counts stored values that could not be read; `seconds` is the time spent in the work itself.
    """

    done: int = 0
    cache_hits: int = 0
    coalesced: int = 0
    retries: int = 0
    failed: int = 0
    damaged: int = 0
    seconds: float = 0.0


@dataclass(eq=False, slots=True)
class _Job(Generic[In, Out]):
    """One piece of work and the callers who wait for it."""

    key: bytes
    item: In
    waiters: dict[asyncio.Future[Out], None] = field(default_factory=dict)
    task: asyncio.Task[tuple[Out, bytes | None]] | None = None
    turn: asyncio.Future[None] | None = None  # set when a retried job may have a worker again
    running: bool = False  # holds a worker
    finished: bool = False  # the work is done, its row on the way to the store

    @property
    def has_ended(self) -> bool:
        """Whether the work is done, its result perhaps not yet handed on."""
        return self.finished or (self.task is not None and self.task.done())


class _Groups(Generic[T]):
    """Hands on, as one group, what gathered while the previous group was under way."""

    def __init__(self, handle: Callable[[list[T]], Awaitable[None]]) -> None:
        self._handle = handle
        self._gathered: deque[T] = deque()
        self._task: asyncio.Task[None] | None = None

    def add(self, one: T) -> None:
        self._gathered.append(one)
        if self._task is None:
            self._task = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        try:
            while self._gathered:
                size = min(GROUP, len(self._gathered))
                await self._handle([self._gathered.popleft() for _ in range(size)])
        finally:
            self._task = None

    async def empty(self) -> None:
        """Return when all that was added has been handled."""
        while self._task:
            await asyncio.wait([self._task])


class Node(Generic[In, Out]):
    """A stage: `work`, at most `workers` at once, first come first served.

    Calls whose `key` is equal share one run of the work, whichever came first: cancelling one
    leaves the others served, and only the last one takes the work with it. What the work raises
    reaches every caller, after the retries, and is not kept. A caller gets a result that is to be
    kept only when the store has it. `deadline` is in seconds, for one attempt.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[In], Awaitable[Out]],
        *,
        key: Callable[[In], bytes],
        workers: int,
        memory: Memory[Out] | None = None,
        retry: Retry | None = None,
        deadline: float | None = None,
    ) -> None:
        self.name = name
        self.counters = Counters()
        self._work = work
        self._key = key
        self._memory = memory
        self._retry = retry
        self._deadline = deadline
        self._jobs: dict[bytes, _Job[In, Out]] = {}
        self._queue: OrderedDict[_Job[In, Out], None] = OrderedDict()
        self._tasks: set[asyncio.Task[tuple[Out, bytes | None]]] = set()
        self._lookups = _Groups(self._look_up)
        self._appends = _Groups(self._append)
        self._running = 0
        self._stopped = False
        self.workers = workers

    @property
    def workers(self) -> int:
        """How many may work at once. Lowering it lets those above it end."""
        return self._workers

    @workers.setter
    def workers(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"{self.name}: a stage needs at least one worker, not {workers}")
        self._workers = workers
        self._dispatch()

    @property
    def running(self) -> int:
        """How many work now."""
        return self._running

    @property
    def queued(self) -> int:
        """How many wait for a worker now."""
        return len(self._queue)

    async def __call__(self, item: In, *, anew: bool = False) -> Out:
        """The result for `item`; with `anew` worked again, whatever is stored. Raises what the
        work or the store raises, or `Stopped`."""
        job, waiter = self._join(item, anew)
        try:
            return await waiter
        except asyncio.CancelledError:
            self._leave(job, waiter)
            raise

    async def many(self, items: Iterable[In]) -> list[Out | Exception]:
        """The results of many calls at once, without a task for each; what a call raises stands
        in the place of its result. Raises `Stopped`."""
        joined = [self._join(item) for item in items]
        ends: list[Out | Exception] = []
        try:
            for _, waiter in joined:
                try:
                    ends.append(await waiter)
                except Exception as error:
                    ends.append(error)
        except asyncio.CancelledError:
            for job, waiter in joined:
                waiter.cancel()
                self._leave(job, waiter)
            raise
        return ends

    def _join(self, item: In, anew: bool = False) -> tuple[_Job[In, Out], asyncio.Future[Out]]:
        if self._stopped:
            raise self._stop_error()
        key = self._key(item)
        job = self._jobs.get(key)
        if job is not None:
            self.counters.coalesced += 1
        else:
            job = self._jobs[key] = _Job(key, item)
            if self._memory is None or anew:
                self._enqueue(job)
            else:
                self._lookups.add(job)
        waiter: asyncio.Future[Out] = asyncio.get_running_loop().create_future()
        job.waiters[waiter] = None
        return job, waiter

    def _leave(self, job: _Job[In, Out], waiter: asyncio.Future[Out]) -> None:
        """A caller may wait no more; the last one takes with it work that is not done, but for
        what runs while the stage is stopped: that has its grace, and its result is kept."""
        if waiter.cancelled():
            job.waiters.pop(waiter, None)
            if not job.waiters and not job.finished and not (self._stopped and job.running):
                self._drop(job)

    async def stop(self, grace_seconds: float = 0.0) -> None:
        """Refuse new work, raise `Stopped` to whoever waits for a worker, give what runs
        `grace_seconds` to end, cancel the rest, and return when all results are in the store.
        May be called again, also to cut short the grace of a call under way.
        """
        self._stopped = True
        for job in [j for j in self._jobs.values() if not (j.running or j.has_ended)]:
            self._fail(job, self._stop_error())
            self._drop(job)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_seconds)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._lookups.empty()
        await self._appends.empty()

    # A job's way: looked up, queued, run (perhaps more than once), appended.

    async def _look_up(self, jobs: list[_Job[In, Out]]) -> None:
        assert self._memory
        jobs = [job for job in jobs if self._is_open(job)]
        if not jobs:
            return
        try:
            found = await self._memory.store.get_many(self.name, [job.key for job in jobs])
        except Exception as error:
            for job in jobs:
                self._fail(job, error)
            return
        for job in jobs:
            if self._is_open(job):
                row = found.get(job.key)
                if row is None or not self._recall(job, row):
                    self._enqueue(job)

    def _recall(self, job: _Job[In, Out], row: bytes) -> bool:
        """Answer from a stored row, if it may be used."""
        assert self._memory
        try:
            out = self._memory.decode(row)
            fresh = self._memory.fresh(out)
        except Exception as error:
            self.counters.damaged += 1
            log.warning("%s: stored value of %s is unreadable: %r", self.name, job.key.hex(), error)
            return False
        if fresh:
            self.counters.cache_hits += 1
            self._answer(job, out)
        return fresh

    def _enqueue(self, job: _Job[In, Out]) -> None:
        self._queue[job] = None
        self._dispatch()

    def _dispatch(self) -> None:
        """Give free workers to those who wait."""
        while self._queue and self._running < self._workers:
            job, _ = self._queue.popitem(last=False)
            self._running += 1
            job.running = True
            if job.task is None:
                job.task = asyncio.create_task(self._run(job))
                job.task.add_done_callback(partial(self._ended, job))
                self._tasks.add(job.task)
            elif job.turn and not job.turn.done():
                job.turn.set_result(None)

    def _free_worker(self, job: _Job[In, Out]) -> None:
        if job.running:
            job.running = False
            self._running -= 1
            self._dispatch()

    async def _run(self, job: _Job[In, Out]) -> tuple[Out, bytes | None]:
        """The result, and the row to append if it is to be kept."""
        if self._retry is None:
            out = await self._attempt(job)
        else:
            out = await AsyncRetrying(
                retry=retry_if_exception_type((*self._retry.transient, DeadlinePassed)),
                stop=stop_after_attempt(self._retry.attempts),
                wait=self._retry.wait,
                sleep=partial(self._pause, job, self._retry),
                reraise=True,
            )(self._attempt, job)
        memory = self._memory
        return out, memory.encode(out) if memory and memory.keep(out) else None

    async def _attempt(self, job: _Job[In, Out]) -> Out:
        try:
            return await self.attempt(job.item)
        finally:
            self._free_worker(job)

    async def attempt(self, item: In) -> Out:
        """Do the work once, within the deadline. A subclass may put more around it, all of it
        while a worker is held."""
        began = perf_counter()
        try:
            if self._deadline is None:
                return await self._work(item)
            async with asyncio.timeout(self._deadline) as timeout:
                return await self._work(item)
        except TimeoutError as error:
            if self._deadline is not None and timeout.expired():
                raise DeadlinePassed(f"{self.name}: no result in {self._deadline} s") from error
            raise
        finally:
            self.counters.seconds += perf_counter() - began

    async def _pause(self, job: _Job[In, Out], retry: Retry, seconds: float) -> None:
        """Wait without a worker, then for one; who came before others goes before them."""
        if self._stopped:
            raise self._stop_error()
        self.counters.retries += 1
        await retry.sleep(seconds)
        job.turn = asyncio.get_running_loop().create_future()
        self._queue[job] = None
        self._queue.move_to_end(job, last=False)
        self._dispatch()
        await job.turn

    def _ended(self, job: _Job[In, Out], task: asyncio.Task[tuple[Out, bytes | None]]) -> None:
        self._tasks.discard(task)
        self._free_worker(job)  # a task that is cancelled before its first step never does it
        if task.cancelled():
            inside = RuntimeError(f"{self.name}: the work was cancelled from within")
            self._fail(job, self._stop_error() if self._stopped else inside)
        elif error := task.exception():
            self._fail(job, error)
        else:
            out, row = task.result()
            if row is None:
                self._done(job, out)
            else:
                job.finished = True
                self._appends.add((job, out, row))

    async def _append(self, finished: list[tuple[_Job[In, Out], Out, bytes]]) -> None:
        assert self._memory
        rows = [(job.key, row) for job, _, row in finished]
        try:
            await self._memory.store.append_many(self.name, rows)
        except Exception as error:
            for job, _, _ in finished:
                self._fail(job, error)
        else:
            for job, out, _ in finished:
                self._done(job, out)

    def _done(self, job: _Job[In, Out], out: Out) -> None:
        self.counters.done += 1
        self._answer(job, out)

    # A job is open while it may be joined: from the first call to its answer.

    def _is_open(self, job: _Job[In, Out]) -> bool:
        return self._jobs.get(job.key) is job

    def _answer(self, job: _Job[In, Out], out: Out) -> None:
        if self._is_open(job):
            del self._jobs[job.key]
            for waiter in job.waiters:
                if not waiter.done():
                    waiter.set_result(out)

    def _fail(self, job: _Job[In, Out], error: BaseException) -> None:
        if self._is_open(job):
            del self._jobs[job.key]
            self.counters.failed += not isinstance(error, Stopped)
            for waiter in job.waiters:
                if not waiter.done():
                    waiter.set_exception(error)

    def _drop(self, job: _Job[In, Out]) -> None:
        """Let go of a job that nobody waits for."""
        if self._is_open(job):
            del self._jobs[job.key]
        self._queue.pop(job, None)
        if job.task:
            job.task.cancel()

    def _stop_error(self) -> Stopped:
        return Stopped(f"{self.name}: stopped")
