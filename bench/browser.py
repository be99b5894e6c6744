"""Measure the cost of rendering. Run: `python bench/browser.py [pages]`. The last results (2 cores,
both busy with other work, Python 3.11, Chromium 156) with chromium-headless-shell, then chromium:

1 at once, 30 pages     58 pages a minute,   421 MB at most,  68 ms of our own CPU a page
4 at once, 30 pages    177 pages a minute,   517 MB at most,  46 ms of our own CPU a page
8 at once, 30 pages    185 pages a minute,   615 MB at most,  46 ms of our own CPU a page

1 at once, 30 pages     41 pages a minute,   610 MB at most,  99 ms of our own CPU a page
4 at once, 30 pages     56 pages a minute,   840 MB at most,  77 ms of our own CPU a page
8 at once, 30 pages     50 pages a minute,  1187 MB at most,  88 ms of our own CPU a page
"""

import asyncio
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers import Request, answer, serving

from fetchers.guard import Guard
from fetchers.web.browser import Browser

SHELL = b"<title>Shell</title><div id=root></div>" + b"".join(
    b"<script src=/part%d></script>" % number for number in range(10)
)
PART = b"""
root.insertAdjacentHTML('beforeend', '<table>' + '<tr><td>a cell<td>of a<td>table'.repeat(50) +
  '</table><img src=/image.png>');
fetch('/data').then(data => data.text()).then(text => root.append(text));
"""


async def site(request: Request, writer: asyncio.StreamWriter) -> None:
    if request.path == "/":
        writer.write(answer(SHELL, 200, "Content-Type: text/html"))
    elif request.path.startswith("/part"):
        writer.write(answer(PART, 200, "Content-Type: text/javascript"))
    else:
        writer.write(answer(b"word " * 500))


class Memory:
    """The most bytes that this process and all below it hold at once, shared ones counted once."""

    def __init__(self) -> None:
        self.peak = 0

    async def watch(self) -> None:
        while True:
            self.peak = max(self.peak, await asyncio.to_thread(self._held))
            await asyncio.sleep(1)

    def _held(self) -> int:
        us, held = psutil.Process(), 0
        for process in (us, *us.children(recursive=True)):
            with suppress(psutil.Error):
                held += process.memory_full_info().pss
        return held


async def measure(workers: int, pages: int) -> str:
    memory = Memory()
    async with (
        serving(site) as server,
        Browser(Guard([f"127.0.0.1:{server.port}"]), workers=workers) as browser,
    ):
        url = f"http://127.0.0.1:{server.port}/"
        await browser.render(url)  # starts the browser
        watch = asyncio.create_task(memory.watch())
        started, cpu = time.monotonic(), time.process_time()
        await asyncio.gather(*(browser.render(url) for _ in range(pages)))
        seconds, cpu = time.monotonic() - started, time.process_time() - cpu
        watch.cancel()
    return (
        f"{workers} at once, {pages} pages {60 * pages / seconds:6.0f} pages a minute,"
        f" {memory.peak / 1e6:5.0f} MB at most, {1000 * cpu / pages:3.0f} ms of our own CPU a page"
    )


async def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    for workers in (1, 4, 8):
        print(await measure(workers, pages), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
