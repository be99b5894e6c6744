"""Parts of requests: prompts, schemas of replies, and fences around untrusted text."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.endpoint.questions import Reply, UnusableReply, Usage

REASON: Mapping[str, Any] = {"type": "string"}
"""The schema of a reason."""
MOST_SAID = 500
"""Characters of a reason that are kept."""


def read_prompt(module: str, role: str, layout: int, *more: object) -> tuple[str, str]:
    """The prompt of a role and its version, which is part of the cache key of the replies.

    The prompt is the text file with the name of the role, in the folder of `module`, the file of
    the code that fills it in. Increase `layout` when the text around the prompt changes, or the
    meaning of a reply. `more` is anything else that the replies depend on.
    """
    prompt = Path(module).with_name(f"{role}.txt").read_text("utf-8")
    parts = " ".join(map(str, (layout, *more, prompt)))
    return prompt, hashlib.sha256(parts.encode()).hexdigest()[:16]


def closed(**properties: Any) -> dict[str, Any]:
    """The schema of an object that has exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def numbered(schemas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The schema of an object with a property for each number from 1."""
    return closed(**{str(number): one for number, one in enumerate(schemas, 1)})


def by_number(reply: Reply, count: int) -> list[tuple[Any, Usage]]:
    """The answers to `count` items of a batched request, or UnusableReply for an item without an
    answer, each with a usage. The first answer has the usage of the whole reply, the others none.
    """
    unanswered = reply.unanswered or {}
    usage = reply.usage
    answers: list[tuple[Any, Usage]] = []
    for number in map(str, range(1, count + 1)):
        if number in reply.value:
            answers.append((reply.value[number], usage))
            usage = Usage()
        else:
            answers.append((UnusableReply(unanswered.get(number, "no answer")), Usage()))
    return answers


def reason(said: Mapping[str, Any]) -> str:
    """The reason in an answer, without white space around it, in at most MOST_SAID characters."""
    text: str = said["reason"]
    return text.strip()[:MOST_SAID]


def fenced(what: str, content: str) -> tuple[str, str]:
    """Untrusted text between two lines with a mark, and the mark. The mark is the digest of the
    text, so the text cannot contain it. `what` names the text in both lines."""
    raw = content.encode("utf-8", "surrogatepass")
    mark = hashlib.blake2b(raw, digest_size=16).hexdigest()
    return f"<{what} {mark}>\n{content}\n</{what} {mark}>", mark


def as_json(value: Any) -> str:
    """A JSON value as text for a model."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return '"(nested too deeply to be shown)"'
