import gzip
import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import orjson
import pytest
from warcio.archiveiterator import ArchiveIterator

from cache.bodies import Bodies
from cache.digests import content_digest
from cache.errors import CacheError
from cache.folder import Cache
from cache.ledger import Row
from cache.transfer import Exported, Imported, export, import_

PAGE = b"<html>\r\n\r\nA page with \x00\xff bytes</html>"
RENDERED = b"<html>after its scripts</html>"
TEXT = "본문".encode()
LOOSE = b"a body that no row names"
BODIES = [PAGE, RENDERED, TEXT, LOOSE]


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[Cache]:
    async with Cache.open(tmp_path / "here") as cache:
        for body in BODIES:
            cache.bodies.put(body)
        await cache.ledger.append_many(
            "fetch",
            [
                (b"1", visit_row("https://one.example/", PAGE, "http")),
                (b"2", visit_row("https://two.example/", RENDERED, "browser")),
                (b"3", orjson.dumps({"status": None, "sha256": "", "final_url": "https://dead"})),
            ],
        )
        await cache.ledger.append_many(
            "extract", [(b"4", orjson.dumps({"text": content_digest(TEXT)}))]
        )
        await cache.ledger.append_many("judge", [(b"5", b"\xff no json"), (b"6", b' {"a": 1e0}')])
        await cache.ledger.append_many(
            "judge", [(b"5", b'"newer"'), (b"7", b"[" * 300 + b"]" * 300)]
        )
        yield cache


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Cache]:
    async with Cache.open(tmp_path / "there") as other:
        yield other


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.warc.gz"


def visit_row(url: str, body: bytes, via: str) -> bytes:
    headers = {
        "content-type": "text/html",
        "content-encoding": "gzip",
        "x-évil": "1",
        "x-split": "a\r\n\r\nb",
        "x-name": "é",
    }
    return orjson.dumps(
        {
            "status": 200,
            "final_url": url,
            "headers": headers,
            "sha256": content_digest(body),
            "via": via,
            "fetched_at": "2026-03-01T10:00:00Z",
        }
    )


async def rows(cache: Cache) -> list[Row]:
    return [stored.row async for page in cache.ledger.pages() for stored in page]


def bodies(store: Bodies) -> set[bytes]:
    return {store.get(digest) for digest in store}


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def beside(path: Path) -> Path:
    return path.with_name("run.jsonl.gz")


async def test_an_import_gives_the_exported_bytes(cache: Cache, other: Cache, path: Path) -> None:
    assert await export(cache, path) == Exported(rows=8, bodies=4, damaged=0)
    assert await import_(other, path) == Imported(rows=8, new_rows=8, bodies=4)
    assert await rows(other) == await rows(cache)
    assert bodies(other.bodies) == set(BODIES)
    assert [damage async for damage in other.verify()] == []


async def test_importing_again_adds_nothing(cache: Cache, other: Cache, path: Path) -> None:
    await export(cache, path)
    await import_(other, path)
    assert await import_(other, path) == Imported(rows=8, new_rows=0, bodies=4)
    assert await rows(other) == await rows(cache)
    assert len(other.bodies) == 4


async def test_the_archive_is_a_warc_that_others_can_read(cache: Cache, path: Path) -> None:
    await export(cache, path)
    found = {}
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests=True):
            head = record.http_headers
            found[record.rec_headers["WARC-Target-URI"]] = (
                record.rec_type,
                record.rec_headers["WARC-Date"],
                head and head.statusline,
                head and dict(head.headers),
                record.content_stream().read(),
            )
    assert found.pop("https://one.example/") == (
        "response",
        "2026-03-01T10:00:00Z",
        "200 OK",
        {
            "content-type": "text/html",
            "x-split": "a    b",
            "x-name": "%C3%A9",
            "content-length": str(len(PAGE)),
        },
        PAGE,
    )
    kind, date, *_, body = found.pop("https://two.example/")
    assert (kind, date, body) == ("conversion", "2026-03-01T10:00:00Z", RENDERED)
    assert {uri: (kind, body) for uri, (kind, *_, body) in found.items()} == {
        f"urn:sha256:{content_digest(body)}": ("resource", body) for body in (TEXT, LOOSE)
    }


async def test_a_row_is_exported_as_json_if_json_keeps_its_bytes(cache: Cache, path: Path) -> None:
    await export(cache, path)
    with gzip.open(beside(path)) as file:
        lines = [orjson.loads(line) for line in file]
    assert [line["stage"] for line in lines] == ["fetch"] * 3 + ["extract"] + ["judge"] * 4
    assert lines[3]["value"] == {"text": content_digest(TEXT)}
    assert lines[3]["key"] == b"4".hex()
    assert ["base64" in line for line in lines[4:]] == [True, True, False, True]


