"""Task packages and task files: load, validate, name the fault and its place (formats.md, 1)."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic import model_validator as validator
from pydantic_core import ErrorDetails

from grader.lines import Unusable, parse_object, read_lines
from judges.identity import Identity, Semantic
from judges.spec import JudgeSpec

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
URL_KEY = "url"
MOST_RECORDS = 10**9
"""What a hierarchy may ask for: counts are to stay within what JSON's readers can hold."""


class Model(BaseModel):
    """Base of what a task file holds: immutable, strictly typed; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Wrong = tuple[str, str]
"""What is wrong inside a task: the path of a field, and the reason."""


class _WrongFields(ValueError):
    def __init__(self, wrong: Sequence[Wrong]) -> None:
        super().__init__("; ".join(f"{field}: {reason}" for field, reason in wrong))
        self.wrong = wrong


def _refuse(wrong: Iterable[Wrong]) -> None:
    """Raise all that is wrong at once, if anything is."""
    if found := list(wrong):
        raise _WrongFields(found)


class Key(Model):
    """One level of a hierarchy: what identifies its items, and how many each parent needs."""

    name: Name
    fields: tuple[Name, ...] = Field(default_factory=lambda key: (key["name"],), min_length=1)
    volume: Annotated[int, Field(strict=True, ge=1)]
    identity: Identity = Semantic()
    shared: Annotated[bool, Field(strict=True)] = False

    @validator(mode="after")
    def _whole(self) -> Self:
        _refuse(self._wrong())
        return self

    def _wrong(self) -> Iterator[Wrong]:
        if (self.name == URL_KEY) != (URL_KEY in self.fields) or self.fields.count(URL_KEY) > 1:
            yield "fields", f"{URL_KEY} is the field of the {URL_KEY} key, and of no other"
        for place, field in _repeated(self.fields):
            yield f"fields[{place}]", f"{field!r} stands twice"
        members = getattr(self.identity, "members", ())
        if members and self.volume > len(members):
            yield "volume", f"{self.volume} of a roster of {len(members)}"


class Subtask(Model):
    """A hierarchy that reuses one key of its parent as its own top key."""

    name: Name
    parent: Name
    keys: tuple[Key, ...]
    judge: JudgeSpec = JudgeSpec()
    subtasks: tuple["Subtask", ...] = ()


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
    keys: tuple[Key, ...] = Field(min_length=1)
    member: Name = Field(default_factory=lambda task: task["keys"][0].name)
    judge: JudgeSpec = JudgeSpec()
    subtasks: tuple[Subtask, ...] = ()

    @validator(mode="after")
    def _whole(self) -> Self:
        _refuse(self._wrong())
        return self

    def _wrong(self) -> Iterator[Wrong]:
        yield from _wrong_levels(self.keys, "")
        if self.member not in {key.name for key in self.keys}:
            yield "member", f"{self.member!r} is no key of the task"
        yield from _wrong_subtasks(self.subtasks, self.keys, "")
        yield from _wrong_axes(_all_keys(self, ""))

    @cached_property
    def hierarchies(self) -> Mapping[str | None, Hierarchy]:
        """Every hierarchy by the dotted name that records give; None is the main one."""
        keys = {key.name: key for _, key in _all_keys(self, "")}
        found: dict[str | None, Hierarchy] = {None: _hierarchy(self.keys, self.judge, keys)}
        stack = [(sub, self.keys, "") for sub in self.subtasks]
        while stack:
            sub, above, prefix = stack.pop()
            parent = next(key for key in above if key.name == sub.parent)
            levels = (parent, *sub.keys)
            found[prefix + sub.name] = _hierarchy(levels, sub.judge, keys)
            stack.extend((below, levels, f"{prefix}{sub.name}.") for below in sub.subtasks)
        return found


def _hierarchy(levels: tuple[Key, ...], judge: JudgeSpec, keys: Mapping[str, Key]) -> Hierarchy:
    fields = dict.fromkeys(f for key in levels[:-1] for f in _fields(key, keys))
    return Hierarchy(levels, tuple(fields), judge)


def _fields(key: Key, keys: Mapping[str, Key]) -> Iterator[str]:
    """The fields of a key; a field that is a key of its own has that key's."""
    for field in key.fields:
        if field in keys and field != key.name:
            yield from _fields(keys[field], keys)
        else:
            yield field


def _all_keys(task: CollectionTask | Subtask, path: str) -> Iterator[tuple[str, Key]]:
    """Every key of a task, those of its subtasks included, with its path."""
    for place, key in enumerate(task.keys):
        yield f"{path}keys[{place}]", key
    for place, sub in enumerate(task.subtasks):
        yield from _all_keys(sub, f"{path}subtasks[{place}].")


