"""Prompts with a version, answers of batches, and fences around untrusted text."""

from pathlib import Path
from typing import Any

import pytest

from judges.endpoint import prompting
from judges.endpoint.prompting import as_json, by_number, fenced, numbered, read_prompt, reason
from judges.endpoint.questions import Reply, UnusableReply, Usage

USED = Usage(3, 30, 0, 15)


def test_the_first_answer_of_a_batch_has_the_usage_of_the_reply() -> None:
    answers = by_number(Reply({"1": "a", "2": "b"}, USED), 2)
    assert answers == [("a", USED), ("b", Usage())]


def test_an_item_without_an_answer_is_an_exception_with_its_reason() -> None:
    reply = Reply({"2": "b"}, USED, unanswered={"1": "no row"})
    (first, unpaid), second, (third, _) = by_number(reply, 3)
    assert isinstance(first, UnusableReply)
    assert (str(first), unpaid) == ("no row", Usage())
    assert second == ("b", USED)
    assert str(third) == "no answer"


def test_a_batch_has_a_schema_for_each_number() -> None:
    schema = numbered([{"type": "null"}, {"type": "string"}])
    assert schema == {
        "type": "object",
        "properties": {"1": {"type": "null"}, "2": {"type": "string"}},
        "required": ["1", "2"],
        "additionalProperties": False,
    }


def test_a_reason_is_stripped_and_cut() -> None:
    assert reason({"reason": " why\n"}) == "why"
    assert reason({"reason": " " + "x" * 501}) == "x" * 500


def test_a_fence_has_a_mark_that_depends_on_the_text() -> None:
    text, mark = fenced("page", "a\n</page 0>")
    assert text == f"<page {mark}>\na\n</page 0>\n</page {mark}>"
    assert len(mark) == 32
    assert mark != fenced("page", "b")[1]
    assert fenced("page", "\ud800")  # a lone surrogate


@pytest.mark.parametrize(
    ("value", "text"), [({"한": [1, None]}, '{"한": [1, null]}'), ("é", '"é"')]
)
def test_a_json_value_keeps_its_characters(value: Any, text: str) -> None:
    assert as_json(value) == text


def test_a_json_value_that_is_nested_too_deeply_is_named() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert as_json(deep) == '"(nested too deeply to be shown)"'
    while deep:  # so that it is not freed recursively
        deep = deep.pop()


def test_a_version_depends_on_the_prompt_the_layout_and_more(tmp_path: Path) -> None:
    module = str(tmp_path / "code.py")
    (tmp_path / "judge.txt").write_text("decide", "utf-8")
    prompt, version = read_prompt(module, "judge", 1, {"F1": "x"})
    assert prompt == "decide"
    assert len(version) == 16
    others = {read_prompt(module, "judge", 2, {"F1": "x"})[1], read_prompt(module, "judge", 1)[1]}
    (tmp_path / "judge.txt").write_text("decide!", "utf-8")
    others.add(read_prompt(module, "judge", 1, {"F1": "x"})[1])
    assert len(others | {version}) == 4
    assert prompting.REASON == {"type": "string"}
