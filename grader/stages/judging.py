"""The two judges of records, `rules` and a model, with their stages."""

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from typing import Any, Protocol

import orjson

from cache.digests import digest
from fetchers.page import Page
from grader.stages import workers
from grader.stages.roles import Roles
from grader.stages.spending import Spending
from grader.stages.stored import decoder
from grader.stages.verdict_key import verdict_key
from judges.endpoint.questions import EFFORTS, Ask, RateLimited, Reply, Request, Trouble, Usage
from judges.endpoint.until_usable import UntilUsable
from judges.records import by_model
from judges.records.by_model import PROMPT_VERSION
from judges.records.facts import Facts
from judges.records.record import Record
from judges.records.spec import JudgeSpec
from judges.records.verdict import Verdict
from queues.adaptive import Adaptive
from queues.node import Node
from queues.retry import Retry
from queues.store import Memory, Store

ATTEMPTS = 8
"""Attempts at one model call when the transport fails. With the pauses between them, an endpoint
may be away for two minutes. `judges/endpoint/until_usable.py` handles unusable replies."""
PREPARED_PER_SLOT = 6
"""Records that are prepared for each model call in flight, so that a free slot never waits."""


@dataclass(frozen=True, slots=True)
class Case:
    """A record to be judged on a page."""

    spec: JudgeSpec
    record: Record
    page: Page


class OnPage(Protocol):
    """Runs a function of `workers` on a case, in a process that can read the text of the page."""

    async def __call__(self, function: Callable[..., Any], case: Case, *args: Any) -> Any:
        """The result of the function. Raises what the function raises, Crashed or TimedOut."""


class Judge(Protocol):
    """Judges cases, with the stages in `nodes`."""

    @property
    def nodes(self) -> list[Node[Any, Any]]:
        """The stages, for counters and for stopping."""

    @property
    def roles(self) -> Roles | None:
        """The model's other roles (names, tables, short answers); None for `rules`."""

    async def judge(self, cases: Iterable[Case]) -> list[Verdict | Exception]:
        """A verdict for each case, in order, or the exception that says why there is none."""


class ByRules:
    """The judge `rules`. It calls no model."""

    def __init__(self, store: Store, on_page: OnPage, processes: int) -> None:
        self._on_page = on_page
        self._judge: Node[Case, Verdict] = Node(
            "judge",
            self._work,
            key=lambda case: verdict_key(case.spec, case.record, case.page),
            workers=2 * processes,
            memory=Memory(store, orjson.dumps, decoder(Verdict)),
        )
        self.nodes: list[Node[Any, Any]] = [self._judge]
        self.roles: Roles | None = None

    async def judge(self, cases: Iterable[Case]) -> list[Verdict | Exception]:
        """See Judge."""
        return await self._judge.many(cases)

    async def _work(self, case: Case) -> Verdict:
        verdict: Verdict = await self._on_page(workers.judge_by_rules, case)
        return verdict


@dataclass(frozen=True, slots=True)
class _Judged:
    """A model's verdict, and the replies and tokens that it took."""

    verdict: Verdict
    usage: Usage


class ByModel:
    """The judge that calls a model.

    The stage `judge` keeps verdicts. The stage `ask` bounds the model calls in flight, over all
    roles, and retries transport faults. Between them, unusable replies are asked for again.
    `identity` names the judge in the cache keys (see `judges/endpoint/identity.py`); `name` is the
    model's name in requests and results. `timeout` is in seconds, for one attempt.
    """

    def __init__(
        self,
        store: Store,
        on_page: OnPage,
        ask: Ask,
        name: str,
        identity: str,
        spending: Spending,
        slots: int,
        timeout: float,
    ) -> None:
        self._on_page = on_page
        self._model = name
        self._identity = identity
        self._effort = EFFORTS["judge"]
        self._spending = spending
        self.ask: Node[Request, Reply] = Adaptive(
            "ask",
            spending.bounded(ask),
            key=lambda request: digest(*astuple(request)),
            most=slots,
            limited=RateLimited,
            retry=Retry((Trouble,), attempts=ATTEMPTS),
            deadline=timeout,
        )
        self._until_usable = UntilUsable(self.ask)
        self._judge: Node[Case, _Judged] = Node(
            "judge",
            self._work,
            key=self._key,
            workers=PREPARED_PER_SLOT * slots,
            memory=Memory(store, orjson.dumps, decoder(_Judged)),
        )
        roles = Roles(store, self._until_usable, name, identity, spending)
        self.roles: Roles | None = roles
        self.nodes: list[Node[Any, Any]] = [self._judge, *roles.nodes, self.ask]

    async def judge(self, cases: Iterable[Case]) -> list[Verdict | Exception]:
        """See Judge."""
        ends: list[Verdict | Exception] = []
        for end in await self._judge.many(cases):
            if isinstance(end, _Judged):
                self._until_usable.note_usable("judge")
                self._spending.needed("judge", self._model, end.usage)
                ends.append(end.verdict)
            else:
                ends.append(end)
        return ends

    def _key(self, case: Case) -> bytes:
        judge = (self._identity, self._effort, PROMPT_VERSION)
        return verdict_key(case.spec, case.record, case.page, *judge)

    async def _work(self, case: Case) -> _Judged:
        used = Usage()

        async def find(room: int) -> Facts:
            facts: Facts = await self._on_page(workers.facts, case, room)
            return facts

        async def ask(request: Request) -> Reply:
            nonlocal used
            reply = await self._until_usable(request)
            used += reply.usage
            return reply

        verdict = await by_model.judge(case.spec, find, ask, self._model, self._effort)
        return _Judged(verdict, used)
