"""From the text of a reply to an answer: what is converted, what is ignored, what is refused."""

import json
from dataclasses import replace
from typing import Any

import pytest

from judges.endpoint.prompting import closed, numbered
from judges.endpoint.questions import Request, UnusableReply
from judges.endpoint.reply_schema import answer_in

TRUTH = {"type": "boolean"}
SCHEMA = closed(
    reason={"type": "string"},
    usable=TRUTH,
    requirements=closed(wise=closed(satisfied=TRUTH, supported=TRUTH)),
    confidence={"type": "integer", "enum": [1, 2, 3]},
)
REQUEST = Request("judge", "m", "low", "s", "u", json.dumps(SCHEMA))
IDS = replace(REQUEST, ids=(("validity", ()), ("requirements", ("wise", "by_rule"))))
SHOWN = {"satisfied": True, "supported": False}
ANSWER = {"reason": "r", "usable": True, "requirements": {"wise": SHOWN}, "confidence": 2}


def said(**changes: Any) -> str:
    return json.dumps({**ANSWER, **changes})


def wise(**changes: Any) -> str:
    return said(requirements={"wise": {**SHOWN, **changes}})


@pytest.mark.parametrize(
    "text",
    [
        said(),
        said(usable="true"),
        said(usable=" True "),
        said(usable="1"),
        said(usable=1),
        wise(supported="false"),
        wise(supported="0"),
        wise(supported=0),
        said(confidence="2"),
        said(confidence=" 2 "),
        said(confidence=2.0),
        said(more=[1, {"x": None}]),
        wise(note="why"),
        said(requirements={"wise": SHOWN, "by_rule": {"satisfied": True}}),
        json.dumps([ANSWER]),
        json.dumps([ANSWER, ANSWER]),
        json.dumps({"verdict": ANSWER}),
        json.dumps({"verdict": [ANSWER]}),
        json.dumps([{"result": {"verdict": ANSWER}}]),
        said() + "\n" + said(confidence="2"),
        said(copy=ANSWER),
        said(example={"reason": "r"}),
        repr(ANSWER),
        said().replace('"wise"', '"wise": 0, "wise"').replace('"wise": 0, ', ""),
        said().replace('"usable": true', '"usable": true, "usable": true'),
    ],
)
def test_a_form_with_a_clear_meaning_is_accepted(text: str) -> None:
    answer = answer_in(text, IDS)
    assert answer == ANSWER
    assert json.dumps(answer) == json.dumps(ANSWER)  # true is not 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (said(usable="maybe"), "field usable: expected true or false"),
        (said(usable="yes and no"), "field usable: expected true or false"),
        (said(usable=2), "field usable: expected true or false"),
        (said(usable=-1), "field usable: expected true or false"),
        (said(usable=1.0), "field usable: expected true or false"),
        (said(usable=None), "field usable: expected true or false"),
        (said(usable=[True]), "field usable: expected true or false"),
        (said(confidence=4), "field confidence: expected one of [1,2,3]"),
        (said(confidence="high"), "field confidence: expected one of [1,2,3]"),
        (said(confidence="1 or 2"), "field confidence: expected one of [1,2,3]"),
        (said(confidence="2.0"), "field confidence: expected one of [1,2,3]"),
        (said(confidence="٢"), "field confidence: expected one of [1,2,3]"),
        (said(confidence=2.5), "field confidence: expected one of [1,2,3]"),
        (said(confidence=True), "field confidence: expected one of [1,2,3]"),
        (said(confidence=None), "field confidence: expected one of [1,2,3]"),
        (said(reason=None), "field reason: expected a string"),
        (said(reason=["r"]), "field reason: expected a string"),
        (said(requirements={}), "field requirements.wise: missing"),
        (said(requirements=[]), "field requirements: expected an object"),
        (said(requirements={"wise": True}), "field requirements.wise: expected an object"),
        (said(requirements={"wise": {}}), "field requirements.wise.satisfied: missing"),
        (
            said(requirements={"wise": SHOWN, "kind": SHOWN}),
            'field requirements: unknown id; the ids are ["wise"]',
        ),
        ('{"ok": true}', "field reason: missing"),
        ('{"verdict": "yes"}', "field reason: missing"),
        (json.dumps({"verdict": ANSWER, "score": 1}), "field reason: missing"),
        (json.dumps({"a": {"b": {"c": {"d": ANSWER}}}}), "field reason: missing"),
        (json.dumps({"verdict": [ANSWER, ANSWER]}), "field reason: missing"),
        (json.dumps([ANSWER, {**ANSWER, "usable": False}]), "more than one JSON object"),
        (said() + said(usable=False), "more than one JSON object"),
        (said(other={**ANSWER, "usable": False}), "two different answers"),
        (said(other=[{**ANSWER, "usable": False}]), "two different answers"),
        (said()[:-1] + ', "usable": false}', "a name has two different values"),
        (
            wise().replace('"wise": {', '"wise": {"satisfied": false, '),
            "a name has two different values",
        ),
        (said()[:-1] + ', "extra": {"a": 1, "a": 2}}', "a name has two different values"),
    ],
)
def test_a_form_without_a_clear_meaning_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UnusableReply) as unusable:
        answer_in(text, IDS)
    assert reason in str(unusable.value)


