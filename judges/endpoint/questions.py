"""Questions to a model and their answers, whoever carries them: what is asked, what it took, and
why there may be no answer."""

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
"""How hard a model should think in a role (WANDR, section 6.1; tables and answers as a judge)."""


@dataclass(frozen=True, slots=True)
class Request:
    """A question: what many of them share in `system`, what is its own in `user`. `schema` is the
    JSON text of the schema that the answer must meet."""

    role: str
    model: str
    effort: Effort
    system: str
    user: str
    schema: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Replies, and their tokens. `cached_in` is the part of `tokens_in` that was read from the
    provider's cache."""

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
        """US dollars."""
        fresh = usage.tokens_in - usage.cached_in
        millionths = (
            fresh * self.tokens_in
            + usage.cached_in * self.cached_in
            + usage.tokens_out * self.tokens_out
        )
        return millionths / 1e6


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that meets its request's schema, and what it took."""

    value: Mapping[str, Any]
    usage: Usage


Ask = Callable[[Request], Awaitable[Reply]]
"""Gets a request its answer. Raises Trouble, Rejected or ModelUnusable."""


class Trouble(Exception):
    """No answer this time: a 5xx, a dropped connection, a time-out. Worth a retry."""


class RateLimited(Trouble):
    """Asked too often. `retry_after` is the endpoint's own wish in seconds, if it gave one."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Unreadable(Trouble):
    """A reply that is no answer: cut off, empty, refused, not JSON, not by the schema."""


class Rejected(Exception):
    """This request will never be answered (it is too long, it is forbidden); others may be."""


class TooLong(Rejected):
    """The request does not fit the model's context; a shorter one may."""


class ModelUnusable(Exception):
    """No request will be answered: a wrong key, no such model, nothing left to spend."""
