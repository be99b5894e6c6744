"""Reads run files as submissions and records (formats.md, section 2)."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.lines import (
    STANDARD_INPUT,
    WHOLE,
    BadInput,
    check_writable,
    parse_object,
    read_lines,
)
from grader.printing import printable
from grader.runs.groups import LineGroups
from grader.runs.responses import records_in
from grader.runs.shapes import line_of_search_evals, line_of_widesearch
from grader.tasks.collection import CollectionTask
from grader.tasks.packages import AnyTask
from judges.records.record import Record


@dataclass(frozen=True, slots=True)
class Submission:
    """The output of one system (`run`) for one task in one attempt (`rollout`).

    `where` is the FILE:LINE of its first line, or empty if it was made in memory. `error` is the
    error of a failed attempt, or empty. A collection has `records`; a table and an answer have the
    raw text of the system (`response`). `trajectory` is any JSON.
    """

    task: AnyTask
    run: str
    rollout: str
    where: str = ""
    records: tuple[Record, ...] = ()
    response: str = ""
    trajectory: Any = None
    search_calls: int | None = None
    error: str = ""

    @property
    def size(self) -> int:
        """About how many lines of records.jsonl it makes."""
        return len(self.records) or 1


@dataclass(frozen=True, slots=True)
class Reject:
    """A line, or a record of a line, that is part of no submission; `where` is FILE:LINE."""

    where: str
    reason: str
    run: str = ""
    task: str = ""
    rollout: str = ""


DEVICES = ("/dev/", "/proc/")
"""Where pipes and devices are: the shell's `<(...)` is a `/dev/fd/N`."""
Name = tuple[str, str, str]
"""The name of a submission: run, task and rollout."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a run file that can be read and belongs to a known task."""

    where: str
    submission: Name
    raw: bytes
    data: Mapping[str, Any]


class Reader:
    """Reads run files as a stream of submissions, and calls `reject` for lines it cannot use.

    Iterating reads files and parses JSON: do it outside the event loop. A line with `records` or a
    `response` is yielded at once. Lines with one `record` may stand anywhere, so they wait in a
    temporary file. Their submissions are yielded after the last line, in the order of their first
    lines. At most one submission is in memory. `rejects` counts the calls of `reject`.
    """

    def __init__(
        self,
        paths: Sequence[str],
        tasks: Mapping[str, AnyTask],
        reject: Callable[[Reject], None],
        limit: int | None = None,
    ) -> None:
        """`paths` may contain `-` for standard input. `limit` is the number of records to read."""
        self._paths = paths
        self._tasks = tasks
        self._by_question = {task.prompt: name for name, task in tasks.items() if task.prompt}
        self._report = reject
        self.rejects = 0
        self._left = sys.maxsize if limit is None else limit
        self._whole: set[Name] = set()
        self._sizes = [0 if path == STANDARD_INPUT else _size(path) for path in paths]
        self._bytes = 0
        self._yielded = 0
        self._waiting = 0
        stems = Counter(_stem(path) for path in paths if not path.endswith(WHOLE))
        self._unnamed = {STANDARD_INPUT} | {stem for stem, files in stems.items() if files > 1}

    @property
    def share_read(self) -> float:
        """The share of the input that was yielded, from 0 to 1. Pipes do not count, because their
        size is unknown."""
        known = self._yielded + self._waiting
        total = sum(self._sizes)
        return self._bytes / total * self._yielded / known if total and known else 0.0

    def __iter__(self) -> Iterator[Submission]:
        with LineGroups[Name]() as groups:
            for line in self._lines():
                if self._left <= 0:
                    break
                try:
                    submission = self._take(line, groups)
                except BadInput as error:
                    self._reject(Reject(line.where, str(error), *line.submission))
                    continue
                if submission is not None:
                    yield submission
            for name, lines in groups:
                if self._left <= 0:
                    break
                self._waiting -= len(lines)
                yield self._collection(name, [(p, parse_object(raw)["record"]) for p, raw in lines])

    def _take(self, line: _Line, groups: LineGroups[Name]) -> Submission | None:
        """The submission of a line; None if the line waits for the others of its submission."""
        single = "record" in line.data and not line.data.get("error")
        if single and "records" in line.data:
            raise BadInput("has both records and a record")
        if single and not isinstance(self._tasks[line.submission[1]], CollectionTask):
            raise BadInput("has a record, but the task takes a response")
        if line.submission in self._whole or (line.submission in groups and not single):
            raise BadInput("a second copy of a submission")
        if single:
            groups.add(line.submission, line.where, line.raw)
            self._waiting += 1
            return None
        taken = self._whole_submission(line)
        self._whole.add(line.submission)
        return taken

    def _whole_submission(self, line: _Line) -> Submission:
        run, name, rollout = line.submission
        task = self._tasks[name]
        if isinstance(task, CollectionTask):
            records = [(line.where, record) for record in _raw_records(line.data)]
            return self._collection(line.submission, records, line.where, _error(line.data))
        self._left -= 1
        self._yielded += 1
        return replace(_answered(task, line.data), run=run, rollout=rollout, where=line.where)

    def _collection(
        self, name: Name, raw: Sequence[tuple[str, Any]], where: str = "", error: str = ""
    ) -> Submission:
        """Make a submission of its raw records, each with the place of its line."""
        run, task_name, rollout = name
        task = self._tasks[task_name]
        assert isinstance(task, CollectionTask)
        records = []
        for index, (place, data) in enumerate(raw[: self._left]):
            try:
                records.append(read_record(index, data, task))
            except BadInput as error_in_record:
                self._reject(Reject(place, f"record {index}: {error_in_record}", *name))
        self._left -= len(raw)
        self._yielded += len(records)
        place = where or raw[0][0]
        return Submission(task, run, rollout, place, tuple(records), error=error)

    def _lines(self) -> Iterator[_Line]:
        done = 0
        for path, size in zip(self._paths, self._sizes, strict=True):

            def at(offset: int, done: int = done) -> None:
                self._bytes = done + offset

            for where, raw in read_lines(path, self._reject_line, at):
                try:
                    yield self._read(where, raw, _stem(path))
                except BadInput as error:
                    self._reject_line(where, str(error))
            done += size

    def _reject_line(self, where: str, reason: str) -> None:
        self._reject(Reject(where, reason))

    def _reject(self, reject: Reject) -> None:
        self.rejects += 1
        self._report(reject)

    def _read(self, where: str, raw: bytes, stem: str) -> _Line:
        data = parse_object(raw)
        if "task" not in data:
            data.update(line_of_widesearch(data) or line_of_search_evals(data) or {})
        task = data.get("task")
        if not isinstance(task, str) or task not in self._tasks:
            question = data.get("question")
            found = self._by_question.get(question) if isinstance(question, str) else None
            if found is None:
                raise BadInput(f"unknown task {task!r}" if task is not None else "names no task")
            task = found
        run = _name(data, "run", "" if stem in self._unnamed else stem)
        if not run:
            raise BadInput(
                'names no run, and the name of the file cannot stand for one; add "run" to the line'
            )
        return _Line(where, (run, task, _name(data, "rollout", "0")), raw, data)


