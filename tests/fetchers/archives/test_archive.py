"""Archives answer as the network did when the archives were made."""

import gzip
import hashlib
import io
import random
import re
import zlib
from base64 import b32encode
from collections.abc import Callable, Mapping
from pathlib import Path

import brotli
import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from fetchers.archives import archive
from fetchers.archives.archive import ArchiveError, Archives
from fetchers.page import Dead, Unreachable
from fetchers.web.coding import zstd

URL = "https://example.org/a"


class Warc:
    """Writes records; each is a gzip member unless `packed` is False."""

    def __init__(self, path: Path, packed: bool = True) -> None:
        self.path = path
        self._file = path.open("wb")
        self._writer = WARCWriter(self._file, gzip=packed, warc_version="1.1")
        self._writer.write_record(self._writer.create_warcinfo_record("test", {"software": "test"}))

    def add(
        self,
        uri: str,
        body: bytes = b"",
        kind: str = "response",
        date: str = "2026-01-01T00:00:00Z",
        status: str | None = "200 OK",
        headers: Mapping[str, str] | None = None,
        **warc_headers: str,
    ) -> int:
        """Write a record and return its offset."""
        place = self._file.tell()
        http = None
        if status is not None and kind in ("response", "revisit"):
            http = StatusAndHeaders(status, list((headers or {}).items()), protocol="HTTP/1.1")
        extra = {name.replace("_", "-"): value for name, value in warc_headers.items()}
        record = self._writer.create_warc_record(
            uri,
            kind,
            payload=io.BytesIO(body),
            http_headers=http,
            warc_headers_dict={"WARC-Date": date} | extra,
            warc_content_type=(headers or {}).get("content-type", "") if http is None else "",
        )
        self._writer.write_record(record)
        return place

    def close(self) -> Path:
        self._file.close()
        return self.path


@pytest.fixture
def warc(tmp_path: Path) -> Warc:
    return Warc(tmp_path / "a.warc.gz")


async def body_of(path: Path, url: str = URL) -> bytes | None:
    response = await Archives([path]).fetch(url)
    return response and response.body


async def test_a_captured_response_is_read_whole(warc: Warc) -> None:
    headers = {"Content-Type": "text/html", "X-A": "1", "x-a": "2", "Content-Length": "5"}
    warc.add(URL, b"hello", date="2026-03-04T05:06:07.890Z", headers=headers)
    got = await Archives([warc.close()]).fetch("HTTPS://EXAMPLE.org:443/a?utm_source=x#top")
    assert got is not None
    assert (got.status, got.body, got.via) == (200, b"hello", "archive")
    assert (got.final_url, got.fetched_at) == (URL, "2026-03-04T05:06:07Z")
    assert got.headers == {"content-type": "text/html", "x-a": "1, 2"}


@pytest.mark.parametrize("captured", [URL, "https://good.example@example.org/a"])
@pytest.mark.parametrize("cited", [URL, "https://user:secret@example.org/a"])
async def test_credentials_do_not_count(warc: Warc, captured: str, cited: str) -> None:
    warc.add(captured, b"hello")
    got = await Archives([warc.close()]).fetch(cited)
    assert got is not None
    assert (got.body, got.final_url) == (b"hello", URL)


async def test_a_url_that_was_not_captured_gives_none(warc: Warc) -> None:
    warc.add(URL, b"hello")
    archives = Archives([warc.close()])
    assert await archives.fetch("https://example.org/b") is None
    assert await archives.fetch("no address") is None
    assert await Archives([]).fetch(URL) is None


@pytest.mark.parametrize("packed", [True, False])
async def test_the_newest_capture_counts_over_all_files(tmp_path: Path, packed: bool) -> None:
    paths = []
    for name, date in (("a", "2026-01-02"), ("b", "2026-01-04T00:00:00Z"), ("c", "2026-01")):
        file = Warc(tmp_path / name, packed)
        file.add(URL, name.encode(), date=date)
        file.add(URL, b"old", date="2025-12-31T23:59:59.999Z")
        paths.append(file.close())
    for order in (paths, paths[::-1]):
        got = await Archives(order).fetch(URL)
        assert got is not None
        assert (got.body, got.fetched_at) == (b"b", "2026-01-04T00:00:00Z")


async def test_a_file_compressed_as_a_whole(warc: Warc, tmp_path: Path) -> None:
    for n in range(50):
        warc.add(f"{URL}/{n}", b"%d" % n * 1000)
    whole = tmp_path / "whole.warc.gz"
    whole.write_bytes(gzip.compress(gzip.decompress(warc.close().read_bytes())))
    archives = Archives([whole])
    for n in (0, 17, 49):
        got = await archives.fetch(f"{URL}/{n}")
        assert got is not None
        assert got.body == b"%d" % n * 1000
    assert archives.problems == []


