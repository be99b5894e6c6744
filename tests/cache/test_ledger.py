import asyncio
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cache.errors import CacheError
from cache.ledger import Ledger, Row, StageSize


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Ledger]:
    ledger = await Ledger.open(path)
    try:
        yield ledger
    finally:
        await ledger.close()


@pytest.fixture
async def ledger(path: Path) -> AsyncIterator[Ledger]:
    async with opened(path) as ledger:
        yield ledger


async def all_rows(ledger: Ledger) -> list[Row]:
    return [stored.row async for page in ledger.pages() for stored in page if stored.intact]


async def test_only_keys_with_a_row_are_found(ledger: Ledger) -> None:
    await ledger.append_many("judge", [(b"a", b"1"), (b"b", b"\x00\xff")])
    assert await ledger.get_many("judge", [b"a", b"b", b"c"]) == {b"a": b"1", b"b": b"\x00\xff"}
    assert await ledger.get_many("judge", []) == {}
    assert await ledger.get_many("fetch", [b"a"]) == {}


async def test_the_newest_row_counts_and_older_ones_stay(ledger: Ledger) -> None:
    await ledger.append_many("fetch", [(b"a", b"old")])
    await ledger.append_many("fetch", [(b"a", b"new"), (b"a", b"newest")])
    assert await ledger.get_many("fetch", [b"a"]) == {b"a": b"newest"}
    assert [row.value for row in await all_rows(ledger)] == [b"old", b"new", b"newest"]


async def test_the_newest_row_is_the_one_with_the_latest_time(ledger: Ledger) -> None:
    await ledger.append_many("fetch", [(b"a", b"now")])
    await ledger.merge([Row("fetch", b"a", b"long ago", 1)])
    assert await ledger.get_many("fetch", [b"a"]) == {b"a": b"now"}


async def test_groups_of_any_size(ledger: Ledger) -> None:
    rows = [(b"%d" % number, b"v%d" % number) for number in range(2500)]
    await ledger.append_many("judge", rows)
    assert await ledger.get_many("judge", [key for key, _ in rows]) == dict(rows)
    assert [(row.key, row.value) for row in await all_rows(ledger)] == rows
    assert await ledger.sizes() == {
        "judge": StageSize(2500, sum(len(value) for _, value in rows)),
    }


async def test_concurrent_calls(ledger: Ledger) -> None:
    keys = [b"%d" % number for number in range(50)]
    await asyncio.gather(*(ledger.append_many("s", [(key, key)]) for key in keys))
    found = await asyncio.gather(*(ledger.get_many("s", [key]) for key in keys))
    assert found == [{key: key} for key in keys]


async def test_a_cancelled_append_leaves_the_ledger_usable(ledger: Ledger) -> None:
    append = asyncio.create_task(ledger.append_many("s", [(b"a", b"1")]))
    await asyncio.sleep(0)
    append.cancel()
    await asyncio.gather(append, return_exceptions=True)
    await ledger.append_many("s", [(b"b", b"2")])
    assert (await ledger.get_many("s", [b"b"])) == {b"b": b"2"}


async def test_merging_twice_adds_nothing(ledger: Ledger) -> None:
    rows = [Row("s", b"k%d" % number, b"v", number) for number in range(1500)]
    assert await ledger.merge([*rows, rows[-1]]) == 1500
    assert await ledger.merge(rows) == 0
    assert await all_rows(ledger) == rows


async def test_a_damaged_row_is_not_returned(ledger: Ledger, path: Path) -> None:
    await ledger.append_many("s", [(b"a", b"good")])
    await ledger.append_many("s", [(b"a", b"bad"), (b"b", b"bad"), (b"c", b"bad"), (b"d", b"good")])
    with sqlite3.connect(path) as outside:
        outside.execute("UPDATE rows SET value = x'00' WHERE id = 2")
        outside.execute("UPDATE rows SET value = 7 WHERE id = 3")
        outside.execute("UPDATE rows SET stage = CAST(x'73ff' AS TEXT), value = 0.5 WHERE id = 4")
    assert await ledger.get_many("s", [b"a", b"b", b"c", b"d"]) == {b"a": b"good", b"d": b"good"}
    damaged = [stored async for page in ledger.pages() for stored in page if not stored.intact]
    assert [(stored.id, stored.row.stage, stored.row.key) for stored in damaged] == [
        (2, "s", b"a"),
        (3, "s", b"b"),
        (4, "s\ufffd", b"c"),
    ]


