"""The lines of one short answer, and the figures of a run."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from math import comb
from typing import Any

import pytest
from pydantic import ValidationError

from grader.kinds.answer.scoring import AnswerFigures, Attempt, assess, calibration, hits, pass_at
from grader.runs.shapes import line_of_search_evals, line_of_widesearch
from grader.tasks.answer import AnswerTask


def a_task(name: str = "t", **fields: Any) -> AnswerTask:
    data = {"name": name, "kind": "answer", "prompt": "강 이름은?", "answer": "한강", **fields}
    return AnswerTask.model_validate_json(json.dumps(data))


def attempts(outcomes: str, confidence: float = 0.9) -> list[Attempt]:
    names = {"c": "correct", "w": "wrong", "n": "no_answer", "u": "undecided"}
    return [Attempt(names[letter], None, confidence) for letter in outcomes]  # type: ignore[arg-type]


def figures(tasks: Sequence[tuple[AnswerTask, Sequence[Attempt]]]) -> Any:
    kept = AnswerFigures()
    for task, tries in tasks:
        for attempt in tries:
            kept.add(task.name, attempt)
    return kept.means([task for task, _ in tasks])


# ----------------------------------------------------------------------------------- task and lines


def test_a_task_has_an_answer() -> None:
    with pytest.raises(ValidationError) as error:
        a_task(answer=" ")
    assert error.value.errors()[0]["loc"] == ("answer",)


def test_the_lines_of_a_correct_attempt() -> None:
    response = "Exact Answer: 한강 (漢江)\nConfidence: 85%"
    attempt = assess(a_task(), response, search_calls=3)
    assert attempt.score() == {
        "correct": True,
        "outcome": "correct",
        "extracted": "한강 (漢江)",
        "confidence": 0.85,
        "search_calls": 3,
        "failure": None,
    }
    assert attempt.row(response) == {
        "response": response,
        "extracted": "한강 (漢江)",
        "outcome": "correct",
        "checklist": None,
    }


def test_an_attempt_without_an_answer_is_wrong_with_failure_mode_f0() -> None:
    score = assess(a_task(), "").score()
    assert (score["correct"], score["outcome"], score["failure"]) == (False, "no_answer", "F0")


def test_an_answer_that_only_a_model_can_find_is_not_extracted() -> None:
    attempt = assess(a_task(), "한강이라고 생각하지만\n확신은 없다.")
    assert (attempt.outcome, attempt.extracted) == ("undecided", None)
    assert assess(a_task(), "한강").extracted == "한강"


def test_an_alias_is_correct() -> None:
    assert assess(a_task(aliases=["Han River"]), "정답: han river").outcome == "correct"


# ---------------------------------------------------------------------------------------- checklist


def hit(value: str, *texts: str, prompt: str = "") -> bool:
    task = a_task(prompt=prompt, checklist=[{"id": "one", "value": value}])
    found = hits(task, [{"role": "tool", "content": [{"text": text}]} for text in texts])
    assert found is not None
    return found["one"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("두물머리", "양평의 두물머리에서"),
        ("두물머리", "**두물 머리**"),
        ("두물 머리", "두물머리"),
        ("New York", "in new\nyork city"),
        ("2024", "2024년"),
        ("1,234", "총 1,234명"),
        ("E2", "**E2**"),
    ],
)
def test_a_slot_is_hit_if_its_value_is_in_the_trajectory(value: str, text: str) -> None:
    assert hit(value, "다른 말", text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("두물머리", "물머리"),
        ("24", "2024년"),
        ("234", "1,234명"),
        ("12", "12.5"),
        ("York", "Yorkshire"),
        ("1 2", "12"),
    ],
)
def test_a_value_inside_a_longer_word_or_number_is_not_a_hit(value: str, text: str) -> None:
    assert not hit(value, text)


def test_a_value_in_the_question_is_not_a_hit() -> None:
    question = "두물머리에서 만나는 두 강은?"
    assert not hit("두물머리", question, prompt=question)
    assert hit("두물머리", question, "두물머리는 양평에 있다", prompt=question)


def test_hits_are_none_without_a_checklist_or_a_trajectory() -> None:
    assert hits(a_task(), ["두물머리"]) is None
    assert hits(a_task(checklist=[{"id": "one", "value": "x"}]), None) is None


def test_hits_are_found_in_a_deeply_nested_trajectory() -> None:
    deep: Any = "두물머리"
    for _ in range(100_000):
        deep = [deep]
    assert hits(a_task(checklist=[{"id": "one", "value": "두물머리"}]), deep) == {"one": True}


# ------------------------------------------------------------------------------------------ figures


def test_accuracy_counts_undecided_attempts_as_wrong_and_accuracy_decided_omits_them() -> None:
    found = figures([(a_task("a"), attempts("cu")), (a_task("b"), attempts("cwnn"))])["unsplit"]
    assert found["accuracy"] == (0.5 + 0.25) / 2
    assert found["accuracy_decided"] == (1 + 0.25) / 2
    assert found["outcomes"] == {"correct": 2, "no_answer": 2, "undecided": 1, "wrong": 1}
    assert found["failures"] == {"F0": 0.25}


def test_verified_and_synthetic_are_never_pooled() -> None:
    verified = a_task("a", labels={"split": "verified", "category": "강"})
    synthetic = a_task("b", labels={"split": "synthetic", "category": "강"})
    found = figures([(verified, attempts("c")), (synthetic, attempts("w"))])
    assert {split: part["accuracy"] for split, part in found.items()} == {
        "verified": 1.0,
        "synthetic": 0.0,
    }


def test_tasks_without_an_attempt_do_not_count() -> None:
    kept = AnswerFigures()
    kept.add("a", attempts("c")[0])
    assert kept.means([a_task("a"), a_task("b")])["unsplit"]["accuracy"] == 1.0
    assert kept.means([a_task("b")]) == {}


def test_pass_at_k_is_the_unbiased_estimator() -> None:
    results = [(8, 3), (8, 0), (8, 8), (5, 1)]
    found = pass_at(results)
    assert list(found) == ["1", "2", "3", "4", "5"]
    for k in range(1, 6):
        mean = sum(1 - comb(n - c, k) / comb(n, k) for n, c in results) / len(results)
        assert found[str(k)] == pytest.approx(mean)


def test_pass_at_k_of_many_attempts_is_fast_and_finite() -> None:
    found = pass_at([(5000, c) for c in range(20)])
    assert found["1"] == pytest.approx(9.5 / 5000)
    assert found["5000"] == 19 / 20


def test_calibration_equals_figures_computed_by_hand() -> None:
    kept = AnswerFigures()
    for confidence, outcome in [(0.1, "w"), (0.3, "c"), (0.9, "c"), (1.0, "w"), (0.5, "n")]:
        kept.add("a", attempts(outcome, confidence)[0])
    found = kept.means([a_task("a")])["unsplit"]["calibration"]
    assert found["attempts"] == 4
    assert found["error"] == pytest.approx((0.1 + 0.7 + abs(1.9 - 1)) / 4)
    assert [one["attempts"] for one in found["bins"]] == [1, 1, 0, 0, 2]
    assert found["bins"][4] == {
        "from": 0.8,
        "to": 1.0,
        "attempts": 2,
        "confidence": 0.95,
        "accuracy": 0.5,
    }
    assert found["bins"][2]["confidence"] is None


def test_every_percentage_is_in_its_bin() -> None:
    for percent in range(101):
        bins = calibration(Counter({(percent / 100, True): 1}))["bins"]
        assert [one["attempts"] for one in bins].index(1) == min(percent // 20, 4)


def test_calibration_is_none_without_an_answer() -> None:
    found = figures([(a_task(), attempts("n"))])["unsplit"]["calibration"]
    assert (found["error"], found["attempts"]) == (None, 0)


def test_search_calls_are_averaged_over_correct_and_wrong_attempts_separately() -> None:
    tries = [
        Attempt("correct", None, 1, search_calls=3),
        Attempt("correct", None, 1, search_calls=6),
        Attempt("wrong", None, 1, search_calls=9),
        Attempt("no_answer", None, 1, search_calls=10),
        Attempt("wrong", None, 1),
    ]
    found = figures([(a_task(), tries)])["unsplit"]["search_calls"]
    assert found == {"correct": 4.5, "wrong": 9.5}


def test_the_share_of_slots_hit() -> None:
    tries = [
        Attempt("wrong", None, 1, checklist={"a": True, "b": False}),
        Attempt("wrong", None, 1, checklist={"a": True, "b": True}),
        Attempt("wrong", None, 1),
    ]
    assert figures([(a_task(), tries)])["unsplit"]["checklist"] == 0.75


def test_the_order_of_attempts_does_not_matter() -> None:
    rng = random.Random(7)
    tasks = [a_task(f"t{i}", labels={"split": rng.choice("ab")}) for i in range(40)]
    fed = [
        (rng.choice(tasks).name, attempts(rng.choice("cwnu"), rng.random())[0]) for _ in range(500)
    ]
    orders = []
    for _ in range(3):
        rng.shuffle(fed)
        kept = AnswerFigures()
        for name, attempt in fed:
            kept.add(name, attempt)
        orders.append(json.dumps(kept.means(tasks)))
    assert len(set(orders)) == 1


# -------------------------------------------------------------------------- lines of other programs

FORMS = {
    "responses": [
        {"role": "user", "content": "강?"},
        {"role": "assistant", "content": "찾아 본다"},
        {"type": "function_call", "call_id": "1", "name": "search_web", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "…"},
        {"role": "assistant", "content": "Exact Answer: 한강"},
    ],
    "chat": [
        {"role": "user", "content": "강?"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "search_web"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "…"},
        {"role": "assistant", "content": "Exact Answer: 한강"},
    ],
    "blocks": [
        {"role": "user", "content": [{"type": "text", "text": "강?"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "search_web", "id": "1"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "…"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Exact Answer: 한강"}]},
    ],
    "contents": [
        {"content": {"role": "user", "parts": [{"text": "강?"}]}},
        {"content": {"role": "model", "parts": [{"function_call": {"name": "search_web"}}]}},
        {"content": {"role": "tool", "parts": [{"function_response": {"name": "search_web"}}]}},
        {"content": {"role": "model", "parts": [{"text": "Exact Answer: 한강"}]}},
    ],
}


@pytest.mark.parametrize("messages", FORMS.values(), ids=FORMS)
def test_a_result_of_search_evals(messages: list[Any]) -> None:
    data = {
        "datum": {"id": "q1", "problem": "강?", "answer": "한강"},
        "convo": {"messages": messages, "system": "…"},
        "grader_result": {"grade_type": 2},
    }
    assert line_of_search_evals(data) == {
        "task": "q1",
        "question": "강?",
        "response": "Exact Answer: 한강",
        "trajectory": messages,
        "search_calls": 1,
    }


@pytest.mark.parametrize("messages", [None, [], [None, 3, {"content": 4}, {"tool_calls": [{}]}]])
def test_a_conversation_without_a_response_is_an_empty_response(messages: Any) -> None:
    line = line_of_search_evals({"datum": {"id": "q1"}, "convo": {"messages": messages}})
    assert line is not None
    assert line["response"] == ""


def test_a_response_of_widesearch() -> None:
    data = {"instance_id": "ws_1", "response": "| a |", "trial_idx": 2, "messages": [{}]}
    assert line_of_widesearch(data) == {
        "task": "ws_1",
        "rollout": "2",
        "response": "| a |",
        "trajectory": [{}],
    }
    assert line_of_widesearch({"instance_id": "ws_1", "response": None}) == {
        "task": "ws_1",
        "response": "",
    }


def test_lines_in_our_own_shape_are_not_taken_for_another_program_s() -> None:
    line = {"task": "t", "run": "r", "response": "…"}
    assert line_of_search_evals(line) is None
    assert line_of_widesearch(line) is None
