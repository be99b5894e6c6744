"""Fields that no task has are named, with the nearest one that it has."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.tasks.packages import KINDS, MOST_WARNINGS, Fault, TaskError, load
from grader.tasks.unknown import DEEPEST, unknown_fields

KEY = {"name": "company", "volume": 2}
URL = {"name": "url", "volume": 1}
TOLD = {"id": "told", "rule": {"contains": "{url}"}}
COLLECTION = {"name": "c", "kind": "collection", "keys": [KEY, URL]}
TABLE = {
    "name": "t", "kind": "table", "columns": [{"name": "a", "format": "int"}],
    "key_columns": ["a"], "rows": [{"a": 1}],
}  # fmt: skip
ANSWER = {
    "name": "a",
    "kind": "answer",
    "answer": "Paris",
    "checklist": [{"id": "x", "value": "y"}],
}


def found(task: dict[str, Any]) -> list[tuple[str, str]]:
    return list(unknown_fields(task, KINDS[task["kind"]]))


def identity(**policy: Any) -> dict[str, Any]:
    return {**COLLECTION, "keys": [{**KEY, "identity": policy}, URL]}


def judge(**fields: Any) -> dict[str, Any]:
    return {**COLLECTION, "judge": fields}


def subtask(**fields: Any) -> dict[str, Any]:
    return {**COLLECTION, "subtasks": [{"name": "s", "parent": "company", "keys": [URL], **fields}]}


@pytest.mark.parametrize(
    ("task", "field", "near"),
    [
        ({**COLLECTION, "titel": "x"}, "titel", "title"),
        ({**COLLECTION, "keys": [{"name": "company", "volum": 2}, URL]}, "keys[0].volum", "volume"),
        ({**COLLECTION, "keys": [KEY, {**URL, "share": True}]}, "keys[1].share", "shared"),
        (identity(how="semantic", scop="x"), "keys[0].identity.scop", "scope"),
        (identity(scop="x"), "keys[0].identity.scop", "scope"),
        (identity(how="closed", member=["x"]), "keys[0].identity.member", "members"),
        (identity(how="date", formt="YYYY"), "keys[0].identity.formt", "format"),
        (identity(how="closed", members=["x"], scope="y"), "keys[0].identity.scope", ""),
        (identity(how="fuzzy", scop="x"), "keys[0].identity.scop", "scope"),
        (judge(instruction="x"), "judge.instruction", "instructions"),
        (judge(requirement=[TOLD]), "judge.requirement", "requirements"),
        (judge(requirements=[{**TOLD, "txt": "x"}]), "judge.requirements[0].txt", "text"),
        (judge(validity=[TOLD, {**TOLD, "One": "page"}]), "judge.validity[1].One", ""),
        (
            judge(requirements=[{"id": "x", "rule": {"contains": "a", "contain_any": "b"}}]),
            "judge.requirements[0].rule.contain_any", "contains_any",
        ),
        (
            judge(requirements=[{"id": "x", "rule": {"number_near": {"value": 1, "with": 2}}}]),
            "judge.requirements[0].rule.number_near.with", "within",
        ),
        (subtask(parnet="company"), "subtasks[0].parnet", "parent"),
        (subtask(keys=[{**URL, "field": ["url"]}]), "subtasks[0].keys[0].field", "fields"),
        (subtask(judge={"validty": []}), "subtasks[0].judge.validty", "validity"),
        (
            subtask(subtasks=[{"name": "n", "parent": "company", "key": [URL]}]),
            "subtasks[0].subtasks[0].key", "keys",
        ),
        ({**TABLE, "key_column": ["a"]}, "key_column", "key_columns"),
        ({**TABLE, "judge": {"x": 1}}, "judge", ""),
        ({**TABLE, "columns": [{"name": "a", "formt": "int"}]}, "columns[0].formt", "format"),
        ({**ANSWER, "alias": ["x"]}, "alias", "aliases"),
        ({**ANSWER, "checklist": [{"id": "x", "val": "y"}]}, "checklist[0].val", "value"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_unknown_field_is_named_with_the_nearest_one(
    task: dict[str, Any], field: str, near: str
) -> None:
    reason = f"unknown field; did you mean {near}?" if near else "unknown field"
    assert found(task) == [(field, reason)]


@pytest.mark.parametrize(
    "task",
    [
        COLLECTION,
        TABLE,
        ANSWER,
        {**COLLECTION, "prompt": "x", "labels": {"any": {"thing": 1}}, "member": "company"},
        identity(how="closed", members=["x"], aliases={"x": ["y"]}),
        judge(requirements=[{"id": "x", "rule": {"item_matches": {"field": "a", "regex": "b"}}}]),
        {**TABLE, "rows": [{"any": 1}], "as_of": "2026", "sentinels": []},
        {**COLLECTION, "keys": "none", "judge": [1], "subtasks": [None]},
    ],
)
def test_known_fields_and_free_content_are_not_named(task: dict[str, Any]) -> None:
    assert found(task) == []


def test_hostile_tasks_take_little_time() -> None:
    nested: dict[str, Any] = {}
    for _ in range(5_000):
        nested = {"name": "n", "subtasks": [nested], "x": 1}
    many = {"x" * 100_000 + str(n): 1 for n in range(200)}
    began = time.monotonic()
    assert len(found({**COLLECTION, "subtasks": [nested]})) == DEEPEST - 1
    names = [field for field, _ in found({**ANSWER, **many})]
    assert time.monotonic() - began < 5
    assert max(map(len, names)) <= 100


def written(folder: Path, *tasks: dict[str, Any]) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks), "utf-8")
    return path


def warnings(path: Path) -> Iterator[Fault]:
    for package in load([path]):
        yield from package.warnings


def test_a_loaded_package_has_its_warnings(tmp_path: Path) -> None:
    path = written(tmp_path, ANSWER, {**ANSWER, "name": "b", "titel": "x"})
    assert list(map(str, warnings(path))) == [
        f"{path}:2: titel: unknown field; did you mean title?"
    ]


def test_warnings_are_bounded(tmp_path: Path) -> None:
    path = written(tmp_path, {**ANSWER, **{f"x{n}": 1 for n in range(1_000)}})
    assert len(list(warnings(path))) == MOST_WARNINGS


def test_an_error_has_the_warnings_that_may_explain_it(tmp_path: Path) -> None:
    path = written(tmp_path, {**COLLECTION, "keys": [{"name": "company", "volum": 2}, URL]})
    with pytest.raises(TaskError) as raised:
        load([path])
    assert raised.value.faults[0].field == "keys[0].volume"
    assert [warning.field for warning in raised.value.warnings] == ["keys[0].volum"]
