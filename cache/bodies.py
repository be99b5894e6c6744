"""The store of page bodies and extracted texts: bytes under the digest of what they are."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import diskcache
from diskcache.core import MODE_BINARY, MODE_RAW, UNKNOWN

from cache.errors import MissingBody, explained
from cache.keys import content_digest

_FILE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]+\.val")


class _BytesDisk(diskcache.Disk):  # type: ignore[misc]
    """Keeps bytes under strings. diskcache would pickle anything else, and unpickling what lies in
    a folder runs whatever its author wished."""

    def put(self, key: object) -> tuple[str, bool]:
        if type(key) is not str:
            raise TypeError("a body's key is its digest")
        return key, True

    def get(self, key: object, raw: bool) -> str:
        return key if isinstance(key, str) else repr(key)

    def store(self, value: object, read: bool, key: object = UNKNOWN) -> object:
        if type(value) is not bytes:
            raise TypeError("a body is bytes")
        return super().store(value, read, key=key)

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> bytes:
        if mode == MODE_RAW and isinstance(value, bytes):
            return value
        if mode == MODE_BINARY and filename and _FILE.fullmatch(filename):
            content: bytes = super().fetch(mode, filename, value, read)
            return content
        raise OSError("not a body")  # which diskcache takes for a file that is gone


class Bodies:
    """Bytes by content digest, in a folder that processes and threads may share.

    Blocking, but for `aput`. Every method raises `CacheError` when the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with explained(folder):
            self._store = diskcache.Cache(
                folder,
                disk=_BytesDisk,
                eviction_policy="none",
                size_limit=2**62,
                cull_limit=0,
                sqlite_synchronous=1,  # NORMAL: a power cut may cost the last bodies, no more
            )

    def put(self, body: bytes) -> str:
        """Keep `body` and return its digest. A damaged copy is replaced."""
        digest = content_digest(body)
        with explained(self._folder):
            if digest not in self._store:
                self._store.add(digest, body)  # another process may have been first: keep its copy
            elif self._store.get(digest) != body:
                self._store.set(digest, body)
        return digest

    def get(self, digest: str) -> bytes:
        """The body with this digest, verified. Raises `MissingBody` where there is none."""
        with explained(self._folder):
            body: bytes | None = self._store.get(digest)
        if body is None:
            state = "cannot be read" if digest in self else "is missing"
            raise MissingBody(f"{self._folder}: body {digest} {state}")
        if content_digest(body) != digest:
            raise MissingBody(f"{self._folder}: body {digest} is damaged")
        return body

    async def aput(self, body: bytes) -> str:
        """`put`, outside the event loop."""
        return await asyncio.to_thread(self.put, body)

    def __contains__(self, digest: str) -> bool:
        with explained(self._folder):
            return digest in self._store

    def __iter__(self) -> Iterator[str]:
        """The digests of all bodies, without holding them. An iteration stays in its thread."""
        with explained(self._folder):
            yield from self._store

    def __len__(self) -> int:
        with explained(self._folder):
            return len(self._store)

    def size(self) -> int:
        """Bytes on disk."""
        with explained(self._folder):
            size: int = self._store.volume()
        return size

    def close(self) -> None:
        """Close this thread's files."""
        self._store.close()