WRITER = """
import asyncio, sys
from pathlib import Path
from cache.ledger import Ledger

async def main(path, name):
    ledger = await Ledger.open(Path(path))
    for batch in range(10**9 if name == "endless" else 40):
        rows = [(f"{name} {batch} {n}".encode(), b"v" * 1000) for n in range(20)]
        await ledger.append_many("s", rows)
        print(batch, flush=True)
    await ledger.close()

asyncio.run(main(*sys.argv[1:]))
"""


async def write(path: Path, name: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(path), name, stdout=asyncio.subprocess.PIPE
    )


async def test_two_processes_share_a_ledger(path: Path) -> None:
    writers = await asyncio.gather(write(path, "one"), write(path, "two"))
    await asyncio.gather(*(writer.communicate() for writer in writers))
    assert [writer.returncode for writer in writers] == [0, 0]
    keys = [f"{w} {b} {n}".encode() for w in ("one", "two") for b in range(40) for n in range(20)]
    async with opened(path) as ledger:
        assert len(await ledger.get_many("s", keys)) == len(await all_rows(ledger)) == 1600
        assert await ledger.faults() == []


async def test_killed_in_the_middle_of_appends(path: Path) -> None:
    told = -1
    for _ in range(3):
        writer = await write(path, "endless")
        assert writer.stdout
        for _ in range(15):
            told = max(told, int(await writer.stdout.readline()))
        os.kill(writer.pid, signal.SIGKILL)
        await writer.communicate()
    keys = [f"endless {batch} {n}".encode() for batch in range(told + 1) for n in range(20)]
    async with opened(path) as ledger:
        assert len(await ledger.get_many("s", keys)) == len(keys)
        assert await ledger.faults() == []
        rows = [stored async for page in ledger.pages() for stored in page]
        assert all(stored.intact for stored in rows)
        assert len(rows) % 20 == 0  # a group is there whole or not at all
        await ledger.append_many("s", [(b"a", b"1")])


async def test_reading_continues_while_another_process_writes(ledger: Ledger, path: Path) -> None:
    await ledger.append_many("s", [(b"a", b"1")])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    append = asyncio.create_task(ledger.append_many("s", [(b"b", b"2")]))
    assert await ledger.get_many("s", [b"a", b"b"]) == {b"a": b"1"}
    assert not append.done()
    other.execute("COMMIT")
    other.close()
    await append
    assert await ledger.get_many("s", [b"b"]) == {b"b": b"2"}


async def test_a_full_disk_is_an_error_and_stored_rows_stay(path: Path, ledger: Ledger) -> None:
    await ledger.append_many("s", [(b"a", b"1")])
    await ledger._writer.execute_fetchall("PRAGMA max_page_count = 10")
    with pytest.raises(CacheError, match=r"ledger\.sqlite3: the disk is full"):
        await ledger.append_many("s", [(b"big", bytes(100_000))])
    assert await ledger.get_many("s", [b"a", b"big"]) == {b"a": b"1"}
    await ledger._writer.execute_fetchall("PRAGMA max_page_count = 1000000")
    await ledger.append_many("s", [(b"big", bytes(100_000))])


def refused(path: Path, why: str) -> None:
    before, threads = path.read_bytes(), set(threading.enumerate())
    with pytest.raises(CacheError, match=rf"ledger\.sqlite3: {why}"):
        asyncio.run(Ledger.open(path))
    assert path.read_bytes() == before
    for thread in set(threading.enumerate()) - threads:  # one left would keep the process alive
        thread.join(5)
        assert not thread.is_alive()


def test_a_file_that_is_not_a_database_is_refused(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)
    refused(path, "is not part of an Assay cache")


def test_the_database_of_another_program_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE rows (theirs)")
    refused(path, "belongs to another program")


def test_a_newer_schema_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 99")
    refused(path, "was written by a newer version")
