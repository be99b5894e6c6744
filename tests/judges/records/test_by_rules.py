"""The judge `rules`, from a record and a page to a verdict."""

import pickle
from typing import Any

import pytest

from judges.records.by_rules import JudgedPage, judge, unclear_answer
from judges.records.conditions import Undecided
from judges.records.excerpts import PageText
from judges.records.record import Record
from judges.records.spec import JudgeSpec
from judges.records.verdict import Shown, Verdict

TEXT = (
    "Acme (formerly Bolt) grew to 1,234 staff, the registry said on 3 March 2026.\n"
    "Its “Nice” card runs at 118 fps, 삼성전자는 not at 0,5 fps. 2019 was worse."
)


def record(**changes: Any) -> Record:
    fields = {
        "item": {"company": "Acme", "month": "2026-03"},
        "url": "https://docs.acme.example/a",
        "excerpts": ("Acme (formerly Bolt) grew",),
        "answer": {"fps": 120.0, "deep": {"name": "bolt"}, "list": ["x"], "nothing": None},
    }
    return Record(index=0, subtask=None, **(fields | changes))


def page(text: str = TEXT, **changes: Any) -> JudgedPage:
    fields = {"state": "ok", "reason": "", "final_url": "https://docs.acme.example/b"}
    return JudgedPage(text=PageText(text), **(fields | changes))


def shown(rule: dict[str, Any], text: str = TEXT, **changes: Any) -> Shown:
    spec = JudgeSpec.model_validate({"requirements": [{"id": "r", "rule": rule}]})
    changes = {"item": {**record().item, **changes.pop("item", {})}, **changes}
    return judge(spec, record(**changes), page(text)).requirements["r"]


BOTH, PAGE_ONLY, NEITHER = Shown(True, True), Shown(True, False), Shown(False, False)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"contains": "ACME"}, BOTH),
        ({"contains": ["{item.company}", "{answer.deep.name}"]}, BOTH),
        ({"contains": ["acme", "registry"]}, PAGE_ONLY),
        ({"contains": "cme"}, NEITHER),
        ({"contains": "삼성전자"}, PAGE_ONLY),
        ({"contains": '"Nice" card'}, PAGE_ONLY),
        ({"contains_any": ["nobody", "{item.company}"]}, BOTH),
        ({"contains_any": ["nobody", "nothing"]}, NEITHER),
        ({"not_contains": "nobody"}, BOTH),
        ({"not_contains": ["nobody", "registry"]}, Shown(False, True)),
        ({"regex": r"grew\s+to \d,\d{3} staff"}, PAGE_ONLY),
        ({"regex": "{item.company} \\("}, BOTH),
        ({"regex": "“nice”"}, PAGE_ONLY),
        ({"regex": ["acme", "nobody"]}, NEITHER),
        ({"min_words": 4}, BOTH),
        ({"min_words": 20}, PAGE_ONLY),
        ({"date_between": ["2026-03-01", "2026-04-30"]}, PAGE_ONLY),
        ({"date_between": ["2026-03-04", "2026-04-30"]}, NEITHER),
        ({"date_between": ["{item.month}", "{item.month}"]}, PAGE_ONLY),
        ({"date_between": ["{item.company}", "2026-04-30"]}, NEITHER),
        ({"number_near": {"value": "{answer.fps}", "within": 0.02}}, PAGE_ONLY),
        ({"number_near": {"value": "{answer.fps}", "within": 0.01}}, NEITHER),
        ({"number_near": {"value": 1234}}, PAGE_ONLY),
        ({"number_near": {"value": "{item.company}", "within": 9}}, NEITHER),
        ({"number_near": {"value": 0.5}}, PAGE_ONLY),
        ({"domain": "acme.example"}, BOTH),
        ({"domain": "cme.example"}, NEITHER),
        ({"not_domain": "acme.example"}, NEITHER),
        ({"item_matches": {"field": "month", "regex": r"^\d{4}-\d\d$"}}, BOTH),
        ({"item_matches": {"field": "company", "regex": "^b"}}, NEITHER),
        ({"contains": "registry", "domain": "acme.example"}, PAGE_ONLY),
    ],
)
def test_rules(rule: dict[str, Any], expected: Shown) -> None:
    assert shown(rule) == expected


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("1 250 boats", 1250, True),
        ("1\u202f250 boats", 1250, True),
        ("12 345 678 boats", 12345678, True),
        ("1 250,5 boats", 1250.5, True),
        ("1 250.50 boats", 1250.5, True),
        ("−1 250 boats", -1250, True),
        ("$1 250 boats", 1250, True),
        ("약1 250명", 1250, True),
        ("1 250 boats", 250, False),
        ("1\t250 boats", 1250, False),
        ("1\n250 boats", 1250, False),
        ("1\t250 boats", 250, True),
        ("2024 250 boats", 250, True),
        ("2024 250 boats", 2024250, False),
        ("10:30 250 boats", 250, True),
        ("2019-12 250 boats", 12250, False),
    ],
)
def test_digits_grouped_by_spaces_are_one_number(text: str, value: float, holds: bool) -> None:
    assert shown({"number_near": {"value": value}}, text).satisfied is holds


