"""Converts the records of Ko-WideSearch to table tasks (its appendix, "Data Schema")."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.lines import read_objects
from grader.tasks.importers.sources import default_name, faults_at
from grader.tasks.packages import Fault
from grader.tasks.table import Column

# The paper describes the fields of a record and does not spell their names.
NAMES = ("id", "instance_id")
PROMPTS = ("question", "query", "prompt")
KEYS = ("key_columns", "primary_key", "row_key", "keys")
ROWS = ("rows", "gold", "answer", "gold_answer")
LABELS = ("tier", "category", "sourcing")


def convert(source: Path, faults: list[Fault]) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a file of JSON lines. A record without an id is named after the file and
    its line. A line that is not a record is added to `faults`."""
    for place, record in read_objects(str(source), faults_at(faults)):
        yield _task(record, default_name(source, place))


def _task(record: Mapping[str, Any], default_name: str) -> dict[str, Any]:
    keys = _first(record, KEYS)
    columns = _first(record, ("columns",))
    rows = _first(record, ROWS)
    if isinstance(rows, Mapping):
        rows = _first(rows, ROWS)
    task = {
        "name": str(_first(record, NAMES) or default_name),
        "kind": "table",
        "prompt": _first(record, PROMPTS) or "",
        "labels": {name: record[name] for name in LABELS if name in record},
        "columns": [_column(column) for column in columns]
        if isinstance(columns, list)
        else columns,
        "key_columns": [keys] if isinstance(keys, str) else keys,
        "rows": [_row(row) for row in rows] if isinstance(rows, list) else rows,
    }
    return task | {name: record[name] for name in ("as_of", "sentinels") if name in record}


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if name in record), None)


def _column(column: Any) -> Any:
    """A column with the fields that a task has a place for."""
    if not isinstance(column, dict):
        return column
    return {name: value for name, value in column.items() if name in Column.model_fields}


def _row(row: Any) -> Any:
    """A row with its attributes beside its key; some rows have them in an object `attrs`."""
    if isinstance(row, dict) and isinstance(row.get("attrs"), dict):
        return {name: cell for name, cell in row.items() if name != "attrs"} | row["attrs"]
    return row
