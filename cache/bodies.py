"""The store of page bodies and extracted texts: bytes by the digest of their content."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import diskcache
from diskcache.core import MODE_BINARY, MODE_RAW, UNKNOWN

from cache.digests import content_digest
from cache.errors import MissingBody, cache_errors

_FILE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]+\.val")


class _BytesDisk(diskcache.Disk):  # type: ignore[misc]
    """Keeps bytes under string keys, and nothing else.

    diskcache would pickle other values. To unpickle a file runs any code that its author chose.
    """

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
        raise OSError("not a body")  # diskcache reads this as a missing file


class Bodies:
    """Bytes by content digest, in a folder that processes and threads may share.

    All methods but `aput` block. Every method raises CacheError if the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with cache_errors(folder):
            self._store = diskcache.Cache(
                folder,
                disk=_BytesDisk,
                eviction_policy="none",
                size_limit=2**62,
                cull_limit=0,
                sqlite_synchronous=1,  # NORMAL: a power failure may lose the last bodies only
            )

    def put(self, body: bytes) -> str:
        """Store `body` and return its digest. A damaged copy is replaced."""
        digest = content_digest(body)
        with cache_errors(self._folder):
            if digest not in self._store:
                self._store.add(digest, body)  # keeps the copy of another process that was first
            elif self._store.get(digest) != body:
                self._store.set(digest, body)
        return digest

    def get(self, digest: str) -> bytes:
        """Read the body with this digest and verify it. Raises MissingBody if it is missing or
        damaged."""
        with cache_errors(self._folder):
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
        with cache_errors(self._folder):
            return digest in self._store

    def __iter__(self) -> Iterator[str]:
        """Give the digests of all bodies, one by one. Use an iteration in one thread only."""
        with cache_errors(self._folder):
            yield from self._store

    def __len__(self) -> int:
        with cache_errors(self._folder):
            return len(self._store)

    def size(self) -> int:
        """Count the bytes on disk."""
        with cache_errors(self._folder):
            size: int = self._store.volume()
        return size

    def close(self) -> None:
        """Close the files of this thread."""
        self._store.close()
