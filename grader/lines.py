"""Files of JSON lines: plain, gzipped or standard input, read line by line."""

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
"""Bytes. A longer line is passed over, so that a file without line ends cannot fill the memory."""
STANDARD_INPUT = "-"
WHOLE = ".json"
"""How the name of a file ends that is one object, over any number of lines."""

_BOM = b"\xef\xbb\xbf"


class Unusable(ValueError):
    """Why a line, or a part of it, cannot be used."""


class OutputError(Exception):
    """The results cannot be written where they were asked for; the message says why."""


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
    """The lines of a file that are not blank, each with its place (FILE:LINE). Blocking.

    `reject` gets the place and the reason of what cannot be read; `at` the bytes of the file
    that were read so far.
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
                    reject(place, f"longer than {LONGEST_LINE} bytes")
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
    """The lines of a file as JSON objects; `reject` gets those that are none, too."""
    for place, raw in read_lines(path, reject):
        try:
            yield place, parse_object(raw)
        except Unusable as fault:
            reject(place, str(fault))


def parse_object(raw: bytes) -> dict[str, Any]:
    """One JSON object. What other writers leave in it but JSON cannot hold is replaced: a lone
    surrogate by `?`, NaN and infinite numbers by null.

    Raises Unusable.
    """
    value = parse_json(raw)
    if not isinstance(value, dict):
        raise Unusable("not a JSON object")
    return value


def parse_json(raw: bytes) -> Any:
    """As `parse_object`, for any JSON value."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        reason = str(error)
    try:  # the standard parser takes lone surrogates, ours does not
        value = json.loads(
            raw.decode(), parse_constant=lambda name: None, parse_float=_finite, parse_int=_whole
        )
        return orjson.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise Unusable(f"unreadable JSON: {reason}") from None


def check_writable(value: Any) -> None:
    """Raises Unusable for what was read but cannot be written: what nests too deep."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise Unusable(f"cannot be written again: {error}") from None


def _open(path: str) -> BinaryIO:
    if path == STANDARD_INPUT:
        if sys.stdin is None:  # by now its number may stand for any other file
            raise OSError(errno.EBADF, "it is closed")
        return open(0, "rb", closefd=False)  # left open, for whoever reads it next
    return Path(path).open("rb")


def _whole(number: str) -> float | None:
    return int(number) if len(number) < 20 else _finite(number)


def _finite(number: str) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None
