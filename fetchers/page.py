"""A cited page, from what came over the wire to what a judge may know of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

State = Literal["ok", "blocked", "login", "paywall", "unrendered", "dead", "refused", "unreachable"]
Via = Literal["http", "browser", "archive"]


@dataclass(frozen=True, slots=True)
class Response:
    """What a visit brought: the final response after redirects, its body decoded of any
    transfer and content encoding. Header names are in lower case; `fetched_at` is ISO 8601, UTC.
    `truncated` says that the body is longer than what came or was kept.
    """

    status: int
    final_url: str
    headers: Mapping[str, str]
    body: bytes
    via: Via
    fetched_at: str
    truncated: bool = False


def now() -> str:
    """This moment, as `fetched_at` has it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was judged. `text` and `sha256` are the digests of the extracted text and of
    the body in the store of bodies, empty where nothing came; `content_type` is that of the body.
    `status` is None where no answer came; `words` counts the words of the visible text.
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
    """Base of the ways in which a visit ends without a response; the message is the reason."""


class Refused(Unvisitable):
    """Not an address that the grader may visit, or not an address. A fact about the settings:
    never kept."""


class Dead(Unvisitable):
    """The address is known to lead nowhere (a name that does not exist). Final: may be kept."""


class Unreachable(Unvisitable):
    """No answer this time: a time-out, a refused or dropped connection, a 5xx or 429. Worth a
    retry, never kept. `retry_after` is the server's own wish in seconds, if it gave one;
    `response` is what it sent nevertheless: a wall's page with a 429, the start of a body."""

    def __init__(
        self,
        reason: str,
        retry_after: float | None = None,
        response: Response | None = None,
    ) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.response = response
