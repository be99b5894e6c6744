"""A cited page: the response of a server, and the page that a judge reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

State = Literal["ok", "blocked", "login", "paywall", "unrendered", "dead", "refused", "unreachable"]
Via = Literal["http", "browser", "archive"]


@dataclass(frozen=True, slots=True)
class Response:
    """The final response of a visit, after redirects.

    `body` is decoded: it has no transfer or content coding. Header names are in lower case.
    `fetched_at` is ISO 8601, UTC. A long body is cut off.
    """

    status: int
    final_url: str
    headers: Mapping[str, str]
    body: bytes
    via: Via
    fetched_at: str


def now() -> str:
    """Give the current time in the form of `fetched_at`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is judged.

    `text` and `sha256` are the digests of the extracted text and of the body in the store of
    bodies; "" if there is none. `content_type` is the one of the body. `status` is None if no
    server replied. `words` counts the words of the visible text.
    """

    state: State
    reason: str
    via: Via
    status: int | None
    final_url: str
    sha256: str
    fetched_at: str
    words: int
    text: str
    content_type: str


class Unvisitable(Exception):
    """Base of the errors of a visit that ends without a response; the message is the reason."""


class Refused(Unvisitable):
    """The URL may not be visited, or is not a URL. Depends on settings, so it is never cached."""


class Dead(Unvisitable):
    """The URL leads nowhere (no such host, a redirect loop). Final, so it may be cached."""


class Unreachable(Unvisitable):
    """No response this time: a timeout, a refused or dropped connection, a 5xx or 429.

    Worth a retry; never cached. `retry_after` is the time in seconds that the server asked for.
    `response` is the response that came anyway: the page of a wall with a 429, the start of a body.
    """

    def __init__(
        self,
        reason: str,
        retry_after: float | None = None,
        response: Response | None = None,
    ) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.response = response
