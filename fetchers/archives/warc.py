"""WARC files: what is in them and where, and single records read from where they are."""

import gzip
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

from warcio.archiveiterator import WARCIterator  # type: ignore[import-untyped]
from warcio.bufferedreaders import DecompressingBufferedReader  # type: ignore[import-untyped]
from warcio.exceptions import ArchiveLoadFailed  # type: ignore[import-untyped]
from warcio.statusandheaders import (  # type: ignore[import-untyped]
    StatusAndHeadersParserException,
)

from fetchers.web.coding import decoded, unchunked
from fetchers.web.headers import joined, of_the_content

_CAPTURES = ("response", "resource", "conversion", "revisit")
_BROKEN = (
    ArchiveLoadFailed,
    StatusAndHeadersParserException,
    AttributeError,  # of a record without the headers that every record has
    EOFError,
    ValueError,
    gzip.BadGzipFile,  # other OSErrors are the system's, and no damage
    zlib.error,
)
_MAX_HEAD = 1 << 20  # bytes of a record's lines: its own headers, those of http, blank ones


@dataclass(frozen=True, slots=True)
class Capture:
    """The head of a record: what was captured and when, and what it refers to if it is a revisit.

    `date` is in microseconds since 1970, 0 where the record has none that can be read.
    """

    kind: str
    uri: str
    date: int
    record_id: str
    digest: str
    refers_to: str
    refers_to_uri: str
    refers_to_date: int


@dataclass(frozen=True, slots=True)
class Payload:
    """A record read whole. `status` is None, `headers` empty where it has no http headers;
    `truncated` says that the body is longer than what was read."""

    capture: Capture
    status: int | None
    headers: dict[str, str]
    body: bytes
    truncated: bool


class _Reader(DecompressingBufferedReader):  # type: ignore[misc]
    """Says that compressed data are damaged, where its base prints it and goes on; and reads lines
    of `room` bytes in all, where its base looks through gigabytes for the end of one."""

    decompressor: Any
    room = _MAX_HEAD

    def readline(self, length: int | None = None) -> bytes:
        if self.room <= 0:
            raise ValueError("the head of a record is too long")
        line: bytes = super().readline(min(self.room, length or self.room))
        self.room -= len(line)
        return line

    def _decompress(self, data: bytes) -> bytes:
        if not self.decompressor or not data:
            return data
        try:
            plain: bytes = self.decompressor.decompress(data)
        except zlib.error:
            if self.num_read:
                raise
            self.decompressor = None  # not compressed
            return data
        return plain


class _Records(WARCIterator):  # type: ignore[misc]
    """Records, from where the file stands."""

    INC_RECORD = ""  # what the base prints where a record does not end as it should

    def __init__(self, file: IO[bytes], **options: bool) -> None:
        super().__init__(file, **options)
        self.reader = _Reader(file)

    def _next_record(self, next_line: bytes | None) -> Any:
        self.reader.room = _MAX_HEAD
        return super()._next_record(next_line)

    def share_a_member(self) -> bool:
        """Whether the record just read is compressed together with the next one."""
        self.read_to_end()
        return bool(self.reader.decompressor and self.next_line)


def check(path: Path) -> None:
    """Raises OSError where there is no such file, ValueError where it is no WARC file."""
    with path.open("rb") as file:
        try:
            if next(_Records(file, no_record_parse=True), None) is None:
                raise ValueError("there is no record in it")
        except (ArchiveLoadFailed, StatusAndHeadersParserException):
            raise ValueError("not a WARC file") from None
        except (EOFError, zlib.error):
            pass  # cut off or damaged within its first record, which scanning tells


def unpacked(path: Path) -> IO[bytes] | None:
    """A temporary file with the plain records of one that is compressed as a whole, in which single
    records cannot be reached; None for others."""
    with path.open("rb") as file:
        records = _Records(file, no_record_parse=True)
        try:
            next(records, None)
            if not records.share_a_member():
                return None
        except _BROKEN:
            return None  # damaged, which scanning tells
        file.seek(0)
        plain = tempfile.NamedTemporaryFile(suffix=".warc")  # noqa: SIM115 (it is handed on)
        with suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(file) as packed:
            shutil.copyfileobj(packed, plain)  # a cut shows when scanned
        plain.flush()
        return plain