async def test_damaged_entries_are_left_out_and_counted(
    cache: Cache, other: Cache, path: Path
) -> None:
    with sqlite3.connect(cache.folder / "bodies" / "cache.db") as outside:
        outside.execute("UPDATE Cache SET value = x'00' WHERE value = ?", (TEXT,))
    with sqlite3.connect(cache.folder / "ledger.sqlite3") as outside:
        outside.execute("UPDATE rows SET value = x'00' WHERE id = 5")
    assert await export(cache, path) == Exported(rows=6, bodies=3, damaged=3)
    assert (await import_(other, path)).rows == 6


async def test_an_export_that_fails_leaves_nothing(cache: Cache, tmp_path: Path) -> None:
    with pytest.raises(CacheError, match=r"ends in \.warc\.gz"):
        await export(cache, tmp_path / "run.zip")
    with pytest.raises(CacheError, match="cannot be created"):
        await export(cache, tmp_path / "none" / "run.warc.gz")
    assert names(tmp_path) == {"here"}


async def refuses(other: Cache, path: Path, why: str) -> None:
    with pytest.raises(CacheError, match=why):
        await import_(other, path)
    assert await rows(other) == []


async def test_a_missing_or_foreign_file_is_refused(other: Cache, path: Path) -> None:
    await refuses(other, path, "No such file")
    write(path, b"no archive")
    await refuses(other, path, "Not a gzipped file")
    write(path, gzip.compress(b"no archive"))
    await refuses(other, path, "Invalid WARC record")


@pytest.mark.parametrize("which", ["run.warc.gz", "run.jsonl.gz"])
async def test_a_truncated_file_is_refused_at_any_length(
    cache: Cache, other: Cache, path: Path, which: str
) -> None:
    await export(cache, path)
    file = path.with_name(which)
    whole = file.read_bytes()
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        file.write_bytes(whole[:length])
        if which == "run.jsonl.gz" and length == 0:
            continue  # an export of no rows
        await refuses(other, path, "not a complete export")


async def test_a_changed_file_is_refused_or_imported_correctly(
    cache: Cache, other: Cache, path: Path
) -> None:
    await export(cache, path)
    chance = random.Random(7)
    for file in (path, beside(path)):
        whole = gzip.decompress(file.read_bytes())
        for _ in range(60):
            changed = bytearray(whole)
            for _ in range(chance.randrange(1, 4)):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            file.write_bytes(gzip.compress(bytes(changed), 1))
            with suppress(CacheError):
                await import_(other, path)
        file.write_bytes(gzip.compress(whole))
    assert bodies(other.bodies) == set(BODIES)


BAD_LINES = [
    b"[]\n",
    b"{}\n",
    b"nothing\n",
    b'{"stage": "s", "key": "61", "time": 1, "value": 1}',  # cut at its end
    b'{"stage": 7, "key": "61", "time": 1, "value": 1}\n',
    b'{"stage": "\\u001b[31m", "key": "61", "time": 1, "value": 1}\n',
    b'{"stage": "s", "key": "xy", "time": 1, "value": 1}\n',
    b'{"stage": "s", "key": 61, "time": 1, "value": 1}\n',
    b'{"stage": "s", "key": "", "time": 1, "value": 1}\n',
    b'{"stage": "s", "key": "61", "time": "now", "value": 1}\n',
    b'{"stage": "s", "key": "61", "time": -1, "value": 1}\n',
    b'{"stage": "s", "key": "61", "time": 9000000000000000000, "value": 1}\n',
    b'{"stage": "s", "key": "61", "time": 1, "base64": "!"}\n',
    b'{"stage": "s", "key": "61", "time": 1, "base64": 5}\n',
    b'{"stage": "s", "key": "61", "time": 1}\n',
    b"[" * 100_000 + b"\n",
    b'{"stage": "s", "key": "61", "time": 1, "value": {"sha256": "' + b"0" * 64 + b'"}}\n',
]


@pytest.mark.parametrize("line", BAD_LINES)
async def test_a_line_that_is_not_a_row_is_named(
    cache: Cache, other: Cache, path: Path, line: bytes
) -> None:
    await export(cache, path)
    good = gzip.decompress(beside(path).read_bytes())
    beside(path).write_bytes(gzip.compress(good + line))
    await refuses(other, path, r"run\.jsonl\.gz: .*line 9 ")


async def test_a_record_that_would_fill_the_memory_is_refused(other: Cache, path: Path) -> None:
    write(path, gzip.compress(b"WARC/1.1\r\nX: " + bytes(50_000_000), 1))
    await refuses(other, path, "headers of a record are too long")
    write(path, gzip.compress(b"WARC/1.1\r\nContent-Length: 99999999999\r\n\r\n"))
    await refuses(other, path, "a record of 99999999999 bytes")
