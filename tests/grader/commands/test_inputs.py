"""The tasks that a command reads: warnings, and files that no result may replace."""

import json
from pathlib import Path

import pytest

from grader.commands.errors import CommandError
from grader.commands.inputs import MOST_WARNINGS, input_files, load_packages, require_rules

ANSWER = {"kind": "answer", "answer": "Paris"}
ASKING = {
    "name": "opinions", "kind": "collection", "keys": [{"name": "url", "volume": 1}],
    "judge": {"requirements": [{"id": "wise", "text": "Is it?"}]},
}  # fmt: skip


def lines(path: Path, *tasks: object) -> Path:
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks), "utf-8")
    return path


def test_unknown_fields_are_reported_up_to_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = MOST_WARNINGS + 5
    tasks = [{**ANSWER, "name": f"t{n}", "titel\x1b": ""} for n in range(count)]
    path = lines(tmp_path / "tasks.jsonl", *tasks)
    assert len(load_packages([path])) == count
    told = capsys.readouterr().err.splitlines()
    expected = f"Warning: {path}:1: titel\\u001b: unknown field; did you mean title?"
    assert told[0] == expected
    assert told[-1] == "Warning: and 5 more"
    assert len(told) == MOST_WARNINGS + 1


def test_good_tasks_are_read_in_silence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load_packages([lines(tmp_path / "tasks.jsonl", {**ANSWER, "name": "t"})])
    assert capsys.readouterr().err == ""


def test_the_warnings_of_bad_tasks_are_reported_before_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(tmp_path / "tasks.jsonl", {"kind": "answer", "name": "t", "anwser": "x"})
    with pytest.raises(CommandError) as raised:
        load_packages([path])
    assert raised.value.message.startswith(f"{path}:1: answer: ")
    assert "anwser: unknown field; did you mean answer?" in capsys.readouterr().err


def test_the_files_of_packages_and_the_configuration_are_inputs(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "task.toml").write_text('name = "p"\nkind = "answer"\nanswer = "x"\n')
    path = lines(tmp_path / "tasks.jsonl", {**ANSWER, "name": "t"})
    found = input_files([folder, path], load_packages([folder, path]))
    assert set(found) >= {
        Path("grader.toml"), path, folder / "task.toml", folder / "task.md", folder / "rows.csv",
    }  # fmt: skip


def test_a_task_without_rules_is_refused_by_name(tmp_path: Path) -> None:
    path = lines(tmp_path / "tasks.jsonl", {**ANSWER, "name": "t"}, ASKING)
    with pytest.raises(CommandError, match=r"'opinions'.*wise.*--judge rules"):
        require_rules([package.task for package in load_packages([path])])
    require_rules([])