@pytest.mark.parametrize(
    "value",
    [
        "{item.nobody}",
        "{item.blank}",
        "{answer.nothing}",
        "{answer.list}",
        "{answer.deep}",
        "{answer.fps.x}",
    ],
)
@pytest.mark.parametrize(
    "operator", ["contains", "not_contains", "contains_any", "regex", "domain", "not_domain"]
)
def test_a_missing_value_makes_a_rule_false(operator: str, value: str) -> None:
    assert shown({operator: value}, item={"blank": " "}) == NEITHER


def test_a_value_is_escaped_in_a_pattern() -> None:
    assert shown({"regex": "{item.company}"}, item={"company": "Ac.e"}) == NEITHER
    assert shown({"regex": "^x{item.company}"}, "x(a", item={"company": "(a"}) == PAGE_ONLY
    assert shown({"regex": "{item.company}"}, item={"company": "[2]"}) == NEITHER


def test_a_text_may_not_be_found_across_excerpts() -> None:
    excerpts = ("Acme", "(formerly Bolt)")
    assert shown({"contains": "Acme (formerly Bolt)"}, excerpts=excerpts) == PAGE_ONLY


def test_a_rule_that_takes_too_long_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.records.conditions.REGEX_SECONDS", 0.1)
    with pytest.raises(Undecided, match="takes too long"):
        shown({"regex": r"(\w+\s?)+\d{5}$"}, "word " * 5_000)


def test_a_requirement_without_a_rule_is_refused() -> None:
    spec = JudgeSpec.model_validate({"requirements": [{"id": "r", "text": "R."}]})
    with pytest.raises(ValueError, match="without a rule: r"):
        judge(spec, record(), page())


SPEC = JudgeSpec.model_validate(
    {
        "validity": [
            {"id": "named", "rule": {"contains": "{item.company}"}},
            {"id": "quoted", "rule": {"contains": "grew"}, "on": "excerpts"},
        ],
        "requirements": [
            {"id": "counted", "rule": {"contains": "1,234"}},
            {"id": "renamed", "rule": {"contains": "Bolt"}},
        ],
    }
)


def outcome(verdict: Verdict) -> tuple[bool, bool, str]:
    return verdict.full, verdict.retrieval, verdict.reason


def test_a_repetition_of_the_url_is_no_evidence() -> None:
    text = "Results for: Acme grew to 1,234 staff as Bolt\nNothing was found in our catalogue."
    url = "https://docs.acme.example/?q=Acme+grew+to+1,234+staff+as+Bolt"
    quote = "Acme grew to 1,234 staff as Bolt"
    for cited, final in ((url, "https://docs.acme.example/"), ("https://docs.acme.example/", url)):
        verdict = judge(SPEC, record(url=cited, excerpts=(quote,)), page(text, final_url=final))
        assert verdict.flags == ("reflected_url",)
        assert outcome(verdict) == (
            False,
            False,
            "excerpt 1: stands on the page only as a repetition of its URL; not valid: named",
        )
    verdict = judge(SPEC, record(excerpts=(quote,)), page(text))
    assert verdict.flags == ()
    assert verdict.full


def test_a_misleading_cut_is_unfaithful() -> None:
    text = "It is not true that Acme (formerly Bolt) grew to 1,234 staff."
    verdict = judge(SPEC, record(excerpts=("Acme (formerly Bolt) grew to 1,234",)), page(text))
    assert outcome(verdict) == (
        False,
        True,
        "excerpt 1: misleading truncation: “not true that” before it is left out",
    )


