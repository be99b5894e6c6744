"""The live view of a call: how many records are done, how fast, and how long it still takes."""

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from grader.commands.streams import tell
from grader.grader import Grader
from grader.runs.submissions import Reader

WINDOW = 30.0
"""Seconds over which the rate is measured. Records from the cache are fast at the start, and say
little about the rest."""
PLAIN_EVERY = 10.0
"""Seconds between two lines of progress if standard error is not a terminal."""


@contextmanager
def progress(console: Console, grader: Grader, reader: Reader) -> Iterator[None]:
    """Show the progress of a call while the block is open: redrawn on a terminal, a line every
    `PLAIN_EVERY` seconds elsewhere."""
    view = ProgressView(grader, reader)
    if console.is_terminal:
        with Live(get_renderable=view.table, console=console, refresh_per_second=4, transient=True):
            yield
        return
    printing = asyncio.create_task(_print_lines(view))
    try:
        yield
    finally:
        printing.cancel()


async def _print_lines(view: "ProgressView") -> None:
    while True:
        await asyncio.sleep(PLAIN_EVERY)
        tell(view.line())


class ProgressView:
    """The progress of a call as a line, and as a table of its stages."""

    def __init__(self, grader: Grader, reader: Reader) -> None:
        self._grader = grader
        self._reader = reader
        self._samples: deque[tuple[float, int, float]] = deque([(time.monotonic(), 0, 0.0)])
        """Time, records done and share done, not older than `WINDOW`."""

    def line(self) -> str:
        """Records done, the share of the input, records a second, the time left, and failures."""
        progress, share = self._grader.progress, self._share()
        rate, left = self._rate_and_time_left()
        of_input = f" ({share:.0%})" if share else ""
        parts = [f"{progress.records_done:,} records{of_input}", f"{rate:,.0f} a second"]
        if left is not None:
            parts.append(f"about {_clock(left)} left")
        if progress.ungraded:
            parts.append(f"{progress.ungraded:,} ungraded")
        if self._reader.rejects:
            parts.append(f"{self._reader.rejects:,} rejected")
        return ", ".join(parts)

    def table(self) -> Group:
        """The line, a bar, and a row for each stage."""
        bar = Table.grid()
        bar.add_row(ProgressBar(total=1.0, completed=self._share(), width=40))
        stages = Table.grid(padding=(0, 2))
        for name, stage in self._grader.stages().items():
            stages.add_row(
                Text(name, style="bold"),
                f"{stage.running} running",
                f"{stage.queued} queued",
                f"{stage.counters.done:,} done",
                f"{stage.counters.cache_hits:,} cache hits",
                f"{stage.counters.retries:,} retries" if stage.counters.retries else "",
            )
        return Group(Text(self.line()), bar, stages)

    def _share(self) -> float:
        """The share of the input that is graded, by bytes read and records done of those read."""
        progress = self._grader.progress
        return self._reader.share_read * progress.records_done / max(progress.records_read, 1)

    def _rate_and_time_left(self) -> tuple[float, float | None]:
        """Records a second within `WINDOW`, and the seconds left at that rate; None if the rate or
        the size of the input is unknown."""
        now, done, share = time.monotonic(), self._grader.progress.records_done, self._share()
        self._samples.append((now, done, share))
        while self._samples[0][0] < now - WINDOW and len(self._samples) > 2:
            self._samples.popleft()
        since, done_then, share_then = self._samples[0]
        seconds = max(now - since, 1e-9)
        gained = share - share_then
        return (done - done_then) / seconds, (1 - share) * seconds / gained if gained > 0 else None


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
