"""Finds the records in the raw text of a system (formats.md, section 2)."""

import json
import re
from collections.abc import Iterator
from typing import Any

from grader.lines import BadInput, parse_json

_OBJECT = re.compile(r"\{(?=[ \t\r\n]*[\"}])")


def records_in(response: str) -> list[Any]:
    """The raw records in the text of a response.

    The JSON may be fenced or bare, with prose around it. Of a list that is cut off, the complete
    records are returned. An object with an `item` or a `url` is a record; other objects and lists
    are searched. The search stops if failed decoding has cost twenty times the length of the text.
    """
    # Only the end of the object is needed. Python refuses to read numbers of 4300 digits.
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    found: list[Any] = []
    budget = 20 * len(response) + 100_000
    start = _OBJECT.search(response)
    while start and budget > 0:
        at = start.start()
        end = at + 1
        try:
            _, end = decoder.raw_decode(response, at)
            found.extend(_records_of(parse_json(response[at:end].encode("utf-8", "replace"))))
        except (RecursionError, BadInput):
            budget -= len(response) - at
        except json.JSONDecodeError as error:
            is_unterminated = error.msg.startswith("Unterminated")
            # To make the error, Python has searched the text up to there for line ends.
            budget -= (len(response) if is_unterminated else error.pos) - at + error.pos // 10
        start = _OBJECT.search(response, end)
    return found


def _records_of(value: Any) -> Iterator[Any]:
    """The records in a JSON value, in their order."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "item" in value or "url" in value:
                yield value
            else:
                stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))
