"""Errors of a cache folder say what to do."""

import errno
import sqlite3
from pathlib import Path

import diskcache
import pytest

from cache.errors import CacheError, cache_errors


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(errno.ENOSPC, "x"), "make room"),
        (OSError(errno.EACCES, "x"), "correct its permissions"),
        (OSError(errno.ENOTDIR, "x"), "not a folder"),
        (OSError(errno.EIO, "input/output error"), "input/output error"),
        (diskcache.Timeout(), "another process"),
        (sqlite3.DatabaseError("something"), "something"),
    ],
)
def test_an_error_names_the_file_and_says_what_to_do(error: Exception, advice: str) -> None:
    with pytest.raises(CacheError, match=f"^/cache/x: .*{advice}"), cache_errors(Path("/cache/x")):
        raise error


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (sqlite3.SQLITE_FULL, "make room"),
        (sqlite3.SQLITE_READONLY, "correct its permissions"),
        (sqlite3.SQLITE_CORRUPT, "import an export"),
        (sqlite3.SQLITE_BUSY | 2 << 8, "another process"),
    ],
)
def test_an_error_of_sqlite_is_read_by_its_code(code: int, advice: str) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    with pytest.raises(CacheError, match=advice), cache_errors(Path("x")):
        raise error


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), cache_errors(Path("x")):
        raise KeyError
