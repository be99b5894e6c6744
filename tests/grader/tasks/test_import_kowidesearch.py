import json

from grader.tasks.importers.kowidesearch import convert
from grader.tasks.table import TableTask

RECORD = {
    "id": "k-1",
    "tier": "HARD",
    "category": "Government",
    "sourcing": "CROSS_SOURCE",
    "as_of": "2026-06",
    "question": "시장을 모두 적으시오.",
    "columns": [{"name": "시", "format": "name"}, {"name": "나이", "format": "int"}],
    "key_columns": ["시"],
    "rows": [{"시": "가", "attrs": {"나이": 51}}, {"시": "나", "나이": None}],
}


def test_a_record_becomes_a_task(tmp_path):
    path = tmp_path / "ko.jsonl"
    nameless = {name: value for name, value in RECORD.items() if name != "id"}
    nameless |= {"key_columns": "시"}
    path.write_text("\n".join([json.dumps(RECORD), "[", "5", json.dumps(nameless)]), "utf-8")
    faults = []
    first, second = (TableTask.model_validate(data) for data in convert(path, faults))
    assert (first.name, first.as_of, first.prompt) == ("k-1", "2026-06", RECORD["question"])
    assert first.labels == {"tier": "HARD", "category": "Government", "sourcing": "CROSS_SOURCE"}
    assert first.rows == ({"시": "가", "나이": "51"}, {"시": "나", "나이": None})
    assert (second.name, second.key_columns) == ("ko-4", ("시",))
    assert [fault.place.rpartition(":")[2] for fault in faults] == ["2", "3"]


def test_fields_that_a_column_has_no_place_for_are_left_out(tmp_path):
    path = tmp_path / "ko.jsonl"
    columns = [{**column, "description": "설명"} for column in RECORD["columns"]]
    path.write_text(json.dumps(RECORD | {"columns": columns}), "utf-8")
    (task,) = convert(path, [])
    assert task["columns"] == RECORD["columns"]
