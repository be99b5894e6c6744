"""The bodies of both APIs: the text of a reply, its cost, and why there is no text."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal, TypeVar

import orjson

from judges.endpoint.questions import RateLimited, Trouble, UnusableReply, Usage

Api = Literal["chat", "responses"]
MOST_SHOWN = 300
"""Characters of an endpoint's message that are kept."""

_MOST_TOKENS = 10**9  # tokens of one reply; a larger count is an error of the server

T = TypeVar("T")


def read_body(content: bytes) -> Any:
    """The JSON of a response, None if it is not JSON."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def field(value: Any, kind: type[T], *path: str | int) -> T | None:
    """The value under a path of a JSON value, if it is of this kind."""
    for name in path:
        try:
            value = value[name]
        except (LookupError, TypeError):
            return None
    return value if isinstance(value, kind) else None


def usage_of(body: Any) -> Usage:
    """The tokens of one reply. Counts that are missing or odd are 0."""
    usage = field(body, dict, "usage") or {}

    def count(*path: str) -> int:
        number = field(usage, int, *path) or 0
        return number if 0 <= number <= _MOST_TOKENS and number is not True else 0

    tokens_in = count("prompt_tokens") or count("input_tokens")
    cached = count("prompt_tokens_details", "cached_tokens") or count(
        "input_tokens_details", "cached_tokens"
    )
    tokens_out = count("completion_tokens") or count("output_tokens")
    return Usage(1, tokens_in, min(cached, tokens_in), tokens_out)


def text_of(api: Api, body: Any, raw: bytes) -> str:
    """The text of a reply, in which an answer is looked for.

    Thinking is left out. If there is no text, the arguments of a single tool call stand for it, or
    else the reasoning. Raises UnusableReply (no message, refused, cut off), and Trouble for an
    error that came with status 200.
    """
    _raise_error(body)
    return _READERS[api](body, raw)


def _raise_error(body: Any) -> None:
    """Some gateways answer 200 and put the error of the model's server in the body."""
    error = field(body, dict, "error") or field(body, dict, "choices", 0, "error")
    if error is None:
        return
    message = f"{error.get('code') or 'error'} {error.get('message') or ''}"[:MOST_SHOWN]
    if error.get("code") in (429, "429", "rate_limit_exceeded"):
        raise RateLimited(message)
    raise Trouble(message)


def _chat_text(body: Any, raw: bytes) -> str:
    message = field(body, dict, "choices", 0, "message")
    if message is None:
        raise _no_message(raw)
    text = _joined(message.get("content"))
    if refusal := field(message, str, "refusal") or _refusal(message.get("content")):
        raise UnusableReply("the model refused to answer", "refused", refusal)
    end = field(body, str, "choices", 0, "finish_reason")
    if end == "content_filter":
        raise UnusableReply("a content filter stopped the reply", "refused", text)
    if end == "length":
        raise UnusableReply("the reply was cut off by its length", "cut off", text)
    calls = [field(one, dict, "function") for one in field(message, list, "tool_calls") or ()]
    calls += [field(message, dict, "function_call")]
    reasoning = field(message, str, "reasoning_content") or field(message, str, "reasoning")
    return text if text.strip() else _arguments(filter(None, calls)) or reasoning or ""


def _responses_text(body: Any, raw: bytes) -> str:
    output = field(body, list, "output")
    if output is None:
        raise _no_message(raw)
    items = [item for item in output if isinstance(item, dict)]
    contents = [item.get("content") for item in items if item.get("type") == "message"]
    text = "".join(map(_joined, contents))
    if refusal := "".join(map(_refusal, contents)):
        raise UnusableReply("the model refused to answer", "refused", refusal)
    why = field(body, str, "incomplete_details", "reason")
    if why == "content_filter":
        raise UnusableReply("a content filter stopped the reply", "refused", text)
    if (status := field(body, str, "status")) not in (None, "completed"):
        raise UnusableReply(f"the reply was cut off: {why or status}", "cut off", text)
    calls = [item for item in items if item.get("type") == "function_call"]
    thinking = [item for item in items if item.get("type") == "reasoning"]
    reasoning = "".join(_joined(item.get("content"), _THOUGHTS) for item in thinking)
    return text if text.strip() else _arguments(calls) or reasoning


_READERS: Mapping[Api, Callable[[Any, bytes], str]] = {
    "chat": _chat_text,
    "responses": _responses_text,
}
_TEXTS = ("text", "output_text")
_THOUGHTS = ("reasoning_text", "text")


def _joined(content: Any, kinds: Collection[str | None] = _TEXTS) -> str:
    """The text of a content: a string, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (
        part if isinstance(part, str) else field(part, str, "text")
        for part in parts
        if isinstance(part, str) or field(part, str, "type") in kinds
    )
    return "".join(filter(None, texts))


def _refusal(content: Any) -> str:
    parts = content if isinstance(content, list) else []
    said = (field(p, str, "refusal") for p in parts if field(p, str, "type") == "refusal")
    return "".join(one or "(no reason given)" for one in said)


def _arguments(calls: Iterable[Mapping[str, Any]]) -> str:
    """The arguments of the only tool call, as JSON."""
    given = [call.get("arguments") for call in calls]
    if len(given) != 1:
        return ""
    (arguments,) = given
    return arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()


def _no_message(raw: bytes) -> UnusableReply:
    return UnusableReply(
        "the response has no message of a model",
        "no message",
        raw[:MOST_SHOWN].decode("utf-8", "replace"),
    )
