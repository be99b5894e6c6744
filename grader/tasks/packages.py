"""Loads and validates task packages and task files (formats.md, section 1)."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from grader.lines import read_objects
from grader.tasks.answer import AnswerTask
from grader.tasks.collection import CollectionTask
from grader.tasks.table import TableTask, rows_from_csv
from grader.tasks.task import Wrong, WrongFields
from grader.tasks.unknown import unknown_fields

AnyTask = CollectionTask | TableTask | AnswerTask
KINDS: Mapping[str, type[AnyTask]] = {
    "collection": CollectionTask,
    "table": TableTask,
    "answer": AnswerTask,
}


FILES = ("task.toml", "task.md", "rows.csv")
"""The files of a package that its task is read from."""
MOST_FAULTS = 100
"""Faults that the message of a TaskError names."""
MOST_WARNINGS = 100
"""Unknown fields of a task that are kept as warnings."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a task. `place` is FILE or FILE:LINE, `field` the path of the field, or empty."""

    place: str
    field: str
    reason: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place, self.field, self.reason) if part)


def needing_model(task: AnyTask) -> tuple[str, ...]:
    """The names of the checks of a task that no rule decides, in all its hierarchies."""
    if not isinstance(task, CollectionTask):
        return ()
    return tuple(
        check if name is None else f"{name}.{check}"
        for name, hierarchy in task.hierarchies.items()
        for check in hierarchy.judge.needs_model
    )


class TaskError(Exception):
    """The tasks cannot be used. `faults` has every fault, `lines` the message line by line.
    `warnings` has the unknown fields of the tasks, which may explain a fault."""

    def __init__(self, faults: Sequence[Fault], warnings: Sequence[Fault] = ()) -> None:
        self.faults = tuple(faults)
        self.warnings = tuple(warnings)
        self.lines = first_lines(faults, MOST_FAULTS)
        super().__init__("\n".join(self.lines))


def first_lines(faults: Sequence[Fault], most: int) -> list[str]:
    """A line for each of the first faults, and one for the number of the others."""
    lines = [*map(str, faults[:most])]
    if len(faults) > most:
        lines.append(f"and {len(faults) - most:,} more")
    return lines


@dataclass(frozen=True, slots=True)
class Package:
    """A task with the place it came from; `folder` is None for a line of a task file. `warnings`
    has the fields that were ignored because no task has them."""

    task: AnyTask
    place: str
    folder: Path | None
    warnings: tuple[Fault, ...] = ()


def load(paths: Sequence[Path]) -> list[Package]:
    """Read every task under `paths`: package folders, folders of packages, `.jsonl` files.

    Raises TaskError with every fault in all of them, including names that are used twice.
    """
    packages: dict[str, Package] = {}
    faults: list[Fault] = []
    warnings: list[Fault] = []
    for path in dict.fromkeys(paths):
        for place, folder, data in _sources(path, faults):
            unknown = _warnings(place, data)
            if (task := _parse(place, data, faults)) is None:
                warnings.extend(unknown)
                continue
            first = packages.setdefault(task.name, Package(task, place, folder, unknown))
            if first.place != place:  # otherwise one package, given twice in different ways
                faults.append(Fault(place, "name", f"{task.name!r} is the name of {first.place}"))
    if faults:
        raise TaskError(faults, warnings)
    return list(packages.values())


def load_tasks(*paths: Path | str) -> list[AnyTask]:
    """The tasks under `paths`: package folders, folders of packages, `.jsonl` files.

    Raises TaskError, which names every fault with its file and field.
    """
    return [package.task for package in load([Path(path) for path in paths])]


def _sources(path: Path, faults: list[Fault]) -> Iterator[tuple[str, Path | None, Any]]:
    """Yield the raw tasks under a path: place, package folder, data. Add a fault for one that
    cannot be read."""
    if path.is_dir():
        inside = (path / "task.toml").exists()
        folders = [path] if inside else sorted(p.parent for p in path.glob("*/task.toml"))
        if not folders:
            faults.append(
                Fault(str(path), "", "no task.toml in this folder or in the folders in it")
            )
        for folder in folders:
            yield from _package(folder, faults)
    elif not path.exists():
        faults.append(Fault(str(path), "", "no such file or folder"))
    elif path.is_file() and path.suffix != ".jsonl":
        faults.append(Fault(str(path), "", "not a folder, a .jsonl file or a pipe"))
    else:
        yield from _lines(path, faults)


def _package(folder: Path, faults: list[Fault]) -> Iterator[tuple[str, Path | None, Any]]:
    fields, prompt, rows = (folder / name for name in FILES)
    reading = fields
    try:
        data = tomllib.loads(fields.read_text("utf-8"))
        if "prompt" not in data and prompt.exists():
            reading = prompt
            data["prompt"] = prompt.read_text("utf-8")
        if "rows" not in data and rows.exists():
            reading = rows
            data["rows"] = rows_from_csv(rows.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        faults.append(Fault(str(reading), "", f"unreadable: {reason}"))
        return
    yield str(fields), folder, data


def _lines(path: Path, faults: list[Fault]) -> Iterator[tuple[str, Path | None, Any]]:
    empty = True

    def reject(place: str, reason: str) -> None:
        nonlocal empty
        empty = False
        faults.append(Fault(place, "", reason))

    for place, data in read_objects(str(path), reject):
        empty = False
        yield place, None, data
    if empty:
        reject(str(path), "the file has no task")


def _warnings(place: str, data: Mapping[str, Any]) -> tuple[Fault, ...]:
    """A warning for each of the first unknown fields of a task."""
    model = _model(data)
    unknown = islice(unknown_fields(data, model), MOST_WARNINGS) if model else ()
    return tuple(Fault(place, field, reason) for field, reason in unknown)


def _model(data: Mapping[str, Any]) -> type[AnyTask] | None:
    kind = data.get("kind")
    return KINDS.get(kind) if isinstance(kind, str) else None


def _parse(place: str, data: Mapping[str, Any], faults: list[Fault]) -> AnyTask | None:
    if (model := _model(data)) is None:
        kind = data.get("kind")
        faults.append(Fault(place, "kind", f"{kind!r} is not one of {', '.join(KINDS)}"))
        return None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults.extend(
            Fault(place, field, reason)
            for entry in error.errors(include_url=False)
            for field, reason in _wrong_in(entry)
        )
    return None


def _wrong_in(error: ErrorDetails) -> Iterator[Wrong]:
    """The path and the reason of each fault in an error of pydantic."""
    fault = error.get("ctx", {}).get("error")
    if error["type"] == "default_factory_not_called":  # another field is at fault
        return
    if error["type"].startswith("recursion"):
        yield "subtasks", "nested too deep"
    elif isinstance(fault, WrongFields):
        for field, reason in fault.wrong:
            yield _path((*error["loc"], field)), reason
    elif fault is not None:  # of a judge or an identity: `field: reason`, or only a reason
        field, _, reason = str(fault).partition(": ")
        if field.isidentifier() and reason:
            yield _path((*error["loc"], field)), reason
        else:
            yield _path(error["loc"]), str(fault)
    else:
        yield _path(error["loc"]), error["msg"]


def _path(location: Sequence[str | int]) -> str:
    """A path such as `keys[1].identity.members`, without the part that pydantic adds for a
    union."""
    path = ""
    for before, part in zip(("", *location), location, strict=False):
        if before not in ("identity", "value"):
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.removeprefix(".")
