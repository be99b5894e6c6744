"""Which JSON objects a reply holds, and in which forms they are read."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.endpoint import json_objects
from judges.endpoint.json_objects import Conflicting, has_conflict, objects_in
from judges.endpoint.questions import UnusableReply

GOOD = '{"ok": true, "sure": 2}'
VALUE = {"ok": True, "sure": 2}
FORGED = '{"ok": true, "sure": 3}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n{GOOD}\n",
        f"\ufeff{GOOD}",
        f"[{GOOD}]",
        f"```json\n{GOOD}\n```",
        f"Here it is: {GOOD} as asked.",
        f"<think>perhaps {FORGED}</think>{GOOD}",
        f"{{braces}} and {GOOD}",
        "{'ok': True, 'sure': 2}",
        "Sure:\n```python\n{'ok': True, 'sure': 2,}\n```",
        '{"ok": true, "sure": 2,}',
        "{ok: true, sure: 2}",
        '{"ok": true, "sure": 2, "sure": 2}',
    ],
)
def test_one_object_is_found(text: str) -> None:
    assert objects_in(text) == [VALUE]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"reason": "one\ntwo\tthree"}', "one\ntwo\tthree"),
        ("{'reason': 'it\\'s so', 'none': None}", "it's so"),
        ("{'reason': \"it's so\", 'none': None}", "it's so"),
        ('{"reason": "😀 \\ud83d\\ude00", "none": null,}', "😀 \ud83d\ude00"),
        ("{'reason': 'caf\\u00e9\\nopen', 'none': None}", "café\nopen"),
        ("{'reason': '서울\n부산', 'none': None,}", "서울 부산"),
    ],
)
def test_the_text_of_a_string_is_kept(text: str, reason: str) -> None:
    (value,) = objects_in(text)
    assert value["reason"] == reason
    assert value.get("none") is None


@pytest.mark.parametrize("text", [f"{GOOD}\n{FORGED}", f"[{GOOD}, {FORGED}]"])
def test_every_object_is_returned(text: str) -> None:
    assert objects_in(text) == [VALUE, {"ok": True, "sure": 3}]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("I cannot help with that.", "no object"),
        ("true", "no object"),
        (f"<think>perhaps {FORGED}", "no object"),
        (f"{GOOD}<think>or not</think>", "no object"),
        ("[]", "no object"),
        (f"[{GOOD}, 3]", "no object"),
        ("x" * (json_objects.LONGEST + 1), "no object"),
        # broken off: a lenient reader would have to invent its end
        (GOOD[:-1], "broken object"),
        ('{"ok": true, "sure": ', "broken object"),
        ('{"a": {"ok": true}, "b": {"ok": fal', "broken object"),
        ('{"a": {"ok": true, "sure": 1}', "broken object"),
        ('{"a": {"ok": true, "sure": 1,}', "broken object"),
        # a lenient reader would have to choose
        ('{"ok": !true, "sure": 2}', "broken object"),
        ('{"ok": true false, "sure": 2}', "broken object"),
        ('{"ok": true, "sure": 2 or 3}', "broken object"),
        ('{"ok": true, "sure": 2, 3}', "broken object"),
        ('{"ok": true, "sure": 03}', "broken object"),
        ("{'ok': True, 'sure': 2} or {'ok': False, 'sure': 2}", "broken object"),
        ("{'ok': True, 'sure': 2}{'ok': True, 'sure': 3}", "broken object"),
        ("{'ok': True, 'sure': 2}\n\n# Corrected\n{'ok': False, 'sure': 2}", "broken object"),
        ("{'ok': True, 'sure': 2} # not {'ok': False}", "broken object"),
        ("{'ok': True, 'sé': '서울 😀'} # {}", "broken object"),
        ('{"reason": "it says ", "ok": true, "x": "", "ok": false" }', "broken object"),
        # a quoted object beside one that cannot be read
        (f"The page says {FORGED}. Mine: {{'ok': False, 'sure': 2}}", "broken object"),
        (f"Mine: {{'ok': False, 'sure': 2}}. The page says {FORGED}", "broken object"),
        (f'The page says {FORGED}. Mine: {{"ok": fal', "broken object"),
        (f"The page says {FORGED}. Mine: {{", "broken object"),
        # hostile
        ("{" * 90_000, "broken object"),
        ('{"a":' * 15_000, "broken object"),
        ('{"a":' * 15_000 + "1" + "}" * 15_000, "broken object"),
        ("[" * 90_000, "broken object"),
        ("{'a':" * 990 + "1" + "}" * 990, "broken object"),
        ('{"a": "' + "b' " * 7_000 + "}", "broken object"),
    ],
)
def test_a_text_without_a_clear_object_is_unusable(text: str, fault: str) -> None:
    begun = time.process_time()
    with pytest.raises(UnusableReply) as unusable:
        objects_in(text)
    assert unusable.value.fault == fault
    assert time.process_time() - begun < 2


def test_names_that_repeat_at_every_depth_take_little_time() -> None:
    text = '{"a": 1, "a": ' * 500 + "[" + "0," * 40_000 + "0]" + "}" * 500
    begun = time.process_time()
    (value,) = objects_in(text)
    assert isinstance(value, Conflicting)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize("value", ['"#"', '"# {}"', '"한국 # 😀"'])
def test_a_number_sign_in_a_string_is_no_comment(value: str) -> None:
    assert objects_in(f"{{'a': {value},\n'b': None}}") == [{"a": json.loads(value), "b": None}]


def test_a_text_has_a_bound() -> None:
    text = json.dumps({"reason": "x" * (json_objects.LONGEST - 14)})
    assert len(text) == json_objects.LONGEST
    assert objects_in(text) == [json.loads(text)]
    with pytest.raises(UnusableReply, match="longer than"):
        objects_in(text.replace("x", "xx", 1))


def test_a_long_text_is_read_as_json_only() -> None:
    reason = "x" * json_objects.LONGEST_PYTHON
    assert objects_in(f'{{"reason": "{reason}"}}') == [{"reason": reason}]
    with pytest.raises(UnusableReply, match="malformed or incomplete"):
        objects_in(f"{{'reason': '{reason}'}}")


@pytest.mark.parametrize(
    "value",
    [
        *("b'x'", "f'x'", "...", "1j", "1e999", "{1, 2}", "(1, 2)", "x", "-x", "-True", "1 + 1"),
        *(
            "not 1",
            "{1: 2}",
            "{**x}",
            "[*x]",
            "-" * 9_000 + "1",
            "1+" * 9_000 + "1",
            "a" + "()" * 99,
        ),
    ],
)
def test_python_that_is_not_a_json_value_is_unusable(value: str) -> None:
    with pytest.raises(UnusableReply, match="malformed or incomplete"):
        objects_in(f"{{'ok': {value}}}")


def test_numbers_and_lists_of_python() -> None:
    assert objects_in("{'a': [-1, 2.5, -0.5, []], 'b': {'c': null, 'd': false}}") == [
        {"a": [-1, 2.5, -0.5, []], "b": {"c": None, "d": False}}
    ]


def test_an_unknown_escape_gives_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    assert objects_in("{'reason': 'a\\d'}") == [{"reason": "a\\d"}]
    assert not recwarn.list


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"a": 1, "b": 2, "a": 3}', {"a"}),
        ('{"a": 1, "a": true}', {"a"}),
        ('{"a": {"x": 1}, "a": {"x": 2}, "b": 0, "b": 0}', {"a"}),
        ("{'a': True, 'a': False, 'b': 1}", {"a"}),
    ],
)
def test_a_name_with_two_values_is_marked(text: str, names: set[str]) -> None:
    (value,) = objects_in(text)
    assert isinstance(value, Conflicting)
    assert value.names == names
    assert has_conflict({"deep": [value]})
    assert not has_conflict({"deep": [{"a": 1}]})


TEXT = st.text(alphabet="ab1:,{}[]'\" é서\n", max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | TEXT,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXT, inside, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, JSON, max_size=4))
def test_a_python_dict_is_read_as_it_is(value: dict[str, object]) -> None:
    assert objects_in(f"Here it is: {value!r}") == [value]


@given(st.text(alphabet="{}[]:,'\" \\nabtrue12", max_size=60))
def test_any_text_is_read_or_unusable(text: str) -> None:
    try:
        objects_in(text)
    except UnusableReply as unusable:
        reason = str(unusable)
    else:
        reason = ""
    assert len(reason) < 100
