"""Keeps lines on disk until the input ends, and returns them group by group."""

import os
import sqlite3
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Generic, Self, TypeVar

from cache.errors import cache_errors

BATCH = 500

K = TypeVar("K", bound=Hashable)


class LineGroups(Generic[K]):
    """Lines that belong together but may stand anywhere in the input.

    They wait in a temporary file, so that at most one group is in memory. Groups are returned in
    the order of their first lines, and lines in the order of the input. Raises CacheError if the
    disk is full.
    """

    def __init__(self) -> None:
        # An empty name makes a temporary database, which is deleted when it is closed.
        self._base = sqlite3.connect("", check_same_thread=False)
        self._base.execute("CREATE TABLE line (number INTEGER, place TEXT, data BLOB)")
        self._numbers: dict[K, int] = {}
        self._batch: list[tuple[int, str, bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def __contains__(self, group: K) -> bool:
        return group in self._numbers

    def add(self, group: K, place: str, data: bytes) -> None:
        """Keep one line; `place` is its FILE:LINE."""
        number = self._numbers.setdefault(group, len(self._numbers))
        self._batch.append((number, place, data))
        if len(self._batch) >= BATCH:
            self._flush()

    def __iter__(self) -> Iterator[tuple[K, list[tuple[str, bytes]]]]:
        """Each group with the place and the data of its lines. Add no line after this."""
        self._flush()
        with cache_errors(_temporary()):
            self._base.execute("CREATE INDEX by_number ON line (number)")
        for group, number in self._numbers.items():
            query = "SELECT place, data FROM line WHERE number = ? ORDER BY rowid"
            with cache_errors(_temporary()):
                lines = self._base.execute(query, (number,)).fetchall()
            yield group, lines

    def _flush(self) -> None:
        with cache_errors(_temporary()):
            self._base.executemany("INSERT INTO line VALUES (?, ?, ?)", self._batch)
        self._batch.clear()


def _temporary() -> Path:
    """The folder in which SQLite keeps a temporary database that is too large for memory."""
    named = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    return Path(next(filter(None, named), "/var/tmp"))
