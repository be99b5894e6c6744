import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import orjson
import pytest

from cache.digests import content_digest
from cache.errors import CacheError
from cache.folder import Cache, DamagedEntry
from cache.ledger import StageSize


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[Cache]:
    async with Cache.open(tmp_path / "cache") as cache:
        yield cache


async def damage(cache: Cache) -> list[DamagedEntry]:
    return [found async for found in cache.verify()]


async def keep_a_page(cache: Cache, body: bytes) -> str:
    digest = await cache.bodies.aput(body)
    await cache.ledger.append_many("fetch", [(b"url", orjson.dumps({"sha256": digest}))])
    return digest


async def test_a_folder_keeps_rows_and_bodies(tmp_path: Path) -> None:
    async with Cache.open(tmp_path / "new" / "folder") as cache:
        digest = await keep_a_page(cache, b"page")
    async with Cache.open(tmp_path / "new" / "folder") as cache:
        assert cache.bodies.get(digest) == b"page"
        assert await cache.ledger.get_many("fetch", [b"url"])
        stats = await cache.stats()
        assert stats.stages == {"fetch": StageSize(1, 77)}
        assert stats.bodies == 1
        assert stats.body_bytes > 4
        assert await damage(cache) == []


async def test_verify_names_every_damaged_entry(cache: Cache) -> None:
    big, small = b"big page" * 10_000, b"small page"
    for body in (big, small):
        await keep_a_page(cache, body)
    await cache.ledger.append_many("judge", [(b"\x01", b"verdict")])
    missing = content_digest(b"missing")
    await cache.ledger.append_many("extract", [(b"\x02", orjson.dumps({"text": missing}))])
    next((cache.folder / "bodies").rglob("*.val")).write_bytes(big[:-1] + b"X")
    with sqlite3.connect(cache.folder / "bodies" / "cache.db") as outside:
        outside.execute("UPDATE Cache SET value = x'00' WHERE value IS NOT NULL")
    with sqlite3.connect(cache.folder / "ledger.sqlite3") as outside:
        outside.execute("UPDATE rows SET value = CAST('verdicT' AS BLOB) WHERE stage = 'judge'")
    assert [(found.where, found.problem.rpartition(": ")[2]) for found in await damage(cache)] == [
        ("ledger row 3 (judge 01)", "its checksum is wrong"),
        ("ledger row 4 (extract 02)", f"its body {missing} is missing"),
        (f"body {content_digest(big)}", f"body {content_digest(big)} is damaged"),
        (f"body {content_digest(small)}", f"body {content_digest(small)} is damaged"),
    ]


async def test_verify_survives_a_ledger_overwritten_with_noise(tmp_path: Path) -> None:
    async with Cache.open(tmp_path) as cache:
        rows = [(b"%d" % number, b"v" * 500) for number in range(2000)]
        await cache.ledger.append_many("judge", rows)
    with (tmp_path / "ledger.sqlite3").open("r+b") as file:
        file.seek(40_000)
        file.write(b"\xa5" * 200_000)
    async with Cache.open(tmp_path) as cache:
        found = await damage(cache)
    assert found
    assert {each.where.split()[0] for each in found} == {"ledger"}


async def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(CacheError, match=f"{folder}: "):
            async with Cache.open(folder):
                pass


async def test_a_folder_that_cannot_be_made() -> None:
    with pytest.raises(CacheError, match="/proc/none/cache: cannot be created or written"):
        async with Cache.open(Path("/proc/none/cache")):
            pass


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder that the process may read; root, which may do all, gives that up for the test."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield folder
    os.seteuid(user)
    folder.rmdir()


async def test_a_read_only_folder_is_an_error_before_work(read_only: Path) -> None:
    with pytest.raises(CacheError, match=f"{read_only}: cannot be created or written"):
        async with Cache.open(read_only):
            pass