def test_the_reason_holds_no_text_of_the_reply() -> None:
    """The reason is sent back to the model, outside of the fences around untrusted text."""
    texts = [said(usable="EVIL"), said(requirements={"EVIL": SHOWN}), '{"EVIL": {"EVIL": 1}}']
    for text in [*texts, "EVIL", '{"EVIL": ', "{'EVIL': EVIL}", '["EVIL"]']:
        with pytest.raises(UnusableReply) as unusable:
            answer_in(text, IDS)
        assert "EVIL" not in str(unusable.value)


def test_a_string_keeps_no_lone_surrogates() -> None:
    answer = answer_in(said(reason="a\ud800b \ud83d\ude00"), REQUEST)
    assert answer["reason"] == "a\ufffdb 😀"


def test_deep_extra_fields_are_no_crash() -> None:
    deep = '{"a":' * 900 + "1" + "}" * 900
    text = said()[:-1] + f', "extra": {deep}}}'
    try:
        assert answer_in(text, REQUEST) == ANSWER
    except UnusableReply as unusable:
        assert "nested too deeply" in str(unusable)  # noqa: PT017 (either is right)


# ------------------------------------------------------------------------------------------ batches

MEMBER = {"type": ["string", "null"], "enum": ["California", "Texas", None]}
ONE = closed(reason={"type": "string"}, member={"$ref": "#/$defs/member"})
BATCH = Request(
    "canonicalise",
    "m",
    "low",
    "s",
    "u",
    json.dumps({**numbered([ONE] * 3), "$defs": {"member": MEMBER}}),
    items=3,
)


def member(name: Any) -> dict[str, Any]:
    return {"reason": "", "member": name}


def test_a_batch_with_an_answer_to_every_item() -> None:
    answers = {"1": member("Texas"), "2": member(None), "3": member("California")}
    assert answer_in(json.dumps(answers), BATCH) == answers
    assert answer_in(json.dumps({"answers": answers}), BATCH) == answers
    assert answer_in(json.dumps({**answers, "note": 1}), BATCH) == answers


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ('"2": {"reason": "", "member": "Bavaria"}', 'field member: expected one of ["Cal'),
        ('"2": {"reason": ""}', "field member: missing"),
        ('"2": "Texas"', "expected an object"),
        ('"2": null', "expected an object"),
        ('"02": null', ""),
        ('"x": {"reason": "", "member": null}', "missing"),
        ('"2": {"reason": "", "member": null}, "2": 1', "two different values"),
        ('"2": {"reason": "", "member": null, "member": "Texas"}', "two different values"),
    ],
)
def test_a_bad_item_leaves_the_others_their_answers(second: str, reason: str) -> None:
    one, three = json.dumps(member("Texas")), json.dumps(member(None))
    with pytest.raises(UnusableReply) as unusable:
        answer_in(f'{{"1": {one}, {second}, "3": {three}}}', BATCH)
    if reason:
        assert unusable.value.good == {"1": member("Texas"), "3": member(None)}
        assert list(unusable.value.bad) == ["2"]
        assert reason in unusable.value.bad["2"]
    else:
        assert not unusable.value.good  # numbered in another way: no number can be trusted


@pytest.mark.parametrize("number", ["0", "4", "-1"])
def test_a_number_that_was_not_asked_for_makes_the_whole_reply_unusable(number: str) -> None:
    answers = {**{str(n): member("Texas") for n in (1, 2, 3)}, number: member("Texas")}
    with pytest.raises(UnusableReply, match="those of the request, 1 to 3") as unusable:
        answer_in(json.dumps(answers), BATCH)
    assert not unusable.value.good


def test_only_the_wanted_items_of_a_repeat_are_read() -> None:
    request = replace(BATCH, wanted=("2",))
    answers = {"1": member("nonsense"), "2": member("Texas")}
    assert answer_in(json.dumps(answers), request) == {"2": member("Texas")}
