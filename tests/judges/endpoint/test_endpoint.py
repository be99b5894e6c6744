"""The client of an endpoint, against a server on loopback."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from aiohttp import web
from endpoint_cases import GOOD, REQUEST, SCHEMA, endpoint
from modelserver import (
    Answer,
    Asked,
    model_server,
    refuses,
    says,
)

from judges.endpoint.dialect import Dialect
from judges.endpoint.endpoint import Endpoint
from judges.endpoint.questions import (
    ModelUnusable,
    Price,
    RateLimited,
    Rejected,
    Reply,
    Request,
    TooLong,
    Trouble,
    UnusableReply,
    Usage,
)


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """Sends one request to a server that gives this answer."""

    async def once(answer: Answer) -> Reply:
        async with endpoint(answer, monkeypatch) as (opened, _):
            return await opened.ask(REQUEST)

    return once


# --------------------------------------------------------------------------------------- replies


async def test_a_request_and_its_reply(monkeypatch):
    async with endpoint(lambda asked: says(GOOD), monkeypatch) as (opened, server):
        reply = await opened.ask(REQUEST)
    assert reply == Reply({"ok": True, "sure": 2}, Usage(1, 100, 60, 7))
    (asked,) = server.asked
    assert asked.path == "/chat/completions"
    assert asked.headers["authorization"] == "Bearer k"
    assert asked.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "the rules"},
            {"role": "user", "content": "the record"},
        ],
        "reasoning_effort": "medium",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "judge", "strict": True, "schema": json.loads(SCHEMA)},
        },
    }


async def test_characters_that_endpoints_reject_are_replaced(monkeypatch):
    request = Request("judge", "m", "low", "s", "a\ud800b\0c\udfff 😀", SCHEMA)
    async with endpoint(lambda asked: says(GOOD), monkeypatch) as (opened, server):
        await opened.ask(request)
    assert server.asked[0].user == "a\ufffdb\ufffdc\ufffd 😀"


async def test_every_reply_is_counted_by_role_and_model_also_an_unusable_one(monkeypatch):
    replies = iter([says("I would rather not."), says(GOOD), says(GOOD)])
    async with endpoint(lambda asked: next(replies), monkeypatch) as (opened, _):
        with pytest.raises(UnusableReply):
            await opened.ask(REQUEST)
        await opened.ask(REQUEST)
        await opened.ask(Request("dedupe", "n", "high", "", "", SCHEMA))
    assert opened.spent == {
        ("judge", "m"): Usage(2, 200, 120, 14),
        ("dedupe", "n"): Usage(1, 100, 60, 7),
    }


def test_a_price_is_for_a_million_tokens_and_lower_for_cached_ones():
    usage = Usage(calls=3, tokens_in=3_000_000, cached_in=2_000_000, tokens_out=100_000)
    assert Price(2.0, 0.2, 10.0).of(usage) == pytest.approx(2.0 + 0.4 + 1.0)


@pytest.mark.parametrize(
    ("reply", "fault", "said", "calls"),
    [
        (says("I like larches."), "no object", "I like larches.", 1),
        (says(GOOD[:-5]), "broken object", GOOD[:-5], 1),
        (says('{"ok": true}'), "not by the schema", '{"ok": true}', 1),
        (says(None), "empty", "", 1),
        (says(GOOD, "length"), "cut off", GOOD, 1),
        (says(GOOD, refusal="I will not"), "refused", "I will not", 1),
        (web.Response(text="<html>", content_type="text/html"), "no message", "<html>", 1),
        (web.Response(body=b"\xff", content_type="application/json"), "no message", "\ufffd", 1),
    ],
)
async def test_an_unusable_reply_has_its_text_and_its_cost(monkeypatch, reply, fault, said, calls):
    async with endpoint(lambda asked: reply, monkeypatch) as (opened, _):
        with pytest.raises(UnusableReply) as unusable:
            await opened.ask(REQUEST)
    assert (unusable.value.fault, unusable.value.said) == (fault, said)
    assert unusable.value.usage == opened.spent["judge", "m"]
    assert unusable.value.usage.calls == calls


async def test_a_reply_in_another_form_is_usable(ask):
    assert (await ask(lambda asked: says("{'ok': 'true', 'sure': 2.0,}"))).value == {
        "ok": True,
        "sure": 2,
    }


async def test_a_bound_on_the_reply_is_sent_in_the_form_that_is_accepted(monkeypatch):
    def answer(asked: Asked) -> web.Response:
        if "max_completion_tokens" in asked.body:
            return refuses(400, "unknown field max_completion_tokens")
        return says(GOOD)

    bounded = replace(REQUEST, max_tokens=400)
    async with endpoint(answer, monkeypatch) as (opened, server):
        await opened.ask(REQUEST)  # a form that has worked is not the bound's form
        await asyncio.gather(opened.ask(bounded), opened.ask(bounded))
        await opened.ask(bounded)
    assert [asked.body.get("max_tokens") for asked in server.asked[-3:]] == [400] * 3
    assert opened.dialects["m"] == Dialect(bound="max_tokens", proven=True)


# ---------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("status", [500, 502, 503, 408])
async def test_a_server_error_is_a_transport_fault(ask, status):
    with pytest.raises(Trouble, match=f"{status} it broke"):
        await ask(lambda asked: refuses(status, "it broke"))


@pytest.mark.parametrize("charset", ["hex", "zlib", "idna", "undefined", "a b", "utf-16"])
async def test_the_charset_of_an_error_is_ignored(ask, charset):
    headers = {"Content-Type": f"text/html; charset={charset}"}
    with pytest.raises(Trouble, match=r"^500 <html>caf\ufffd$"):
        await ask(lambda asked: web.Response(status=500, body=b"<html>caf\xe9", headers=headers))


async def test_the_message_of_an_error_can_be_written(ask):
    body = b'{"error": {"message": "a\\ud800\\u0000b"}}'
    with pytest.raises(Rejected) as rejected:
        await ask(
            lambda asked: web.Response(status=400, body=body, content_type="application/json")
        )
    assert str(rejected.value) == "400 a\ufffd\ufffdb"


async def test_a_dropped_connection_is_a_transport_fault(ask):
    def drop(asked: Asked) -> web.Response:
        raise asyncio.CancelledError  # the server closes the connection without an answer

    with pytest.raises(Trouble):
        await ask(drop)


async def test_a_response_that_breaks_off_is_a_transport_fault(ask):
    class Half(web.Response):
        async def write_eof(self, data: bytes = b"") -> None:
            await super().write_eof(b"{")

    half = Half(headers={"Content-Length": "500"})
    half.force_close()
    with pytest.raises(Trouble):
        await ask(lambda asked: half)


async def test_a_server_that_is_not_there_is_a_transport_fault(monkeypatch):
    async with endpoint(lambda asked: says(GOOD), monkeypatch) as _:
        pass
    async with Endpoint(4) as opened:
        with pytest.raises(Trouble, match="no answer"):
            await opened.ask(REQUEST)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [({"Retry-After": "7"}, 7.0), ({"retry-after-ms": "250"}, 0.25), ({}, None)],
)
async def test_a_rate_limit_says_how_long_to_wait(ask, header, seconds):
    def limit(asked: Asked) -> web.Response:
        reply = refuses(429, "slow down")
        reply.headers.update(header)
        return reply

    with pytest.raises(RateLimited) as limited:
        await ask(limit)
    assert limited.value.retry_after == seconds


@pytest.mark.parametrize(
    "reply",
    [
        lambda: refuses(401, "Incorrect API key provided"),
        lambda: refuses(403, "no access"),
        lambda: refuses(404, "The model `m` does not exist", code="model_not_found"),
        lambda: refuses(429, "You exceeded your quota", code="insufficient_quota"),
    ],
)
async def test_an_error_about_all_requests_is_met_once(monkeypatch, reply):
    async with endpoint(lambda asked: reply(), monkeypatch) as (opened, server):
        for _ in range(3):
            with pytest.raises(ModelUnusable):
                await opened.ask(REQUEST)
    assert len(server.asked) == 1


async def test_another_model_may_still_be_usable(monkeypatch):
    def answer(asked: Asked) -> web.Response:
        return says(GOOD) if asked.body["model"] == "m" else refuses(404, "model not found")

    async with endpoint(answer, monkeypatch) as (opened, _):
        with pytest.raises(ModelUnusable):
            await opened.ask(Request("dedupe", "n", "high", "", "", SCHEMA))
        assert await opened.ask(REQUEST)


async def test_a_403_rejects_one_request_if_the_key_is_known_to_work(monkeypatch):
    replies = iter([says(GOOD), refuses(403, "flagged by moderation"), says(GOOD)])
    async with endpoint(lambda asked: next(replies), monkeypatch) as (opened, _):
        await opened.ask(REQUEST)
        with pytest.raises(Rejected, match="moderation"):
            await opened.ask(REQUEST)
        assert await opened.ask(REQUEST)


@pytest.mark.parametrize(
    "reply",
    [
        refuses(400, "This model's maximum context length is 8192", code="context_length_exceeded"),
        refuses(400, "the request exceeds the available context size. try increasing it"),
        refuses(413, "payload too large"),
    ],
)
async def test_a_request_that_is_too_long(ask, reply):
    with pytest.raises(TooLong):
        await ask(lambda asked: reply)


async def test_a_bad_request_is_rejected(ask):
    with pytest.raises(Rejected, match="400 bad tokens"):
        await ask(lambda asked: refuses(400, "bad tokens"))


async def test_openai_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelUnusable, match="OPENAI_API_KEY"):
        async with Endpoint(4):
            pass


async def test_another_address_needs_no_key(monkeypatch):
    async with model_server(lambda asked: says(GOOD)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        async with Endpoint(4) as opened:
            assert await opened.ask(REQUEST)


async def test_as_many_at_once_as_there_are_connections(monkeypatch):
    everybody_in = asyncio.Event()

    async def answer(asked: Asked) -> web.Response:
        if server.at_once == 64:
            everybody_in.set()
        await everybody_in.wait()
        return says(GOOD)

    async with endpoint(answer, monkeypatch) as (opened, server):
        async with asyncio.timeout(10):
            await asyncio.gather(*(opened.ask(REQUEST) for _ in range(64)))
