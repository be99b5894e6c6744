"""The ledger: an append-only table of results by stage and key."""

import time
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import aiosqlite

from cache.errors import CacheError, cache_errors

_VERSION = 1
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS rows (
    id INTEGER PRIMARY KEY,
    stage TEXT NOT NULL,
    key BLOB NOT NULL,
    time INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS rows_by_key ON rows (key, time);
PRAGMA user_version = {_VERSION};
COMMIT;
"""
_LOCK_TIMEOUT = 60.0  # seconds to wait while another process writes
_GROUP = 1000  # rows in one statement


@dataclass(frozen=True, slots=True)
class Row:
    """One result. `time` is Unix time in nanoseconds."""

    stage: str
    key: bytes
    value: bytes
    time: int

    @property
    def checksum(self) -> int:
        """CRC-32 of all fields."""
        return _checksum(self.stage.encode(), self.key, self.value, self.time)


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row as it was read back; `id` is its SQLite row id.

    It is `intact` if its checksum matches. Otherwise only its stage and key are given, as far as
    they can be read.
    """

    id: int
    row: Row
    intact: bool


@dataclass(frozen=True, slots=True)
class StageSize:
    """The rows of a stage, and the bytes of their values."""

    rows: int
    bytes: int


def _checksum(stage: bytes, key: bytes, value: bytes, at: int) -> int:
    return zlib.crc32(value, zlib.crc32(b"%d %s %s" % (at, stage, key)))


def _holds(checksum: object, stage: bytes, key: bytes, value: bytes, at: int) -> bool:
    try:
        return checksum == _checksum(stage, key, value, at)
    except TypeError:  # damage can change the type of a field
        return False


def _groups(items: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(items)
    while group := list(islice(iterator, _GROUP)):
        yield group


class Ledger:
    """Rows in SQLite, appended and never changed. The newest row of a stage and key counts.

    Several processes may use a ledger at once. Appended rows survive a killed process. Every method
    raises CacheError if the file cannot be used.
    """

    def __init__(self, path: Path, reader: aiosqlite.Connection, writer: aiosqlite.Connection):
        self._path = path
        # Two connections: reading continues while an append waits for another process.
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, path: Path) -> "Ledger":
        """Open the ledger at `path`; create it if it is missing. Raises CacheError if it cannot be
        written."""
        async with AsyncExitStack() as stack:  # an open connection keeps its thread alive
            with cache_errors(path):
                writer = await stack.enter_async_context(_connection(path))
                await _tune(writer)
                await _prepare(writer, path)
                reader = await stack.enter_async_context(_connection(path))
                await _tune(reader)
            stack.pop_all()
        return cls(path, reader, writer)

    async def close(self) -> None:
        """Close the file. It has all appends that were awaited."""
        with cache_errors(self._path):
            await self._reader.close()
            await self._writer.close()

    async def get_many(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Give the newest intact value of each of `keys` that has one."""
        found: dict[bytes, bytes] = {}
        for group in _groups(keys):
            with cache_errors(self._path):
                rows = await self._reader.execute_fetchall(
                    "SELECT key, time, checksum, value FROM rows WHERE stage = ?"
                    f" AND key IN ({','.join('?' * len(group))}) ORDER BY key, time, id",
                    (stage, *group),
                )
            found |= {  # the newest comes last and replaces the others
                key: value
                for key, at, checksum, value in rows
                if _holds(checksum, stage.encode(), key, value, at)
            }
        return found

    async def append_many(self, stage: str, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Append (key, value) pairs. They are stored when this returns."""
        now = time.time_ns()
        for group in _groups(rows):
            await self._insert([Row(stage, key, value, now) for key, value in group])

    async def merge(self, rows: Iterable[Row]) -> int:
        """Append the rows that are not in the ledger yet, with their own times; return how many."""
        added = 0
        for group in _groups(rows):
            added += await self._insert(
                list(dict.fromkeys(group)),
                "WHERE NOT EXISTS (SELECT 1 FROM rows WHERE (key, time, stage, checksum, value)"
                " = (new.key, new.time, new.stage, new.checksum, new.value))",
            )
        return added

    async def _insert(self, rows: Sequence[Row], condition: str = "") -> int:
        # One statement is one transaction and one call to the thread. If the caller is cancelled,
        # neither is left half done.
        sql = (
            "INSERT INTO rows (stage, key, time, checksum, value)"
            " WITH new (stage, key, time, checksum, value) AS"
            f" (VALUES {','.join(['(?,?,?,?,?)'] * len(rows))}) SELECT * FROM new {condition}"
        )
        values = [(row.stage, row.key, row.time, row.checksum, row.value) for row in rows]
        with cache_errors(self._path):
            done = await self._writer.execute(sql, [field for row in values for field in row])
            await done.close()
        return done.rowcount

    async def pages(self) -> AsyncIterator[list[StoredRow]]:
        """Give all rows, also damaged ones, in the order of appending, a thousand at a time."""
        last = 0
        while True:
            with cache_errors(self._path):
                rows = await self._reader.execute_fetchall(
                    "SELECT id, checksum, stage, key, value, time FROM rows WHERE id > ?"
                    " ORDER BY id LIMIT ?",
                    (last, _GROUP),
                )
            page = [_stored(*row) for row in rows]
            if not page:
                return
            yield page
            last = page[-1].id

    async def faults(self) -> list[str]:
        """Check the structure of the file; give the messages of SQLite, [] if it is sound."""
        with cache_errors(self._path):
            rows = await self._reader.execute_fetchall("PRAGMA integrity_check")
        return [fault.decode(errors="replace") for (fault,) in rows if fault != b"ok"]

    async def sizes(self) -> dict[str, StageSize]:
        """Count the rows and bytes of each stage."""
        with cache_errors(self._path):
            rows = await self._reader.execute_fetchall(
                "SELECT stage, COUNT(*), SUM(LENGTH(value)) FROM rows GROUP BY stage ORDER BY stage"
            )
        return {
            stage.decode(errors="replace"): StageSize(count, size) for stage, count, size in rows
        }


def _stored(id_: int, checksum: object, stage: Any, key: Any, value: Any, at: Any) -> StoredRow:
    if not _holds(checksum, stage, key, value, at):
        stage, key = (name if isinstance(name, bytes) else b"" for name in (stage, key))
        return StoredRow(id_, Row(stage.decode(errors="replace"), key, b"", 0), False)
    return StoredRow(id_, Row(stage.decode(), key, value, at), True)


def _connection(path: Path) -> aiosqlite.Connection:
    return aiosqlite.connect(path, timeout=_LOCK_TIMEOUT, isolation_level=None)


async def _tune(connection: aiosqlite.Connection) -> None:
    connection.text_factory = bytes  # a damaged name may not be UTF-8
    for tuning in (
        "synchronous = NORMAL",  # in WAL, only a power failure can lose the last rows
        "cache_size = -16384",  # KiB; holds the upper levels of a big index
        "mmap_size = 33554432",  # bytes; reads faster, but counts as memory: not the whole file
        "wal_autocheckpoint = 8000",  # pages; keys are spread over the index: write it less often
    ):
        await connection.execute_fetchall(f"PRAGMA {tuning}")


async def _prepare(writer: aiosqlite.Connection, path: Path) -> None:
    ((version, tables),) = await writer.execute_fetchall(
        "SELECT user_version, (SELECT COUNT(*) FROM sqlite_master) FROM pragma_user_version"
    )
    if version > _VERSION:
        raise CacheError(f"{path}: was written by a newer version of this program; use that one")
    if version == 0 and tables:
        raise CacheError(f"{path}: belongs to another program; choose another cache folder")
    await writer.execute_fetchall("PRAGMA journal_mode = WAL")
    await writer.executescript(_SCHEMA)