def scan(path: Path, damaged: Callable[[int, str], None]) -> Iterator[tuple[int, Capture]]:
    """Every whole capture of an archive with the place where it begins.

    Damage is told with its place; what lies behind it is not read, as nothing says where the next
    record begins.
    """
    with path.open("rb") as file:
        yield from _scan(file, damaged)


def _scan(file: IO[bytes], damaged: Callable[[int, str], None]) -> Iterator[tuple[int, Capture]]:
    records = _Records(file, no_record_parse=True)
    while True:
        start = records.offset
        try:
            record = next(records, None)
            if record is None:
                if start < file.seek(0, os.SEEK_END):
                    damaged(start, "the record is cut off")
                return
            shared = records.share_a_member()
        except _BROKEN as error:
            damaged(start, f"no record can be read: {error}")
            return
        if record.length is None or record.raw_stream.limit:
            damaged(start, "the record is cut off")
            return
        if shared:
            damaged(start, "the record is compressed together with the next one")
            return
        if records.err_count:
            damaged(start, "the record is longer than it says")
            return
        if record.rec_type in _CAPTURES and record.rec_headers.get_header("WARC-Target-URI"):
            yield start, _capture(record.rec_type, record.rec_headers)


def read(path: Path, start: int, size: int) -> Payload:
    """The record that begins there, its body decoded and cut to `size` bytes. Raises OSError, and
    ValueError where no record begins."""
    with path.open("rb") as file:
        file.seek(start)
        try:
            record = next(_Records(file))
            raw = record.raw_stream.read(size + 1)
        except (*_BROKEN, StopIteration) as error:
            raise ValueError(f"no record can be read: {error}") from None
    capture = _capture(record.rec_type, record.rec_headers)
    if record.http_headers is None:
        headers = (
            {"content-type": record.content_type or ""} if record.rec_type != "revisit" else {}
        )
        return Payload(capture, None, headers, raw[:size], len(raw) > size)
    headers = joined(record.http_headers.headers)
    body = _body(raw, headers, size + 1)
    code = record.http_headers.get_statuscode()
    return Payload(
        capture=capture,
        status=int(code) if re.fullmatch("[1-9][0-9][0-9]", code) else None,
        headers=of_the_content(headers),
        body=body[:size],
        truncated=max(len(raw), len(body)) > size,
    )


def _body(raw: bytes, headers: dict[str, str], size: int) -> bytes:
    """The body as it is meant. Many archives keep decoded bodies under the headers they came with,
    so what is not as these say is taken as it is."""
    body = raw
    if "chunked" in headers.get("transfer-encoding", "").lower():
        with suppress(ValueError):
            body = unchunked(raw)
    with suppress(ValueError):
        body = decoded(body, headers.get("content-encoding", ""), size)
    return body


def _capture(kind: str, headers: Any) -> Capture:
    def said(name: str) -> str:
        return str(headers.get_header(name) or "").strip().removeprefix("<").removesuffix(">")

    return Capture(
        kind=kind,
        uri=said("WARC-Target-URI"),
        date=_microseconds(said("WARC-Date")),
        record_id=said("WARC-Record-ID"),
        digest=said("WARC-Payload-Digest"),
        refers_to=said("WARC-Refers-To"),
        refers_to_uri=said("WARC-Refers-To-Target-URI"),
        refers_to_date=_microseconds(said("WARC-Refers-To-Date")),
    )


def _microseconds(date: str) -> int:
    """A WARC-Date, which may stop at any part (WARC 1.1, 5.4), in microseconds since 1970."""
    whole = date + "0000-01-01"[len(date) :] if len(date) in (4, 7) else date
    try:
        moment = datetime.fromisoformat(whole)
    except ValueError:
        return 0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - _EPOCH) // timedelta(microseconds=1), 0)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso(microseconds: int) -> str:
    """A moment in ISO 8601, UTC, to the second."""
    return (_EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