def _name(data: Mapping[str, Any], field: str, default: str) -> str:
    value = data.get(field)
    if value is None or value == "":
        return default
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadInput(f"{field} is not a text or a whole number")
    return str(value)


def _raw_records(data: Mapping[str, Any]) -> Sequence[Any]:
    """The raw records of a complete submission. A failed attempt has none, whatever its line holds:
    it scores 0."""
    if data.get("error"):
        return ()
    if "records" in data:
        if not isinstance(data["records"], list):
            raise BadInput("records is not a list")
        return data["records"]
    if isinstance(data.get("response"), str):
        return records_in(data["response"])
    raise BadInput("has no records, record, response or error")


def _error(data: Mapping[str, Any]) -> str:
    return str(data.get("error") or "")


def _answered(task: AnyTask, data: Mapping[str, Any]) -> Submission:
    """Make a submission without a name of a line, for a task that takes a response."""
    error = _error(data)
    response = data.get("response")
    if not error and not isinstance(response, str):
        raise BadInput("has no response and no error")
    calls = data.get("search_calls")
    return Submission(
        task,
        run="",
        rollout="",
        response="" if error or not isinstance(response, str) else response,
        trajectory=data.get("trajectory"),
        search_calls=calls if type(calls) is int else None,
        error=error,
    )


def read_submission(task: AnyTask, data: Mapping[str, Any]) -> Submission:
    """Make a submission of an object that has the fields of a line of a run file: `records`, a
    `response` or an `error`, with `run` and `rollout`.

    Raises ValueError if it is not a submission, or if the subtask of a record is unknown.
    """
    run, rollout = _name(data, "run", ""), _name(data, "rollout", "0")
    if not isinstance(task, CollectionTask):
        return replace(_answered(task, data), run=run, rollout=rollout)
    records = tuple(read_record(n, raw, task) for n, raw in enumerate(_raw_records(data)))
    return Submission(task, run, rollout, records=records, error=_error(data))


def read_record(index: int, data: Any, task: CollectionTask) -> Record:
    """Read a submitted record. If it is malformed, its `fault` says how (formats.md, section 2).

    Raises BadInput if the task has no such subtask.
    """
    try:
        check_writable(data)
    except BadInput as error:
        return Record(index, None, {}, "", (), None, str(error))
    if not isinstance(data, dict):
        return Record(index, None, {}, "", (), None, "not an object")
    faults = []
    subtask = data.get("subtask")
    if not isinstance(subtask, str | None):
        faults.append("subtask is not a text")
        subtask = None
    hierarchy = task.hierarchies.get(subtask)
    if hierarchy is None:
        raise BadInput(f"unknown subtask {subtask!r}")
    url = data.get("url")
    if not isinstance(url, str) or not url.strip():
        faults.append("no url")
        url = ""
    item = data.get("item")
    if not isinstance(item, dict):
        faults.append("no item")
        item = {}
    values = {**item}
    for field in hierarchy.fields:
        value = item.get(field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            values[field] = str(value)
        elif not isinstance(value, str) or not value.strip():
            faults.append(
                f"no {field} in item" if value in (None, "") else f"{field} is not a text"
            )
            values.pop(field, None)
    excerpts = data.get("excerpts")
    if excerpts is None:
        excerpts = []
    if not isinstance(excerpts, list | tuple) or not all(isinstance(e, str) for e in excerpts):
        faults.append("excerpts is not a list of texts")
        excerpts = []
    answer = data.get("answer")
    return Record(index, subtask, values, url, tuple(excerpts), answer, "; ".join(faults))


def _stem(path: str) -> str:
    """The run that the name of a file stands for: the name without `.jsonl` or `.jsonl.gz`.

    For a file that is one JSON object it is the name of the folder, because the file is named
    after the question. The numbers of pipes (`/dev/fd/63`) stand for no run.
    """
    if path.startswith(DEVICES):
        return STANDARD_INPUT
    if path.endswith(WHOLE):
        return printable(Path(path).absolute().parent.name)
    return printable(Path(path).name).removesuffix(".gz").removesuffix(".jsonl")


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0  # the error is reported when the file is read