@pytest.mark.parametrize("kind", ["resource", "conversion"])
async def test_records_without_http_headers(warc: Warc, kind: str) -> None:
    warc.add(URL, b"<p>rendered", kind, headers={"content-type": "text/html; charset=utf-8"})
    got = await Archives([warc.close()]).fetch(URL)
    assert got is not None
    assert (got.status, got.body) == (200, b"<p>rendered")
    assert got.headers == {"content-type": "text/html; charset=utf-8"}


async def test_records_of_other_types_are_not_pages(warc: Warc) -> None:
    warc.add(URL, b"a: b", "metadata")
    warc.add(URL, b"what is this", status="banana")
    warc.add(URL, b"", status="304 Not Modified")
    assert await Archives([warc.close()]).fetch(URL) is None


@pytest.mark.parametrize("status", ["503 Unavailable", "429 Too Many Requests", "404 Not Found"])
async def test_a_captured_failure_is_a_response(warc: Warc, status: str) -> None:
    warc.add(URL, b"sorry", status=status)
    got = await Archives([warc.close()]).fetch(URL)
    assert got is not None
    assert got.status == int(status[:3])


# Redirects


async def test_redirects_are_followed_within_the_archive(warc: Warc) -> None:
    warc.add(URL, status="301 Moved", headers={"Location": "/b?utm_source=x"})
    warc.add("https://example.org/b", status="302 Found", headers={"location": "//other.org/c"})
    warc.add("https://other.org/c", b"there")
    got = await Archives([warc.close()]).fetch(URL)
    assert got is not None
    assert (got.body, got.final_url) == (b"there", "https://other.org/c")


async def test_a_redirect_out_of_the_archive_gives_none(warc: Warc) -> None:
    warc.add(URL, status="301 Moved", headers={"Location": "https://example.org/gone"})
    assert await Archives([warc.close()]).fetch(URL) is None


@pytest.mark.parametrize("location", ["/a", "/b", "http://[", "javascript:alert(1)"])
async def test_redirects_to_nowhere_end(warc: Warc, location: str) -> None:
    warc.add(URL, status="301 Moved", headers={"Location": location})
    warc.add("https://example.org/b", status="301 Moved", headers={"Location": "/a"})
    archives = Archives([warc.close()])
    if location in ("/a", "/b"):
        with pytest.raises(Dead, match="redirect loop"):
            await archives.fetch(URL)
    else:
        assert await archives.fetch(URL) is None


async def test_at_most_ten_redirects_are_followed(warc: Warc) -> None:
    for n in range(12):
        warc.add(f"{URL}{n}", status="302 Found", headers={"Location": f"{URL}{n + 1}"})
    warc.add(f"{URL}12", b"end")
    archives = Archives([warc.close()])
    got = await archives.fetch(f"{URL}2")
    assert got is not None
    assert got.body == b"end"
    with pytest.raises(Dead):
        await archives.fetch(f"{URL}1")


async def test_a_redirect_to_itself_is_passed_over_if_there_is_a_page(warc: Warc) -> None:
    warc.add(URL, b"page", date="2026-01-01T00:00:00Z")
    warc.add(URL, status="302 Found", date="2026-01-02T00:00:00Z", headers={"Location": "/a#x"})
    assert await body_of(warc.close()) == b"page"


async def test_a_redirect_without_a_location_is_a_page(warc: Warc) -> None:
    warc.add(URL, b"choose", status="300 Multiple Choices")
    warc.add(f"{URL}b", b"moved", status="301 Moved")
    path = warc.close()
    assert (await body_of(path), await body_of(path, f"{URL}b")) == (b"choose", b"moved")


# Revisits

OTHER = "https://example.org/other"
PAYLOAD = gzip.compress(b"payload", mtime=0)
PAYLOAD_DIGEST = f"sha1:{b32encode(hashlib.sha1(PAYLOAD).digest()).decode()}"


