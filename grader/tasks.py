"""Task packages and task files: load, validate, name the fault and its place (formats.md, 1)."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic import model_validator as validator

from grader.lines import Unusable, parse_object, read_lines
from judges.identity import Identity, Semantic
from judges.spec import JudgeSpec

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
URL_KEY = "url"


class Model(BaseModel):
    """Base of what a task file holds: immutable, strictly typed; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Key(Model):
    """One level of a hierarchy: what identifies its items, and how many each parent needs."""

    name: Name
    fields: tuple[Name, ...] = ()
    volume: Annotated[int, Field(strict=True, ge=1)]
    identity: Identity = Semantic()
    shared: Annotated[bool, Field(strict=True)] = False

    @validator(mode="before")
    @classmethod
    def _own_field(cls, data: Any) -> Any:
        """A key identifies its items by the field of its own name, where it names no others."""
        if isinstance(data, Mapping) and "fields" not in data and "name" in data:
            return {**data, "fields": (data["name"],)}
        return data

    @validator(mode="after")
    def _whole(self) -> Self:
        if not self.fields:
            raise ValueError("fields: a key needs at least one field")
        if self.name == URL_KEY and self.fields != (URL_KEY,):
            raise ValueError("fields: the url key has no fields of its own")
        if repeated := _repeated(self.fields):
            raise ValueError(f"fields: {repeated} stands twice")
        members = getattr(self.identity, "members", ())
        if members and self.volume > len(members):
            raise ValueError(f"volume: {self.volume} of a roster of {len(members)}")
        return self


class Subtask(Model):
    """A hierarchy that reuses one key of its parent as its own top key."""

    name: Name
    parent: Name
    keys: tuple[Key, ...]
    judge: JudgeSpec = JudgeSpec()
    subtasks: tuple["Subtask", ...] = ()

    @validator(mode="after")
    def _whole(self) -> Self:
        if "." in self.name:
            raise ValueError("name: a subtask's name has no dot; dots join names of nested ones")
        _check_levels(self.keys)
        return self


class Task(Model):
    """What every kind of task has."""

    name: Name
    title: str = ""
    prompt: str = ""
    labels: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A task's main hierarchy, or a subtask's with its parent key first: what a record of it
    carries (`fields`) and how it is judged."""

    levels: tuple[Key, ...]
    fields: tuple[str, ...]
    judge: JudgeSpec


class CollectionTask(Task):
    """A qualification key hierarchy with its subtasks (WANDR, section 3)."""

    kind: Literal["collection"]
    keys: tuple[Key, ...]
    member: Name = ""
    judge: JudgeSpec = JudgeSpec()
    subtasks: tuple[Subtask, ...] = ()

    @validator(mode="before")
    @classmethod
    def _first_key(cls, data: Any) -> Any:
        """The member is the first key, unless the task says otherwise."""
        keys = data.get("keys") if isinstance(data, Mapping) else None
        if isinstance(keys, Sequence) and keys and isinstance(keys[0], Mapping):
            return {"member": keys[0].get("name", ""), **data}
        return data

    @validator(mode="after")
    def _whole(self) -> Self:
        _check_levels(self.keys)
        if self.member not in {key.name for key in self.keys}:
            raise ValueError(f"member: {self.member!r} is no key of the task")
        _check_subtasks(self.subtasks, self.keys, "")
        _check_axes(self._all_keys())
        return self

    def _all_keys(self) -> Iterator[Key]:
        yield from self.keys
        stack = list(self.subtasks)
        while stack:
            subtask = stack.pop()
            yield from subtask.keys
            stack.extend(subtask.subtasks)

    @cached_property
    def hierarchies(self) -> Mapping[str | None, Hierarchy]:
        """Every hierarchy by the dotted name that records give; None is the main one."""
        found: dict[str | None, Hierarchy] = {None: _hierarchy(self.keys, self.judge)}
        stack = [(sub, self.keys, "") for sub in self.subtasks]
        while stack:
            sub, above, prefix = stack.pop()
            parent = next(key for key in above if key.name == sub.parent)
            levels = (parent, *sub.keys)
            found[prefix + sub.name] = _hierarchy(levels, sub.judge)
            stack.extend((below, levels, f"{prefix}{sub.name}.") for below in sub.subtasks)
        return found


def _hierarchy(levels: tuple[Key, ...], judge: JudgeSpec) -> Hierarchy:
    fields = dict.fromkeys(f for key in levels if key.name != URL_KEY for f in key.fields)
    return Hierarchy(levels, tuple(fields), judge)


def _repeated(names: Iterable[str]) -> str:
    return ", ".join(name for name, count in Counter(names).items() if count > 1)


def _check_levels(keys: Sequence[Key]) -> None:
    """A hierarchy has keys of distinct names and ends, once, in url."""
    names = [key.name for key in keys]
    if not names or names[-1] != URL_KEY:
        raise ValueError(f"keys: a hierarchy ends in {URL_KEY}")
    if repeated := _repeated(names):
        raise ValueError(f"keys: {repeated} stands twice")


def _check_subtasks(subtasks: Sequence[Subtask], above: Sequence[Key], path: str) -> None:
    """Names are unique among siblings; a parent is a key of the hierarchy above, never url."""
    if repeated := _repeated(sub.name for sub in subtasks):
        raise ValueError(f"subtasks: {repeated} stands twice")
    for sub in subtasks:
        where = f"{path}{sub.name}"
        parent = next((key for key in above if key.name == sub.parent), None)
        if parent is None or sub.parent == URL_KEY:
            raise ValueError(f"subtasks: {where}: parent {sub.parent!r} is no key above it")
        if sub.parent in {key.name for key in sub.keys}:
            raise ValueError(f"subtasks: {where}: the parent key {sub.parent!r} stands in keys too")
        _check_subtasks(sub.subtasks, (parent, *sub.keys), f"{where}.")


def _check_axes(keys: Iterable[Key]) -> None:
    """Keys of one name are one identity axis; composite keys do not contain one another."""
    axes: dict[str, Key] = {}
    for key in keys:
        first = axes.setdefault(key.name, key)
        if (first.fields, first.identity) != (key.fields, key.identity):
            raise ValueError(f"keys: {key.name!r} is declared with two identities")
    settled: set[str] = set()
    open_names: set[str] = set()

    def visit(name: str) -> None:
        if name in open_names:
            raise ValueError(f"keys: the fields of {name!r} lead back to itself")
        if name in settled:
            return
        open_names.add(name)
        for field in axes[name].fields:
            if field in axes and field != name:
                visit(field)
        open_names.discard(name)
        settled.add(name)

    for name in axes:
        visit(name)


KINDS: Mapping[str, type[CollectionTask]] = {"collection": CollectionTask}
AnyTask = CollectionTask


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a task, and where: `place` is a file, with a line where it has lines."""

    place: str
    field: str
    reason: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place, self.field, self.reason) if part)


