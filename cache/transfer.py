"""Export and import of a cache: a WARC file with the bodies, and the ledger's rows beside it.

`X.warc.gz` has a `response` record for every HTTP reply (its body as stored, without transfer and
content codings), a `conversion` record for every rendered page, and a `resource` record named
`urn:sha256:...` for every other body. `X.jsonl.gz` has a row a line: stage, key (hexadecimal), time
(Unix, nanoseconds) and value: as JSON if JSON gives the same bytes back, otherwise in base64.
"""

import asyncio
import gzip
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import responses as reason_phrases
from io import BytesIO
from pathlib import Path
from time import time_ns
from typing import IO

import orjson
from warcio.archiveiterator import WARCIterator  # type: ignore[import-untyped]
from warcio.exceptions import ArchiveLoadFailed  # type: ignore[import-untyped]
from warcio.recordloader import ArcWarcRecord  # type: ignore[import-untyped]
from warcio.statusandheaders import (  # type: ignore[import-untyped]
    StatusAndHeaders,
    StatusAndHeadersParserException,
)
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

from cache.batches import batches
from cache.bodies import Bodies
from cache.digests import content_digest
from cache.errors import CacheError, MissingBody, cache_errors
from cache.folder import Cache
from cache.ledger import Row, StoredRow
from cache.responses import StoredResponse, bodies_needed, stored_response

_SUFFIX = ".warc.gz"
_MAX_HEAD = 1 << 20  # bytes of a WARC record's own headers
_MAX_BODY = 1 << 30  # bytes of a body
_MAX_LINE = 1 << 26  # bytes of a row
_MAX_NAME = 64  # bytes of a stage or a key
_DAY = 86_400 * 10**9
_HEADER = re.compile(r"[!-9;-~]+")
_CODINGS = ("content-encoding", "transfer-encoding", "content-length")


@dataclass(frozen=True, slots=True)
class Exported:
    """The numbers of exported rows and bodies.

    `damaged` counts the rows and bodies that were left out, because they or a body that they need
    are damaged or missing; `Cache.verify` names them.
    """

    rows: int
    bodies: int
    damaged: int


@dataclass(frozen=True, slots=True)
class Imported:
    """The numbers of rows and bodies in the files; `new_rows` were not in the ledger before."""

    rows: int
    new_rows: int
    bodies: int


async def export(cache: Cache, path: Path) -> Exported:
    """Write the whole cache to `path` (its name ends in .warc.gz) and to a .jsonl.gz beside it.

    Both files appear when they are complete. Raises CacheError if they cannot be written.
    """
    targets = path, _rows_path(path)
    parts = [target.with_name(f"{target.name}.part") for target in targets]
    try:
        with cache_errors(path), parts[0].open("wb") as warc, gzip.open(parts[1], "wb") as lines:
            writer = _Writer(cache.bodies, warc, lines)
            async for page in cache.ledger.pages():
                await asyncio.to_thread(writer.rows, page)
            async for digests in batches(cache.bodies, 100):
                await asyncio.to_thread(writer.remaining, digests)
        for part, target in zip(parts, targets, strict=True):
            part.replace(target)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return Exported(writer.row_count, len(writer.written), writer.damaged)


async def import_(cache: Cache, path: Path) -> Imported:
    """Add the files that `export` wrote to `cache`; a second import adds nothing.

    Bodies are added first, so that no row is without its bodies. Raises CacheError if a file is
    truncated, damaged or not an export, before any row is added.
    """
    beside = _rows_path(path)
    bodies = rows = new = 0
    async for stored in batches(map(cache.bodies.put, _payloads(path)), 100):
        bodies += len(stored)
    async for checked in batches(_rows(beside, cache.bodies), 1000):
        rows += len(checked)
    async for checked in batches(_rows(beside, cache.bodies), 1000):
        new += await cache.ledger.merge(checked)
    return Imported(rows, new, bodies)


def _rows_path(path: Path) -> Path:
    if not path.name.endswith(_SUFFIX):
        raise CacheError(f"{path}: the name of an export ends in {_SUFFIX}")
    return path.with_name(path.name.removesuffix(_SUFFIX) + ".jsonl.gz")


# Export.


class _Writer:
    """Writes rows and the bodies that they need. Blocking."""

    def __init__(self, bodies: Bodies, warc: IO[bytes], lines: gzip.GzipFile) -> None:
        self.row_count = self.damaged = 0
        self.written: set[str] = set()
        self._bodies = bodies
        self._warc = WARCWriter(warc, gzip=True, warc_version="1.1")
        self._lines = lines

    def rows(self, page: list[StoredRow]) -> None:
        """Write the intact rows, each after its bodies."""
        for stored in page:
            whole = stored.intact and self._write_needed(stored.row.value)
            if whole:
                self._lines.write(_line(stored.row) + b"\n")
            self.row_count += whole
            self.damaged += not whole

    def _write_needed(self, value: bytes) -> bool:
        try:
            if response := stored_response(value):
                self._response(response)
            for digest in bodies_needed(value):
                self._resource(digest)
        except MissingBody:
            return False
        return True

    def remaining(self, digests: list[str]) -> None:
        """Write the bodies that no row needs."""
        for digest in digests:
            try:
                self._resource(digest)
            except MissingBody:
                self.damaged += 1

    def _response(self, response: StoredResponse) -> None:
        body = self._bodies.get(response.sha256)
        head = None if response.rendered else _http_head(response, len(body))
        kind = "conversion" if response.rendered else "response"
        content_type = "application/http; msgtype=response" if head else _type_of(response)
        self._record(
            response.url,
            kind,
            response.sha256,
            body,
            content_type,
            _date(response.fetched_at),
            head,
        )

    def _resource(self, digest: str) -> None:
        if digest not in self.written:
            body = self._bodies.get(digest)
            uri = f"urn:sha256:{digest}"
            self._record(uri, "resource", digest, body, "application/octet-stream")

    def _record(
        self,
        uri: str,
        kind: str,
        digest: str,
        body: bytes,
        content_type: str,
        date: str | None = None,
        head: StatusAndHeaders | None = None,
    ) -> None:
        headers = {"WARC-Payload-Digest": f"sha256:{digest}"}
        if date:
            headers["WARC-Date"] = date
        self._warc.write_record(
            self._warc.create_warc_record(
                _one_line(uri),
                kind,
                payload=BytesIO(body),
                length=len(body),
                warc_content_type=content_type,
                warc_headers_dict=headers,
                http_headers=head,
            )
        )
        self.written.add(digest)


