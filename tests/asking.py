"""A model without a client: a function gives its answers."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import validate

from judges.endpoint.questions import Reply, Request, Usage


class Model:
    """Calls a function with the text between the fences of a request (parsed if it is JSON), and
    returns the function's answer, which must meet the schema. `asked` has all requests."""

    def __init__(self, answer: Callable[[Any], Mapping[str, Any]]) -> None:
        self._answer = answer
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        value = self._answer(fenced(request.user))
        validate(value, json.loads(request.schema))
        return Reply(value, Usage(1, 10, 0, 5))


def fenced(user: str) -> Any:
    """The text between the first and the last line, parsed if it is JSON."""
    inside = user.split("\n", 1)[1].rsplit("\n", 1)[0]
    try:
        return json.loads(inside)
    except ValueError:
        return inside
