"""Writes records.jsonl, scores.jsonl, rejects.jsonl and summary.json (formats.md, section 3)."""

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from errno import EISDIR
from io import FileIO
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO

import orjson

from grader.kinds.result import Result
from grader.lines import OutputError, check_not_inputs
from grader.runs.submissions import Reject

SUMMARY = "summary.json"
LINES_FILES = ("records.jsonl", "scores.jsonl", "rejects.jsonl")
WRITE_SIZE = 1 << 18
"""Bytes that are gathered before they are written: few writes, and little lost to a SIGKILL."""


class _LinesFile:
    """A file of JSON lines. Lines are added in the order in which results end, and are sorted into
    the order of the input when the file is closed. May be used by several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO = path.open("wb", buffering=0)
        self._lock = RLock()
        self._pending = bytearray()
        self._ordinals = array("q")
        self._ends = array("q", [0])

    def add(self, ordinal: int, rows: Iterable[Any]) -> None:
        with self._lock:
            end = self._ends[-1]
            for row in rows:  # one by one: the text of all rows takes more memory than the rows
                line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
                end += len(line)
                self._pending += line
                if len(self._pending) >= WRITE_SIZE:
                    self.flush()
            self._ordinals.append(ordinal)
            self._ends.append(end)

    def flush(self) -> None:
        with self._lock:
            while self._pending:  # after a failure, the next call writes the rest
                written = self._file.write(self._pending)
                del self._pending[:written]

    def close(self) -> None:
        """Write the rest and sort the lines. If the disk is full, keep the whole submissions."""
        try:
            self.flush()
        except OSError:
            written = self._file.tell()
            self._file.truncate(self._ends[bisect_right(self._ends, written) - 1])
            raise
        finally:
            self._file.close()
        order = sorted(range(len(self._ordinals)), key=self._ordinals.__getitem__)
        if order == list(range(len(order))):
            return
        with _replaced(scratch_of(self._path), self._path) as target, self._path.open("rb") as file:
            for place in order:
                file.seek(self._ends[place])
                _copy(file, target, self._ends[place + 1] - self._ends[place])


def scratch_of(path: Path) -> Path:
    """The file that is written before it replaces `path`."""
    return path.with_name(f"{path.name}.new")


@contextmanager
def _replaced(scratch: Path, path: Path) -> Iterator[BinaryIO]:
    """Write `scratch`, which then replaces `path`; remove it after an error."""
    try:
        with scratch.open("wb") as file:
            yield file
        scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def _copy(source: BinaryIO, target: BinaryIO, length: int) -> None:
    while length > 0:
        block = source.read(min(length, WRITE_SIZE))
        target.write(block)
        length -= len(block)


class Output:
    """The result files of one call in a folder. They are emptied first, and grow with the call."""

    def __init__(self, folder: Path, inputs: Iterable[Path] = ()) -> None:
        """Raises OutputError if the folder cannot be written, or a file in it is an input."""
        self._folder = folder
        results = [folder / name for name in (*LINES_FILES, SUMMARY)]
        check_not_inputs([*results, *map(scratch_of, results)], inputs)
        with self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            if results[-1].is_dir():
                raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(results[-1]))
            self._records, self._scores, self._rejects = map(_LinesFile, results[:-1])

    def add(self, result: Result) -> None:
        """Write one submission's lines. This and the methods below raise OutputError."""
        with self._explained():
            self._records.add(result.ordinal, result.rows)
            self._scores.add(result.ordinal, (result.score,))

    def reject(self, reject: Reject) -> None:
        """Write one line of rejects.jsonl."""
        with self._explained():
            self._rejects.add(0, (reject,))

    def summarise(self, summary: Mapping[str, Any]) -> None:
        """Replace summary.json, after writing the lines that were added so far."""
        with self._explained():
            for file in (self._records, self._scores, self._rejects):
                file.flush()
            path = self._folder / SUMMARY
            with _replaced(scratch_of(path), path) as target:
                target.write(orjson.dumps(summary, option=orjson.OPT_INDENT_2))

    def close(self) -> None:
        """Write the rest of the lines, and sort them into the order of the input."""
        with self._explained(), ExitStack() as files:
            for file in (self._rejects, self._scores, self._records):
                files.callback(file.close)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = error.filename or self._folder
            raise OutputError(
                f"cannot write {place}: {error.strerror or error}; correct that, or choose "
                "another --out, and run the same command again"
            ) from error