def _one_line(text: str) -> str:
    """Remove line ends from a header, since a server wrote it."""
    return re.sub(r"[\x00-\x1f\x7f]", " ", text)


def _type_of(response: StoredResponse) -> str:
    return _one_line(str(response.headers.get("content-type", "text/html")))


def _date(fetched_at: str) -> str | None:
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(fetched_at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return None


def _http_head(response: StoredResponse, length: int) -> StatusAndHeaders:
    # The stored body is decoded. A header that names a coding would make readers decode it again.
    headers = [
        (name, _one_line(str(value)))
        for name, value in response.headers.items()
        if _HEADER.fullmatch(name) and name.lower() not in _CODINGS
    ]
    headers.append(("content-length", str(length)))
    status = f"{response.status} {reason_phrases.get(response.status, 'Unknown')}"
    return StatusAndHeaders(status, headers, protocol="HTTP/1.1")


def _line(row: Row) -> bytes:
    fields = {"stage": row.stage, "key": row.key.hex(), "time": row.time}
    with suppress(orjson.JSONDecodeError, orjson.JSONEncodeError):
        if orjson.dumps(orjson.loads(row.value)) == row.value:
            return orjson.dumps(fields | {"value": orjson.Fragment(row.value)})
    return orjson.dumps(fields | {"base64": b64encode(row.value).decode()})


# Import.


class _Unreadable(Exception):
    """Why a file cannot be imported; the message does not name the file yet."""


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (
        _Unreadable,
        OSError,
        EOFError,
        zlib.error,
        ArchiveLoadFailed,
        StatusAndHeadersParserException,
    ) as error:
        raise CacheError(f"{path}: not a complete export: {error}") from error


class _Bounded:
    """A file of which at most `room` more bytes may be read.

    warcio reads a line to its end, however long it is, and takes the end of a truncated file for
    the end of the archive.
    """

    def __init__(self, file: gzip.GzipFile) -> None:
        self.room = 0
        self._file = file

    def read(self, size: int) -> bytes:
        if self.room <= 0:
            raise _Unreadable("the headers of a record are too long")
        try:
            data = self._file.read(size)
        except EOFError as error:
            raise _Unreadable(str(error)) from error
        self.room -= len(data)
        return data


def _payloads(path: Path) -> Iterator[bytes]:
    """Give the bodies in a WARC file, each verified."""
    with _reading(path), gzip.open(path, "rb") as file:
        bounded = _Bounded(file)
        records = WARCIterator(bounded, no_record_parse=True)
        records.reader.set_decomp(None)  # gzip.open has decompressed the file
        while True:
            bounded.room = _MAX_HEAD
            record = next(records, None)
            if records.err_count:
                raise _Unreadable("there are other data between two records")
            if record is None:
                return
            bounded.room = _MAX_BODY + _MAX_HEAD
            yield _payload(record)


def _payload(record: ArcWarcRecord) -> bytes:
    claimed = record.rec_headers.get_header("WARC-Payload-Digest", "")
    if not 0 <= (record.length or 0) <= _MAX_BODY:
        raise _Unreadable(f"a record of {record.length} bytes")
    payload: bytes = record.raw_stream.read(record.length or 0)
    if record.rec_type == "response":
        payload = payload.partition(b"\r\n\r\n")[2]
    if claimed != f"sha256:{content_digest(payload)}":
        raise _Unreadable(
            f"the record of {claimed or 'no digest'} has another body than its digest says"
        )
    return payload


def _rows(path: Path, bodies: Bodies) -> Iterator[Row]:
    """Give the rows in a file. Each is checked, and its bodies must be in the store."""
    with _reading(path), gzip.open(path, "rb") as lines:
        number = 0
        while line := lines.readline(_MAX_LINE):
            number += 1
            try:
                row = _row(line)
            except (ValueError, TypeError, KeyError) as error:
                raise _Unreadable(f"line {number} is not a row: {error!r}") from error
            for digest in bodies_needed(row.value):
                if digest not in bodies:
                    raise _Unreadable(f"line {number} needs body {digest}, which is not there")
            yield row


def _row(line: bytes) -> Row:
    if not line.endswith(b"\n"):
        raise ValueError("the line does not end")
    fields = orjson.loads(line)
    stage, key, at = fields["stage"], bytes.fromhex(fields["key"]), fields["time"]
    names = type(stage) is str and stage.isprintable()  # they are printed on terminals
    if not names or not 0 < len(stage) <= _MAX_NAME or not 0 < len(key) <= _MAX_NAME:
        raise ValueError("stage and key must be short names")
    if (
        type(at) is not int or not 0 <= at <= time_ns() + _DAY
    ):  # a row of the future would always be the newest
        raise ValueError("time must be in nanoseconds, and not in the future")
    if "value" in fields:
        return Row(stage, key, orjson.dumps(fields["value"]), at)
    return Row(stage, key, b64decode(fields["base64"], validate=True), at)
