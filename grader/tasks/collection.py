"""A collection task: a qualification key hierarchy with its subtasks (WANDR, section 3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from math import prod
from typing import Annotated, Any, Literal, Self

from pydantic import Field
from pydantic import model_validator as validator

from fetchers.triage.open_publishing import OPEN_PUBLISHING_HOSTS
from grader.tasks.task import Model, Name, Task, Wrong, refuse
from judges.names.policies import Identity, Semantic
from judges.records.spec import JudgeSpec, Rule, ValidityCheck

URL_KEY = "url"
MOST_RECORDS = 10**9
"""The most records that a hierarchy may ask for. Readers of JSON cannot hold larger counts."""


def _own_field(key: dict[str, Any]) -> tuple[str, ...]:
    """The default of a key's fields; `key` has its valid values."""
    return (key["name"],) if "name" in key else ()


def _first_key(task: dict[str, Any]) -> str:
    """The default of a task's member."""
    return task["keys"][0].name if "keys" in task else ""


MOST_FIELDS = 200
"""The most fields that a key may have. The fields of a field that is a key count too, and can
double at each level."""


class Key(Model):
    """One level of a hierarchy: the fields that identify its items, and the number of items that
    each parent needs."""

    name: Name
    fields: tuple[Name, ...] = Field(default_factory=_own_field, min_length=1)
    volume: Annotated[int, Field(strict=True, ge=1)]
    identity: Identity = Semantic()
    shared: Annotated[bool, Field(strict=True)] = False

    @validator(mode="after")
    def _whole(self) -> Self:
        refuse(self._wrong())
        return self

    def _wrong(self) -> Iterator[Wrong]:
        if (self.name == URL_KEY) != (URL_KEY in self.fields) or self.fields.count(URL_KEY) > 1:
            yield "fields", f"{URL_KEY} must be a field of the {URL_KEY} key, and of no other key"
        for place, field in _repeated(self.fields):
            yield f"fields[{place}]", f"{field!r} is there twice"
        members = getattr(self.identity, "members", ())
        if members and self.volume > len(members):
            yield "volume", f"{self.volume} is more than the {len(members)} members of the roster"


