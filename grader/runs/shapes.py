"""Converts run lines of other programs to the lines of this one (formats.md, section 2)."""

from collections.abc import Iterator, Mapping
from typing import Any


def line_of_search_evals(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a run line for a result of search_evals; None if `data` is not one.

    `question` is the exact question, for a task that is not found by `task`. The response is the
    last text of the conversation. Only the search calls that the conversation still has are
    counted; a long conversation loses its beginning.
    """
    datum, convo = data.get("datum"), data.get("convo")
    if not isinstance(datum, dict) or not isinstance(convo, dict):
        return None
    messages = convo.get("messages")
    messages = messages if isinstance(messages, list) else []
    texts = [text for message in messages if (text := _assistant_text(message))]
    return {
        "task": datum.get("id"),
        "question": datum.get("problem"),
        "response": texts[-1] if texts else "",
        "trajectory": messages,
        "search_calls": sum("search" in name for m in messages for name in _tools_called(m)),
    }


def line_of_widesearch(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a run line for a response of WideSearch; None if `data` is not one."""
    if "instance_id" not in data or "response" not in data:
        return None
    trial = data.get("trial_idx")
    line = {"task": data["instance_id"], "response": data["response"] or ""}
    if trial is not None:
        line["rollout"] = str(trial)
    if isinstance(data.get("messages"), list):
        line["trajectory"] = data["messages"]
    return line


def _parts(message: Any) -> Iterator[Mapping[str, Any]]:
    """A message and the parts of its content, in the forms of OpenAI, Anthropic and Gemini."""
    if not isinstance(message, dict):
        return
    yield message
    content = message.get("content")
    if isinstance(content, dict):
        yield content
        content = content.get("parts")
    if isinstance(content, list):
        yield from (part for part in content if isinstance(part, dict))


def _assistant_text(message: Any) -> str:
    """The text of a message of the assistant; empty for other messages."""
    parts = list(_parts(message))
    if not any(part.get("role") in ("assistant", "model") for part in parts[:2]):
        return ""
    content = parts[0].get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text for part in parts if isinstance(text := part.get("text"), str) and text)


def _tools_called(message: Any) -> Iterator[str]:
    """The names of the tools that a message calls."""
    for part in _parts(message):
        if part.get("type") in ("function_call", "tool_use"):
            yield str(part.get("name"))
        if isinstance(call := part.get("function_call"), dict):
            yield str(call.get("name"))
        calls = part.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
                yield str(function.get("name"))
