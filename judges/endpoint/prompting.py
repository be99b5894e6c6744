"""What questions to a model share: their prompts, the schemas of their answers, and fences around
strangers' words."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.endpoint.questions import Reply, Usage

REASON: Mapping[str, Any] = {"type": "string"}
"""The schema of a reason."""
MOST_SAID = 500
"""Characters of a reason that are kept."""


def read_prompt(module: str, role: str, layout: int, *more: object) -> tuple[str, str]:
    """The prompt of a role and its version, which is part of the cache key of its answers.

    The prompt is the text file named after the role, beside the file of the code that fills it
    (`module`). `layout` goes up with every change of what is put around the prompt, or of how an
    answer is read; `more` is what else the answers depend on.
    """
    prompt = Path(module).with_name(f"{role}.txt").read_text("utf-8")
    parts = " ".join(map(str, (layout, *more, prompt)))
    return prompt, hashlib.sha256(parts.encode()).hexdigest()[:16]


def closed(**properties: Any) -> dict[str, Any]:
    """The schema of an object with these properties, all of them, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def numbered(schemas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The schema of an object with a property for each number from 1."""
    return closed(**{str(number): one for number, one in enumerate(schemas, 1)})


def by_number(reply: Reply) -> list[tuple[Any, Usage]]:
    """What a reply to `numbered` says of each number; what it took is told with the first."""
    count = len(reply.value)
    usages = [reply.usage] + [Usage()] * (count - 1)
    said = (reply.value[str(number)] for number in range(1, count + 1))
    return list(zip(said, usages, strict=True))


def reason(said: Mapping[str, Any]) -> str:
    """The reason in an answer, as it is kept."""
    text: str = said["reason"]
    return text.strip()[:MOST_SAID]


def fenced(what: str, content: str) -> tuple[str, str]:
    """Data between two lines with a mark that it cannot contain, as it is its digest; the mark."""
    raw = content.encode("utf-8", "surrogatepass")
    mark = hashlib.blake2b(raw, digest_size=16).hexdigest()
    return f"<{what} {mark}>\n{content}\n</{what} {mark}>", mark


def as_json(value: Any) -> str:
    """A value (any JSON) as it is shown to a model."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return '"(nested too deeply to be shown)"'
