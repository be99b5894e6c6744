"""WARC files: the captures in a file with their offsets, and single records read by offset."""

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
from fetchers.web.headers import merge_headers, without_transfer_headers

_CAPTURES = ("response", "resource", "conversion", "revisit")
_BROKEN = (
    ArchiveLoadFailed,
    StatusAndHeadersParserException,
    AttributeError,  # warcio: a record without the headers that every record has
    EOFError,
    ValueError,
    gzip.BadGzipFile,  # other OSErrors come from the system: the file is not damaged
    zlib.error,
)
_MAX_HEAD = 1 << 20  # bytes of a record's header lines: its own, those of HTTP, and blank lines
_MAX_REASON = 120  # characters of the reason that warcio gives


@dataclass(frozen=True, slots=True)
class Capture:
    """The headers of a record: the captured URL, the date, and what a revisit refers to.

    `kind` is the WARC-Type. `date` is in microseconds since 1970; 0 if the record has no readable
    date.
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
    """A record with its decoded body.

    `status` is None and `headers` is empty if it has no HTTP headers. A long body
    is cut off.
    """

    capture: Capture
    status: int | None
    headers: dict[str, str]
    body: bytes


class _Reader(DecompressingBufferedReader):  # type: ignore[misc]
    """Raises zlib.error if compressed data are damaged (its base prints a message and goes on).

    Reads at most `room` bytes of lines (its base reads gigabytes to find the end of a line).
    """

    decompressor: Any
    room = _MAX_HEAD

    def readline(self, length: int | None = None) -> bytes:
        if self.room <= 0:
            raise ValueError("the headers of the record are too long")
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
    """The records of a file, from its current position on."""

    INC_RECORD = ""  # the base prints this if a record does not end as it should

    def __init__(self, file: IO[bytes], **options: bool) -> None:
        super().__init__(file, **options)
        self.reader = _Reader(file)

    def _next_record(self, next_line: bytes | None) -> Any:
        self.reader.room = _MAX_HEAD
        return super()._next_record(next_line)

    def share_a_member(self) -> bool:
        """Say if the record just read is compressed together with the next one."""
        self.read_to_end()
        return bool(self.reader.decompressor and self.next_line)


def check(path: Path) -> None:
    """Check that `path` is a WARC file and that its first record is whole.

    Raises OSError if the file cannot be read, and ValueError if it is not a WARC file or nothing in
    it can be used.
    """
    with path.open("rb") as file:
        records = _Records(file, no_record_parse=True)
        try:
            record = next(records, None)
            if record is None:
                raise ValueError("there is no record in it")
            records.read_to_end()
        except (ArchiveLoadFailed, StatusAndHeadersParserException):
            raise ValueError("not a WARC file") from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"damaged in its first record: {_reason(error)}") from None
        if _is_cut_off(record):
            raise ValueError("damaged in its first record: the record is cut off")


def unpacked(path: Path) -> IO[bytes] | None:
    """Unpack a file that is compressed as a whole, since its records cannot be read by offset.

    Returns a temporary file with the plain records, None for any other archive.
    """
    with path.open("rb") as file:
        records = _Records(file, no_record_parse=True)
        try:
            next(records, None)
            if not records.share_a_member():
                return None
        except _BROKEN:
            return None  # `scan` reports the damage
        file.seek(0)
        plain = tempfile.NamedTemporaryFile(suffix=".warc")  # noqa: SIM115 (the caller keeps it)
        # If the data are cut off or damaged, `scan` finds the last record cut off.
        with suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(file) as packed:
            shutil.copyfileobj(packed, plain)
        plain.flush()
        return plain


def scan(path: Path, damaged: Callable[[int, str], None]) -> Iterator[tuple[int, Capture]]:
    """Give every whole capture of an archive with the offset at which it begins.

    `damaged` is called with the offset of each damaged record and a message. If the end of a record
    is not known, nothing after it is read, since nothing says where the next record begins.
    """
    with path.open("rb") as file:
        yield from _scan(file, damaged)


def _scan(file: IO[bytes], damaged: Callable[[int, str], None]) -> Iterator[tuple[int, Capture]]:
    records = _Records(file, no_record_parse=True)
    while True:
        start = records.offset
        fault, record, shared = "", None, False
        try:
            record = next(records, None)
            shared = record is not None and records.share_a_member()
        except _BROKEN as error:
            fault = f"no record can be read: {_reason(error)}"
        if record is None and not fault and start >= file.seek(0, os.SEEK_END):
            return
        if not fault and (record is None or _is_cut_off(record)):
            fault = "the record is cut off"
        elif shared:
            fault = "the record is compressed together with the next one"
        elif records.err_count and not fault:
            fault = "the record is longer than it says"
        if fault or record is None:
            damaged(start, f"{fault}; nothing from there on is used")
            return
        if record.rec_type in _CAPTURES:
            if record.rec_headers.get_header("WARC-Target-URI"):
                yield start, _capture(record.rec_type, record.rec_headers)
            else:
                damaged(start, f"a {record.rec_type} record without a URL; it is not used")


def _is_cut_off(record: Any) -> bool:
    """Say if a record that was read to its end is shorter than it says."""
    return record.length is None or bool(record.raw_stream.limit)


def _reason(error: Exception) -> str:
    """Give an error's message on one line; it may quote the archive."""
    text = str(error).strip().encode("unicode_escape").decode("ascii")
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}..."