class Subtask(Model):
    """A hierarchy whose top key is a key of the parent hierarchy."""

    name: Name
    parent: Name
    keys: tuple[Key, ...]
    judge: JudgeSpec = JudgeSpec()
    subtasks: tuple["Subtask", ...] = ()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The main hierarchy of a task, or the hierarchy of a subtask with its parent key first.
    `fields` are the fields of its records, `judge` decides them."""

    levels: tuple[Key, ...]
    fields: tuple[str, ...]
    judge: JudgeSpec


NOT_OPEN_PUBLISHING = ValidityCheck(
    id="open_publishing",
    text="The page is not on a host where anyone can publish any text within a minute.",
    rule=Rule(not_domain=OPEN_PUBLISHING_HOSTS),
)
"""The validity check that `open_publishing = "fail"` adds to every hierarchy."""


class CollectionTask(Task):
    """A qualification key hierarchy with its subtasks (WANDR, section 3).

    `open_publishing` is for pages on hosts where anyone can publish any text: `report` adds a flag
    to the record, `fail` also fails the record.
    """

    kind: Literal["collection"]
    open_publishing: Literal["report", "fail"] = "report"
    keys: tuple[Key, ...] = Field(min_length=1)
    member: Name = Field(default_factory=_first_key)
    judge: JudgeSpec = JudgeSpec()
    subtasks: tuple[Subtask, ...] = ()

    @validator(mode="after")
    def _whole(self) -> Self:
        refuse(self._wrong())
        return self

    def _wrong(self) -> Iterator[Wrong]:
        yield from _wrong_levels(self.keys, "")
        if self.member not in {key.name for key in self.keys}:
            yield "member", f"{self.member!r} is not a key of the task"
        yield from _wrong_subtasks(self.subtasks, self.keys, "")
        yield from _wrong_axes(_all_keys(self, ""))
        if self.open_publishing == "fail":
            yield from _wrong_checks(self, "")

    @cached_property
    def hierarchies(self) -> Mapping[str | None, Hierarchy]:
        """Every hierarchy by the name that records give (`a.b`); None is the main one."""
        keys = {key.name: key for _, key in _all_keys(self, "")}
        added = (NOT_OPEN_PUBLISHING,) if self.open_publishing == "fail" else ()
        judge = _with_checks(self.judge, added)
        found: dict[str | None, Hierarchy] = {None: _hierarchy(self.keys, judge, keys)}
        stack = [(sub, self.keys, "") for sub in self.subtasks]
        while stack:
            sub, above, prefix = stack.pop()
            parent = next(key for key in above if key.name == sub.parent)
            levels = (parent, *sub.keys)
            judge = _with_checks(sub.judge, added)
            found[prefix + sub.name] = _hierarchy(levels, judge, keys)
            stack.extend((below, levels, f"{prefix}{sub.name}.") for below in sub.subtasks)
        return found


def _hierarchy(levels: tuple[Key, ...], judge: JudgeSpec, keys: Mapping[str, Key]) -> Hierarchy:
    fields = dict.fromkeys(f for key in levels[:-1] for f in _fields(key, keys))
    return Hierarchy(levels, tuple(fields), judge)


def _with_checks(judge: JudgeSpec, checks: tuple[ValidityCheck, ...]) -> JudgeSpec:
    """A judge with more validity checks. Not a copy of the model: that would keep its digest."""
    if not checks:
        return judge
    return JudgeSpec(
        instructions=judge.instructions,
        validity=(*judge.validity, *checks),
        requirements=judge.requirements,
    )


def _fields(key: Key, keys: Mapping[str, Key]) -> Iterator[str]:
    """The fields of a key. A field that is a key too stands for the fields of that key."""
    for field in key.fields:
        if field in keys and field != key.name:
            yield from _fields(keys[field], keys)
        else:
            yield field


def _all_keys(task: CollectionTask | Subtask, path: str) -> Iterator[tuple[str, Key]]:
    """Every key of a task and its subtasks, with its path."""
    for place, key in enumerate(task.keys):
        yield f"{path}keys[{place}]", key
    for place, sub in enumerate(task.subtasks):
        yield from _all_keys(sub, f"{path}subtasks[{place}].")


def _repeated(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The names that came before, each with its place."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            yield place, name
        seen.add(name)


def _wrong_levels(keys: Sequence[Key], path: str) -> Iterator[Wrong]:
    """Check that the keys of a hierarchy have distinct names, that the last one is url, and that
    the volumes do not ask for too many records."""
    if not keys or keys[-1].name != URL_KEY:
        yield f"{path}keys", f"the last key of a hierarchy must be {URL_KEY}"
    for place, name in _repeated(key.name for key in keys):
        yield f"{path}keys[{place}].name", f"{name!r} is the name of another key"
    if prod(key.volume for key in keys) > MOST_RECORDS:
        yield f"{path}keys", f"the volumes ask for more than {MOST_RECORDS:,} records"


def _wrong_subtasks(
    subtasks: Sequence[Subtask], above: Sequence[Key], path: str
) -> Iterator[Wrong]:
    """Check that siblings have distinct names, and that a parent is a key of the hierarchy above,
    but not url."""
    for place, name in _repeated(sub.name for sub in subtasks):
        yield f"{path}subtasks[{place}].name", f"{name!r} is the name of another subtask"
    for place, sub in enumerate(subtasks):
        here = f"{path}subtasks[{place}]."
        if "." in sub.name:
            yield f"{here}name", "must not have a dot, which joins the names of nested subtasks"
        parents = [key for key in above if key.name == sub.parent != URL_KEY]
        if not parents:
            yield f"{here}parent", f"{sub.parent!r} is not a key of the hierarchy above"
        elif sub.parent in {key.name for key in sub.keys}:
            yield f"{here}keys", f"must not have the parent key {sub.parent!r} again"
        yield from _wrong_levels(sub.keys, here)
        yield from _wrong_subtasks(sub.subtasks, (*parents, *sub.keys), here)


def _wrong_checks(task: CollectionTask | Subtask, path: str) -> Iterator[Wrong]:
    """Check that no check of the task has the id that `open_publishing = "fail"` adds."""
    for place, check in enumerate(task.judge.validity):
        if check.id == NOT_OPEN_PUBLISHING.id:
            yield (
                f"{path}judge.validity[{place}].id",
                f'{check.id!r} is the id of the check that open_publishing = "fail" adds',
            )
    for place, sub in enumerate(task.subtasks):
        yield from _wrong_checks(sub, f"{path}subtasks[{place}].")


def _wrong_axes(keys: Iterable[tuple[str, Key]]) -> Iterator[Wrong]:
    """Check that keys of one name have the same fields and identity, because they are one identity
    axis, and that composite keys do not contain one another."""
    axes: dict[str, Key] = {}
    for path, key in keys:
        first = axes.setdefault(key.name, key)
        for name in ("fields", "identity"):
            if getattr(first, name) != getattr(key, name):
                yield f"{path}.{name}", f"must be the same as in the other key {key.name!r}"
    inside = {
        name: [field for field in key.fields if field in axes and field != name]
        for name, key in axes.items()
    }
    try:
        inner_first = tuple(TopologicalSorter(inside).static_order())
    except CycleError as error:
        yield "keys", f"the fields of a key lead back to it: {', '.join(map(repr, error.args[1]))}"
        return
    sizes: dict[str, int] = {}
    for name in inner_first:
        fields = axes[name].fields
        sizes[name] = 1 + sum(sizes[f] if f in inside[name] else 1 for f in fields)
        if sizes[name] > MOST_FIELDS:
            yield (
                "keys",
                f"{name!r} has more than {MOST_FIELDS} fields, including the fields of its fields",
            )
            return