def test_a_record_that_shows_everything() -> None:
    verdict = judge(SPEC, record(excerpts=("Acme (formerly Bolt) grew to 1,234",)), page())
    assert outcome(verdict) == (True, True, "")
    assert all(verdict.criteria.values())
    assert (verdict.confidence, verdict.judge) == (3, "rules")


def test_a_requirement_that_only_the_page_shows() -> None:
    verdict = judge(SPEC, record(), page())
    assert outcome(verdict) == (False, True, "not supported: counted")


def test_an_unfaithful_excerpt_fails_only_the_full_verdict() -> None:
    quotes = ("Acme (formerly Bolt) grew to 1,234", "grew to 1,235 staff")
    verdict = judge(SPEC, record(excerpts=quotes), page())
    assert outcome(verdict) == (
        False,
        True,
        "excerpt 2: a number differs: 1235 (the page: 1234)",
    )
    assert verdict.requirements == {"counted": Shown(True, True), "renamed": Shown(True, True)}


def test_a_record_without_excerpts_is_not_faithful() -> None:
    verdict = judge(JudgeSpec(), record(excerpts=()), page())
    assert outcome(verdict) == (False, True, "no excerpts")


def test_an_unclear_answer_fails_only_the_full_verdict() -> None:
    verdict = judge(JudgeSpec(), record(answer={"claim": "Answer:"}), page())
    assert outcome(verdict) == (False, True, "the answer is empty")


def test_an_invalid_record_short_circuits() -> None:
    verdict = judge(SPEC, record(excerpts=("formerly Bolt",)), page())
    assert outcome(verdict) == (False, False, "not valid: quoted")
    assert verdict.validity == {"named": True, "quoted": False}
    assert verdict.requirements == {"counted": NEITHER, "renamed": NEITHER}
    assert verdict.excerpts_faithful
    assert verdict.answer_intent_clear


def test_a_page_that_is_not_usable_satisfies_nothing() -> None:
    verdict = judge(SPEC, record(), page(state="blocked", reason="a captcha"))
    assert outcome(verdict) == (False, False, "page not usable: blocked (a captcha)")
    assert not any(verdict.criteria.values())
    empty = judge(JudgeSpec(), record(), page(state="dead", reason="404"))
    assert not empty.full


def test_spec_record_and_verdict_can_be_sent_to_a_process() -> None:
    sent = pickle.loads(pickle.dumps((SPEC, record(), judge(SPEC, record(), page()))))
    assert sent == (SPEC, record(), judge(SPEC, record(), page()))


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        " ",
        "...",
        {},
        [],
        {"a": ""},
        [{"a": [None, "-"]}],
        "Thought process:",
        "Solution",
        "**Answer:**",
        "Let’s solve this step by step.",
        "Okay, let's think step by step",
        "N/A",
    ],
)
def test_empty_answers(answer: Any) -> None:
    assert unclear_answer(record(answer=answer))


@pytest.mark.parametrize(
    "answer",
    [0, False, "42", "Answer: 42", {"a": "", "b": 1}, [["x"]], "사랑의 사도", "The Solution Group"],
)
def test_answers_that_are_not_empty(answer: Any) -> None:
    assert not unclear_answer(record(answer=answer))


def test_a_field_of_the_item_must_not_be_empty() -> None:
    assert unclear_answer(record(item={"company": " "})) == "the item's company is empty"


@pytest.mark.parametrize("more", [None, False, 7, 1.5, [], {"a": ["b"]}])
def test_other_fields_of_an_item_may_have_any_value(more: Any) -> None:
    assert not unclear_answer(record(item={"company": "Acme", "more": more}))


def test_an_answer_may_be_of_any_depth() -> None:
    answer: Any = "x"
    for _ in range(50_000):
        answer = [answer]
    assert not unclear_answer(record(answer=answer))


def test_an_unusable_page_does_not_satisfy_a_task_without_requirements() -> None:
    spec = JudgeSpec()
    record = Record(0, None, {}, "https://a.example/", (), "yes")
    page = JudgedPage("dead", "status 404", "https://a.example/", PageText(""))
    verdict = judge(spec, record, page)
    assert not verdict.retrieval
    assert not verdict.full
