"""The bodies of both APIs: where the text of a reply is, what it cost, and why there is none."""

import json
from typing import Any

import pytest

from judges.endpoint.questions import Fault, RateLimited, Trouble, UnusableReply, Usage
from judges.endpoint.reply_bodies import Api, read_body, text_of, usage_of

GOOD = '{"ok": true}'


def chat(content: Any = None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"finish_reason": finish, "message": {"content": content, **message}}]}


def responses(*output: Any, **fields: Any) -> dict[str, Any]:
    return {"status": "completed", "output": [*output], **fields}


def message(*parts: Any) -> dict[str, Any]:
    return {"type": "message", "content": [*parts]}


def part(text: Any, kind: str = "text") -> dict[str, Any]:
    return {"type": kind, "text": text}


def call(*arguments: Any) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": "f", "arguments": one}} for one in arguments]


THINKING = {"type": "thinking", "thinking": '{"ok": false}', "text": "no"}


def read(api: Api, body: Any) -> str:
    return text_of(api, body, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (chat(GOOD), GOOD),
        (chat([part('{"ok":'), part(" true}")]), GOOD),
        (chat([THINKING, part(GOOD), part(GOOD, "reasoning")]), GOOD),
        (chat(['{"ok": ', "true}"]), GOOD),
        (chat([part(GOOD, "output_text"), part(None), 3, {}]), GOOD),
        (chat(GOOD, reasoning_content="no", tool_calls=call("{}")), GOOD),
        (chat("", reasoning_content=GOOD), GOOD),
        (chat(None, reasoning=GOOD), GOOD),
        (chat(" \n", reasoning_content="", reasoning=GOOD), GOOD),
        (chat([], tool_calls=call(GOOD), reasoning="no"), GOOD),
        (chat(None, tool_calls=call({"ok": True})), '{"ok":true}'),
        (chat(None, function_call={"name": "f", "arguments": GOOD}), GOOD),
        (chat(None, tool_calls=call(GOOD, '{"ok": false}')), ""),
        (chat(None, tool_calls=[{}], function_call={"arguments": GOOD}), GOOD),
        (chat({"ok": True}), ""),
        (chat(None, tool_calls=3, reasoning=3), ""),
        (chat(), ""),
    ],
)
def test_the_text_of_a_chat_reply(body: Any, text: str) -> None:
    assert read("chat", body) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (responses(message(part(GOOD, "output_text"))), GOOD),
        (responses(message(part('{"ok":', "output_text"), part(" true}", "output_text"))), GOOD),
        (responses(message(part('{"ok":', "output_text")), message(part(" true}"))), GOOD),
        (
            responses(
                {"type": "reasoning", "content": [part("no", "reasoning_text")], "summary": []},
                message(part(GOOD, "output_text")),
            ),
            GOOD,
        ),
        (responses({"type": "reasoning", "content": [part(GOOD, "reasoning_text")]}), GOOD),
        (responses({"type": "function_call", "arguments": GOOD}), GOOD),
        (responses(*[{"type": "function_call", "arguments": GOOD}] * 2), ""),
        (responses({"type": "function_call", "arguments": GOOD}, message(part("x"))), "x"),
        (responses(3, None, message()), ""),
        ({"output": [message(part(GOOD))]}, GOOD),
    ],
)
def test_the_text_of_a_reply_of_the_responses_api(body: Any, text: str) -> None:
    assert read("responses", body) == text


@pytest.mark.parametrize(
    ("api", "body", "fault", "said"),
    [
        ("chat", chat(GOOD, "length"), "cut off", GOOD),
        ("chat", chat(GOOD, "content_filter"), "refused", GOOD),
        ("chat", chat(None, "content_filter"), "refused", ""),
        ("chat", chat(GOOD, refusal="I will not"), "refused", "I will not"),
        ("chat", chat([{"type": "refusal", "refusal": "No"}]), "refused", "No"),
        ("chat", chat([{"type": "refusal"}]), "refused", "(no reason given)"),
        ("chat", {"choices": []}, "no message", '{"choices": []}'),
        ("chat", {"choices": [{"message": "x"}]}, "no message", '{"choices": [{"message": "x"}]}'),
        ("chat", [], "no message", "[]"),
        ("chat", None, "no message", "null"),
        ("responses", responses(message(part(GOOD)), status="incomplete"), "cut off", GOOD),
        ("responses", responses(status="failed"), "cut off", ""),
        (
            "responses",
            responses(status="incomplete", incomplete_details={"reason": "content_filter"}),
            "refused",
            "",
        ),
        ("responses", responses(message({"type": "refusal", "refusal": "No"})), "refused", "No"),
        ("responses", chat(GOOD), "no message", json.dumps(chat(GOOD))),
    ],
)
def test_why_a_reply_has_no_usable_text(api: Api, body: Any, fault: Fault, said: str) -> None:
    with pytest.raises(UnusableReply) as unusable:
        read(api, body)
    assert (unusable.value.fault, unusable.value.said) == (fault, said)


def test_what_was_sent_in_place_of_a_message_is_shown_in_part() -> None:
    with pytest.raises(UnusableReply) as unusable:
        text_of("chat", read_body(b"<p>" * 500), b"<p>" * 500)
    assert unusable.value.said == "<p>" * 100


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"code": 502, "message": "the provider is down"}}, Trouble),
        ({"error": {"message": "the provider is down"}}, Trouble),
        ({"choices": [{"error": {"code": 502, "message": "the provider is down"}}]}, Trouble),
        ({"error": {"code": 429, "message": "slow down"}}, RateLimited),
        ({**responses(status="failed"), "error": {"code": "rate_limit_exceeded"}}, RateLimited),
    ],
)
def test_an_error_with_status_200_is_a_transport_fault(body: Any, kind: type[Exception]) -> None:
    with pytest.raises(Trouble) as trouble:
        read("chat", body)
    assert type(trouble.value) is kind


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"code": 502, "message": "it is down"}, "502 it is down"),
        ({"message": "it is down"}, "error it is down"),
        ({"code": 502, "message": "x" * 1_000}, "502 " + "x" * 296),
    ],
)
def test_the_message_of_an_error_with_status_200(error: Any, message: str) -> None:
    with pytest.raises(Trouble) as trouble:
        read("chat", {"error": error})
    assert str(trouble.value) == message


def test_an_error_that_is_null_is_none() -> None:
    assert read("responses", {**responses(message(part(GOOD))), "error": None}) == GOOD


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 7}, Usage(1, 100, 0, 7)),
        ({"input_tokens": 100, "output_tokens": 7}, Usage(1, 100, 0, 7)),
        (
            {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 60}},
            Usage(1, 100, 60, 0),
        ),
        (
            {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 160}},
            Usage(1, 100, 100, 0),
        ),
        ({"prompt_tokens": "many", "completion_tokens": -3}, Usage(1)),
        ({"prompt_tokens": 2**64 - 1, "completion_tokens": True}, Usage(1)),
        ({"prompt_tokens": 10**9, "completion_tokens": 10**9 + 1}, Usage(1, 10**9)),
        (None, Usage(1)),
    ],
)
def test_the_tokens_of_a_reply(usage: Any, counted: Usage) -> None:
    assert usage_of({"usage": usage}) == counted
    assert usage_of(usage) == Usage(1)


@pytest.mark.parametrize("content", [b"", b"<html>", b"\xff\xfe", b'{"choices": ['])
def test_a_body_that_is_not_json(content: bytes) -> None:
    assert read_body(content) is None


def test_a_body_that_is_json() -> None:
    assert read_body(b'{"choices": []}') == {"choices": []}