@pytest.mark.parametrize(
    "reference",
    [
        {"WARC_Refers_To": "<urn:uuid:00000000-0000-0000-0000-000000000001>"},
        {"WARC_Refers_To_Target_URI": OTHER, "WARC_Refers_To_Date": "2025-01-01T00:00:00Z"},
        {"WARC_Payload_Digest": PAYLOAD_DIGEST},
    ],
)
async def test_a_revisit_has_the_payload_that_it_refers_to(
    warc: Warc, reference: dict[str, str]
) -> None:
    warc.add(URL, kind="revisit", headers={"X-New": "1"}, **reference)
    warc.add(f"{URL}2", kind="revisit", status=None, **reference)
    warc.add(f"{URL}3", kind="revisit", status="304 Not Modified", **reference)
    warc.add(
        OTHER,
        PAYLOAD,
        date="2025-01-01T00:00:00Z",
        headers={"X-Old": "1", "Content-Encoding": "gzip"},
        WARC_Record_ID="<urn:uuid:00000000-0000-0000-0000-000000000001>",
    )
    archives = Archives([warc.close()])
    for url, headers in (
        (URL, {"x-new": "1"}),
        (f"{URL}2", {"x-old": "1"}),
        (f"{URL}3", {"x-old": "1"}),
    ):
        got = await archives.fetch(url)
        assert got is not None
        assert (got.status, got.body, got.final_url) == (200, b"payload", url)
        assert got.fetched_at == "2026-01-01T00:00:00Z"
        assert got.headers == headers


async def test_a_revisit_of_a_missing_record_is_passed_over(warc: Warc) -> None:
    warc.add(URL, b"old", date="2025-01-01T00:00:00Z")
    warc.add(URL, kind="revisit", WARC_Payload_Digest="sha1:NONE")
    warc.add(
        f"{URL}2",
        kind="revisit",
        WARC_Refers_To_Target_URI=f"{URL}2",
        WARC_Refers_To_Date="2026-01-01T00:00:00Z",
    )
    path = warc.close()
    assert (await body_of(path), await body_of(path, f"{URL}2")) == (b"old", None)


# Codings


def chunked(body: bytes) -> bytes:
    parts = [body[at : at + 7] for at in range(0, len(body), 7)]
    return b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


PAGE = b"<p>Rain is likely in the north. " * 30


@pytest.mark.parametrize(
    ("encoding", "coded"),
    [
        ("gzip", gzip.compress(PAGE)),
        ("x-gzip", gzip.compress(PAGE)),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", zlib.compress(PAGE)[2:-4]),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstd.compress(PAGE)),
        ("gzip, br", brotli.compress(gzip.compress(PAGE))),
        ("identity", PAGE),
        ("utf-8", PAGE),
        ("gzip", PAGE),
        ("br", PAGE),
        ("zstd", PAGE),
        ("deflate", PAGE),
    ],
)
async def test_codings_are_undone_if_the_body_has_them(
    warc: Warc, encoding: str, coded: bytes
) -> None:
    warc.add(URL, coded, headers={"Content-Encoding": encoding})
    sent = {"Content-Encoding": encoding, "Transfer-Encoding": "chunked"}
    warc.add(f"{URL}2", chunked(coded), headers=sent)
    path = warc.close()
    assert await body_of(path) == PAGE
    assert await body_of(path, f"{URL}2") == PAGE


async def test_broken_chunking(warc: Warc) -> None:
    sent = {"Transfer-Encoding": "chunked"}
    warc.add(URL, PAGE, headers=sent)
    warc.add(f"{URL}2", chunked(PAGE)[:100] + b"zz" + chunked(PAGE)[100:], headers=sent)
    warc.add(f"{URL}3", b"5\r\nhello\r\n400\r\ncut", headers=sent)
    path = warc.close()
    assert await body_of(path) == PAGE
    assert (await body_of(path, f"{URL}2") or b"").startswith(b"7;ext=1\r\n")
    assert await body_of(path, f"{URL}3") == b"hellocut"


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress])
async def test_a_bomb_is_cut_at_the_cap(
    warc: Warc, monkeypatch: pytest.MonkeyPatch, pack: object
) -> None:
    monkeypatch.setattr(archive, "MAX_BODY", 100_000)
    encoding = "gzip" if pack is gzip.compress else "br"
    assert callable(pack)
    warc.add(URL, pack(b"a" * 30_000_000), headers={"Content-Encoding": encoding})
    warc.add(f"{URL}2", b"a" * 100_001)
    warc.add(f"{URL}3", b"a" * 100_000)
    archives = Archives([warc.close()])
    for url in (URL, f"{URL}2", f"{URL}3"):
        got = await archives.fetch(url)
        assert got is not None
        assert len(got.body) == 100_000


# Damaged files


