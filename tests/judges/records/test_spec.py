"""What a task's judge may say, and how its faults are named."""

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from judges.records.spec import JudgeSpec


def spec(**rule: Any) -> JudgeSpec:
    return JudgeSpec.model_validate({"requirements": [{"id": "r", "rule": rule}]})


@pytest.mark.parametrize(
    "rule",
    [
        {"contains": "kiln"},
        {"contains": ["{item.company}", "{answer.a.b}", "{url}"]},
        {"contains_any": ["a", "b"]},
        {"regex": r"^\d{4}\p{Lu}{item.company}+$"},
        {"min_words": 50},
        {"date_between": ["2026-03-01", "2026-04-30"]},
        {"date_between": [date(2026, 3, 1), date(2026, 3, 1)]},
        {"date_between": ["{item.month}", "2026-04-30"]},
        {"number_near": {"value": "{answer.fps}", "within": 0.02}},
        {"number_near": {"value": 12}},
        {"domain": ["example.org", "docs.example.org"]},
        {"not_domain": ["a.example", "b.example"]},
        {"item_matches": {"field": "year", "regex": r"^\d{4}$"}},
        {"contains": "kiln", "a_later_operator": 1},
    ],
)
def test_a_rule(rule: dict[str, Any]) -> None:
    assert spec(**rule).needs_model == ()


@pytest.mark.parametrize(
    ("rule", "place", "says"),
    [
        ({"containz": "kiln"}, ("rule",), "'containz'"),
        ({}, ("rule",), "no operator in nothing"),
        ({"contains": []}, ("rule", "contains"), "empty list"),
        ({"contains": ["a", ""]}, ("rule", "contains", 1), "at least 1"),
        ({"contains": "{itm.company}"}, ("rule", "contains", 0), "{itm.company} is unknown"),
        ({"contains": "{answer}"}, ("rule", "contains", 0), "{answer} is unknown"),
        ({"contains": "{url.host}"}, ("rule", "contains", 0), "{url.host} is unknown"),
        ({"regex": "(a"}, ("rule", "regex", 0), "not a regular expression"),
        ({"regex": "x" * 100_001}, ("rule", "regex", 0), "longer than 100,000"),
        ({"regex": r"\d{999999999999}"}, ("rule", "regex", 0), "longer than 100,000"),
        ({"regex": r"((a{60}[)]){60}\(?){60}"}, ("rule", "regex", 0), "longer than 100,000"),
        ({"min_words": 0}, ("rule", "min_words"), "greater than or equal to 1"),
        ({"min_words": "50"}, ("rule", "min_words"), "integer"),
        ({"date_between": ["2026-02-30", "2026-03-01"]}, ("rule", "date_between", 0), "day"),
        ({"date_between": ["2026-03-02", "2026-03-01"]}, ("rule",), "before it begins"),
        ({"number_near": {"within": 0.1}}, ("rule", "number_near", "value"), "required"),
        ({"number_near": {"value": 1, "within": -1}}, ("rule", "number_near", "within"), "0"),
        (
            {"domain": ["a.example", "b.example"]},
            ("rule",),
            "no host is in both a.example and b.example",
        ),
        (
            {"item_matches": {"field": "y", "regex": "["}},
            ("rule", "item_matches", "regex"),
            "not a",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(
    rule: dict[str, Any], place: tuple[str | int, ...], says: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        spec(**rule)
    [fault] = caught.value.errors()
    assert fault["loc"] == ("requirements", 0, *place)
    assert says in fault["msg"]


def test_ids_are_unique_and_checks_have_a_text_or_a_rule() -> None:
    twice = [{"id": "a", "text": "A."}, {"id": "a", "text": "B."}]
    for place in ("validity", "requirements"):
        with pytest.raises(ValidationError, match=f"{place} has more than one check .* 'a'"):
            JudgeSpec.model_validate({place: twice})
        with pytest.raises(ValidationError, match="neither a text nor a rule"):
            JudgeSpec.model_validate({place: [{"id": "a"}]})


def test_a_check_without_a_rule_needs_a_model() -> None:
    judge = JudgeSpec.model_validate(
        {
            "validity": [{"id": "v", "text": "V."}],
            "requirements": [{"id": "r", "rule": {"min_words": 1}}, {"id": "s", "text": "S."}],
        }
    )
    assert judge.needs_model == ("v", "s")


def test_the_digest_changes_with_everything_that_changes_a_verdict() -> None:
    base = {"id": "r", "text": "R.", "rule": {"min_words": 1}}
    digest = JudgeSpec.model_validate({"requirements": [base]}).digest
    same = {"requirements": [{**base, "note": "x"}], "title": "T", "validity": []}
    assert JudgeSpec.model_validate(same).digest == digest
    for other in (
        {"requirements": [{**base, "text": "S."}]},
        {"requirements": [{**base, "rule": {"min_words": 2}}]},
        {"requirements": [base], "instructions": "Be strict."},
        {"validity": [base]},
        {"validity": [{**base, "on": "excerpts"}]},
    ):
        assert JudgeSpec.model_validate(other).digest != digest
