"""One call: read run files, grade them, write result files, and report how it went."""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from grader.grader import Grader
from grader.interrupts import interrupts
from grader.kinds.collection.leaves import TRUSTED
from grader.kinds.collection.rows import was_given_up
from grader.kinds.result import Result
from grader.lines import STANDARD_INPUT
from grader.results.files import Output
from grader.results.summary import Summary
from grader.runs.submissions import Reader, Reject
from grader.settings import Settings
from grader.tasks.packages import AnyTask
from judges.endpoint.questions import ModelUnusable

STDIN = "/dev/stdin"
LEDGER = "ledger.sqlite3"
SUMMARY_EVERY = 10.0
"""Seconds between two writes of summary.json during a call."""
GRACE = 5.0
"""Seconds that work in progress gets to end when a call is interrupted."""
FIRST_REJECTS = 5
"""Rejects that a report holds; rejects.jsonl has all."""


Watch = Callable[[Grader, Reader], AbstractContextManager[None]]
"""Shows the progress of a call while the context is open."""


@dataclass(slots=True)
class CallReport:
    """How a call went.

    `ungraded` counts the records that could not be judged, by reason. `notable` counts the records
    of collections that failed before the judge read them, by `invalid` or the state of their page,
    and those of `low confidence`, which count in no figure. `gave_up` has the addresses that never
    answered and count as dead. `problems` are messages to the user, such as damage in an archive.
    `stopped` says why the call ended early. `summary` is the content of summary.json.
    """

    submissions: int = 0
    rejects: int = 0
    first_rejects: list[Reject] = field(default_factory=list)
    ungraded: Counter[str] = field(default_factory=Counter)
    notable: Counter[str] = field(default_factory=Counter)
    gave_up: set[str] = field(default_factory=set)
    problems: tuple[str, ...] = ()
    interrupted: bool = False
    stopped: str = ""
    summary: dict[str, Any] = field(default_factory=dict)


class Call:
    """Writes the results of a call, and counts them for its report; writes nothing if `out` is
    None."""

    def __init__(self, tasks: Sequence[AnyTask], out: Path | None, inputs: Sequence[Path]) -> None:
        """Raises OutputError if `out` cannot be written, or if a result would replace an input."""
        self.report = CallReport()
        self._summary = Summary(tasks)
        self._output = Output(out, inputs) if out else None
        self._written = monotonic()

    def reject(self, reject: Reject) -> None:
        """Write and count one rejected line or record."""
        if self._output:
            self._output.reject(reject)
        self._summary.reject(reject)
        self.report.rejects += 1
        if len(self.report.first_rejects) < FIRST_REJECTS:
            self.report.first_rejects.append(reject)

    def add(self, result: Result) -> None:
        """Write one submission's result."""
        if self._output:
            self._output.add(result)
        self._summary.add(result)
        self.report.submissions += 1
        if result.ungraded:
            rows = (row for row in result.rows if row["state"] == "ungraded")
            self.report.ungraded.update(row.get("error") or "no reason given" for row in rows)
        if result.kind == "collection":
            self.report.notable.update(filter(None, map(_note, result.rows)))
        if result.gave_up:
            given_up = filter(was_given_up, result.rows)
            self.report.gave_up.update(str(row["page"].get("final_url")) for row in given_up)

    def checkpoint(self, work: dict[str, Any]) -> None:
        """Write summary.json, if the last write is `SUMMARY_EVERY` seconds ago."""
        if self._output and monotonic() - self._written >= SUMMARY_EVERY:
            self._output.summarise(self._summary.report(work))
            self._written = monotonic()

    def close(self, work: dict[str, Any]) -> None:
        """Write the rest of the results, and the summary."""
        stopped = {"stopped": self.report.stopped} if self.report.stopped else {}
        self.report.summary = self._summary.report(work) | stopped
        if self._output:
            try:
                self._output.summarise(self.report.summary)
            finally:
                self._output.close()


def _note(row: Mapping[str, Any]) -> str:
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
    inputs: Sequence[Path] = (),
) -> CallReport:
    """Grade run files (`-` is standard input) and write the results to `out`; a dry run writes
    nothing.

    `limit` is a number of records. `inputs` are further files that no result may replace. The
    first SIGINT or SIGTERM stops new work and gives work in progress `GRACE` seconds; the second
    one cancels it.
    Raises OutputError, CacheError, ArchiveError and ModelUnusable; the results until then are
    written, and pages and verdicts are in the cache.
    """
    read = [Path(STDIN if run == STANDARD_INPUT else run) for run in runs]
    kept = [*read, *inputs, *settings.pages, settings.cache / LEDGER]
    async with Grader(settings) as grader:  # before the results, which its errors must not empty
        call = Call(tasks, None if settings.dry else out, kept)
        _collect_less()
        reader = Reader(runs, {task.name: task for task in tasks}, call.reject, limit)
        try:
            with watch(grader, reader):
                async with _stopped_by_signals(grader, call.report):
                    async for result in grader.grade(reader):
                        call.add(result)
                        call.checkpoint(grader.work())
        except ModelUnusable as error:
            call.report.stopped = str(error)
            raise
        finally:
            call.report.problems = grader.problems
            call.close(grader.work())
    return call.report


def _collect_less() -> None:
    """Make the garbage collector skip the objects that live as long as the call, and run less
    often: a call makes many objects for a record, and almost no cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


@asynccontextmanager
async def _stopped_by_signals(grader: Grader, report: CallReport) -> AsyncIterator[None]:
    """Stop the grader on SIGINT and SIGTERM, and wait until it has stopped."""
    stopping: set[asyncio.Task[None]] = set()

    def stop(grace: float) -> None:
        report.interrupted = True
        stopping.add(asyncio.create_task(grader.stop(grace)))

    with interrupts(partial(stop, GRACE), partial(stop, 0.0)):
        try:
            yield
        finally:
            if stopping:  # until then a submission may wait for work in progress
                await asyncio.wait(stopping)