def _repeated(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The names that stood before, each with its place."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            yield place, name
        seen.add(name)


def _wrong_levels(keys: Sequence[Key], path: str) -> Iterator[Wrong]:
    """A hierarchy has keys of distinct names, ends, once, in url, and asks for what can be had."""
    if not keys or keys[-1].name != URL_KEY:
        yield f"{path}keys", f"a hierarchy ends in {URL_KEY}"
    for place, name in _repeated(key.name for key in keys):
        yield f"{path}keys[{place}].name", f"{name!r} stands twice"
    if prod(key.volume for key in keys) > MOST_RECORDS:
        yield f"{path}keys", f"volumes that ask for more than {MOST_RECORDS:,} records"


def _wrong_subtasks(
    subtasks: Sequence[Subtask], above: Sequence[Key], path: str
) -> Iterator[Wrong]:
    """Names are unique among siblings; a parent is a key of the hierarchy above, never url."""
    for place, name in _repeated(sub.name for sub in subtasks):
        yield f"{path}subtasks[{place}].name", f"{name!r} stands twice"
    for place, sub in enumerate(subtasks):
        here = f"{path}subtasks[{place}]."
        if "." in sub.name:
            yield f"{here}name", "a dot joins the names of nested subtasks, and is in none"
        parents = [key for key in above if key.name == sub.parent != URL_KEY]
        if not parents:
            yield f"{here}parent", f"{sub.parent!r} is no key above it"
        elif sub.parent in {key.name for key in sub.keys}:
            yield f"{here}keys", f"the parent key {sub.parent!r} stands in them too"
        yield from _wrong_levels(sub.keys, here)
        yield from _wrong_subtasks(sub.subtasks, (*parents, *sub.keys), here)


def _wrong_axes(keys: Iterable[tuple[str, Key]]) -> Iterator[Wrong]:
    """Keys of one name are one identity axis; composite keys do not contain one another."""
    axes: dict[str, Key] = {}
    for path, key in keys:
        first = axes.setdefault(key.name, key)
        for name in ("fields", "identity"):
            if getattr(first, name) != getattr(key, name):
                yield f"{path}.{name}", f"not those of the other key {key.name!r}"
    inside = {
        name: [field for field in key.fields if field in axes and field != name]
        for name, key in axes.items()
    }
    try:
        TopologicalSorter(inside).prepare()
    except CycleError as error:
        yield "keys", f"fields lead back to their key: {', '.join(map(repr, error.args[1]))}"


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
    packages: dict[str, Package] = {}
    faults: list[Fault] = []
    for path in dict.fromkeys(paths):
        for place, folder, data in _sources(path, faults):
            if (task := _parse(place, data, faults)) is None:
                continue
            first = packages.setdefault(task.name, Package(task, place, folder))
            if first.place != place:  # a package may be named beside the folder that it is in
                faults.append(Fault(place, "name", f"{task.name!r} is {first.place} too"))
    if faults:
        raise TaskError(faults)
    return list(packages.values())


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
    fields, prompt = folder / "task.toml", folder / "task.md"
    reading = fields
    try:
        data = tomllib.loads(fields.read_text("utf-8"))
        if "prompt" not in data and prompt.exists():
            reading = prompt
            data["prompt"] = prompt.read_text("utf-8")
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        faults.append(Fault(str(reading), "", f"unreadable: {reason}"))
        return
    yield str(fields), folder, data


def _lines(path: Path, faults: list[Fault]) -> Iterator[tuple[str, Path | None, Any]]:
    def fault(place: str, reason: str) -> None:
        faults.append(Fault(place, "", reason))

    empty = True
    for place, raw in read_lines(str(path), fault):
        empty = False
        try:
            yield place, None, parse_object(raw)
        except Unusable as error:
            fault(place, str(error))
    if empty:
        fault(str(path), "no task in it")


def _parse(place: str, data: Any, faults: list[Fault]) -> AnyTask | None:
    kind = data.get("kind")
    model = KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
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
    """What an error of pydantic says, in our own terms."""
    fault = error.get("ctx", {}).get("error")
    if error["type"] == "default_factory_not_called":  # the fault of another field
        return
    if error["type"].startswith("recursion"):
        yield "subtasks", "nested too deep"
    elif isinstance(fault, _WrongFields):
        for field, reason in fault.wrong:
            yield _path((*error["loc"], field)), reason
    elif fault is not None:  # of the judge or an identity: `field: reason`, or a reason alone
        field, _, reason = str(fault).partition(": ")
        if field.isidentifier() and reason:
            yield _path((*error["loc"], field)), reason
        else:
            yield _path(error["loc"]), str(fault)
    else:
        yield _path(error["loc"]), error["msg"]


def _path(location: Sequence[str | int]) -> str:
    """`keys[1].identity.members`, without the kind of a union that pydantic names behind it."""
    path = ""
    for before, part in zip(("", *location), location, strict=False):
        if before not in ("identity", "value"):
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.removeprefix(".")
