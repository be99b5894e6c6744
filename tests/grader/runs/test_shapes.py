"""Run lines of WideSearch and search_evals are read as they are (formats.md, section 2)."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.runs.shapes import line_of_search_evals, line_of_widesearch
from grader.runs.submissions import Reader, Submission
from grader.tasks.answer import AnswerTask

TASKS = {
    "q1": AnswerTask(name="q1", kind="answer", prompt="Which city?", answer="Paris"),
    "q2": AnswerTask(name="q2", kind="answer", prompt="Which year?", answer="1903"),
}


def read(path: Path, line: Any) -> Submission:
    path.write_text(json.dumps(line), "utf-8")
    rejects: list[Any] = []
    (found,) = Reader([str(path)], TASKS, rejects.append)
    assert not rejects
    return found


def test_a_line_of_widesearch(tmp_path: Path) -> None:
    line = {"instance_id": "q1", "response": "Paris", "trial_idx": 2, "messages": [{"a": 1}]}
    found = read(tmp_path / "run.jsonl", line)
    assert (found.run, found.task.name, found.rollout) == ("run", "q1", "2")
    assert (found.response, found.trajectory) == ("Paris", [{"a": 1}])


def test_a_line_of_widesearch_without_a_response_is_blank() -> None:
    assert line_of_widesearch({"instance_id": "q1", "response": None}) == {
        "task": "q1", "response": "",
    }  # fmt: skip
    assert line_of_widesearch({"instance_id": "q1"}) is None
    assert line_of_widesearch({"response": "x"}) is None


CALLS = [
    {"role": "user", "content": "Which city?"},
    {"role": "assistant", "content": [{"type": "tool_use", "name": "web_search"}]},
    {"role": "assistant", "tool_calls": [{"function": {"name": "search"}}, {"function": 1}, 2]},
    {"type": "function_call", "name": "open_page"},
    {"content": {"role": "model", "parts": [{"function_call": {"name": "google_search"}}]}},
]


@pytest.mark.parametrize(
    "last",
    [
        {"role": "assistant", "content": "Paris"},
        {"role": "assistant", "content": [{"type": "text", "text": "Paris"}, {"text": ""}, 3]},
        {"content": {"role": "model", "parts": [{"text": "Paris"}]}},
    ],
    ids=["OpenAI", "Anthropic", "Gemini"],
)
def test_a_result_of_search_evals(tmp_path: Path, last: Any) -> None:
    line = {"datum": {"id": "q1", "problem": "?"}, "convo": {"messages": [*CALLS, last]}}
    found = read(tmp_path / "run.jsonl", line)
    assert (found.task.name, found.response, found.search_calls) == ("q1", "Paris", 3)
    assert found.trajectory == [*CALLS, last]


def test_a_task_is_found_by_its_exact_question(tmp_path: Path) -> None:
    line = {"datum": {"id": "else", "problem": "Which year?"}, "convo": {"messages": [None]}}
    found = read(tmp_path / "run.jsonl", line)
    assert (found.task.name, found.response, found.search_calls) == ("q2", "", 0)


@pytest.mark.parametrize("line", [{}, {"datum": {}}, {"datum": 1, "convo": {}}, {"convo": {}}])
def test_other_lines_are_not_results_of_search_evals(line: Any) -> None:
    assert line_of_search_evals(line) is None


def test_a_line_with_a_task_keeps_its_own_fields(tmp_path: Path) -> None:
    line = {"task": "q1", "response": "Paris", "instance_id": "q2", "trial_idx": 5}
    found = read(tmp_path / "run.jsonl", line)
    assert (found.task.name, found.rollout) == ("q1", "0")
