"""The JSON objects in the text of a reply. Lenient in form, strict in content.

Two parsers read them: the JSON parser, which here allows raw line breaks in strings, and Python's
parser, for single quotes, True and None, names without quotes and a comma too many. They never
guess. Libraries that repair JSON do: `!true` becomes true, `2 or 3` becomes 2, and an object that
was cut off is closed.
"""

import ast
import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from judges.endpoint.questions import UnusableReply

LONGEST = 100_000
"""Characters of a reply that are read."""
LONGEST_PYTHON = 20_000
"""Characters of a reply that Python's parser reads."""
_MOST_BRACES = 200  # places in a text where an object is looked for


class Conflicting(dict[str, Any]):
    """A JSON object in which a name has two different values. `names` has these names."""

    names: frozenset[str]


def has_conflict(value: Any) -> bool:
    """Whether an object anywhere in a JSON value has two different values under one name."""
    if isinstance(value, Mapping):
        return isinstance(value, Conflicting) or any(map(has_conflict, value.values()))
    return isinstance(value, list) and any(map(has_conflict, value))


def objects_in(text: str) -> list[dict[str, Any]]:
    """The outermost JSON objects in a reply, at least one. They may stand between code fences or
    words, after a `</think>`, or in an array.

    Raises UnusableReply if there is no object, or if one is malformed or broken off.
    """
    text = text.strip().removeprefix("\ufeff")
    if not text:
        raise UnusableReply("the reply is empty", "empty")
    if len(text) > LONGEST:
        raise UnusableReply(f"the reply is longer than {LONGEST} characters", "no object")
    try:
        return _objects(text)
    except RecursionError:
        raise UnusableReply("the JSON of the reply is nested too deeply", "broken object") from None


def _objects(text: str) -> list[dict[str, Any]]:
    try:
        value = _DECODER.decode(text)
    except ValueError:
        _, end, answer = text.rpartition("</think>")
        if not end and text.startswith("<think>"):  # all of it is thinking
            raise UnusableReply("the reply ends before the answer", "no object") from None
        return _objects_between_words(answer)
    values = value if isinstance(value, list) and value else [value]
    if not all(isinstance(one, dict) for one in values):
        raise UnusableReply("the reply is not a JSON object", "no object")
    return values


def _objects_between_words(text: str) -> list[dict[str, Any]]:
    first, last = text.find("{"), text.rfind("}")
    if first < 0:
        raise UnusableReply("there is no JSON object in the reply", "no object")
    found, words, at = [], "", 0
    for start, end, value in _strict_objects(text):
        found.append(value)
        words += text[at:start]
        at = end
    # An object that cannot be read beside one that can: perhaps the verdict beside a quoted one.
    words += text[at:]
    _, brace, rest = words.partition("{")
    if found and (not brace or ("}" in rest and ":" not in rest)):
        return found
    if last < text.rfind("{"):
        raise _broken()
    return [_as_python(text[first : last + 1])]


def _strict_objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The first outermost JSON objects in a text, with their start and end."""
    at = text.find("{")
    for _ in range(_MOST_BRACES):
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield at, end, value
        at = text.find("{", end)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    if conflicts := frozenset(name for name, one in pairs if not _is_same(one, value[name])):
        value = Conflicting(value)
        value.names = conflicts
    return value


def _is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same. Python holds 1 and true to be equal; this does not.

    It takes at most the time to read the smaller value, so that repeated names in nested objects
    take little time.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other)


_DECODER = json.JSONDecoder(object_pairs_hook=_as_object, parse_constant=_no_constant, strict=False)

# ------------------------------------------------------------------------------- almost JSON


def _broken() -> UnusableReply:
    reason = "the JSON object in the reply is malformed or incomplete"
    return UnusableReply(reason, "broken object")


def _as_python(text: str) -> dict[str, Any]:
    """The object in a text that is not JSON, if Python's own parser reads it as one value of JSON's
    types. That parser never guesses."""
    if len(text) > LONGEST_PYTHON:
        raise _broken()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes that Python does not know
            line = re.sub(r"[\r\n]+", " ", text)
            tree = ast.parse(line, mode="eval")
        if tree.body.end_col_offset != len(line.encode()):
            raise ValueError("a comment, which may hold another object")
        value: dict[str, Any] = _from_python(tree.body)  # as the text begins and ends with a brace
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise _broken() from None
    return value


def _from_python(node: ast.expr | None) -> Any:
    """The JSON value that an expression writes. Raises ValueError."""
    match node:
        case ast.Dict(keys=keys, values=values):
            names = [key.id if isinstance(key, ast.Name) else _from_python(key) for key in keys]
            if not all(isinstance(name, str) for name in names):
                raise ValueError("a name that is not a string")
            return _as_object([*zip(names, map(_from_python, values), strict=True)])
        case ast.List(elts=elements):
            return [*map(_from_python, elements)]
        case ast.Constant(value=str() | bool() | int() | None as value, kind=None):
            return value
        case ast.Constant(value=float(value)) if math.isfinite(value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if (
            not isinstance(value, bool)
        ):
            return -value
        case ast.Name(id="true" | "false" | "null" as name):
            return {"true": True, "false": False, "null": None}[name]
        case _:
            raise ValueError("not a JSON value")
