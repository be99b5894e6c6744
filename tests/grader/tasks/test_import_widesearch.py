import json

import pytest

from grader.tasks.importers.widesearch import convert
from grader.tasks.table import TableTask

EVALUATION = {
    "unique_columns": ["Name"],
    "required": ["Name", "Net Worth"],
    "eval_pipeline": {
        "name": {"preprocess": ["norm_str"], "metric": ["exact_match"]},
        "networth": {"preprocess": ["extract_number"], "metric": ["number_near"], "criterion": 0.1},
    },
}
GOLD = '\ufeff,Name,Net Worth,More\n0,Ada,"1,000",x\n1,Ben,-,y\n'


def source(folder, gold="gold", **fields):
    item = {"instance_id": "q1", "query": "Who?", "language": "en", "evaluation": EVALUATION}
    path = folder / "questions.jsonl"
    path.write_text(json.dumps(item | fields) + "\n", "utf-8")
    if gold:
        (folder / gold).mkdir(exist_ok=True)
        (folder / gold / "q1.csv").write_text(GOLD, "utf-8")
    return path


@pytest.mark.parametrize("gold", ["gold", "widesearch_gold", "."])
@pytest.mark.parametrize("evaluation", [EVALUATION, json.dumps(EVALUATION)])
def test_a_question_becomes_a_task(tmp_path, gold, evaluation):
    faults = []
    [data] = convert(source(tmp_path, gold, evaluation=evaluation), faults)
    task = TableTask.model_validate(data)
    assert not faults
    assert (task.name, task.prompt, task.labels) == ("q1", "Who?", {"language": "en"})
    assert task.key_columns == ("name",)
    assert [column.name for column in task.columns] == ["name", "networth"]
    assert task.rows == ({"name": "Ada", "networth": "1,000"}, {"name": "Ben", "networth": "-"})
    assert task.sentinels == ()


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"instance_id": "q2"}, "instance_id"),
        ({"instance_id": "../q1"}, "instance_id"),
        ({"evaluation": "{"}, "evaluation"),
        ({"evaluation": {**EVALUATION, "required": []}}, "evaluation.required"),
        ({"evaluation": {**EVALUATION, "required": ["Name", "Age"]}}, "evaluation.required"),
        ({"evaluation": {**EVALUATION, "eval_pipeline": None}}, "evaluation.eval_pipeline"),
    ],
)
def test_a_fault_is_reported_with_its_line(tmp_path, fields, place):
    faults = []
    assert not list(convert(source(tmp_path, **fields), faults))
    assert [(fault.place.endswith(":1"), fault.field) for fault in faults] == [(True, place)]


def test_a_bad_line_does_not_stop_the_others(tmp_path):
    path = source(tmp_path)
    path.write_text("{\n[]\n" + path.read_text("utf-8"), "utf-8")
    faults = []
    assert len(list(convert(path, faults))) == 1
    assert [fault.place.rpartition(":")[2] for fault in faults] == ["1", "2"]
