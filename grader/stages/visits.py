"""Visits: the outcomes of fetching a URL, without the body."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from fetchers.page import Page, State, Via
from grader.stages.unreachable import NEVER_ANSWERED, FailureHistory


@dataclass(frozen=True, slots=True)
class Visit:
    """A row of the stages `archive`, `fetch` and `render`: a response without its body.

    `sha256` is the digest of the body in the store of bodies. If the address leads nowhere, `dead`
    is the reason, and `status` is None.
    """

    status: int | None
    final_url: str
    headers: Mapping[str, str]
    sha256: str
    via: Via
    fetched_at: str
    dead: str = ""


@dataclass(frozen=True, slots=True)
class FailedVisit:
    """A visit that failed after all retries, or that the address guard refused. Never cached.

    `partial` has the response if there was one: the body of a 429 or 5xx, or the start of a body
    that was cut short.
    """

    state: Literal["refused", "unreachable"]
    reason: str
    partial: Visit | None = None


def dead_visit(url: str, via: Via, fetched_at: str, reason: str) -> Visit:
    """A visit of a URL that leads nowhere."""
    return Visit(None, url, {}, "", via, fetched_at, reason)


def given_up_visit(url: str, history: FailureHistory) -> Visit:
    """The visit of a URL that was given up, at the time of its last failure."""
    last = datetime.fromtimestamp(history.last, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return dead_visit(url, "http", last, NEVER_ANSWERED)


def no_page(url: str, state: State, reason: str) -> Page:
    """A page without a body and a text."""
    return Page(
        state=state,
        reason=reason,
        via="http",
        status=None,
        final_url=url,
        sha256="",
        fetched_at="",
        words=0,
        text="",
        content_type="",
    )
