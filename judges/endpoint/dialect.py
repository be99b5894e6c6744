"""The dialect of an endpoint: how its requests are written.

Endpoints differ in what they accept: which of the two APIs, a JSON schema or not, a reasoning
effort or not, and the name of the bound on a reply's tokens.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import httpx2
import openai
import orjson

from judges.endpoint.questions import (
    ModelUnusable,
    RateLimited,
    Rejected,
    Request,
    TooLong,
    Trouble,
)
from judges.endpoint.reply_bodies import MOST_SHOWN, Api, field

Form = Literal["schema", "guided", "object", "text"]
Bound = Literal["max_completion_tokens", "max_tokens", ""]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What an endpoint accepts for one model.

    `form`: the reply is asked for by a strict schema, as an object with a schema beside it, as any
    object, or as text. `effort`: a reasoning effort is sent. `bound`: the parameter that bounds the
    tokens of a reply in the chat API; empty: none is accepted. `proven`: the endpoint has given a
    usable reply in this form, so a later error about the form is temporary.
    """

    api: Api = "chat"
    form: Form = "schema"
    effort: bool = True
    bound: Bound = "max_completion_tokens"
    proven: bool = False


PATHS = {"chat": "/chat/completions", "responses": "/responses"}
"""The path of each API."""

# ----------------------------------------------------------------------------------------- requests


def body_of(request: Request, dialect: Dialect) -> dict[str, Any]:
    """The JSON body of a request."""
    if dialect.api == "responses":
        return _responses_body(request, dialect)
    return _chat_body(request, dialect)


def _chat_body(request: Request, dialect: Dialect) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _messages(request, dialect),
    }
    if dialect.effort:
        body["reasoning_effort"] = request.effort
    if request.max_tokens and dialect.bound:
        body[dialect.bound] = request.max_tokens
    if dialect.form == "schema":
        body["response_format"] = {"type": "json_schema", "json_schema": _strict(request)}
    elif dialect.form != "text":
        body["response_format"] = _object_form(request, dialect)
    return body


def _responses_body(request: Request, dialect: Dialect) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "input": _messages(request, dialect),
        "store": False,
    }
    if dialect.effort:
        body["reasoning"] = {"effort": request.effort}
    if request.max_tokens and dialect.bound:
        body["max_output_tokens"] = request.max_tokens
    if dialect.form == "schema":
        body["text"] = {"format": {"type": "json_schema", **_strict(request)}}
    elif dialect.form != "text":
        body["text"] = {"format": _object_form(request, dialect)}
    return body


def _strict(request: Request) -> dict[str, Any]:
    return {"name": request.role, "strict": True, "schema": _schema(request)}


def _object_form(request: Request, dialect: Dialect) -> dict[str, Any]:
    # The servers built on llama.cpp take a schema in no other form.
    schema = {"schema": _schema(request)} if dialect.form == "guided" else {}
    return {"type": "json_object", **schema}


def _schema(request: Request) -> Any:
    """The schema of a request: for a batched one, of the items that are still to be answered."""
    schema = orjson.loads(request.schema)
    if request.wanted:
        properties = schema["properties"]
        schema["properties"] = {number: properties[number] for number in request.wanted}
        schema["required"] = list(request.wanted)
    return schema


def _messages(request: Request, dialect: Dialect) -> list[dict[str, str]]:
    """System and user first: they are the same in every attempt, so a prefix cache serves them."""
    system = request.system
    if dialect.form != "schema":
        system = f"{system}\n\n{_BY_PROMPT}\n{request.schema}"
    messages = [("system", system), ("user", request.user), *request.turns]
    if request.turns and dialect.form == "schema":
        # An endpoint may ignore the schema without a word. Then the model has not seen it yet.
        role, text = messages[-1]
        messages[-1] = role, f"{text}\n\n{_THE_SCHEMA}\n{orjson.dumps(_schema(request)).decode()}"
    return [{"role": role, "content": _sendable(text)} for role, text in messages]


_THE_SCHEMA = "The JSON schema:"
_BY_PROMPT = (
    "Answer with one JSON object and nothing else: no other text, no code fence. "
    "It must meet this JSON schema:"
)


def _sendable(text: str) -> str:
    """`text` without NUL and lone surrogates, which endpoints reject."""
    return (
        text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


# ------------------------------------------------------------------------------------------- errors


def next_dialect(
    dialect: Dialect, error: openai.APIStatusError, bounded: bool = False
) -> Dialect | None:
    """The dialect to try after an error, None if the error is not about the dialect. `bounded`: the
    request had a bound on the tokens of its reply."""
    message, status = message_of(error), error.status_code
    if dialect.api == "chat" and (
        (status in _NO_ROUTE and ("model" not in message or "v1/responses" in message))
        or (status == 400 and "v1/responses" in message)
    ):
        return replace(dialect, api="responses")
    if status not in (400, 422, 500):
        return None
    if bounded and dialect.bound and status != 500 and _BOUND.search(message):
        return replace(dialect, bound=_BOUNDS[_BOUNDS.index(dialect.bound) + 1])
    if dialect.effort and status != 500 and _EFFORT.search(message):
        return replace(dialect, effort=False)
    if dialect.form != "text" and _FORMAT.search(message):
        return replace(dialect, form=_FORMS[_FORMS.index(dialect.form) + 1])
    return None


_FORMS: tuple[Form, ...] = get_args(Form)
_BOUNDS: tuple[Bound, ...] = get_args(Bound)
_NO_ROUTE = (404, 405, 501)
_BOUND = re.compile(r"max_(?:completion_|output_)?tokens", re.IGNORECASE)
_EFFORT = re.compile(r"reasoning", re.IGNORECASE)
_FORMAT = re.compile(r"response_format|text\.format|json_schema|json_object", re.IGNORECASE)


def failure_of(error: openai.APIStatusError, proven: bool) -> Exception:
    """The exception that an error stands for: ModelUnusable, RateLimited, Trouble, TooLong or
    Rejected. `proven`: key and model have given usable replies."""
    message, status = message_of(error), error.status_code
    if status == 429:
        if error.code == "insufficient_quota":
            return ModelUnusable(message)
        return RateLimited(message, _retry_after(error.response))
    if status >= 500 or status in (408, 409, 425):
        return Trouble(message)
    if status in (401, 402, 403, 404) and not (proven and status == 403):
        return ModelUnusable(message)
    if status == 413 or error.code == "context_length_exceeded" or _CONTEXT.search(message):
        return TooLong(message)
    return Rejected(message)


_CONTEXT = re.compile(r"context (?:size|length|window)|maximum context|too long", re.IGNORECASE)


def message_of(error: openai.APIStatusError) -> str:
    """Status and message, and the field that the endpoint names, in one short line."""
    body = error.body
    message = field(body, str, "message") or field(body, str, "detail") or error.response.text
    line = " ".join(filter(None, (field(body, str, "param"), message)))
    return f"{error.status_code} {' '.join(_sendable(line[:MOST_SHOWN]).split())}"


def _retry_after(response: httpx2.Response) -> float | None:
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(response.headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    return None