@pytest.mark.parametrize("packed", [True, False])
async def test_records_before_a_cut_are_used_and_the_cut_is_reported(
    tmp_path: Path, packed: bool
) -> None:
    file = Warc(tmp_path / "a.warc", packed)
    file.add(URL, b"whole")
    place = file.add(f"{URL}2", bytes(range(256)) * 200)
    path = file.close()
    data = path.read_bytes()
    for cut in (place + 20, (place + len(data)) // 2, len(data) - 30):
        path.write_bytes(data[:cut])
        archives = Archives([path])
        got = await archives.fetch(URL)
        assert got is not None
        assert got.body == b"whole"
        assert await archives.fetch(f"{URL}2") is None
        assert len(archives.problems) == 1
        assert f"{path}: at byte {place}" in archives.problems[0]


@pytest.mark.parametrize("packed", [True, False])
async def test_a_cut_at_any_byte_is_survived(tmp_path: Path, packed: bool) -> None:
    file = Warc(tmp_path / "a.warc", packed)
    place = file.add(URL, b"whole")
    path = file.close()
    data = path.read_bytes()
    for cut in range(place, len(data), 7):
        path.write_bytes(data[:cut])
        archives = Archives([path])
        got = await archives.fetch(URL)
        assert got is None or got.body == b"whole"
        assert got is None or cut > len(data) - 30
        assert bool(archives.problems) == (got is None and cut > place)


async def test_damaged_compressed_data_are_reported(
    warc: Warc, capfd: pytest.CaptureFixture[str]
) -> None:
    warc.add(URL, b"whole")
    place = warc.add(f"{URL}2", bytes(range(256)) * 500)
    path = warc.close()
    data = bytearray(path.read_bytes())
    data[place + 200 : place + 260] = b"\xff" * 60
    path.write_bytes(data)
    archives = Archives([path])
    got = await archives.fetch(URL)
    assert got is not None
    assert await archives.fetch(f"{URL}2") is None
    assert [f"at byte {place}" in problem for problem in archives.problems] == [True]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b"", "no record"),
        (b"<html>", "not a WARC file"),
        (gzip.compress(b"<html>"), "not a WARC file"),
        (b"\x1f\x8b\x08 not gzip", "not a WARC file"),
        (b"\0" * 100_000, "not a WARC file"),
    ],
)
def test_a_file_that_is_not_an_archive_is_an_error_at_once(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    path = tmp_path / "x.warc.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ArchiveError, match=f"x.warc.gz: .*{reason}"):
        Archives([path])


@pytest.mark.parametrize("head", [b"X: " + b"y" * 30_000_000, b"X: y\r\n" * 500_000])
async def test_headers_without_an_end_are_reported(tmp_path: Path, head: bytes) -> None:
    written = Warc(tmp_path / "x.warc", packed=False)
    written.add(URL, b"one")
    with written.close().open("ab") as file:
        place = file.tell()
        file.write(b"WARC/1.1\r\n" + head)
    archives = Archives([written.path])
    assert await archives.fetch(URL)
    (problem,) = archives.problems
    assert (
        f"at byte {place}: no record can be read: the headers of the record are too long" in problem
    )


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_without_a_whole_record_is_an_error_at_once(tmp_path: Path, packed: bool) -> None:
    path = Warc(tmp_path / "x.warc", packed).close()
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 30])
    with pytest.raises(ArchiveError, match=r"x\.warc: damaged in its first record"):
        Archives([path])


def test_a_first_record_with_damaged_compressed_data_is_an_error_at_once(tmp_path: Path) -> None:
    file = tmp_path / "x.warc.gz"
    head = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 90000\r\n\r\n"
    data = bytearray(gzip.compress(head + random.Random(1).randbytes(90_000)))
    data[-1_000:-8] = b"\xff" * 992  # the last deflate block
    file.write_bytes(data)
    with pytest.raises(ArchiveError, match="damaged in its first record"):
        Archives([file])


def _members(data: bytes) -> list[bytes]:
    """The plain records of a file that has a gzip member for each."""
    members = []
    while data:
        stream = zlib.decompressobj(31)
        members.append(stream.decompress(data))
        data = stream.unused_data
    return members


