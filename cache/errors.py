"""Errors of a cache folder, with messages that say what to do."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import diskcache


class CacheError(Exception):
    """The cache cannot be used; the message names the file and says what to do."""


class MissingBody(CacheError):
    """A body is missing, or its content does not match its digest. Fetch the page again."""


_FULL = "the disk is full; make room and run the same command again (finished work is kept)"
_CLOSED = "cannot be created or written; correct its permissions or choose another cache folder"
_DAMAGED = "is damaged; move it away, or import an export of it into another cache folder"
_BUSY = "another process has locked it for too long; stop that process or wait, then run again"

_BY_ERRNO = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _FULL),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT), _CLOSED),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "is not a folder; choose another cache folder"),
}
_BY_SQLITE_CODE = {
    sqlite3.SQLITE_FULL: _FULL,
    **dict.fromkeys(
        (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM), _CLOSED
    ),
    sqlite3.SQLITE_NOTADB: "is not part of an Assay cache; move it away or choose another folder",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), _BUSY),
}


@contextmanager
def cache_errors(place: Path) -> Iterator[None]:
    """Turn errors of SQLite, diskcache and the file system into CacheError, which names `place`."""
    try:
        yield
    except diskcache.Timeout as error:
        raise CacheError(f"{place}: {_BUSY}") from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest is the extended code
        raise CacheError(f"{place}: {_BY_SQLITE_CODE.get(code, error)}") from error
    except OSError as error:
        raise CacheError(f"{place}: {_BY_ERRNO.get(error.errno or 0, error)}") from error
