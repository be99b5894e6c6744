"""What the client learns from the errors of an endpoint, model by model."""

import asyncio
import json

import pytest
from aiohttp import web
from endpoint_cases import GOOD, REQUEST, SCHEMA, endpoint
from modelserver import (
    Answer,
    Asked,
    refuses,
    responds,
    says,
)

from judges.endpoint.dialect import Dialect
from judges.endpoint.questions import (
    ModelUnusable,
    Reply,
    Trouble,
    UnusableReply,
    Usage,
)


def taking(*forms: str, status: int = 400, message: str = "no such response_format") -> Answer:
    def answer(asked: Asked) -> web.Response:
        return says(GOOD) if asked.form in forms else refuses(status, message)

    return answer


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This response_format type is unavailable now"),
        (422, "body.response_format.type: input should be 'text' or 'json_object'"),
        (500, "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]"),
    ],
)
async def test_a_rejected_schema_is_sent_in_another_form_from_then_on(monkeypatch, status, message):
    answer = taking("guided", status=status, message=message)
    async with endpoint(answer, monkeypatch) as (opened, server):
        assert await opened.ask(REQUEST)
        assert await opened.ask(REQUEST)
    assert server.forms == ["json_schema", "guided", "guided"]
    assert json.loads(server.asked[2].system.rpartition("\n")[2]) == json.loads(SCHEMA)
    assert len(server.asked[2].messages) == 2


async def test_the_last_form_is_text(monkeypatch):
    async with endpoint(taking("text"), monkeypatch) as (opened, server):
        assert await opened.ask(REQUEST)
        assert await opened.ask(REQUEST)
    assert server.forms == ["json_schema", "guided", "json_object", "text", "text"]


async def test_a_validation_error_without_a_message_names_the_field_too(monkeypatch):
    fault = {"detail": [{"loc": ["body", "response_format", "type"], "msg": "Input should be"}]}

    def answer(asked: Asked) -> web.Response:
        return says(GOOD) if asked.form == "guided" else web.json_response(fault, status=422)

    async with endpoint(answer, monkeypatch) as (opened, _):
        assert await opened.ask(REQUEST)


async def test_many_first_requests_learn_the_form_together(monkeypatch):
    async with endpoint(taking("text"), monkeypatch) as (opened, server):
        replies = await asyncio.gather(*(opened.ask(REQUEST) for _ in range(50)))
        assert len(replies) == 50
        before = len(server.asked)
        await opened.ask(REQUEST)
    assert len(server.asked) == before + 1


async def test_an_ordinary_500_changes_no_form(monkeypatch):
    replies = iter([refuses(500, "The server had an error"), says(GOOD)])
    async with endpoint(lambda asked: next(replies), monkeypatch) as (opened, server):
        with pytest.raises(Trouble):
            await opened.ask(REQUEST)
        await opened.ask(REQUEST)
    assert server.forms == ["json_schema", "json_schema"]


async def test_a_form_that_has_worked_is_never_changed(monkeypatch):
    replies = iter([says(GOOD), refuses(400, "no such response_format"), says(GOOD)])
    async with endpoint(lambda asked: next(replies), monkeypatch) as (opened, server):
        await opened.ask(REQUEST)
        with pytest.raises(Trouble):
            await opened.ask(REQUEST)
        await opened.ask(REQUEST)
    assert server.forms == ["json_schema"] * 3


async def test_a_form_that_works_after_all_is_used_again(monkeypatch):
    refused = asyncio.Event()

    async def answer(asked: Asked) -> web.Response:
        if asked.form != "json_schema":
            return says("still thinking")
        if len(server.asked) == 1:
            return refuses(400, "no such response_format")
        await refused.wait()
        return says(GOOD)

    async with endpoint(answer, monkeypatch) as (opened, server):
        first, second = asyncio.create_task(opened.ask(REQUEST)), opened.ask(REQUEST)
        by_schema = asyncio.create_task(second)
        with pytest.raises(UnusableReply):
            await first
        assert opened.dialects["m"].form == "guided"
        refused.set()
        await by_schema
        assert opened.dialects["m"] == Dialect(proven=True)


async def test_an_unusable_reply_changes_no_form(monkeypatch):
    replies = iter([says("prose"), says(GOOD)])
    async with endpoint(lambda asked: next(replies), monkeypatch) as (opened, server):
        with pytest.raises(UnusableReply):
            await opened.ask(REQUEST)
        await opened.ask(REQUEST)
    assert server.forms == ["json_schema", "json_schema"]


async def test_an_effort_that_is_rejected_is_left_out(monkeypatch):
    def answer(asked: Asked) -> web.Response:
        if "reasoning_effort" in asked.body:
            return refuses(400, "Unrecognized request argument supplied: reasoning_effort")
        return says(GOOD)

    async with endpoint(answer, monkeypatch) as (opened, server):
        assert await opened.ask(REQUEST)
        assert await opened.ask(REQUEST)
    assert server.forms == ["json_schema"] * 3


@pytest.mark.parametrize(
    "refusal",
    [
        lambda: web.Response(status=404, text="404: Not Found"),
        lambda: refuses(404, "This model is only supported in v1/responses", param="model"),
        lambda: web.Response(status=405),
    ],
)
async def test_an_endpoint_or_a_model_without_chat_is_asked_for_responses(monkeypatch, refusal):
    def answer(asked: Asked) -> web.Response:
        return responds(GOOD) if asked.path == "/responses" else refusal()

    async with endpoint(answer, monkeypatch) as (opened, server):
        reply = await opened.ask(REQUEST)
        assert await opened.ask(REQUEST) == reply
    assert reply == Reply({"ok": True, "sure": 2}, Usage(1, 100, 60, 7))
    assert [asked.path for asked in server.asked] == [
        "/chat/completions",
        "/responses",
        "/responses",
    ]
    assert server.asked[1].body["reasoning"] == {"effort": "medium"}
    assert server.asked[1].body["text"]["format"]["schema"] == json.loads(SCHEMA)
    assert len(server.asked[1].messages) == 2


async def test_the_responses_api_may_reject_schema_and_effort(monkeypatch):
    def answer(asked: Asked) -> web.Response:
        if asked.form != "text":
            return refuses(400, "Unsupported parameter", param="text.format")
        if "reasoning" in asked.body:
            return refuses(400, "no such thing", param="reasoning.effort")
        return responds(GOOD)

    async with endpoint(answer, monkeypatch, {"m": Dialect("responses")}) as (opened, _):
        assert await opened.ask(REQUEST)
        assert opened.dialects == {"m": Dialect("responses", "text", effort=False, proven=True)}


async def test_an_address_with_neither_api_is_unusable(monkeypatch):
    async with endpoint(lambda asked: web.Response(status=404), monkeypatch) as (opened, server):
        with pytest.raises(ModelUnusable):
            await opened.ask(REQUEST)
    assert len(server.asked) == 2


async def test_known_dialects_can_be_given(monkeypatch):
    async with endpoint(taking("text"), monkeypatch) as (opened, _):
        await opened.ask(REQUEST)
    async with endpoint(taking("text"), monkeypatch, opened.dialects) as (later, server):
        await later.ask(REQUEST)
    assert server.forms == ["text"]
