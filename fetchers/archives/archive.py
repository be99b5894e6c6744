"""Pages from WARC archives. An archive is searched before the network."""

import asyncio
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

MAX_BODY = 20_000_000  # bytes of a decoded body; longer ones are cut off
MAX_REDIRECTS = 10
# Part of the key of the damage that is known of a file. Raise it if a file gives other messages.
DAMAGE_VERSION = 1
_REDIRECTS = (301, 302, 303, 307, 308)


class ArchiveError(Exception):
    """A file cannot be used as an archive; the message names the file and the reason."""


class _Place(NamedTuple):
    """Where a capture is: file, offset in bytes, and its date in microseconds since 1970."""

    path: Path
    start: int
    date: int


class _Index:
    """The places of captures, by canonical URL; if there are revisits, also by record id and by
    payload digest.

    A sorted list of packed entries, so that 10^6 captures fit in about 200 MB.
    """

    # Key, date, file, offset. The last three are subtracted from their maximum: the newest first.
    _ENTRY = struct.Struct(">12sQHQ")
    _TOP, _LAST = 2**64 - 1, 2**16 - 1

    def __init__(self, paths: Sequence[Path], report: Callable[[Path, int, str], None]) -> None:
        self._report = report
        self._names: dict[Path, Path] = {}  # of an unpacked copy: the archive it was made from
        self._paths: list[Path] = []
        self._temporary = [warc.unpacked(path) for path in paths]
        entries: list[bytes] = []
        originals: list[bytes] = []
        revisits = False
        for path, plain in zip(paths, self._temporary, strict=True):
            number = len(self._paths)
            self._paths.append(Path(plain.name) if plain else path)
            self._names[self._paths[-1]] = path
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
        """Give the captures of a URL, or those with a record id or digest, the newest first."""
        key = _key(name, value)
        for at in range(bisect_left(self._entries, key), len(self._entries)):
            found, date, number, start = self._ENTRY.unpack(self._entries[at])
            if found != key:
                return
            yield _Place(self._paths[self._LAST - number], self._TOP - start, self._TOP - date)

    def fetch(self, url: str) -> Response | None:
        """See Archives.fetch."""
        url = canonical(url)
        for _ in range(MAX_REDIRECTS + 1):
            step = self._newest(url)
            if not isinstance(step, str):
                return step
            url = step
        raise Dead("redirect loop")

    def _newest(self, url: str) -> Response | str | None:
        """Give the newest whole capture of a URL, or the URL to which it redirects.

        A capture that redirects to itself (to set a cookie, for example) is passed over. If all of
        them do, raises Dead.
        """
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
        """Read the response that was captured there; None if there is no whole response."""
        head = self._read(place)
        payload = self._referred(head.capture) if head and head.capture.kind == "revisit" else head
        if head is None or payload is None:
            return None
        if head.capture.kind == "response" and head.status is None:
            self._report_place(place, "a response without an HTTP status; it is not used")
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
        )

    def _referred(self, revisit: Capture) -> Payload | None:
        """Read the capture whose payload a revisit repeats (WARC 1.1, 6.7)."""
        of_url = self._places("url", canonical(revisit.refers_to_uri))
        places = chain(
            self._places("id", revisit.refers_to),
            (place for place in of_url if place.date == revisit.refers_to_date),
            self._places("digest", revisit.digest),
        )
        payloads = (self._read(place) for place in places)
        return next((p for p in payloads if p and p.capture.kind != "revisit"), None)

    def _read(self, place: _Place) -> Payload | None:
        try:
            return warc.read(place.path, place.start, MAX_BODY)
        except OSError as error:  # the system cannot read the file now; it may do so later
            raise Unreachable(f"{place.path}: {error.strerror}") from None
        except ValueError as error:
            self._report_place(place, f"{error}; it is not used")
            return None

    def _report_place(self, place: _Place, message: str) -> None:
        self._report(self._names[place.path], place.start, message)


class Archives:
    """WARC files, searched by URL. Of several captures of one URL, the newest counts.

    Records of the types response, resource, conversion and revisit are pages. `index`, or the first
    `fetch`, reads the files once and makes an index of their captures. `problems` then has a
    message for each damaged record, with file and offset, whether or not anybody asks for the
    record. Raises ArchiveError if a file is missing, is not a WARC file, or has no readable record.
    """

    def __init__(self, paths: Iterable[Path | str]) -> None:
        self._paths = [Path(path) for path in paths]
        self._digests: dict[Path, bytes] = {}
        self._damage: dict[Path, list[str]] = {path: [] for path in self._paths}
        for path in self._paths:
            try:
                warc.check(path)
            except (OSError, ValueError) as error:
                raise _unusable(path, error) from None
        self._reading: asyncio.Task[_Index] | None = None

    async def digest(self) -> str:
        """Compute a digest of all archives; their order does not matter."""
        digests = await self.digests()
        return sha256(b"".join(sorted(set(digests.values())))).hexdigest()

    async def digests(self) -> dict[Path, bytes]:
        """Compute the digest of each file, once. Raises ArchiveError if one cannot be read."""
        if not self._digests:
            self._digests = await asyncio.to_thread(
                lambda: {path: _digest_of(path) for path in self._paths}
            )
        return self._digests

    @property
    def problems(self) -> list[str]:
        """A message for each damaged record that is known, with file and offset."""
        return [f"{path}: {message}" for path in self._damage for message in self._damage[path]]

    def damage(self, path: Path) -> list[str]:
        """Give the messages for one file, without its name. Complete after `index`."""
        return self._damage[path]

    def recall_damage(self, path: Path, messages: Iterable[str]) -> None:
        """Take over the messages that an earlier call has found for the same file."""
        self._damage[path] = list(messages)

    async def index(self) -> None:
        """Read all files and make the index, unless this is done. Raises ArchiveError."""
        await self._indexed()

    async def fetch(self, url: str) -> Response | None:
        """Give the newest capture of a URL, after captured redirects; None if there is none.

        A captured 5xx or 429 is a response like any other.

        Raises Dead for a redirect loop, ArchiveError if the archives cannot be read, and
        Unreachable if a capture cannot be read this time.
        """
        index = await self._indexed()
        return await asyncio.to_thread(index.fetch, url)

    async def _indexed(self) -> _Index:
        if self._reading is None:
            self._reading = asyncio.create_task(asyncio.to_thread(self._make_index))
        return await asyncio.shield(self._reading)

    def _make_index(self) -> _Index:
        try:
            return _Index(self._paths, self._report)
        except OSError as error:  # a page must not be taken for missing
            raise _unusable(error.filename or "the temporary folder", error) from None

    def _report(self, path: Path, offset: int, message: str) -> None:
        problem = f"at byte {offset}: {message}"
        if problem not in self._damage[path]:
            self._damage[path].append(problem)


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


def _join(base: str, location: str) -> str:
    try:
        return join_url(base, location)
    except ValueError:
        return location  # not a URL, so no archive has it
