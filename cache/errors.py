"""What can go wrong with a cache folder, said so that its owner knows what to do."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import diskcache


class CacheError(Exception):
    """The cache cannot do its work; the message names the place and what to do."""


class MissingBody(CacheError):
    """A body is not in the store, or no longer is what its digest says. Work it again."""


_FULL = "the disk is full; make room and run the same command again, what was done is kept"
_CLOSED = "cannot be created or written; correct its permissions or choose another cache folder"
_DAMAGED = "is damaged; move it away, or import a copy of it into another cache folder"
_BUSY = "another process has held it for too long; wait for it, or stop it, and run again"

_BY_ERRNO = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _FULL),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT), _CLOSED),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "is in the place of a folder; choose another"),
}
_BY_SQLITE_CODE = {
    sqlite3.SQLITE_FULL: _FULL,
    **dict.fromkeys(
        (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM), _CLOSED
    ),
    sqlite3.SQLITE_NOTADB: "is not a database of ours; move it away or choose another cache folder",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), _BUSY),
}


@contextmanager
def explained(place: Path) -> Iterator[None]:
    """Turn what SQLite, diskcache or the file system raises inside into a `CacheError`."""
    try:
        yield
    except diskcache.Timeout as error:
        raise CacheError(f"{place}: {_BUSY}") from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest is the extended code
        raise CacheError(f"{place}: {_BY_SQLITE_CODE.get(code, error)}") from error
    except OSError as error:
        raise CacheError(f"{place}: {_BY_ERRNO.get(error.errno or 0, error)}") from error
