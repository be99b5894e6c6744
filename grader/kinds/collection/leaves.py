"""A graded record as the rollup sees it, read from a row of records.jsonl (formats.md, 3)."""

from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Any, NamedTuple

from grader.tasks.collection import URL_KEY, CollectionTask

Value = str | tuple[str, ...]
Step = tuple[Value | int | None, Value | None]
"""A child as its siblings tell it apart: its value after canonicalisation, and its identity. No
identity: outside a closed roster. No value either: a field of the key is missing."""

TRUSTED = 2
"""A verdict of less confidence is treated as missing (WANDR, section 5)."""

JUDGED = ("verdict_full", "verdict_retrieval", "confidence")
"""The fields that make a record graded."""

Reading = tuple[str, tuple[str, ...]]
"""A key above the url as records are read by it: its name and its fields."""

Row = Mapping[str, Any]
MISSING: Step = (None, None)
TEXT_OR_NULL = frozenset({str, NoneType})


class Leaf(NamedTuple):
    """One graded record as the rollup sees it.

    `path` leads to the url (in a subtask from its parent key), or ends in the first step without
    an identity. Verdicts and confidence (False and 0 where there are none) count for a graded
    record alone.
    """

    subtask: str | None
    path: tuple[Step, ...]
    state: str
    full: bool
    retrieval: bool
    confidence: int


class LeafReader:
    """Reads the records of one task."""

    def __init__(self, task: CollectionTask) -> None:
        self._levels: dict[str | None, tuple[Reading, ...]] = {
            name: tuple((key.name, key.fields) for key in found.levels[:-1])
            for name, found in task.hierarchies.items()
        }

    def leaf(self, row: Row) -> Leaf:
        """Read a row of records.jsonl.

        Raises ValueError, saying what is wrong, where the row is none of this task's.
        """
        subtask, state = row.get("subtask"), row.get("state")
        if not isinstance(subtask, str | None) or subtask not in self._levels:
            raise ValueError(f"subtask: {subtask!r} is none of the task's")
        full: Any = False
        retrieval: Any = False
        confidence: Any = 0
        if state == "graded":
            full, retrieval, confidence = map(row.get, JUDGED)
            if not (type(full) is type(retrieval) is bool and type(confidence) is int):
                raise ValueError(f"{', '.join(JUDGED)}: not those of a graded record")
        elif state not in ("invalid", "ungraded"):
            raise ValueError(f"state: {state!r} is unknown")
        path = _path(self._levels[subtask], row)
        return Leaf(subtask, path, state, full, retrieval, confidence)


def _path(levels: Iterable[Reading], row: Row) -> tuple[Step, ...]:
    """The steps of a record through its hierarchy, up to the first without an identity."""
    item = row.get("item") or {}
    forms = row.get("canonical") or {}
    identities = row.get("identity") or {}
    if not type(item) is type(forms) is type(identities) is dict:
        raise ValueError("item, canonical, identity: not all are objects")
    if not TEXT_OR_NULL.issuperset(map(type, identities.values())):
        raise ValueError("identity: neither text nor null")
    path = []
    for name, fields in levels:
        read = _composite_step if len(fields) > 1 else _step
        path.append(step := read(name, fields, item, forms, identities))
        if step[1] is None:
            return tuple(path)
    url = forms.get(URL_KEY) or row.get(URL_KEY)
    path.append((url, url) if url and type(url) is str else MISSING)
    return tuple(path)


def _step(name: str, fields: tuple[str, ...], item: Row, forms: Row, identities: Row) -> Step:
    """A record's step at a key of one field, from the submitted values, their standard forms and
    their identities."""
    value = forms.get(name) or forms.get(fields[0]) or item.get(fields[0])
    if not value or type(value) is not str:
        return MISSING
    return value, identities.get(name, value)


def _composite_step(
    name: str, fields: tuple[str, ...], item: Row, forms: Row, identities: Row
) -> Step:
    """The same for a key of several fields. Each resolves by itself, where the key has no form
    or identity of its own."""
    value = forms.get(name)
    if type(value) is not str:
        value = tuple([forms.get(field) or item.get(field) for field in fields])
        if not all(value) or set(map(type, value)) != {str}:
            return MISSING
    if name in identities:
        return value, identities[name]
    if type(value) is str:
        return value, value
    resolved = tuple(map(identities.get, fields, value))
    return value, None if None in resolved else resolved
