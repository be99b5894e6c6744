"""Reads files of JSON lines: plain, gzipped, from a pipe or from standard input."""

import errno
import gzip
import json
import math
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from grader.printing import printable

LONGEST_LINE = 1 << 28
"""Bytes. A longer line is rejected, so that a file without line ends cannot fill the memory."""
STANDARD_INPUT = "-"
WHOLE = ".json"
"""The end of the name of a file that holds one JSON object, over any number of lines."""

_BOM = b"\xef\xbb\xbf"


class BadInput(ValueError):
    """Why a line, a record or a value of the input cannot be used."""


class OutputError(Exception):
    """The results cannot be written; the message says where, and why."""


def _identity(path: Path) -> object:
    """The same value for all names of one file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return path.absolute()
    return found.st_dev, found.st_ino


def check_not_inputs(results: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise OutputError if a result is an input of the call, under any of its names."""
    taken = set(map(_identity, inputs))
    for path in results:
        if _identity(path) in taken:
            raise OutputError(f"{path} is an input of this call; choose another --out")


def read_lines(
    path: str, reject: Callable[[str, str], None], at: Callable[[int], None] = lambda offset: None
) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file that are not blank, each with its place (FILE:LINE). Blocking.

    `reject` is called with the place and the reason for a line that cannot be read, and for the
    rest of a file that cannot be read. `at` is called with the number of bytes read so far.
    """
    number, shown = 0, printable(path)
    try:
        with ExitStack() as files:
            source: Any = files.enter_context(_open(path))
            file = files.enter_context(gzip.open(source)) if path.endswith(".gz") else source
            measured = source.seekable()
            read = file.read if path.endswith(WHOLE) else file.readline
            while line := read(LONGEST_LINE):
                number += 1
                place = f"{shown}:{number}"
                if measured:
                    at(source.tell())
                if len(line) == LONGEST_LINE:
                    reject(place, f"longer than {LONGEST_LINE:,} bytes")
                    while line and not line.endswith(b"\n"):
                        line = read(1 << 20)
                elif line := line.removeprefix(_BOM).strip():
                    yield place, line
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reject(f"{shown}:{number + 1}", f"unreadable from here on: {reason}")


def read_objects(
    path: str, reject: Callable[[str, str], None]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the lines of a file as JSON objects. Lines that are not an object are rejected too; see
    `read_lines`."""
    for place, raw in read_lines(path, reject):
        try:
            yield place, parse_object(raw)
        except BadInput as error:
            reject(place, str(error))


def parse_object(raw: bytes) -> dict[str, Any]:
    """Read one JSON object. Values that other programs write but JSON does not have are replaced:
    lone surrogates by `?`, NaN and infinite numbers by null.

    Raises BadInput if it is not a JSON object.
    """
    value = parse_json(raw)
    if not isinstance(value, dict):
        raise BadInput("not a JSON object")
    return value


def parse_json(raw: bytes) -> Any:
    """Read any JSON value, as `parse_object` does."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        reason = str(error)
    try:  # the standard parser reads lone surrogates, orjson does not
        value = json.loads(
            raw.decode(), parse_constant=lambda name: None, parse_float=_finite, parse_int=_whole
        )
        return orjson.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise BadInput(f"unreadable JSON: {reason}") from None


def check_writable(value: Any) -> None:
    """Raise BadInput for a value that was read but cannot be written, because it nests too deep."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise BadInput(f"cannot be written again: {error}") from None


def _open(path: str) -> BinaryIO:
    if path == STANDARD_INPUT:
        if sys.stdin is None:  # its number may belong to another file now
            raise OSError(errno.EBADF, "standard input is closed")
        return open(0, "rb", closefd=False)  # it stays open for other readers
    return Path(path).open("rb")


def _whole(number: str) -> float | None:
    return int(number) if len(number) < 20 else _finite(number)


def _finite(number: str) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None
