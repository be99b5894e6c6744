"""Addresses that never answer: in which calls one failed, and when it counts as dead.

The rule is in formats.md, section 3: an address that stays `unreachable` in several calls, at least
an hour apart, or for 24 hours, is `dead` with the reason "never answered". A call counts only if
the network works: if another host answered in it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import orjson

from cache.digests import digest
from cache.ledger import Ledger
from fetchers.page import Page
from fetchers.urls import hostname
from grader.settings import Settings
from grader.stages.network import Network
from grader.stages.stored import decoder
from queues.node import Node
from queues.store import Memory

NEVER_ANSWERED = "never answered"
"""The reason of a page that is `dead` because it was given up."""

STAGE = "unreachable"
"""The stage of the ledger that keeps failure histories."""

MOST_QUEUED = 2_000
"""Failures that may wait at once to be counted."""

HOUR = 3_600.0
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class FailureHistory:
    """The failures of one URL since it last answered: a row of the stage `unreachable`.

    Times are Unix seconds: of the first failure, of the last one, and of the last one that was
    added to `calls`. `calls` counts the failures that are at least an hour apart.
    """

    first: float
    last: float
    last_counted: float
    calls: int
    reason: str

    def given_up(self, give_up_after: int | None) -> bool:
        """Whether the URL failed in `give_up_after` calls (None: never give up) or for a day."""
        if give_up_after is None:
            return False
        return self.calls >= give_up_after or self.last - self.first >= DAY


def add_failure(history: FailureHistory | None, now: float, reason: str) -> FailureHistory:
    """Add a failure at `now`, in Unix seconds, to the history of a URL; None starts a new one."""
    if history is None:
        return FailureHistory(now, now, now, 1, reason)
    history = replace(history, last=now, reason=reason)
    if now - history.last_counted < HOUR:
        return history
    return replace(history, last_counted=now, calls=history.calls + 1)


class GaveUp(Exception):
    """A URL is not visited, because it was given up. Has its history."""

    def __init__(self, history: FailureHistory) -> None:
        super().__init__(NEVER_ANSWERED)
        self.history = history


class Failures:
    """The failure histories of URLs, in the ledger. `node` is the stage that counts failures.

    `clock` gives the time in Unix seconds.
    """

    def __init__(
        self, settings: Settings, ledger: Ledger, network: Network, clock: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._network = network
        self._clock = clock
        self._decode: Callable[[bytes], FailureHistory | None] = decoder(FailureHistory | None)
        self.node: Node[tuple[str, Page], FailureHistory | None] = Node(
            STAGE,
            self._count,
            key=lambda failure: digest(failure[0]),
            workers=MOST_QUEUED,
            memory=Memory(
                ledger,
                orjson.dumps,
                self._decode,
                keep=lambda history: history is not None,
                fresh=lambda history: settings.offline or self._is_final(history),
            ),
        )

    async def count(self, url: str, page: Page) -> FailureHistory | None:
        """Count this call's failure of a URL, and return its history. `page` is `unreachable`.

        None if no other host answers: the call does not count. Offline, nothing is counted, and the
        result is the history of earlier calls. A URL that was given up is not counted
        again, unless `max_age` has passed.
        """
        return await self.node((url, page))

    async def history(self, url: str) -> FailureHistory | None:
        """The failures of a URL since it last answered. Raises GaveUp if it was given up and is not
        to be visited again."""
        history = await self._stored(url)
        if history is not None and self._is_final(history):
            raise GaveUp(history)
        return history

    async def forget(self, url: str) -> None:
        """End the history of a URL, because it has answered."""
        await self._ledger.append_many(STAGE, [(digest(url), b"null")])

    async def _count(self, failure: tuple[str, Page]) -> FailureHistory | None:
        url, page = failure
        hosts = {hostname(url), hostname(page.final_url)}
        if self._settings.offline or not await self._network.answers_besides(hosts):
            return None
        return add_failure(await self._stored(url), self._clock(), page.reason)

    async def _stored(self, url: str) -> FailureHistory | None:
        key = digest(url)
        rows = await self._ledger.get_many(STAGE, [key])
        try:
            return self._decode(rows[key]) if rows else None
        except ValueError:  # an unreadable row, such as an imported one: start a new history
            return None

    def _is_final(self, history: FailureHistory | None) -> bool:
        """Whether a URL is given up, and `max_age` has not passed since."""
        if history is None or not history.given_up(self._settings.give_up_after):
            return False
        max_age = self._settings.max_age
        return max_age is None or self._clock() - history.last <= max_age
