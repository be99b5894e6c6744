"""Converts the questions and gold tables of WideSearch to table tasks (tables.md)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from grader.lines import read_objects
from grader.tasks.importers.sources import faults_at
from grader.tasks.packages import Fault
from grader.tasks.table import rows_from_csv

GOLD_FOLDERS = ("gold", "widesearch_gold", ".")


def convert(source: Path, faults: list[Fault]) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a file of JSON lines; the gold tables are in a folder beside it. A line
    that cannot be converted is added to `faults`."""
    for place, item in read_objects(str(source), faults_at(faults)):
        try:
            yield _task(item, source.parent)
        except _BadItem as fault:
            faults.append(Fault(place, fault.field, fault.reason))


class _BadItem(Exception):
    """A line that cannot be converted: the field, and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


def _task(item: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    name = item.get("instance_id")
    if not isinstance(name, str) or not name or "/" in name or "\\" in name:
        raise _BadItem("instance_id", f"{name!r} cannot be the name of a file")
    evaluation = _evaluation(item.get("evaluation"))
    columns = _names(evaluation, "required")
    keys = _names(evaluation, "unique_columns")
    pipeline = evaluation.get("eval_pipeline")
    if not isinstance(pipeline, Mapping):
        raise _BadItem("evaluation.eval_pipeline", "not an object")
    steps = {_column_name(column): step for column, step in pipeline.items()}
    labels = {"language": item["language"]} if "language" in item else {}
    return {
        "name": name,
        "kind": "table",
        "prompt": item.get("query", ""),
        "labels": labels,
        "columns": [_column(column, steps.get(column)) for column in columns],
        "key_columns": keys,
        "rows": _gold(name, columns, folder),
        "sentinels": [],
    }


def _evaluation(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError as error:
            raise _BadItem("evaluation", f"unreadable JSON: {error}") from None
    if not isinstance(value, dict):
        raise _BadItem("evaluation", "not an object")
    return value


def _names(evaluation: Mapping[str, Any], field: str) -> list[str]:
    names = evaluation.get(field)
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise _BadItem(f"evaluation.{field}", "not a list of names")
    return [_column_name(name) for name in names]


def _column_name(name: str) -> str:
    """A name as WideSearch normalises it."""
    return name.strip().lower().replace(" ", "")


def _column(name: str, step: Any) -> dict[str, Any]:
    """A column with its metric. Without a step in the pipeline it must match exactly."""
    if step is None:
        return {"name": name, "metric": ["exact_match"]}
    if not isinstance(step, dict):
        raise _BadItem(f"evaluation.eval_pipeline.{name}", "not an object")
    column = {
        "name": name,
        **{field: step[field] for field in ("preprocess", "metric") if field in step},
    }
    if step.get("criterion") is not None:
        column["criterion"] = step["criterion"]
    return column


def _gold(name: str, columns: list[str], folder: Path) -> list[dict[str, str]]:
    paths = [folder / place / f"{name}.csv" for place in GOLD_FOLDERS]
    path = next(filter(Path.is_file, paths), None)
    if path is None:
        raise _BadItem("instance_id", f"no gold table; looked for {', '.join(map(str, paths))}")
    try:
        rows = rows_from_csv(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _BadItem("", f"{path}: {error}") from None
    named = [{_column_name(column): cell for column, cell in row.items()} for row in rows]
    if missing := [column for column in columns if named and column not in named[0]]:
        raise _BadItem("evaluation.required", f"{path} has no column {missing[0]!r}")
    wanted = ({column: row[column] for column in columns} for row in named)
    return [row for row in wanted if any(map(str.strip, row.values()))]
