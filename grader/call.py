"""One call: run files in, result files out, and what there is to say at its end."""

import asyncio
import gc
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from grader.grader import Grader
from grader.kinds.collection.leaves import TRUSTED
from grader.kinds.collection.rows import was_given_up
from grader.kinds.result import Result
from grader.results.files import Output
from grader.results.summary import Summary
from grader.runs.submissions import Reader, Reject
from grader.settings import Settings
from grader.tasks.packages import AnyTask
from judges.endpoint.questions import ModelUnusable

SUMMARY_EVERY = 10.0
"""Seconds between two states of summary.json while a call goes on."""
GRACE = 5.0
"""Seconds that work under way gets to end when a call is interrupted."""
FIRST = 5
"""Rejects that are told on the spot; all are in rejects.jsonl."""


Watch = Callable[[Grader, Reader], AbstractContextManager[None]]
"""Shows a call's progress while the context is open."""


@dataclass(slots=True)
class Ending:
    """How a call ended. `ungraded` counts the records that could not be judged, by reason;
    `remarkable` those of collections that failed before they were read: `invalid`, or by the state
    of their page; and those of `low confidence`, which are in no figure.
    `gave_up` has the addresses that never answered and count as dead.
    `problems` tells what else a user should know."""

    submissions: int = 0
    rejects: int = 0
    first_rejects: list[Reject] = field(default_factory=list)
    ungraded: Counter[str] = field(default_factory=Counter)
    remarkable: Counter[str] = field(default_factory=Counter)
    gave_up: set[str] = field(default_factory=set)
    problems: tuple[str, ...] = ()
    interrupted: bool = False
    stopped: str = ""
    summary: dict[str, Any] = field(default_factory=dict)


class Call:
    """Writes the results of a call, and sums them up; without `out` it writes nothing."""

    def __init__(self, tasks: Sequence[AnyTask], out: Path | None, inputs: Sequence[Path]) -> None:
        """Raises OutputError where `out` cannot be written or holds an input."""
        self.ending = Ending()
        self._summary = Summary(tasks)
        self._output = Output(out, inputs) if out else None
        self._written = monotonic()

    def reject(self, reject: Reject) -> None:
        """Keep and count what no submission can take."""
        if self._output:
            self._output.reject(reject)
        self._summary.reject(reject)
        self.ending.rejects += 1
        if len(self.ending.first_rejects) < FIRST:
            self.ending.first_rejects.append(reject)

    def add(self, result: Result) -> None:
        """Write one submission's result."""
        if self._output:
            self._output.add(result)
        self._summary.add(result)
        self.ending.submissions += 1
        if result.ungraded:
            rows = (row for row in result.rows if row["state"] == "ungraded")
            self.ending.ungraded.update(row.get("error") or "no reason given" for row in rows)
        if result.kind == "collection":
            self.ending.remarkable.update(filter(None, map(_remark, result.rows)))
        if result.gave_up:
            given_up = filter(was_given_up, result.rows)
            self.ending.gave_up.update(str(row["page"].get("final_url")) for row in given_up)

    def checkpoint(self, work: dict[str, Any]) -> None:
        """Bring summary.json up to date, now and then."""
        if self._output and monotonic() - self._written >= SUMMARY_EVERY:
            self._output.summarise(self._summary.report(work))
            self._written = monotonic()

    def close(self, work: dict[str, Any]) -> None:
        """Write what is left."""
        stopped = {"stopped": self.ending.stopped} if self.ending.stopped else {}
        self.ending.summary = self._summary.report(work) | stopped
        if self._output:
            self._output.summarise(self.ending.summary)
            self._output.close()


def _remark(row: Mapping[str, Any]) -> str:
    if row["state"] != "graded":
        return "invalid" if row["state"] == "invalid" else ""
    page = row.get("page") or {}
    if page.get("state", "ok") != "ok":
        return str(page["state"])
    return "low confidence" if row["confidence"] < TRUSTED else ""


async def grade_runs(
    runs: Sequence[str],
    tasks: Sequence[AnyTask],
    out: Path,
    settings: Settings,
    limit: int | None,
    watch: Watch,
) -> Ending:
    """Grade run files (`-` is standard input) into `out`; a dry run writes nothing there. SIGINT
    and SIGTERM stop it cleanly.

    `limit` is a number of records. Raises OutputError, CacheError, ArchiveError and ModelUnusable;
    what was done until then is kept and written.
    """
    inputs = [*(Path(run) for run in runs if run != "-"), *settings.pages]
    async with Grader(settings) as grader:  # first: what it cannot use must cost no results
        call = Call(tasks, None if settings.dry else out, inputs)
        _collect_less()
        reader = Reader(runs, {task.name: task for task in tasks}, call.reject, limit)
        try:
            with watch(grader, reader):
                async with _stopped_by_signals(grader, call.ending):
                    async for result in grader.grade(reader):
                        call.add(result)
                        call.checkpoint(grader.work())
        except ModelUnusable as error:
            call.ending.stopped = str(error)
            raise
        finally:
            call.ending.problems = grader.problems
            call.close(grader.work())
    return call.ending


def _collect_less() -> None:
    """Spare the garbage collector what lives as long as the call, and most of its looks at the
    rest: a call makes many objects a record, and next to no cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


@asynccontextmanager
async def _stopped_by_signals(grader: Grader, ending: Ending) -> AsyncIterator[None]:
    """Stop the grader on SIGINT and SIGTERM, and see it stopped; the second one cuts its grace
    short."""
    stopping: set[asyncio.Task[None]] = set()

    def stop() -> None:
        ending.interrupted = True
        stopping.add(asyncio.create_task(grader.stop(0.0 if stopping else GRACE)))

    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        if stopping:  # no submission may be left that waits for what is under way
            await asyncio.wait(stopping)
        for number in signals:
            loop.remove_signal_handler(number)
