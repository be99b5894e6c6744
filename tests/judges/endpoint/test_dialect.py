"""How a request is written for an endpoint, and what its errors say about it."""

import json
from dataclasses import replace
from typing import Any

import httpx2
import openai
import pytest

from judges.endpoint.dialect import (
    Bound,
    Dialect,
    body_of,
    failure_of,
    message_of,
    next_dialect,
)
from judges.endpoint.prompting import closed, numbered
from judges.endpoint.questions import (
    ModelUnusable,
    RateLimited,
    Rejected,
    Request,
    TooLong,
    Trouble,
)

SCHEMA = {**numbered([closed(same={"type": "boolean"})] * 3), "$defs": {"x": {"type": "null"}}}
REQUEST = Request("cells", "m", "low", "rules", "cells", json.dumps(SCHEMA), items=3)
REPEAT = replace(
    REQUEST,
    attempt=2,
    turns=(("assistant", "prose"), ("user", "again")),
    wanted=("1", "3"),
    max_tokens=400,
)
CHAT, RESPONSES = Dialect(), Dialect("responses")


def schema_in(body: dict[str, Any]) -> Any:
    given = body.get("response_format") or body["text"]["format"]
    return given.get("json_schema", given)["schema"]


@pytest.mark.parametrize(("dialect", "name"), [(CHAT, "messages"), (RESPONSES, "input")])
def test_a_repeat_begins_like_the_first_attempt(dialect: Dialect, name: str) -> None:
    first, second = body_of(REQUEST, dialect)[name], body_of(REPEAT, dialect)[name]
    assert [message["content"] for message in first] == ["rules", "cells"]
    assert second[:3] == [*first, {"role": "assistant", "content": "prose"}]
    assert second[3]["role"] == "user"
    assert second[3]["content"].startswith("again")
    assert len(second) == 4


@pytest.mark.parametrize(("dialect", "name"), [(CHAT, "messages"), (RESPONSES, "input")])
def test_a_repeat_shows_the_schema_since_an_endpoint_may_have_ignored_it(
    dialect: Dialect, name: str
) -> None:
    text = body_of(REPEAT, dialect)[name][-1]["content"]
    shown = json.loads(text.removeprefix("again\n\nThe JSON schema:\n"))
    assert shown == schema_in(body_of(REPEAT, dialect))
    assert body_of(REPEAT, replace(dialect, form="text"))[name][-1]["content"] == "again"


@pytest.mark.parametrize("form", ["guided", "object", "text"])
def test_the_schema_in_the_prompt_is_the_same_in_a_repeat(form: Any) -> None:
    dialect = replace(CHAT, form=form)
    first, second = body_of(REQUEST, dialect), body_of(REPEAT, dialect)
    assert first["messages"][:2] == second["messages"][:2]
    assert first["messages"][0]["content"].endswith(REQUEST.schema)


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES, Dialect(form="guided")])
def test_a_repeat_asks_for_the_wanted_items_only(dialect: Dialect) -> None:
    assert schema_in(body_of(REQUEST, dialect)) == SCHEMA
    schema = schema_in(body_of(REPEAT, dialect))
    assert list(schema["properties"]) == schema["required"] == ["1", "3"]
    assert schema["$defs"] == SCHEMA["$defs"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("dialect", "names"),
    [
        (CHAT, {"max_completion_tokens"}),
        (replace(CHAT, bound="max_tokens"), {"max_tokens"}),
        (replace(CHAT, bound=""), set()),
        (RESPONSES, {"max_output_tokens"}),
        (replace(RESPONSES, bound=""), set()),
    ],
)
def test_the_bound_of_a_reply_is_sent_when_it_is_set(dialect: Dialect, names: set[str]) -> None:
    assert {name for name in body_of(REPEAT, dialect) if "tokens" in name} == names
    assert not {name for name in body_of(REQUEST, dialect) if "tokens" in name}
    assert all(body_of(REPEAT, dialect)[name] == 400 for name in names)


def error(status: int, message: str, **fields: Any) -> openai.APIStatusError:
    body = {"message": message, **fields}
    response = httpx2.Response(
        status, json={"error": body}, request=httpx2.Request("POST", "http://a.example/")
    )
    return openai.APIStatusError(message, response=response, body=body)


@pytest.mark.parametrize(
    ("bound", "message", "after"),
    [
        ("max_completion_tokens", "Unrecognized argument: max_completion_tokens", "max_tokens"),
        ("max_tokens", "max_tokens is too large: 40000", ""),
        ("max_completion_tokens", "max_output_tokens must be at most 9", "max_tokens"),
    ],
)
def test_a_bound_that_is_not_accepted_is_sent_in_another_way(
    bound: Bound, message: str, after: Bound
) -> None:
    dialect = replace(CHAT, bound=bound)
    assert next_dialect(dialect, error(400, message), True) == replace(CHAT, bound=after)
    assert next_dialect(dialect, error(422, message), True) == replace(CHAT, bound=after)
    assert next_dialect(dialect, error(500, message), True) is None
    assert next_dialect(dialect, error(400, message), False) is None  # no bound was sent
    assert next_dialect(replace(CHAT, bound=""), error(400, message), True) is None


@pytest.mark.parametrize(
    ("status", "message", "changes"),
    [
        (404, "Not Found", {"api": "responses"}),
        (405, "", {"api": "responses"}),
        (404, "This model is only supported in v1/responses", {"api": "responses"}),
        (400, "use v1/responses", {"api": "responses"}),
        (404, "no such model", None),
        (400, "unknown argument: reasoning_effort", {"effort": False}),
        (500, "unknown argument: reasoning_effort", None),
        (400, "response_format is unavailable", {"form": "guided"}),
        (422, "json_schema", {"form": "guided"}),
        (500, "'response_format', 'type'", {"form": "guided"}),
        (503, "response_format", None),
        (400, "bad tokens", None),
    ],
)
def test_what_an_error_says_about_the_dialect(
    status: int, message: str, changes: dict[str, Any] | None
) -> None:
    expected = None if changes is None else replace(CHAT, **changes)
    assert next_dialect(CHAT, error(status, message)) == expected


def test_the_last_dialect_has_no_next_one() -> None:
    last = Dialect("responses", "text", effort=False, bound="")
    for message in ("reasoning", "response_format", "v1/responses", "max_tokens"):
        assert next_dialect(last, error(400, message), True) is None


@pytest.mark.parametrize(
    ("status", "code", "proven", "kind"),
    [
        (429, None, True, RateLimited),
        (429, "insufficient_quota", True, ModelUnusable),
        (500, None, True, Trouble),
        (408, None, True, Trouble),
        (409, None, True, Trouble),
        (425, None, True, Trouble),
        (401, None, True, ModelUnusable),
        (402, None, True, ModelUnusable),
        (403, None, False, ModelUnusable),
        (403, None, True, Rejected),
        (404, None, True, ModelUnusable),
        (413, None, True, TooLong),
        (400, "context_length_exceeded", True, TooLong),
        (400, None, True, Rejected),
    ],
)
def test_what_a_status_stands_for(
    status: int, code: str | None, proven: bool, kind: type[Exception]
) -> None:
    failure = failure_of(error(status, "oh", code=code), proven)
    assert type(failure) is kind
    assert str(failure) == f"{status} oh"


def test_a_message_is_one_bounded_line_with_the_field() -> None:
    assert message_of(error(400, "a\n b", param="text.format")) == "400 text.format a b"
    assert len(message_of(error(400, "x" * 1_000))) == 304
