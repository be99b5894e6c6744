"""Run files to submissions and records; raw responses to records (formats.md, 2)."""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.lines import (
    STANDARD_INPUT,
    WHOLE,
    Unusable,
    check_writable,
    parse_json,
    parse_object,
    read_lines,
)
from grader.printing import printable
from grader.runs.shapes import line_of_search_evals, line_of_widesearch
from grader.runs.spool import Spool
from grader.tasks.collection import CollectionTask
from grader.tasks.packages import AnyTask
from judges.records.record import Record


@dataclass(frozen=True, slots=True)
class Submission:
    """What one system (`run`) handed in for one task in one attempt (`rollout`).

    `where` is FILE:LINE of its (first) line, empty for one from memory. `error` is what the
    attempt failed with, empty where it did not. A collection has `records`; a table and an answer
    have the system's raw text (`response`). `trajectory` is any JSON.
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
        """How many lines of records.jsonl it will be, about."""
        return len(self.records) or 1


@dataclass(frozen=True, slots=True)
class Reject:
    """A line, or a record of a line, that no submission can take; `where` is FILE:LINE."""

    where: str
    reason: str
    run: str = ""
    task: str = ""
    rollout: str = ""


DEVICES = ("/dev/", "/proc/")
"""Where pipes and devices are: the shell's `<(...)` is a `/dev/fd/N`."""
Name = tuple[str, str, str]
"""Which submission: run, task and rollout."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One readable line of a run file, of a known task."""

    where: str
    submission: Name
    raw: bytes
    data: Mapping[str, Any]


class Reader:
    """Reads run files as a stream of submissions; what it cannot use goes to `reject`.

    Iterating blocks on disk and parses JSON: do it outside the event loop. A `records` or
    `response` line is handed out at once; the `record` lines of a submission may stand anywhere,
    so they wait in a temporary file and are handed out after the last line, in the order of
    their first lines. No more than one submission is held at a time.
    """

    def __init__(
        self,
        paths: Sequence[str],
        tasks: Mapping[str, AnyTask],
        reject: Callable[[Reject], None],
        limit: int | None = None,
    ) -> None:
        """`paths` may hold `-` for standard input; `limit` is a number of records, over all."""
        self._paths = paths
        self._tasks = tasks
        self._by_question = {task.prompt: name for name, task in tasks.items() if task.prompt}
        self._report = reject
        self.rejects = 0
        self._left = sys.maxsize if limit is None else limit
        self._whole: set[Name] = set()
        self._sizes = [0 if path == STANDARD_INPUT else _size(path) for path in paths]
        self._bytes = 0
        self._handed_out = 0
        self._waiting = 0
        stems = Counter(_stem(path) for path in paths if not path.endswith(WHOLE))
        self._unnamed = {STANDARD_INPUT} | {stem for stem, files in stems.items() if files > 1}

    @property
    def share_read(self) -> float:
        """The part of the input that was handed out, from 0 to 1; 0 for standard input."""
        known = self._handed_out + self._waiting
        total = sum(self._sizes)
        return self._bytes / total * self._handed_out / known if total and known else 0.0

    def __iter__(self) -> Iterator[Submission]:
        with Spool[Name]() as spool:
            for line in self._lines():
                if self._left <= 0:
                    break
                try:
                    submission = self._take(line, spool)
                except Unusable as fault:
                    self._reject(Reject(line.where, str(fault), *line.submission))
                    continue
                if submission is not None:
                    yield submission
            for name, lines in spool:
                if self._left <= 0:
                    break
                self._waiting -= len(lines)
                yield self._collection(name, [(p, parse_object(raw)["record"]) for p, raw in lines])

    def _take(self, line: _Line, spool: Spool[Name]) -> Submission | None:
        """A whole submission, or None where the line waits for others of its submission."""
        single = "record" in line.data and not line.data.get("error")
        if single and "records" in line.data:
            raise Unusable("has both records and a record")
        if single and not isinstance(self._tasks[line.submission[1]], CollectionTask):
            raise Unusable("a record, of a task that takes a response")
        if line.submission in self._whole or (line.submission in spool and not single):
            raise Unusable("a second copy of a submission")
        if single:
            spool.add(line.submission, line.where, line.raw)
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
        self._handed_out += 1
        return replace(_answered(task, line.data), run=run, rollout=rollout, where=line.where)

    def _collection(
        self, name: Name, raw: Sequence[tuple[str, Any]], where: str = "", error: str = ""
    ) -> Submission:
        """A submission from its raw records, each with the place of its line."""
        run, task_name, rollout = name
        task = self._tasks[task_name]
        assert isinstance(task, CollectionTask)
        records = []
        for index, (place, data) in enumerate(raw[: self._left]):
            try:
                records.append(read_record(index, data, task))
            except Unusable as fault:
                self._reject(Reject(place, f"record {index}: {fault}", *name))
        self._left -= len(raw)
        self._handed_out += len(records)
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
                except Unusable as fault:
                    self._reject_line(where, str(fault))
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
                raise Unusable(f"unknown task {task!r}" if task is not None else "names no task")
            task = found
        run = _name(data, "run", "" if stem in self._unnamed else stem)
        if not run:
            raise Unusable(
                'names no run, and the name of the file cannot stand for one; add "run" to the line'
            )
        return _Line(where, (run, task, _name(data, "rollout", "0")), raw, data)