def needing_model(task: AnyTask) -> tuple[str, ...]:
    """The checks of a task, in any of its hierarchies, that no rule decides."""
    return tuple(
        check if name is None else f"{name}.{check}"
        for name, hierarchy in task.hierarchies.items()
        for check in hierarchy.judge.needs_model
    )


class TaskError(Exception):
    """The tasks cannot be used; `faults` names every fault that was found."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Package:
    """A task with the place it came from; `folder` is None for a line of a task file."""

    task: AnyTask
    place: str
    folder: Path | None


def load(paths: Sequence[Path]) -> list[Package]:
    """Read every task under `paths`: package folders, folders of packages, `.jsonl` files.

    Raises TaskError with all faults of all of them, duplicate names included.
    """
    packages: list[Package] = []
    faults: list[Fault] = []
    for path in paths:
        for place, folder, data in _sources(path, faults):
            if (task := _parse(place, data, faults)) is not None:
                packages.append(Package(task, place, folder))
    first: dict[str, str] = {}
    for package in packages:
        other = first.setdefault(package.task.name, package.place)
        if other != package.place:
            faults.append(Fault(package.place, "name", f"{package.task.name!r} is {other} too"))
    if faults:
        raise TaskError(faults)
    return packages


def _sources(path: Path, faults: list[Fault]) -> Iterator[tuple[str, Path | None, Any]]:
    """The raw tasks under a path: place, package folder, data; unreadable ones become faults."""
    if path.is_dir():
        inside = (path / "task.toml").exists()
        folders = [path] if inside else sorted(p.parent for p in path.glob("*/task.toml"))
        if not folders:
            faults.append(Fault(str(path), "", "no task.toml in it or in a folder of it"))
        for folder in folders:
            yield from _package(folder, faults)
    elif path.suffix == ".jsonl" and path.is_file():
        yield from _lines(path, faults)
    else:
        what = "not a folder or a .jsonl file" if path.exists() else "no such file or folder"
        faults.append(Fault(str(path), "", what))


def _package(folder: Path, faults: list[Fault]) -> Iterator[tuple[str, Path | None, Any]]:
    place = folder / "task.toml"
    try:
        data = tomllib.loads(place.read_text("utf-8"))
        prompt = folder / "task.md"
        if "prompt" not in data and prompt.exists():
            data["prompt"] = prompt.read_text("utf-8")
    except (OSError, ValueError, RecursionError) as error:
        faults.append(Fault(str(place), "", f"unreadable: {error}"))
        return
    yield str(place), folder, data


def _lines(path: Path, faults: list[Fault]) -> Iterator[tuple[str, Path | None, Any]]:
    def fault(place: str, reason: str) -> None:
        faults.append(Fault(place, "", reason))

    for place, raw in read_lines(str(path), fault):
        try:
            yield place, None, parse_object(raw)
        except Unusable as error:
            fault(place, str(error))


def _parse(place: str, data: Any, faults: list[Fault]) -> AnyTask | None:
    kind = data.get("kind") if isinstance(data, dict) else None
    model = KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        known = ", ".join(KINDS)
        faults.append(Fault(place, "kind", f"{kind!r} is not one of {known}"))
        return None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults.extend(_fault(place, entry["loc"], entry["msg"]) for entry in error.errors())
    except RecursionError:
        faults.append(Fault(place, "subtasks", "nested too deep"))
    return None


def _fault(place: str, loc: Sequence[str | int], message: str) -> Fault:
    """A pydantic error as a fault: `keys[1].volume`, and our own `field: reason` taken apart."""
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    message = message.removeprefix("Value error, ")
    head, colon, rest = message.partition(": ")
    if colon and head.isidentifier():
        field, message = f"{field}.{head}", rest
    return Fault(place, field.lstrip("."), message)
