"""A model behind an OpenAI-compatible endpoint: a question with a schema to a checked answer.

Endpoints differ in what they take: which of the two APIs, a JSON schema or not, a reasoning effort
or not. The first refusals teach it, model by model; they cost a request each and fail nothing.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, get_args

import httpx2
import openai
import orjson
from jsonschema import Draft202012Validator

from judges.endpoint.questions import (
    ModelUnusable,
    RateLimited,
    Rejected,
    Reply,
    Request,
    TooLong,
    Trouble,
    Unreadable,
    Usage,
)

Api = Literal["chat", "responses"]
Form = Literal["schema", "guided", "object", "text"]


@dataclass(frozen=True, slots=True)
class Way:
    """How a model is spoken to. `form`: the reply follows a schema; is an object, by a schema or
    not; is text. `proven`: it has answered so, and is held to it."""

    api: Api = "chat"
    form: Form = "schema"
    effort: bool = True
    proven: bool = False


class Endpoint:
    """A client of the endpoint that `OPENAI_BASE_URL` and `OPENAI_API_KEY` name; an async context
    manager, for one event loop. It never retries by itself and knows no deadline.

    `connections` may be open at once. `ways` is what is known of models already, and learns;
    `spent` counts every reply by role and model, the unreadable ones too: they are paid for.
    """

    def __init__(self, connections: int, ways: Mapping[str, Way] | None = None) -> None:
        self.ways: dict[str, Way] = dict(ways or {})
        self.spent: defaultdict[tuple[str, str], Usage] = defaultdict(Usage)
        self._connections = connections
        self._unusable: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        """Raises ModelUnusable where no key is set for an endpoint that wants one, or its address
        is none of http."""
        own = os.environ.get("OPENAI_BASE_URL")
        if own and not own.startswith(("http://", "https://")):
            raise ModelUnusable(f"OPENAI_BASE_URL is {own!r}, which is no http or https address")
        try:
            self._client = openai.AsyncOpenAI(
                # A server of one's own mostly wants no key, the package always does.
                api_key=os.environ.get("OPENAI_API_KEY") or ("none" if own else None),
                base_url=own or _OPENAI,  # the package takes an empty variable for an address
                max_retries=0,
                timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
                http_client=openai.DefaultAioHttpClient(
                    limits=httpx2.Limits(
                        max_connections=self._connections,
                        max_keepalive_connections=self._connections,
                        keepalive_expiry=_IDLE_SECONDS,
                    ),
                ),
            )
        except openai.OpenAIError as error:
            raise ModelUnusable(str(error)) from None
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.close()

    async def ask(self, request: Request) -> Reply:
        """The answer to a request. Raises Trouble (RateLimited, Unreadable), which may pass;
        Rejected, which concerns this request; ModelUnusable, which concerns all, now and later."""
        while True:
            if why := self._unusable.get(request.model):
                raise ModelUnusable(why)
            way = self.ways.get(request.model, Way())
            try:
                response = await self._client.post(
                    _PATHS[way.api], cast_to=httpx2.Response, body=_BODIES[way.api](request, way)
                )
            except openai.APIStatusError as error:
                self._learn(request.model, way, error)
                continue
            except openai.APIConnectionError as error:
                raise Trouble(f"no answer: {error.__cause__ or error}") from error
            return self._read(request, way, response)

    def _read(self, request: Request, way: Way, response: httpx2.Response) -> Reply:
        body = _json(response.content)
        usage = _usage(body)
        self.spent[request.role, request.model] += usage
        reply = Reply(_value(_READERS[way.api](body), request.schema), usage)
        if not self.ways.get(request.model, Way()).proven:
            self.ways[request.model] = replace(way, proven=True)
        return reply

    def _learn(self, model: str, way: Way, error: openai.APIStatusError) -> None:
        """Take a refusal for what it says of the way in which was asked; if it says nothing of
        that, raise what it means."""
        known = self.ways.get(model, Way())
        other = _other_way(way, error)
        if other and (known != way or not way.proven):
            if known == way:  # else another request has learned it meanwhile
                self.ways[model] = other
            return
        failure = Trouble(_said(error)) if other else _failure(error, known.proven)
        if isinstance(failure, ModelUnusable):
            self._unusable[model] = str(failure)
        raise failure from error


_OPENAI = "https://api.openai.com/v1"
_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 15.0

# ----------------------------------------------------------------------------------------- requests


def _chat_body(request: Request, way: Way) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _messages(request, way),
    }
    if way.effort:
        body["reasoning_effort"] = request.effort
    if way.form == "schema":
        body["response_format"] = {"type": "json_schema", "json_schema": _strict(request)}
    elif way.form != "text":
        body["response_format"] = _object_form(request, way)
    return body


def _responses_body(request: Request, way: Way) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "input": _messages(request, way),
        "store": False,
    }
    if way.effort:
        body["reasoning"] = {"effort": request.effort}
    if way.form == "schema":
        body["text"] = {"format": {"type": "json_schema", **_strict(request)}}
    elif way.form != "text":
        body["text"] = {"format": _object_form(request, way)}
    return body


def _strict(request: Request) -> dict[str, Any]:
    return {"name": request.role, "strict": True, "schema": orjson.loads(request.schema)}


def _object_form(request: Request, way: Way) -> dict[str, Any]:
    # The servers built on llama.cpp know no other way to give a schema.
    schema = {"schema": orjson.loads(request.schema)} if way.form == "guided" else {}
    return {"type": "json_object", **schema}


def _messages(request: Request, way: Way) -> list[dict[str, str]]:
    system = request.system
    if way.form != "schema":
        system = f"{system}\n\n{_BY_PROMPT}\n{request.schema}"
    return [
        {"role": "system", "content": _sendable(system)},
        {"role": "user", "content": _sendable(request.user)},
    ]


_BY_PROMPT = (
    "Answer with one JSON object and nothing else: no other text, no code fence. "
    "It must meet this JSON schema:"
)


def _sendable(text: str) -> str:
    """`text` without NUL and lone surrogates, which endpoints do not take."""
    return (
        text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


_PATHS = {"chat": "/chat/completions", "responses": "/responses"}
_BODIES = {"chat": _chat_body, "responses": _responses_body}

# ----------------------------------------------------------------------------------------- replies


def _json(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        raise Unreadable("the endpoint's answer is not JSON") from None


def _usage(body: Any) -> Usage:
    usage = _get(body, dict, "usage") or {}

    def count(*path: str) -> int:
        return max(0, _get(usage, int, *path) or 0)

    tokens_in = count("prompt_tokens") or count("input_tokens")
    cached = count("prompt_tokens_details", "cached_tokens") or count(
        "input_tokens_details", "cached_tokens"
    )
    tokens_out = count("completion_tokens") or count("output_tokens")
    return Usage(1, tokens_in, min(cached, tokens_in), tokens_out)


T = TypeVar("T")


def _get(value: Any, kind: type[T], *path: str | int) -> T | None:
    """What stands under a path, if it is of this kind."""
    for name in path:
        try:
            value = value[name]
        except (LookupError, TypeError):
            return None
    return value if isinstance(value, kind) else None


def _chat_text(body: Any) -> str:
    choice = _get(body, dict, "choices", 0) or {}
    if _get(choice, str, "message", "refusal"):
        raise Unreadable("the model refused to answer")
    if (end := _get(choice, str, "finish_reason")) in ("length", "content_filter"):
        raise Unreadable(f"the reply was cut off: {end}")
    return _get(choice, str, "message", "content") or ""


def _responses_text(body: Any) -> str:
    if (status := _get(body, str, "status")) not in (None, "completed"):
        raise Unreadable(f"the reply was cut off: {status}")
    texts = []
    for item in _get(body, list, "output") or ():
        for part in _get(item, list, "content") or ():
            if _get(part, str, "type") == "refusal":
                raise Unreadable("the model refused to answer")
            if _get(item, str, "type") == "message":
                texts.append(_get(part, str, "text") or "")
    return "".join(texts)


_READERS = {"chat": _chat_text, "responses": _responses_text}


def _value(text: str, schema: str) -> Mapping[str, Any]:
    """The one JSON object in a reply, if it meets the schema."""
    if not text.strip():
        raise Unreadable("the reply is empty")
    value = _object(text)
    if fault := next(_validator(schema).iter_errors(value), None):
        raise Unreadable(f"the reply is not by the schema: {fault.message[:_SHOWN]}")
    return value


@lru_cache(maxsize=1024)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(orjson.loads(schema))


def _object(text: str) -> dict[str, Any]:
    """The object that a reply is, or the only one that it holds between fences or words. More than
    one is unreadable: a model that quotes a forged answer has not given it."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = list(_objects(text.rpartition("</think>")[2]))
        if len(found) != 1:
            raise Unreadable(f"{len(found)} JSON objects in the reply, not one") from None
        return found[0]
    if not isinstance(value, dict):
        raise Unreadable("the reply is not an object")
    return value


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The first outermost JSON objects in a text, two at most."""
    at, found = text.find("{"), 0
    for _ in range(_MOST_BRACES):
        if at < 0 or found == 2:
            return
        try:
            _, end = _DECODER.raw_decode(text, at)
            value = orjson.loads(text[at:end])
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
            found += 1
        at = text.find("{", end)
    raise Unreadable("braces without end in the reply")


_DECODER = json.JSONDecoder()
_MOST_BRACES = 200
_SHOWN = 300  # characters of what an endpoint says

# ---------------------------------------------------------------------------------------- refusals


def _other_way(way: Way, error: openai.APIStatusError) -> Way | None:
    """The way that a refusal leaves; None if it is not one of the way."""
    said, status = _said(error), error.status_code
    if way.api == "chat" and (
        (status in _NO_ROUTE and ("model" not in said or "v1/responses" in said))
        or (status == 400 and "v1/responses" in said)
    ):
        return replace(way, api="responses")
    if status not in (400, 422, 500):
        return None
    if way.effort and status != 500 and _EFFORT.search(said):
        return replace(way, effort=False)
    if way.form != "text" and _FORMAT.search(said):
        return replace(way, form=_FORMS[_FORMS.index(way.form) + 1])
    return None


_FORMS: tuple[Form, ...] = get_args(Form)
_NO_ROUTE = (404, 405, 501)
_EFFORT = re.compile(r"reasoning", re.IGNORECASE)
_FORMAT = re.compile(r"response_format|text\.format|json_schema|json_object", re.IGNORECASE)


def _failure(error: openai.APIStatusError, proven: bool) -> Exception:
    """What a refusal means. `proven`: the key and the model have had answers."""
    said, status = _said(error), error.status_code
    if status == 429:
        if error.code == "insufficient_quota":
            return ModelUnusable(said)
        return RateLimited(said, _retry_after(error.response))
    if status >= 500 or status in (408, 409, 425):
        return Trouble(said)
    if status in (401, 402, 403, 404) and not (proven and status == 403):
        return ModelUnusable(said)
    if status == 413 or error.code == "context_length_exceeded" or _CONTEXT.search(said):
        return TooLong(said)
    return Rejected(said)


_CONTEXT = re.compile(r"context (?:size|length|window)|maximum context|too long", re.IGNORECASE)


def _said(error: openai.APIStatusError) -> str:
    """Status and message, and the field that the endpoint names, in one short line."""
    body = error.body
    message = _get(body, str, "message") or _get(body, str, "detail") or error.response.text
    line = " ".join(filter(None, (_get(body, str, "param"), message)))
    return f"{error.status_code} {' '.join(line[:_SHOWN].split())}"


def _retry_after(response: httpx2.Response) -> float | None:
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(response.headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    return None
