"""Lines on disk until the input ends, then group by group."""

import os
import sqlite3
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Generic, Self, TypeVar

from cache.errors import cache_errors

BATCH = 500

K = TypeVar("K", bound=Hashable)


class Spool(Generic[K]):
    """Gathers lines that belong together but may stand anywhere; no more than one group is held
    at a time. Groups come in the order of their first lines, lines in the order of the input.
    Raises `CacheError` where there is no room for them.
    """

    def __init__(self) -> None:
        # An empty name is a private temporary database, gone when it is closed.
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
        """Take in one line; `place` says where it stood."""
        number = self._numbers.setdefault(group, len(self._numbers))
        self._batch.append((number, place, data))
        if len(self._batch) >= BATCH:
            self._flush()

    def __iter__(self) -> Iterator[tuple[K, list[tuple[str, bytes]]]]:
        """Each group with its lines: place and data. Nothing is added from here on."""
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
    """The folder in which SQLite keeps a temporary database that has grown."""
    named = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    return Path(next(filter(None, named), "/var/tmp"))