def read(path: Path, start: int, size: int) -> Payload:
    """Read the record that begins at byte `start`; its body is decoded and cut to `size` bytes.

    Raises OSError if the file cannot be read, and ValueError if no record begins there.
    """
    with path.open("rb") as file:
        file.seek(start)
        try:
            record = next(_Records(file))
            raw = record.raw_stream.read(size)
        except (*_BROKEN, StopIteration) as error:
            raise ValueError(f"no record can be read: {_reason(error)}") from None
    capture = _capture(record.rec_type, record.rec_headers)
    if record.http_headers is None:
        headers = (
            {"content-type": record.content_type or ""} if record.rec_type != "revisit" else {}
        )
        return Payload(capture, None, headers, raw)
    headers = merge_headers(record.http_headers.headers)
    body = _body(raw, headers, size)
    code = record.http_headers.get_statuscode()
    return Payload(
        capture=capture,
        status=int(code) if re.fullmatch("[1-9][0-9][0-9]", code) else None,
        headers=without_transfer_headers(headers),
        body=body[:size],
    )


def _body(raw: bytes, headers: dict[str, str], size: int) -> bytes:
    """Undo the codings of a body.

    Many archives keep decoded bodies with the original headers. A body that is not coded as its
    headers say is returned as it is.
    """
    body = raw
    if "chunked" in headers.get("transfer-encoding", "").lower():
        with suppress(ValueError):
            body = unchunked(raw)
    with suppress(ValueError):
        body = decoded(body, headers.get("content-encoding", ""), size)
    return body


def _capture(kind: str, headers: Any) -> Capture:
    def header(name: str) -> str:
        return str(headers.get_header(name) or "").strip().removeprefix("<").removesuffix(">")

    return Capture(
        kind=kind,
        uri=header("WARC-Target-URI"),
        date=_microseconds(header("WARC-Date")),
        record_id=header("WARC-Record-ID"),
        digest=header("WARC-Payload-Digest"),
        refers_to=header("WARC-Refers-To"),
        refers_to_uri=header("WARC-Refers-To-Target-URI"),
        refers_to_date=_microseconds(header("WARC-Refers-To-Date")),
    )


def _microseconds(date: str) -> int:
    """Read a WARC-Date, which may end after any part (WARC 1.1, 5.4), into microseconds since 1970;
    0 if it is not a date."""
    whole = date + "0000-01-01"[len(date) :] if len(date) in (4, 7) else date
    try:
        time = datetime.fromisoformat(whole)
    except ValueError:
        return 0
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return max((time - _EPOCH) // timedelta(microseconds=1), 0)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def iso(microseconds: int) -> str:
    """Write a time in ISO 8601, UTC, to the second."""
    return (_EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
