"""SIGINT (Ctrl-C) and SIGTERM while an event loop runs."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts(*handlers: Callable[[], object]) -> Iterator[None]:
    """While the block is open, each signal calls the next one of `handlers` in the running event
    loop. When all were called, a further signal goes to the handler from before the block.

    For the main thread only, as all of Python's signal handling.
    """
    loop = asyncio.get_running_loop()
    waiting = list(handlers)
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(number: int, frame: FrameType | None) -> None:
        outer = before[signal.Signals(number)]
        if waiting:
            loop.call_soon_threadsafe(waiting.pop(0))
        elif callable(outer):
            outer(number, frame)
        elif outer == signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    for number in SIGNALS:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, outer in before.items():
            signal.signal(number, outer)
