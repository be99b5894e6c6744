"""The files of a call: records.jsonl, scores.jsonl, rejects.jsonl, summary.json (formats.md, 3)."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO

import orjson

from grader.kinds.result import Result
from grader.lines import OutputError
from grader.runs.submissions import Reject

SUMMARY = "summary.json"
WRITE_SIZE = 1 << 18
"""Bytes gathered before they go to a file: few writes, and little lost to a SIGKILL."""


class _LinesFile:
    """A file of JSON lines that grows in the order in which results end, and is put in the order
    of the input when it is closed. May be written by several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO = path.open("wb")
        self._lock = RLock()
        self._pending = bytearray()
        self._ordinals = array("q")
        self._ends = array("q", [0])

    def add(self, ordinal: int, rows: Iterable[Any]) -> None:
        with self._lock:
            end = self._ends[-1]
            for row in rows:  # one by one: all of them written out are more than the rows
                line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
                end += len(line)
                self._pending += line
                if len(self._pending) >= WRITE_SIZE:
                    self.flush()
            self._ordinals.append(ordinal)
            self._ends.append(end)

    def flush(self) -> None:
        with self._lock:
            self._file.write(self._pending)
            self._file.flush()
            self._pending.clear()

    def close(self) -> None:
        self.flush()
        self._file.close()
        order = sorted(range(len(self._ordinals)), key=self._ordinals.__getitem__)
        if order == list(range(len(order))):
            return
        scratch = self._path.with_suffix(".sorting")
        with self._path.open("rb") as source, scratch.open("wb") as target:
            for place in order:
                source.seek(self._ends[place])
                _copy(source, target, self._ends[place + 1] - self._ends[place])
        scratch.replace(self._path)


def _copy(source: BinaryIO, target: BinaryIO, length: int) -> None:
    while length > 0:
        block = source.read(min(length, WRITE_SIZE))
        target.write(block)
        length -= len(block)


def _identity(path: Path) -> object:
    """What a file is under all of its names."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return path.absolute()
    return found.st_dev, found.st_ino


class Output:
    """The result files of one call in a folder; begun anew, and grown as results come in."""

    def __init__(self, folder: Path, inputs: Iterable[Path] = ()) -> None:
        """Raises OutputError where the folder cannot be written, or a file there is an input."""
        self._folder = folder
        names = ("records.jsonl", "scores.jsonl", "rejects.jsonl")
        taken = {_identity(path): path for path in inputs}
        for path in (folder / name for name in (*names, SUMMARY)):
            if _identity(path) in taken:
                raise OutputError(f"{path} is an input of this call; choose another --out")
        with self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            self._records, self._scores, self._rejects = (
                _LinesFile(folder / name) for name in names
            )

    def add(self, result: Result) -> None:
        """Write one submission's lines. Like the methods below it raises OutputError."""
        with self._explained():
            self._records.add(result.ordinal, result.rows)
            self._scores.add(result.ordinal, (result.score,))

    def reject(self, reject: Reject) -> None:
        """Write one line of rejects.jsonl."""
        with self._explained():
            self._rejects.add(0, (reject,))

    def summarise(self, summary: Mapping[str, Any]) -> None:
        """Replace summary.json, and let what was added so far reach the disk."""
        with self._explained():
            for file in (self._records, self._scores, self._rejects):
                file.flush()
            scratch = self._folder / f"{SUMMARY}.new"
            scratch.write_bytes(orjson.dumps(summary, option=orjson.OPT_INDENT_2))
            scratch.replace(self._folder / SUMMARY)

    def close(self) -> None:
        """Put the files in the order of the input."""
        with self._explained():
            for file in (self._records, self._scores, self._rejects):
                file.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = error.filename or self._folder
            raise OutputError(f"cannot write {place}: {error.strerror}") from error
