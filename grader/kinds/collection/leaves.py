"""Leaves for the rollup, read from rows of records.jsonl (formats.md, section 3)."""

from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Any, NamedTuple

from grader.tasks.collection import URL_KEY, CollectionTask

Value = str | tuple[str, ...]
Step = tuple[Value | int | None, Value | None]
"""A child of a node: its value after canonicalisation, and its identity after deduplication.

The identity is None if the value is outside a closed roster. Both are None if a field of the key is
missing.
"""

TRUSTED = 2
"""A record with less confidence is missing (WANDR, section 5; scoring.md, section 1)."""

JUDGED = ("verdict_full", "verdict_retrieval", "confidence")
"""The fields that a graded record must have."""

Level = tuple[str, tuple[str, ...]]
"""A key above the url: its name and its fields."""

Row = Mapping[str, Any]
MISSING: Step = (None, None)
TEXT_OR_NULL = frozenset({str, NoneType})


class Leaf(NamedTuple):
    """One record, as the rollup reads it.

    `path` has the steps from the top key (in a subtask, from its parent key) to the url. It ends
    early at the first step without an identity. `full`, `retrieval` and `confidence` are set if
    `state` is `graded`; otherwise they are False, False and 0.
    """

    subtask: str | None
    path: tuple[Step, ...]
    state: str
    full: bool
    retrieval: bool
    confidence: int


class LeafReader:
    """Reads the rows of one task."""

    def __init__(self, task: CollectionTask) -> None:
        self._levels: dict[str | None, tuple[Level, ...]] = {
            name: tuple((key.name, key.fields) for key in found.levels[:-1])
            for name, found in task.hierarchies.items()
        }

    def leaf(self, row: Row) -> Leaf:
        """Read a row of records.jsonl.

        Raises ValueError if the row is not a row of this task. The message names the field.
        """
        subtask, state = row.get("subtask"), row.get("state")
        if not isinstance(subtask, str | None) or subtask not in self._levels:
            raise ValueError(f"subtask: the task has no subtask {subtask!r}")
        full: Any = False
        retrieval: Any = False
        confidence: Any = 0
        if state == "graded":
            full, retrieval, confidence = map(row.get, JUDGED)
            if not (type(full) is type(retrieval) is bool and type(confidence) is int):
                raise ValueError(
                    f"{', '.join(JUDGED)}: a graded record has two booleans and an integer"
                )
        elif state not in ("invalid", "ungraded"):
            raise ValueError(f"state: unknown state {state!r}")
        path = _path(self._levels[subtask], row)
        return Leaf(subtask, path, state, full, retrieval, confidence)


def _path(levels: Iterable[Level], row: Row) -> tuple[Step, ...]:
    """The steps of a record through its hierarchy. Stops at the first step without an identity.

    Raises ValueError.
    """
    item = row.get("item") or {}
    forms = row.get("canonical") or {}
    identities = row.get("identity") or {}
    if not type(item) is type(forms) is type(identities) is dict:
        raise ValueError("item, canonical, identity: each must be an object")
    if not TEXT_OR_NULL.issuperset(map(type, identities.values())):
        raise ValueError("identity: each value must be a string or null")
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
    """The step at a key with one field, from the submitted values (`item`), their standard forms
    and their identities."""
    value = forms.get(name) or forms.get(fields[0]) or item.get(fields[0])
    if not value or type(value) is not str:
        return MISSING
    return value, identities.get(name, value)


def _composite_step(
    name: str, fields: tuple[str, ...], item: Row, forms: Row, identities: Row
) -> Step:
    """The step at a key with several fields. If the key has no standard form or identity,
    those of its fields are joined (formats.md, section 1: composite keys)."""
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
