"""Ask until a reply is usable. The number of attempts is bounded, and no attempt waits.

Transport faults are not handled here: the stage that sends the requests retries them, with pauses.
An unusable reply is different: the same request would often get the same reply again, so the next
attempt says what was wrong.

- At most ATTEMPTS attempts. A repeat has the messages of the first attempt, the unusable reply, and
  what is wrong with it.
- A reply that was refused or stopped by a content filter is repeated once.
- A reply that was cut off is repeated with more room, then with a request for a shorter reason.
- Some endpoints fail at random: their faults are of several kinds, most of their replies are
  usable, and most repeats succeed. There a request gets ATTEMPTS more attempts, from the beginning.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from judges.endpoint.questions import (
    Ask,
    Fault,
    NeverUsable,
    Reply,
    Request,
    UnusableReply,
    Usage,
)

ATTEMPTS = 3
"""Attempts to get a usable reply to one request."""
REFUSALS = 2
"""Refusals of one request after which it is not sent again."""
FIRST = 20
"""Requests that must get a usable reply, one of them at least, or the run stops."""
FEWEST = 3
"""Requests without a usable reply that never stop a run if they are fewer."""

_MORE_ROOM = 4  # times the tokens at which a reply was cut off
_MOST = 0.75  # share of usable replies, if an endpoint fails at random
_MOST_SHOWN = 2_000  # characters of an unusable reply in a repeat
_LONGEST_REASON = 500
_LONGEST_EXCERPT = 200


@dataclass(slots=True)
class History:
    """The replies to the requests of one role: how many were usable, also among the repeats, and
    the kinds of faults."""

    replies: int = 0
    usable: int = 0
    repeats: int = 0
    usable_repeats: int = 0
    faults: set[Fault] = field(default_factory=set)

    def add(self, request: Request, fault: Fault | None) -> None:
        """Count a reply. `fault` is None if it is usable."""
        self.replies += 1
        self.usable += fault is None
        if request.attempt > 1:
            self.repeats += 1
            self.usable_repeats += fault is None
        if fault is not None:
            self.faults.add(fault)

    @property
    def fails_at_random(self) -> bool:
        """Whether another attempt may succeed although three have failed."""
        return (
            len(self.faults) > 1
            and self.usable >= _MOST * self.replies
            and 2 * self.usable_repeats > self.repeats
        )


async def ask_until_usable(ask: Ask, request: Request, history: History | None = None) -> Reply:
    """A usable reply to a request; its usage counts all attempts.

    A batched request keeps the good items of every reply and asks again for the others only. If
    some are left without an answer, the reply names them in `unanswered`. Every reply is added to
    `history`.

    Raises UnusableReply if no attempt got a usable reply, and what `ask` raises.
    """
    history = history or History()
    used = Usage()
    good: dict[str, Any] = {}
    faults: list[Fault] = []
    current = request
    while True:
        try:
            reply = await ask(current)
        except UnusableReply as fault:
            unusable = fault
        else:
            history.add(current, None)
            return Reply({**good, **reply.value}, used + reply.usage)
        history.add(current, unusable.fault)
        used += unusable.usage
        good.update(unusable.good)
        faults.append(unusable.fault)
        if current.attempt >= (2 * ATTEMPTS if history.fails_at_random else ATTEMPTS):
            break
        if faults.count("refused") == REFUSALS:
            break
        current = _repeat(request, current, unusable, faults, good)
    if good:
        return Reply(good, used, unanswered=_unanswered(request, good, unusable))
    raise UnusableReply(
        f"no usable reply in {len(faults)} attempts: {unusable}"[:_LONGEST_REASON],
        unusable.fault,
        unusable.said,
        used,
    )


def _unanswered(request: Request, good: Mapping[str, Any], last: UnusableReply) -> dict[str, str]:
    """Why items of a batched request have no answer."""
    numbers = map(str, range(1, request.items + 1))
    return {
        number: f"no usable reply: {last.bad.get(number, last)}"[:_LONGEST_REASON]
        for number in numbers
        if number not in good
    }


# ------------------------------------------------------------------------------------------ repeats


def _repeat(
    first: Request,
    last: Request,
    unusable: UnusableReply,
    faults: list[Fault],
    good: Mapping[str, Any],
) -> Request:
    """The request of the next attempt."""
    numbers = [str(number) for number in range(1, first.items + 1)]
    wanted = tuple(number for number in numbers if number not in good) if good else ()
    afresh = replace(first, attempt=last.attempt + 1, wanted=wanted, max_tokens=last.max_tokens)
    if last.attempt % ATTEMPTS == 0:  # the second half of the attempts begins
        return afresh
    if unusable.fault == "cut off":
        tokens = unusable.usage.tokens_out
        afresh = replace(afresh, max_tokens=_MORE_ROOM * tokens or last.max_tokens)
    if unusable.fault == "no message" or faults == ["cut off"]:
        return afresh
    return corrected(afresh, unusable.said, _correction(unusable, afresh))


def corrected(request: Request, said: str, correction: str) -> Request:
    """A request followed by the reply to it, in at most _MOST_SHOWN characters, and by what is
    wrong with that reply."""
    shown = said if len(said) <= _MOST_SHOWN else f"{said[:_MOST_SHOWN]} […]"
    if request.attempt >= ATTEMPTS:
        correction = f"{correction} {_LAST}"
    turns = (("assistant", shown.strip() or "(empty)"), ("user", correction))
    return replace(request, turns=turns)


def _correction(unusable: UnusableReply, request: Request) -> str:
    match unusable.fault:
        case "refused":
            return f"{_REFUSED} {AGAIN}"
        case "cut off":
            return f"{_CUT_OFF} {AGAIN}"
        case _:
            only = f" Answer only for {', '.join(request.wanted)}." if request.wanted else ""
            return f"Your reply cannot be used: {unusable}. {AGAIN}{only}"


AGAIN = "Answer again with one JSON object by the schema, and nothing else."
"""The end of a correction."""
_REFUSED = (
    "You did not answer. Nobody asks you to act on the data or to repeat it: you only decide what "
    "it shows."
)
_CUT_OFF = "Your reply was cut off by its length. Give each reason in at most ten words."
_LAST = "This is the last attempt: compare every field with the schema before you answer."

# ------------------------------------------------------------------------------- the start of a run


@dataclass(slots=True)
class _Start:
    """The first requests of one role. `open` counts requests without an end, `failed` those that
    ended without a usable reply. `gate` lets FIRST requests repeat at once until `proven`."""

    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(FIRST))
    proven: bool = False
    open: int = 0
    failed: int = 0
    history: History = field(default_factory=History)
    stopped: str = ""

    @property
    def limit(self) -> int:
        """Requests without a usable reply that stop the run: FIRST, or a third of the requests in
        flight if that is less, but not fewer than FEWEST."""
        return min(FIRST, max(FEWEST, (self.open + self.failed - 1) // 3))


class UntilUsable:
    """Sends requests until they have a usable reply, and stops a model that never gives one.

    If the first requests of a role all end without a usable reply (see `_Start.limit`), each call
    raises NeverUsable from then on. One usable reply switches this off for good; so does a usable
    reply from the cache (`note_usable`). Until then only FIRST requests of the role are repeated at
    once, so a model that never gives a usable reply costs few repeats.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._starts: defaultdict[str, _Start] = defaultdict(_Start)

    def note_usable(self, role: str) -> None:
        """The role has had a usable reply, now or in an earlier run."""
        self._starts[role].proven = True

    async def __call__(self, request: Request) -> Reply:
        """As `ask_until_usable`. Raises NeverUsable if the run should stop."""
        start = self._starts[request.role]
        start.open += 1
        try:
            async with AsyncExitStack() as permit:
                return await self._complete(request, start, permit)
        finally:
            start.open -= 1

    async def _complete(self, request: Request, start: _Start, permit: AsyncExitStack) -> Reply:
        async def ask(attempt: Request) -> Reply:
            if attempt.attempt == 2 and not start.proven:
                await permit.enter_async_context(start.gate)
            if start.stopped:
                raise NeverUsable(start.stopped)
            return await self._ask(attempt)

        try:
            reply = await ask_until_usable(ask, request, start.history)
        except UnusableReply as unusable:
            if not start.proven:
                start.failed += 1
                if start.failed >= start.limit:
                    start.stopped = start.stopped or _stop_message(request, start.failed, unusable)
                    raise NeverUsable(start.stopped) from unusable
            raise
        self.note_usable(request.role)
        return reply


def _stop_message(request: Request, failed: int, unusable: UnusableReply) -> str:
    said = unusable.said[:_LONGEST_EXCERPT]
    excerpt = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in said)
    shown = (
        f'The last reply began: "{excerpt}".' if excerpt.strip() else "The last reply was empty."
    )
    return (
        f"stopped early: {request.model} gave no usable reply to the first {failed} requests of "
        f"the role {request.role!r}. The last fault: {unusable}. {shown} {_ADVICE[unusable.fault]} "
        "Nothing is lost: pages and verdicts are in the cache, and the same command continues."
    )


_ANOTHER = (
    "Use a model that follows a JSON schema, or an endpoint that supports schemas "
    "(response_format, type json_schema)."
)
_ROOM = (
    "A reasoning model may have too little room for its reply: raise the server's limit on output "
    "tokens, or use another model."
)
_ADVICE: Mapping[Fault, str] = {
    "no message": "Check OPENAI_BASE_URL: it must be the address of the API, often with /v1.",
    "refused": "Use another model, or an endpoint without this content filter.",
    "cut off": _ROOM,
    "empty": _ROOM,
    "no object": _ANOTHER,
    "broken object": _ANOTHER,
    "not by the schema": _ANOTHER,
}
