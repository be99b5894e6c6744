"""The progress of a call: records, rate and time left."""

import asyncio
from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from grader.commands import progress
from grader.commands.progress import WINDOW, ProgressView
from grader.grader import Grader, Progress
from grader.runs.submissions import Reader


class Call:
    """A grader and a reader of which a test says how far they are; time is the test's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(progress.time, "monotonic", lambda: self.now)
        self.progress = Progress()
        counters = SimpleNamespace(done=1_234, cache_hits=5, retries=0)
        self.judge = SimpleNamespace(running=4, queued=7, counters=counters)
        self.grader = SimpleNamespace(progress=self.progress, stages=lambda: {"judge": self.judge})
        self.reader = SimpleNamespace(share_read=0.0, rejects=0)
        self.view = ProgressView(cast(Grader, self.grader), cast(Reader, self.reader))

    def at(self, seconds: float, done: int, share: float) -> str:
        self.now = 100.0 + seconds
        self.progress.records_done = self.progress.records_read = done
        self.reader.share_read = share
        return self.view.line()


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Call:
    return Call(monkeypatch)


def test_the_rate_gives_the_time_left(call: Call) -> None:
    assert call.at(10, 1_000, 0.25) == "1,000 records (25%), 100 a second, about 0:30 left"
    assert call.at(20, 2_000, 0.5) == "2,000 records (50%), 100 a second, about 0:20 left"


def test_a_long_time_is_in_hours(call: Call) -> None:
    assert call.at(10, 10, 0.001).endswith("1 a second, about 2:46:30 left")


def test_the_rate_is_that_of_the_last_seconds(call: Call) -> None:
    call.at(10, 100_000, 0.5)  # from the cache
    done, share = 100_000, 0.5
    for more in range(1, 10):
        faster = 2 if more % 3 == 0 else 0.5
        done, share = done + int(faster * 100), share + faster / 100
        line = call.at(10 + more * WINDOW / 3, done, share)
    assert ", 10 a second, about 6:50 left" in line


def test_a_call_that_stalls_has_a_rate_of_0(call: Call) -> None:
    call.at(10, 1_000, 0.25)
    for seconds in (20, 30, 40, 50):
        line = call.at(seconds, 1_000, 0.25)
    assert line == "1,000 records (25%), 0 a second"


def test_records_that_are_read_but_not_done_are_left(call: Call) -> None:
    call.at(0, 0, 0.0)
    call.now += 10
    call.progress.records_read, call.progress.records_done = 100, 50
    call.reader.share_read = 0.5
    assert call.view.line() == "50 records (25%), 5 a second, about 0:30 left"


def test_a_pipe_has_no_share_and_no_time_left(call: Call) -> None:
    assert call.at(10, 50, 0.0) == "50 records, 5 a second"


def test_ungraded_and_rejected_are_counted(call: Call) -> None:
    call.progress.ungraded, call.reader.rejects = 1_200, 3
    assert call.at(1, 2_000, 0.0) == "2,000 records, 2,000 a second, 1,200 ungraded, 3 rejected"


def drawn(call: Call, width: int) -> list[str]:
    text = StringIO()
    Console(file=text, width=width).print(call.view.table())
    return [line.rstrip() for line in text.getvalue().splitlines()]


def test_the_table_has_a_row_for_each_stage(call: Call) -> None:
    call.at(10, 1_000, 0.25)
    line, bar, judge = drawn(call, 80)
    assert line.startswith("1,000 records (25%)")
    assert set(bar) <= set("━╸╺")
    assert judge.split("  ") == [
        "judge", "4 running", "7 queued", "1,234 done", "5 cache hits",
    ]  # fmt: skip
    call.judge.counters.retries = 9
    assert drawn(call, 80)[-1].endswith("9 retries")


async def test_lines_are_printed_if_there_is_no_terminal(
    call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[float] = []
    printed = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            printed.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(progress.asyncio, "sleep", sleep)
    console = Console(file=StringIO())
    arguments: tuple[Any, Any] = (call.grader, call.reader)
    with progress.progress(console, *arguments):
        await printed.wait()
    assert capsys.readouterr().err.splitlines() == ["0 records, 0 a second"] * 2
    assert waits == [progress.PLAIN_EVERY] * 3


async def test_a_terminal_is_redrawn_and_left_clean(call: Call) -> None:
    text = StringIO()
    console = Console(file=text, width=80, force_terminal=True)
    arguments: tuple[Any, Any] = (call.grader, call.reader)
    with progress.progress(console, *arguments):
        pass
    assert "0 records" in text.getvalue()
    assert text.getvalue().endswith("\x1b[2K")
