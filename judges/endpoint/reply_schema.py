"""From the text of a reply to an answer that meets the request's schema.

Values are converted only if their meaning is clear: "true" is true and 3.0 is 3; "maybe" is no
boolean and 4 is not one of 1, 2, 3. A missing field is never filled in.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from jsonschema import Draft202012Validator

from judges.endpoint.json_objects import Conflicting, has_conflict, objects_in
from judges.endpoint.questions import Request, UnusableReply

_MOST_WRAPPERS = 3
_LONGEST_ENUM = 100  # characters of allowed values in a message


@dataclass
class Misfit(Exception):
    """A value that does not meet the schema. `path` has the schema's names, never the reply's."""

    path: tuple[str, ...]
    expected: str

    def __str__(self) -> str:
        return f"field {'.'.join(self.path)}: {self.expected}" if self.path else self.expected


@dataclass(frozen=True, slots=True)
class _Answer:
    """The usable answers in one JSON object, and the reasons why others are not usable."""

    good: dict[str, Any]
    bad: dict[str, str]


def answer_in(text: str, request: Request) -> dict[str, Any]:
    """The answer in the text of a reply.

    Extra fields are ignored, except unknown ids. Two equal answers are one. Raises UnusableReply
    with the reason; for a batched request it holds the items that are usable.
    """
    schema = _schema(request.schema)
    try:
        answers = [_answer(_unwrapped(one, schema), schema, request) for one in objects_in(text)]
    except Misfit as misfit:
        raise UnusableReply(f"the reply does not meet the schema: {misfit}") from None
    except RecursionError:
        raise UnusableReply("the JSON of the reply is nested too deeply", "broken object") from None
    answer = answers[0]
    if any(other != answer for other in answers):
        raise UnusableReply("the reply has more than one JSON object", "no object")
    if answer.bad:
        faults = "; ".join(f"{number}: {why}" for number, why in answer.bad.items())
        raise UnusableReply(
            f"the reply does not meet the schema: {faults}", good=answer.good, bad=answer.bad
        )
    return answer.good


@lru_cache(maxsize=1024)
def _schema(schema: str) -> dict[str, Any]:
    value: dict[str, Any] = orjson.loads(schema)
    return value


@lru_cache(maxsize=1024)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(_schema(schema))


def _unwrapped(value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The object in a wrapper: the only field of an object, or the only element of an array."""
    for _ in range(_MOST_WRAPPERS):
        if len(value) != 1 or isinstance(value, Conflicting):
            break
        ((name, inside),) = value.items()
        if isinstance(inside, list) and len(inside) == 1:
            (inside,) = inside
        if name in schema["properties"] or not isinstance(inside, dict):
            break
        value = inside
    return value


def _answer(value: dict[str, Any], schema: Mapping[str, Any], request: Request) -> _Answer:
    if request.items:
        return _items(value, schema, request)
    fitted: dict[str, Any] = _fit(value, schema, schema.get("$defs", {}), (), dict(request.ids))
    _check_for_another(value, fitted, schema, request)
    if not _validator(request.schema).is_valid(fitted):  # the last word is the schema's
        raise Misfit((), "a value is not one of the allowed ones")
    return _Answer(fitted, {})


def _items(value: dict[str, Any], schema: Mapping[str, Any], request: Request) -> _Answer:
    """The answers to a batched request. Each item is checked alone."""
    numbers = schema["properties"]
    if any(name.strip().lstrip("-").isdigit() and name not in numbers for name in value):
        raise Misfit((), f"the numbers must be those of the request, 1 to {request.items}")
    conflicts = value.names if isinstance(value, Conflicting) else frozenset()
    good, bad = {}, {}
    for number in request.wanted or numbers:
        try:
            if number not in value:
                raise Misfit((), "missing")
            if number in conflicts:
                raise Misfit((), "two different values")
            good[number] = _fit(value[number], numbers[number], schema.get("$defs", {}), (), {})
        except Misfit as misfit:
            bad[number] = str(misfit)
    return _Answer(good, bad)


def _check_for_another(
    value: dict[str, Any], fitted: Any, schema: Mapping[str, Any], request: Request
) -> None:
    """Raise Misfit if a field that the schema does not have holds another answer."""
    for name in value.keys() - schema["properties"].keys():
        extra = value[name]
        for one in extra if isinstance(extra, list) else [extra]:
            if not isinstance(one, dict):
                continue
            try:
                other = _fit(one, schema, schema.get("$defs", {}), (), dict(request.ids))
            except Misfit:
                continue
            if other != fitted:
                raise Misfit((), "the reply has two different answers")


def _fit(
    value: Any,
    schema: Mapping[str, Any],
    defs: Mapping[str, Any],
    path: tuple[str, ...],
    ids: Mapping[str, Sequence[str]],
) -> Any:
    """`value` as the schema wants it. Raises Misfit."""
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if types == ["object"]:
        return _fit_object(value, schema, defs, path, ids)
    for kind in types:
        found = _CONVERSIONS[kind](value)
        if found is not _NO and ("enum" not in schema or found in schema["enum"]):
            return found
    raise Misfit(path, _expected(schema, types))


def _fit_object(
    value: Any,
    schema: Mapping[str, Any],
    defs: Mapping[str, Any],
    path: tuple[str, ...],
    ids: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Misfit(path, "expected an object")
    properties = schema["properties"]
    extra = [name for name in value if name not in properties]
    if len(path) == 1 and path[0] in ids and not set(extra) <= set(ids[path[0]]):
        raise Misfit(path, f"unknown id; the ids are {_shortened(list(properties))}")
    if isinstance(value, Conflicting) or any(has_conflict(value[name]) for name in extra):
        raise Misfit(path, "a name has two different values")
    for name in properties:
        if name not in value:
            raise Misfit((*path, name), "missing")
    return {
        name: _fit(value[name], part, defs, (*path, name), ids) for name, part in properties.items()
    }


_NO = object()  # stands for "not of this type"


def _boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _BOOLEANS.get(str(value), _NO) if value in (0, 1) else _NO
    return _BOOLEANS.get(value.strip().lower(), _NO) if isinstance(value, str) else _NO


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _integer(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else _NO
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value.strip()) else _NO
    return value if isinstance(value, int) and not isinstance(value, bool) else _NO


def _storable(text: str) -> str:
    """`text` without lone surrogates, which UTF-8 cannot hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_DIGITS = re.compile(r"-?[0-9]{1,9}")
_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "boolean": _boolean,
    "integer": _integer,
    "string": lambda value: _storable(value) if isinstance(value, str) else _NO,
    "null": lambda value: value if value is None else _NO,
}


def _expected(schema: Mapping[str, Any], types: Sequence[str]) -> str:
    if "enum" in schema:
        return f"expected one of {_shortened(schema['enum'])}"
    names = {"boolean": "true or false", "integer": "an integer", "string": "a string"}
    return f"expected {' or '.join(names.get(kind, kind) for kind in types)}"


def _shortened(values: Sequence[Any]) -> str:
    text = orjson.dumps(values).decode()
    return text if len(text) <= _LONGEST_ENUM else f"{text[:_LONGEST_ENUM]} …"
