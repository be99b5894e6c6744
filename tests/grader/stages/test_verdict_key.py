"""The cache key of a verdict changes with everything that can change the verdict, and only then."""

from dataclasses import replace
from typing import Any

import pytest

from fetchers.page import Page
from grader.stages.verdict_key import verdict_key
from judges.records.record import Record
from judges.records.spec import JudgeSpec

SPEC = JudgeSpec.model_validate({"requirements": [{"id": "r", "text": "It says so."}]})
RECORD = Record(0, None, {"city": "Oslo"}, "https://a.example/", ("Oslo is old.",), "old")
PAGE = Page("ok", "", "http", 200, "https://a.example/", "b1", "2026-09-01", 3, "t1", "text/html")
KEY = verdict_key(SPEC, RECORD, PAGE, "m", "medium", "p1")


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://b.example/"},
        {"item": {"city": "Bergen"}},
        {"answer": "new"},
        {"excerpts": ("Oslo is new.",)},
        {"excerpts": ()},
    ],
    ids=str,
)
def test_another_claim_has_another_key(change: dict[str, Any]) -> None:
    assert verdict_key(SPEC, replace(RECORD, **change), PAGE, "m", "medium", "p1") != KEY


@pytest.mark.parametrize(
    "change",
    [{"state": "login"}, {"reason": "x"}, {"final_url": "https://c.example/"}, {"text": "t2"}],
    ids=str,
)
def test_another_page_has_another_key(change: dict[str, Any]) -> None:
    assert verdict_key(SPEC, RECORD, replace(PAGE, **change), "m", "medium", "p1") != KEY


@pytest.mark.parametrize(
    "judge", [(), ("n", "medium", "p1"), ("m", "low", "p1"), ("m", "medium", "p2")]
)
def test_another_judge_has_another_key(judge: tuple[str, ...]) -> None:
    assert verdict_key(SPEC, RECORD, PAGE, *judge) != KEY


def test_another_spec_has_another_key() -> None:
    other = JudgeSpec.model_validate({"requirements": [{"id": "r", "text": "It denies it."}]})
    assert verdict_key(other, RECORD, PAGE, "m", "medium", "p1") != KEY


def test_the_version_of_the_rules_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.stages.verdict_key.RULES_VERSION", -1)
    assert verdict_key(SPEC, RECORD, PAGE, "m", "medium", "p1") != KEY


@pytest.mark.parametrize("change", [{"index": 7}, {"subtask": "a.b"}], ids=str)
def test_the_place_of_a_record_is_not_part_of_the_key(change: dict[str, Any]) -> None:
    assert verdict_key(SPEC, replace(RECORD, **change), PAGE, "m", "medium", "p1") == KEY


@pytest.mark.parametrize(
    "change",
    [{"via": "archive"}, {"fetched_at": "2026-10-01"}, {"words": 4}, {"sha256": "b2"}],
    ids=str,
)
def test_how_a_page_was_got_is_not_part_of_the_key(change: dict[str, Any]) -> None:
    assert verdict_key(SPEC, RECORD, replace(PAGE, **change), "m", "medium", "p1") == KEY
