"""Two helpers for work that runs side by side in one event loop."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

MOST_INLINE = 500
"""Items that the event loop processes itself: about 15 ms of work."""


async def in_thread_if_many(items: int, function: Callable[..., T], *args: Any) -> T:
    """Call `function(*args)`, whose time grows with `items`, and return its result.

    More than `MOST_INLINE` items are processed in a thread, so that the event loop stays free. For
    fewer items, starting a thread takes longer than the work.
    """
    if items <= MOST_INLINE:
        return function(*args)
    return await asyncio.to_thread(function, *args)


@contextmanager
def first_error() -> Iterator[None]:
    """Replace the exception group of a task group by its first error, which cancelled the rest."""
    try:
        yield
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
