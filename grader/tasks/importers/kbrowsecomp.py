"""Converts the questions of K-BrowseComp to answer tasks (answers.md)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.lines import read_objects
from grader.tasks.importers.sources import default_name, faults_at
from grader.tasks.packages import Fault

_OWN_FIELDS = ("id", "problem", "answer", "aliases", "checklist")


def convert(source: Path, faults: list[Fault]) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a file of JSON lines. Other fields become labels. A line that cannot be
    converted is added to `faults`."""
    for place, item in read_objects(str(source), faults_at(faults)):
        if missing := [name for name in ("problem", "answer") if _text(item.get(name)) is None]:
            faults.append(Fault(place, missing[0], "is missing or not a text"))
        else:
            yield _task(item, default_name(source, place), _split(source))


def _split(source: Path) -> str:
    """The split of the questions that do not name one."""
    return "synthetic" if "synthetic" in source.name.casefold() else "verified"


def _task(item: Mapping[str, Any], name: str, split: str) -> dict[str, Any]:
    labels = {field: value for field, value in item.items() if field not in _OWN_FIELDS}
    aliases = item.get("aliases")
    return {
        "name": _text(item.get("id")) or name,
        "kind": "answer",
        "prompt": _text(item["problem"]),
        "answer": _text(item["answer"]),
        "aliases": [text for alias in aliases if (text := _text(alias))]
        if isinstance(aliases, list)
        else [],
        "checklist": _checklist(item.get("checklist")),
        "labels": {**labels, "split": labels.get("split") or split},
    }


def _checklist(value: Any) -> list[dict[str, str]]:
    """The slots of a checklist, which is an object of values or a list of values, with or without
    ids."""
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [
            (slot.get("id", place), slot.get("value")) if isinstance(slot, dict) else (place, slot)
            for place, slot in enumerate(value, 1)
        ]
    else:
        return []
    return [{"id": str(id_), "value": text} for id_, slot in pairs if (text := _text(slot))]


def _text(value: Any) -> str | None:
    """A text or a number as text; None for other values and for blank text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None
