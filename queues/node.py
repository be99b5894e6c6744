"""A stage: an async function with a cache, a queue, a limit on concurrency, retries and a deadline.

`await node(item)` looks up the key of the item in the store, joins the same work if it is in
progress, waits for a worker, runs the work, appends the result to the store, and returns it.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Generic, TypeVar

from tenacity import retry_if_exception_type, stop_after_attempt
from tenacity.asyncio import AsyncRetrying

from queues.batches import Batches
from queues.retry import DeadlinePassed, Retry
from queues.store import Memory

log = logging.getLogger(__name__)

In = TypeVar("In")
Out = TypeVar("Out")


class Stopped(Exception):
    """The stage was stopped before the work was done. The same call in a later run does it."""


@dataclass(slots=True)
class Counters:
    """What a stage has done so far.

    Each call counts once: `done` (the work ran), `cache_hits` (the store had the result),
    `coalesced` (the call joined work in progress) or `failed`. Calls that were cancelled or stopped
    are not counted. `retries` counts retried attempts, and `damaged` the stored rows that could not
    be decoded. `seconds` is the time spent in the work itself, summed over the workers.
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
    """The work for one key, and the futures of the callers that wait for it."""

    key: bytes
    item: In
    waiters: dict[asyncio.Future[Out], None] = field(default_factory=dict)
    task: asyncio.Task[tuple[Out, bytes | None]] | None = None
    turn: asyncio.Future[None] | None = None  # resolved when a retried job gets a worker again
    running: bool = False  # holds a worker
    finished: bool = False  # the work is done, its row is being appended

    @property
    def has_ended(self) -> bool:
        """Whether the work is done. The callers may not have the result yet."""
        return self.finished or (self.task is not None and self.task.done())


class Node(Generic[In, Out]):
    """A stage that runs `work`, at most `workers` calls at once, in the order of the calls.

    `key` gives the key of an item. Calls with the same key share one run of the work. If a caller
    is cancelled, the work goes on for the others; it is cancelled with its last caller. An
    exception of the work reaches every caller, after the retries, and is not stored. A result that
    is stored reaches the callers after the store has committed it. `deadline` is the most seconds
    for one attempt.
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
        self._lookups = Batches(self._look_up)
        self._appends = Batches(self._append)
        self._running = 0
        self._stopped = False
        self.workers = workers

    @property
    def workers(self) -> int:
        """The most calls that run at once. After it is lowered, calls that run go on to their
        end. Raises ValueError if it is set below 1."""
        return self._workers

    @workers.setter
    def workers(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"{self.name}: a stage needs at least one worker, not {workers}")
        self._workers = workers
        self._dispatch()

    @property
    def running(self) -> int:
        """The number of calls that run now."""
        return self._running

    @property
    def queued(self) -> int:
        """The number of calls that wait for a worker now."""
        return len(self._queue)

    async def __call__(self, item: In, *, refresh: bool = False) -> Out:
        """The result for `item`. `refresh` runs the work even if the store has a result. Raises
        the exceptions of the work and the store, or `Stopped`."""
        job, waiter = self._join(item, refresh)
        try:
            return await waiter
        except asyncio.CancelledError:
            self._leave(job, waiter)
            raise

    async def many(self, items: Iterable[In]) -> list[Out | Exception]:
        """The results of many calls at once, in the order of the items, without a task for each.
        A call that fails has its exception in place of its result. Raises `Stopped`."""
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

    def _join(self, item: In, refresh: bool = False) -> tuple[_Job[In, Out], asyncio.Future[Out]]:
        if self._stopped:
            raise self._stop_error()
        key = self._key(item)
        job = self._jobs.get(key)
        if job is not None:
            self.counters.coalesced += 1
        else:
            job = self._jobs[key] = _Job(key, item)
            if self._memory is None or refresh:
                self._enqueue(job)
            else:
                self._lookups.add(job)
        waiter: asyncio.Future[Out] = asyncio.get_running_loop().create_future()
        job.waiters[waiter] = None
        return job, waiter

    def _leave(self, job: _Job[In, Out], waiter: asyncio.Future[Out]) -> None:
        """Remove a cancelled caller. The work is dropped with its last caller, unless it is done,
        or runs while the stage stops: then it has until the end of the grace period."""
        if waiter.cancelled():
            job.waiters.pop(waiter, None)
            if not job.waiters and not job.finished and not (self._stopped and job.running):
                self._drop(job)

    async def stop(self, grace_seconds: float = 0.0) -> None:
        """Stop the stage. New calls and calls that wait for a worker raise `Stopped`. Work that
        runs has `grace_seconds` to end, then it is cancelled. Returns when all results are in the
        store. A second call ends the grace period of the first one.
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

    # The steps of a job: look-up, queue, one or more attempts, append.

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
        """Answer a job from its stored row. False if the row is unreadable or not fresh."""
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
        """Give each free worker to the first job in the queue."""
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
        """Run the work with retries. Returns the result, and the row to append if it is kept."""
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
        """Run the work once, within the deadline. A subclass may override this; the worker is
        held until it returns."""
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
        """Wait before a retry, without a worker; then wait for a worker, first in the queue."""
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
        self._free_worker(job)  # for a task that was cancelled before its first step
        if task.cancelled():
            inside = RuntimeError(f"{self.name}: the work cancelled itself")
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

    # A job is open, and calls can join it, from its first call until its answer.

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
        """Cancel a job that has no callers."""
        if self._is_open(job):
            del self._jobs[job.key]
        self._queue.pop(job, None)
        if job.task:
            job.task.cancel()

    def _stop_error(self) -> Stopped:
        return Stopped(f"{self.name}: stopped")