LENGTH = re.compile(rb"(\r\nContent-Length: )(\d+)")


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda record: b"garbage" * 20 + record, "no record can be read"),
        (lambda record: b"\0" * 64 + record, "no record can be read"),
        (lambda record: b"g" * 90_000 + record, "no record can be read"),
        (lambda record: record[:-200], "cut off|longer than it says|with the next one"),
        (lambda record: LENGTH.sub(rb"\g<1>1\2", record, count=1), "cut off"),
        (lambda record: LENGTH.sub(rb"\g<1>99999999999999", record, count=1), "cut off"),
        (lambda record: LENGTH.sub(rb"\g<1>1", record, count=1), "longer|with the next one"),
        (lambda record: LENGTH.sub(rb"\g<1>-1", record, count=1), "longer|with the next one"),
        (lambda record: LENGTH.sub(rb"\g<1>one", record, count=1), "longer|with the next one"),
        (lambda record: LENGTH.sub(b"", record, count=1), "cut off|longer"),
    ],
)
async def test_a_damaged_record_ends_the_archive_and_is_reported(
    tmp_path: Path, packed: bool, damage: Callable[[bytes], bytes], message: str
) -> None:
    file = Warc(tmp_path / "x.warc.gz")
    for n in range(3):
        file.add(f"{URL}/{n}", b"body %d" % n * 100)
    records = _members(file.close().read_bytes())
    records[2] = damage(records[2])
    written = [gzip.compress(record) if packed else record for record in records]
    file.path.write_bytes(b"".join(written))
    archives = Archives([file.path])
    assert await archives.fetch(f"{URL}/0") is not None
    assert [await archives.fetch(f"{URL}/{n}") for n in (1, 2)] == [None, None]
    (problem,) = archives.problems
    place = len(written[0] + written[1])
    assert re.search(
        rf"x\.warc\.gz: at byte {place}: .*({message}).*; nothing from there on is used", problem
    )
    assert len(problem) < 400
    assert problem.isprintable()


async def test_garbage_between_gzip_members_is_reported(warc: Warc) -> None:
    warc.add(URL, b"whole")
    place = warc.add(f"{URL}2", b"lost")
    data = warc.close().read_bytes()
    warc.path.write_bytes(data[:place] + b"garbage" + data[place:])
    archives = Archives([warc.path])
    assert await archives.fetch(URL) is not None
    assert await archives.fetch(f"{URL}2") is None
    (problem,) = archives.problems
    assert f"at byte {place}: no record can be read" in problem


async def test_a_capture_without_a_url_is_reported_and_passed_over(warc: Warc) -> None:
    place = warc.add("", b"lost")
    warc.add(URL, b"whole")
    archives = Archives([warc.close()])
    assert await archives.fetch(URL) is not None
    assert archives.problems == [
        f"{warc.path}: at byte {place}: a response record without a URL; it is not used"
    ]


async def test_a_response_without_a_status_is_reported_once(warc: Warc) -> None:
    place = warc.add(URL, b"what is this", status="banana")
    archives = Archives([warc.close()])
    assert [await archives.fetch(URL) for _ in range(2)] == [None, None]
    assert archives.problems == [
        f"{warc.path}: at byte {place}: a response without an HTTP status; it is not used"
    ]


async def test_damage_in_a_file_compressed_as_a_whole_names_that_file(warc: Warc) -> None:
    warc.add(URL, b"lost", status="banana")
    data = b"".join(_members(warc.close().read_bytes()))
    warc.path.write_bytes(gzip.compress(data))
    archives = Archives([warc.path])
    assert await archives.fetch(URL) is None
    (problem,) = archives.problems
    assert problem.startswith(f"{warc.path}: at byte ")


def test_a_folder_is_not_an_archive(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="directory"):
        Archives([tmp_path])


async def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    written = Warc(tmp_path / "1.warc.gz")
    written.add(URL, b"one")
    path = written.close()
    read, unread = Archives([path]), Archives([path])
    assert await read.fetch(f"{URL}/other") is None  # which reads it through
    path.rename(tmp_path / "elsewhere")
    with pytest.raises(Unreachable, match=r"1\.warc\.gz: No such file"):
        await read.fetch(URL)
    with pytest.raises(ArchiveError, match=r"1\.warc\.gz: No such file"):
        await unread.fetch(URL)
    (tmp_path / "elsewhere").rename(path)
    assert await read.fetch(URL)


async def test_the_digest_depends_on_contents_not_on_order(tmp_path: Path) -> None:
    one, two = Warc(tmp_path / "1"), Warc(tmp_path / "2")
    one.add(URL, b"one")
    two.add(URL, b"two")
    a, b = one.close(), two.close()
    both = await Archives([a, b]).digest()
    assert both == await Archives([b, a]).digest()
    assert both != await Archives([a]).digest()
    b.rename(tmp_path / "3")
    assert both == await Archives([tmp_path / "3", a]).digest()


async def test_the_archives_are_read_once_at_the_first_fetch(warc: Warc) -> None:
    warc.add(URL, b"hello")
    path = warc.close()
    archives = Archives([path])
    assert archives._reading is None
    assert await archives.fetch(f"{URL}/other") is None
    first = archives._reading
    assert await archives.fetch(URL) is not None
    assert archives._reading is first
