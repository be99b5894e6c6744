"""Pages from WARC archives, in place of visits."""

import asyncio
import logging
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b, file_digest, sha256
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ada_url import join_url

from fetchers.archives import warc
from fetchers.archives.warc import Capture, Payload
from fetchers.page import Dead, Response, Unreachable
from fetchers.urls import canonical, without_credentials

_log = logging.getLogger(__name__)

MAX_BODY = 20_000_000  # bytes of a decoded body; what is beyond is cut off
MAX_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)


class ArchiveError(Exception):
    """A file that cannot be used as an archive; the message names it and says why."""


class _Place(NamedTuple):
    """Where a capture is: file, byte, and its date in microseconds since 1970."""

    path: Path
    start: int
    date: int


class _Index:
    """The places of captures by what they are looked up by: the canonical URL; for those that
    others refer to, record id and digest of the payload.

    A sorted list of packed entries, as 10^6 captures are to fit in some 200 MB.
    """

    _ENTRY = struct.Struct(">12sQHQ")  # key; date, file and byte, the highest first
    _TOP, _LAST = 2**64 - 1, 2**16 - 1

    def __init__(self, paths: Sequence[Path], report: Callable[[Path, int, str], None]) -> None:
        self._paths: list[Path] = []
        self._temporary = [warc.unpacked(path) for path in paths]
        entries: list[bytes] = []
        originals: list[bytes] = []
        revisits = False
        for path, plain in zip(paths, self._temporary, strict=True):
            number = len(self._paths)
            self._paths.append(Path(plain.name) if plain else path)
            for start, capture in warc.scan(self._paths[-1], partial(report, path)):
                place = self._TOP - capture.date, self._LAST - number, self._TOP - start
                entries.append(self._ENTRY.pack(_key("url", canonical(capture.uri)), *place))
                if capture.kind == "revisit":
                    revisits = True
                    continue
                originals += (
                    self._ENTRY.pack(_key(name, value), *place)
                    for name, value in (("id", capture.record_id), ("digest", capture.digest))
                    if value
                )
        self._entries = sorted(entries + originals if revisits else entries)

    def _places(self, name: str, value: str) -> Iterator[_Place]:
        """The captures of a URL, or those with a record id or digest; the newest first."""
        key = _key(name, value)
        for at in range(bisect_left(self._entries, key), len(self._entries)):
            found, date, number, start = self._ENTRY.unpack(self._entries[at])
            if found != key:
                return
            yield _Place(self._paths[self._LAST - number], self._TOP - start, self._TOP - date)

    def fetch(self, url: str) -> Response | None:
        url = canonical(url)
        for _ in range(MAX_REDIRECTS + 1):
            step = self._newest(url)
            if not isinstance(step, str):
                return step
            url = step
        raise Dead("redirect loop")

    def _newest(self, url: str) -> Response | str | None:
        """The newest whole capture of a URL, or the URL that it leads to. One that leads to itself
        (by a cookie, say) has others beside it, or is a loop."""
        loops = False
        for place in self._places("url", url):
            response = self._response(place)
            if response is None:
                continue
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or location is None:
                return response
            target = canonical(_join(response.final_url, location))
            if target != url:
                return target
            loops = True
        if loops:
            raise Dead("redirect loop")
        return None

    def _response(self, place: _Place) -> Response | None:
        """What was captured there; None where it is no whole answer."""
        head = _read(place)
        payload = self._referred(head.capture) if head and head.capture.kind == "revisit" else head
        if head is None or payload is None:
            return None
        uri = head.capture.uri
        if head.status is None or head.status == 304:
            head = payload
        if head.capture.kind == "response" and (head.status is None or head.status == 304):
            return None
        return Response(
            status=head.status or 200,
            final_url=without_credentials(uri),
            headers=head.headers,
            body=payload.body,
            via="archive",
            fetched_at=warc.iso(place.date),
            truncated=payload.truncated,
        )

    def _referred(self, revisit: Capture) -> Payload | None:
        """The capture whose payload a revisit has again (WARC 1.1, 6.7)."""
        of_url = self._places("url", canonical(revisit.refers_to_uri))
        places = chain(
            self._places("id", revisit.refers_to),
            (place for place in of_url if place.date == revisit.refers_to_date),
            self._places("digest", revisit.digest),
        )
        payloads = (_read(place) for place in places)
        return next((p for p in payloads if p and p.capture.kind != "revisit"), None)


class Archives:
    """WARC files, looked up by URL: of several captures of one address, the newest counts.

    Records of the types response, resource, conversion and revisit are pages. The files are read
    through once, for an index of their captures, at the first look-up or by `index`; `problems`
    says afterwards what is damaged in them, and where. Raises ArchiveError where a file is missing
    or is no WARC file.
    """

    def __init__(self, paths: Iterable[Path | str]) -> None:
        self.problems: list[str] = []
        self._paths = [Path(path) for path in paths]
        for path in self._paths:
            try:
                warc.check(path)
            except (OSError, ValueError) as error:
                raise _unusable(path, error) from None
        self._reading: asyncio.Task[_Index] | None = None

    async def digest(self) -> str:
        """The digest of all archives, in whichever order they are."""
        digests = await asyncio.to_thread(lambda: sorted(set(map(_digest_of, self._paths))))
        return sha256(b"".join(digests)).hexdigest()

    async def fetch(self, url: str) -> Response | None:
        """The newest capture of a URL, or of what its captured redirects lead to; None where
        there is none. Whatever its status: a 5xx or 429 that was captured is a response as well.

        Raises Dead for a redirect loop, ArchiveError where the archives cannot be read through,
        and Unreachable where a capture cannot be read this time.
        """
        index = await self._indexed()
        return await asyncio.to_thread(index.fetch, url)

    async def _indexed(self) -> _Index:
        if self._reading is None:
            self._reading = asyncio.create_task(asyncio.to_thread(self._read_through))
        return await asyncio.shield(self._reading)

    def _read_through(self) -> _Index:
        try:
            return _Index(self._paths, self._report)
        except OSError as error:  # so that nothing is taken to be missing
            raise _unusable(error.filename or "the temporary folder", error) from None

    def _report(self, path: Path, place: int, what: str) -> None:
        problem = f"{path}: at byte {place}: {what}; nothing from there on is used"
        self.problems.append(problem)


def _unusable(path: Path | str, error: Exception) -> ArchiveError:
    reason = (error.strerror if isinstance(error, OSError) else None) or error
    return ArchiveError(f"{path}: {reason}")


def _digest_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").digest()
    except OSError as error:
        raise _unusable(path, error) from None


def _key(name: str, value: str) -> bytes:
    return blake2b(
        value.encode("utf-8", "surrogatepass"), digest_size=12, person=name.encode()
    ).digest()


def _read(place: _Place) -> Payload | None:
    try:
        return warc.read(place.path, place.start, MAX_BODY)
    except OSError as error:  # of the system, not of the archive: it may be read another time
        raise Unreachable(f"{place.path}: {error.strerror}") from None
    except ValueError as error:
        _log.warning("%s: at byte %d: %s", place.path, place.start, error)
        return None


def _join(base: str, location: str) -> str:
    try:
        return join_url(base, location)
    except ValueError:
        return location  # no address, and so in no archive
