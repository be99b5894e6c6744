"""Requests to a model, replies, their cost, and the reasons why there may be no reply."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Effort = Literal["low", "medium", "high"]

EFFORTS: Mapping[str, Effort] = {
    "canonicalise": "low",
    "judge": "medium",
    "dedupe": "high",
    "keys": "medium",
    "cells": "medium",
    "answer": "medium",
    "failure": "medium",
}
"""The reasoning effort of each role (WANDR, section 6.1; tables and answers as a judge)."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model.

    `system` is the text that many requests share. `user` is the text of this request. `schema` is
    the JSON text of the schema that the reply must meet.

    `ids` names the fields of the reply whose keys are ids, each with all ids that are known: an
    unknown one makes the reply unusable.
    `items` is the number of items in a batched request, whose schema has a property for each
    number from 1; 0 means that the request is not batched.

    The other fields are set when a request is sent again: `attempt` counts from 1, `turns` are
    more messages (role, text) after `user`, `wanted` are the numbers of the items that still have
    no answer (empty: all), and `max_tokens` bounds the reply.
    """

    role: str
    model: str
    effort: Effort
    system: str
    user: str
    schema: str
    ids: tuple[tuple[str, tuple[str, ...]], ...] = ()
    items: int = 0
    attempt: int = 1
    turns: tuple[tuple[str, str], ...] = ()
    wanted: tuple[str, ...] = ()
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """A number of replies, and their tokens. `cached_in` is the part of `tokens_in` that the
    provider read from its cache."""

    calls: int = 0
    tokens_in: int = 0
    cached_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.cached_in + other.cached_in,
            self.tokens_out + other.tokens_out,
        )


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    tokens_in: float
    cached_in: float
    tokens_out: float

    def of(self, usage: Usage) -> float:
        """The cost of `usage` in US dollars."""
        fresh = usage.tokens_in - usage.cached_in
        millionths = (
            fresh * self.tokens_in
            + usage.cached_in * self.cached_in
            + usage.tokens_out * self.tokens_out
        )
        return millionths / 1e6


@dataclass(frozen=True, slots=True)
class Reply:
    """A usable reply: `value` meets the schema of the request. `usage` counts every reply that was
    paid for until this one. `unanswered` is for batched requests: the numbers of the items that
    `value` does not answer, each with the reason."""

    value: Mapping[str, Any]
    usage: Usage
    unanswered: Mapping[str, str] | None = None


Ask = Callable[[Request], Awaitable[Reply]]
"""Sends a request and returns the reply. Raises Trouble, Rejected or ModelUnusable."""


class Trouble(Exception):
    """A transport fault: a 5xx, a dropped connection, a timeout. The same request may succeed
    later."""


class RateLimited(Trouble):
    """Too many requests. `retry_after` is the number of seconds that the endpoint asks for, if it
    gives one."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Rejected(Exception):
    """No reply to this request. Other requests may get one."""


class TooLong(Rejected):
    """The request does not fit the model's context. A shorter one may fit."""


Fault = Literal[
    "no message", "refused", "cut off", "empty", "no object", "broken object", "not by the schema"
]
"""Why a reply is not usable."""


class UnusableReply(Rejected):
    """The model replied, and the reply is not usable. It was paid for.

    `said` is the text of the reply and `usage` its cost. `good` has the answers to those items of
    a batched request that are usable, `bad` the reason for each item that is not.
    """

    def __init__(
        self,
        reason: str,
        fault: Fault = "not by the schema",
        said: str = "",
        usage: Usage | None = None,
        good: Mapping[str, Any] | None = None,
        bad: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reason)
        self.fault = fault
        self.said = said
        self.usage = usage or Usage()
        self.good = good or {}
        self.bad = bad or {}


class ModelUnusable(Exception):
    """No request will be answered: a wrong key, an unknown model, no quota left."""


class NeverUsable(ModelUnusable):
    """The model replies, and no reply is usable. The message says what to change."""
