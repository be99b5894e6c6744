"""Records in the raw text of a system."""

import json
import time
from typing import Any

import pytest

from grader.runs.responses import records_in


def record(company: str) -> dict[str, Any]:
    return {"item": {"company": company, "year": "1"}, "url": "u"}


def listed(*companies: str) -> str:
    return json.dumps([record(company) for company in companies], indent=1)


LONG = "7" * 5000
RESPONSES = {
    "bare": (listed("A", "B"), ["A", "B"]),
    "in an object": (json.dumps({"results": [record("A"), record("B")]}), ["A", "B"]),
    "deeper": (json.dumps({"out": {"x": [[record("A")], {"y": record("B")}]}}), ["A", "B"]),
    "one record": (json.dumps(record("A")), ["A"]),
    "fenced": (f"Here you are:\n```json\n{listed('A')}\n```\nAnything else?", ["A"]),
    "several blocks": (
        f"```\n{listed('A')}\n```\nand\n```json\n{listed('B', 'C')}\n```",
        ["A", "B", "C"],
    ),
    "lines": ("\n".join(json.dumps(record(c)) for c in "ABC"), ["A", "B", "C"]),
    "prose with braces": ("{see} below {x: {y}} " + listed("A") + " {done", ["A"]),
    "cut off in a record": (listed("A", "B", "C")[:-60], ["A", "B"]),
    "cut off in a wrapped list": ('{"records": ' + listed("A", "B")[:-40], ["A"]),
    "an unended string": ('{"said": "and then ' + listed("A"), ["A"]),
    "nothing": ("I could not find any.", []),
    "empty": ("", []),
    "no records": ('{"a": [1, {"b": {}}]} [2, 3]', []),
    "NaN": ('[{"item": {"company": "A", "year": "1"}, "url": "u", "answer": NaN}]', ["A"]),
    "a surrogate": (r'[{"item": {"company": "A\ud800", "year": "1"}, "url": "u"}]', ["A?"]),
    "a number too long to read": (
        f'{{"n": {LONG}}} [{{"item": {{"company": "A", "year": "1"}}, "url": "u", "n": {LONG}}}]',
        ["A"],
    ),
    "NUL": ('\0{"item": {"company": "A", "year": "1"}, "url": "u"}\0', ["A"]),
}


@pytest.mark.parametrize(("response", "companies"), RESPONSES.values(), ids=RESPONSES)
def test_records_are_found_in_a_response(response: str, companies: list[str]) -> None:
    assert [one["item"]["company"] for one in records_in(response)] == companies


@pytest.mark.parametrize(
    "response",
    [
        "[" * 100_000,
        "{" * 100_000,
        '{"a":' * 100_000,
        '{"a":[' * 100_000,
        '{"' * 100_000,
        '{"a":1,' * 100_000,
        "{}" * 100_000,
        '{"item":' * 100_000,
        '[{"item":{}},' * 30_000,
        '{"item": "' + "\\" * 1_000_000,
        '{"item": "' + "{" * 1_000_000,
        "{" + " " * 1_000_000,
        "{ " * 500_000,
    ],
    ids=lambda response: response[:12],
)
def test_hostile_responses_take_little_time(response: str) -> None:
    began = time.perf_counter()
    records_in(response)
    assert time.perf_counter() - began < 3
