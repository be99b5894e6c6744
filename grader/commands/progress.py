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

from grader.grader import Grader
from grader.runs.submissions import Reader

WINDOW = 30.0
"""Seconds over which the rate is taken: what came from the cache tells little of what is left."""
PLAIN_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def progress(console: Console, grader: Grader, reader: Reader) -> Iterator[None]:
    """Show how far a call has come while the block is open: redrawn on a terminal, as a line now
    and then elsewhere."""
    shown = _Progress(grader, reader)
    if console.is_terminal:
        with Live(
            get_renderable=shown.drawn, console=console, refresh_per_second=4, transient=True
        ):
            yield
        return
    telling = asyncio.create_task(shown.tell(console))
    try:
        yield
    finally:
        telling.cancel()


class _Progress:
    def __init__(self, grader: Grader, reader: Reader) -> None:
        self._grader = grader
        self._reader = reader
        self._seen: deque[tuple[float, int, float]] = deque([(time.monotonic(), 0, 0.0)])

    async def tell(self, console: Console) -> None:
        while True:
            await asyncio.sleep(PLAIN_EVERY)
            console.print(self._told(), soft_wrap=True)

    def _told(self) -> str:
        done = self._grader.progress.records_done
        rate, left = self._pace()
        ungraded = self._grader.progress.ungraded
        parts = [f"{done:,} records", f"{rate:,.0f}/s"]
        if left is not None:
            parts.append(f"{_clock(left)} left")
        if ungraded:
            parts.append(f"{ungraded:,} ungraded")
        return ", ".join(parts)

    def _share(self) -> float:
        """The part of the input that is graded, by bytes read and records done of those read."""
        progress = self._grader.progress
        return self._reader.share_read * progress.records_done / max(progress.records_read, 1)

    def _pace(self) -> tuple[float, float | None]:
        """Records a second of late, and the seconds left if it goes on so."""
        now, done, share = time.monotonic(), self._grader.progress.records_done, self._share()
        self._seen.append((now, done, share))
        while self._seen[0][0] < now - WINDOW and len(self._seen) > 2:
            self._seen.popleft()
        since, done_then, share_then = self._seen[0]
        took = max(now - since, 1e-9)
        gained = share - share_then
        return (done - done_then) / took, (1 - share) * took / gained if gained > 0 else None

    def drawn(self) -> Group:
        stages = Table.grid(padding=(0, 2))
        for name, stage in self._grader.stages().items():
            stages.add_row(
                Text(name, style="bold"),
                f"{stage.running} running",
                f"{stage.queued} queued",
                f"{stage.counters.done:,} done",
                f"{stage.counters.cache_hits:,} from the cache",
                f"{stage.counters.retries:,} retries" if stage.counters.retries else "",
            )
        head = Table.grid(padding=(0, 2))
        head.add_row(ProgressBar(total=1.0, completed=self._share(), width=40), self._told())
        return Group(head, stages)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