def _name(data: Mapping[str, Any], field: str, default: str) -> str:
    value = data.get(field)
    if value is None or value == "":
        return default
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Unusable(f"{field} is not a name")
    return str(value)


def _raw_records(data: Mapping[str, Any]) -> Sequence[Any]:
    """The records of a whole submission, still unread. A failed attempt has none: whatever it
    left, it scores 0."""
    if data.get("error"):
        return ()
    if "records" in data:
        if not isinstance(data["records"], list):
            raise Unusable("records is not a list")
        return data["records"]
    if isinstance(data.get("response"), str):
        return records_in(data["response"])
    raise Unusable("has neither records, nor a record, nor a response, nor an error")


def _error(data: Mapping[str, Any]) -> str:
    return str(data.get("error") or "")


def _answered(task: AnyTask, data: Mapping[str, Any]) -> Submission:
    """What a line hands in for a task that takes a response; who handed it in is not in it."""
    error = _error(data)
    response = data.get("response")
    if not error and not isinstance(response, str):
        raise Unusable("has neither a response nor an error")
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
    """A submission from an object in memory, as a whole line of a run file has it: `records`, a
    `response` or an `error`, with `run` and `rollout`.

    Raises ValueError where it is none, or where a record's subtask is unknown.
    """
    run, rollout = _name(data, "run", ""), _name(data, "rollout", "0")
    if not isinstance(task, CollectionTask):
        return replace(_answered(task, data), run=run, rollout=rollout)
    records = tuple(read_record(n, raw, task) for n, raw in enumerate(_raw_records(data)))
    return Submission(task, run, rollout, records=records, error=_error(data))


def read_record(index: int, data: Any, task: CollectionTask) -> Record:
    """A submitted record; where it is malformed its `fault` says how (formats.md, 2).

    Raises Unusable where it belongs to no hierarchy of the task.
    """
    try:
        check_writable(data)
    except Unusable as fault:
        return Record(index, None, {}, "", (), None, str(fault))
    if not isinstance(data, dict):
        return Record(index, None, {}, "", (), None, "not an object")
    faults = []
    subtask = data.get("subtask")
    if not isinstance(subtask, str | None):
        faults.append("subtask is no text")
        subtask = None
    hierarchy = task.hierarchies.get(subtask)
    if hierarchy is None:
        raise Unusable(f"unknown subtask {subtask!r}")
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
            faults.append(f"no {field} in item" if value in (None, "") else f"{field} is no text")
            values.pop(field, None)
    excerpts = data.get("excerpts")
    if excerpts is None:
        excerpts = []
    if not isinstance(excerpts, list | tuple) or not all(isinstance(e, str) for e in excerpts):
        faults.append("excerpts is not a list of texts")
        excerpts = []
    answer = data.get("answer")
    return Record(index, subtask, values, url, tuple(excerpts), answer, "; ".join(faults))


_OBJECT = re.compile(r"\{(?=[ \t\r\n]*[\"}])")


def records_in(response: str) -> list[Any]:
    """The records in a system's raw text, still unread: from JSON that is fenced or bare, with
    prose around it; of a list that is cut off, the whole ones (formats.md, 2).

    An object is taken for a record where it has an `item` or a `url`; other objects and lists
    are looked into. A text in which decoding fails over and over is given up as hopeless once
    that has cost twenty times its length.
    """
    # To know where it ends, no number needs to be read; Python refuses those of 4300 digits.
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    found: list[Any] = []
    budget = 20 * len(response) + 100_000
    start = _OBJECT.search(response)
    while start and budget > 0:
        at = start.start()
        end = at + 1
        try:
            _, end = decoder.raw_decode(response, at)
            found.extend(_records_of(parse_json(response[at:end].encode("utf-8", "replace"))))
        except (RecursionError, Unusable):
            budget -= len(response) - at
        except json.JSONDecodeError as error:
            unended = error.msg.startswith("Unterminated")
            # Making the error took a look for line ends from the start of the text.
            budget -= (len(response) if unended else error.pos) - at + error.pos // 10
        start = _OBJECT.search(response, end)
    return found


def _records_of(value: Any) -> Iterator[Any]:
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "item" in value or "url" in value:
                yield value
            else:
                stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))


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
        return 0  # reading it will say what is wrong
