"""K-BrowseComp's and BrowseComp's files to answer tasks."""

import base64
import csv
import hashlib
import json
from pathlib import Path
from typing import Any

from grader.tasks.answer import AnswerTask
from grader.tasks.importers import browsecomp, kbrowsecomp
from grader.tasks.packages import Fault


def lines(path: Path, *items: Any) -> Path:
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items), "utf-8")
    return path


def test_a_question_of_kbrowsecomp(tmp_path: Path) -> None:
    source = lines(
        tmp_path / "questions.jsonl",
        {
            "id": "q-7",
            "problem": "강 이름은?",
            "answer": "한강",
            "type": "parallel",
            "category": "지리",
            "split": "synthetic",
            "source_urls": ["https://example.org"],
            "checklist": [{"id": "town", "value": "양평"}],
        },
    )
    faults: list[Fault] = []
    (task,) = kbrowsecomp.convert(source, faults)
    assert not faults
    assert task == {
        "name": "q-7",
        "kind": "answer",
        "prompt": "강 이름은?",
        "answer": "한강",
        "aliases": [],
        "checklist": [{"id": "town", "value": "양평"}],
        "labels": {
            "type": "parallel",
            "category": "지리",
            "split": "synthetic",
            "source_urls": ["https://example.org"],
        },
    }
    assert AnswerTask.model_validate(task).checklist[0].value == "양평"


def test_default_names_and_splits(tmp_path: Path) -> None:
    question = {"problem": "?", "answer": 42}
    for stem, split in (("verified_set", "verified"), ("Synthetic_set", "synthetic")):
        source = lines(tmp_path / f"{stem}.jsonl", question, question)
        tasks = list(kbrowsecomp.convert(source, []))
        assert [task["name"] for task in tasks] == [f"{stem}-1", f"{stem}-2"]
        assert {task["labels"]["split"] for task in tasks} == {split}
        assert tasks[0]["answer"] == "42"


def test_checklists_of_every_form(tmp_path: Path) -> None:
    forms = [{"town": "양평"}, ["양평"], [{"value": "양평"}], [{"id": "town", "value": ""}], "양평"]
    source = lines(
        tmp_path / "q.jsonl", *({"problem": "?", "answer": "!", "checklist": f} for f in forms)
    )
    found = [task["checklist"] for task in kbrowsecomp.convert(source, [])]
    assert found == [
        [{"id": "town", "value": "양평"}],
        [{"id": "1", "value": "양평"}],
        [{"id": "1", "value": "양평"}],
        [],
        [],
    ]


def test_a_line_that_cannot_be_converted_is_named(tmp_path: Path) -> None:
    source = tmp_path / "q.jsonl"
    source.write_text('{"problem": "?"}\n\n[]\n{"pro\n{"problem": "?", "answer": "!"}\n')
    faults: list[Fault] = []
    assert len(list(kbrowsecomp.convert(source, faults))) == 1
    assert [(fault.place, fault.field) for fault in faults] == [
        (f"{source}:1", "answer"),
        (f"{source}:3", ""),
        (f"{source}:4", ""),
    ]


def test_a_missing_file_is_a_fault(tmp_path: Path) -> None:
    for importer in (kbrowsecomp, browsecomp):
        faults: list[Fault] = []
        assert not list(importer.convert(tmp_path / "none", faults))
        assert len(faults) == 1


# --------------------------------------------------------------------------------------- BrowseComp


def encrypted(text: str, canary: str) -> str:
    data = text.encode()
    key = hashlib.sha256(canary.encode()).digest()
    key = key * (len(data) // len(key)) + key[: len(data) % len(key)]
    return base64.b64encode(bytes(a ^ b for a, b in zip(data, key, strict=True))).decode()


def table(path: Path, *rows: dict[str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(problem: str, answer: str, canary: str = "CANARY 1", **other: str) -> dict[str, str]:
    return {
        "problem": encrypted(problem, canary),
        "answer": encrypted(answer, canary),
        "canary": canary,
        **other,
    }


def test_questions_of_browsecomp_are_decrypted(tmp_path: Path) -> None:
    long = "어느 강이 두 물이 만나는 곳에서 시작하는가? " * 5
    source = table(
        tmp_path / "browse.csv",
        row(long, "한강", problem_topic="Geography"),
        row("Which river?", "Han", canary="CANARY 2", problem_topic=""),
    )
    faults: list[Fault] = []
    first, second = browsecomp.convert(source, faults)
    assert not faults
    assert first == {
        "name": "browse-2",
        "kind": "answer",
        "prompt": long.strip(),
        "answer": "한강",
        "labels": {"problem_topic": "Geography"},
    }
    assert (second["name"], second["answer"], second["labels"]) == ("browse-3", "Han", {})
    AnswerTask.model_validate(first)


def test_a_known_text_is_decrypted_as_published(tmp_path: Path) -> None:
    # SHA-256 of "abc" begins with ba 78 16: "Han" is f2 19 78 under it.
    source = tmp_path / "b.csv"
    source.write_text("problem,answer,canary\n8hl4,8hl4,abc\n")
    (task,) = browsecomp.convert(source, [])
    assert (task["prompt"], task["answer"]) == ("Han", "Han")


def test_a_row_that_cannot_be_decrypted_is_named(tmp_path: Path) -> None:
    good = row("Which?", "Han")
    source = table(
        tmp_path / "b.csv",
        {**good, "answer": "not base64!"},
        {**good, "answer": ""},
        {**good, "canary": "another"},
        good,
    )
    faults: list[Fault] = []
    assert [task["name"] for task in browsecomp.convert(source, faults)] == ["b-5"]
    assert [(fault.place, fault.field) for fault in faults[:2]] == [
        (f"{source}:2", "answer"),
        (f"{source}:3", "answer"),
    ]
    assert len(faults) == 3


def test_a_file_without_the_columns_is_a_fault(tmp_path: Path) -> None:
    for content in ("problem,answer\na,b\n", "", "\x00", "a" * 200_000):
        source = tmp_path / "b.csv"
        source.write_text(content)
        faults: list[Fault] = []
        assert not list(browsecomp.convert(source, faults))
        assert len(faults) == 1
