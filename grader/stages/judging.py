"""Who judges records: the judge `rules`, or a model; each with its stages."""

from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from typing import Any, Protocol

import orjson

from cache.keys import digest
from fetchers.page import Page
from grader.stages import workers
from grader.stages.roles import Roles
from grader.stages.spending import Spending
from grader.stages.stored import decoder
from judges.endpoint.questions import EFFORTS, Ask, RateLimited, Reply, Request, Trouble, Usage
from judges.records import model
from judges.records.model import PROMPT_VERSION, Facts
from judges.records.record import Record
from judges.records.rules import RULES_VERSION
from judges.records.spec import JudgeSpec
from judges.records.verdict import Verdict
from queues.adaptive import Adaptive
from queues.node import Node
from queues.retry import Retry
from queues.store import Memory, Store

ATTEMPTS = 8
"""How often a model is asked before a record is left ungraded: with the waits between them, an
endpoint may be gone for two minutes."""


AHEAD = 6
"""Records that are prepared for each slot, so that none waits for the next question."""


@dataclass(frozen=True, slots=True)
class Case:
    """A record to be judged on a page."""

    spec: JudgeSpec
    record: Record
    page: Page


class OnPage(Protocol):
    """Runs a worker's function on a case, in a process that can read the page's text."""

    async def __call__(self, function: Callable[..., Any], case: Case, *args: Any) -> Any:
        """What the function returns or raises, or Crashed or TimedOut."""


class Judge(Protocol):
    """Judges cases, with the stages in `nodes`."""

    @property
    def nodes(self) -> list[Node[Any, Any]]:
        """The stages, for counters and for stopping."""

    @property
    def roles(self) -> Roles | None:
        """Who decides what form does not of names, tables and short answers, if anyone does."""

    async def judge(self, cases: Iterable[Case]) -> list[Verdict | Exception]:
        """A verdict each, or why there is none."""


class ByRules:
    """The judge `rules`: no model is asked."""

    def __init__(self, store: Store, on_page: OnPage, processes: int) -> None:
        self._on_page = on_page
        self._judge: Node[Case, Verdict] = Node(
            "judge",
            self._work,
            key=lambda case: digest(*_depends_on(case)),
            workers=2 * processes,
            memory=Memory(store, orjson.dumps, decoder(Verdict)),
        )
        self.nodes: list[Node[Any, Any]] = [self._judge]
        self.roles: Roles | None = None

    async def judge(self, cases: Iterable[Case]) -> list[Verdict | Exception]:
        """As Judge has it."""
        return await self._judge.many(cases)

    async def _work(self, case: Case) -> Verdict:
        verdict: Verdict = await self._on_page(workers.judge_by_rules, case)
        return verdict


@dataclass(frozen=True, slots=True)
class _Judged:
    """A model's verdict, and what it took."""

    verdict: Verdict
    usage: Usage


class ByModel:
    """A model, reached through `ask`. The stage `judge` keeps verdicts; the stage `ask` holds the
    slots of all roles, and tries again what failed in passing."""

    def __init__(
        self,
        store: Store,
        on_page: OnPage,
        ask: Ask,
        name: str,
        spending: Spending,
        slots: int,
        timeout: float,
    ) -> None:
        self._on_page = on_page
        self._model = name
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
        self._judge: Node[Case, _Judged] = Node(
            "judge",
            self._work,
            key=self._key,
            workers=AHEAD * slots,
            memory=Memory(store, orjson.dumps, decoder(_Judged)),
        )
        roles = Roles(store, self.ask, name, spending)
        self.roles: Roles | None = roles
        self.nodes: list[Node[Any, Any]] = [self._judge, *roles.nodes, self.ask]

    async def judge(self, cases: Iterable[Case]) -> list[Verdict | Exception]:
        """As Judge has it."""
        ends: list[Verdict | Exception] = []
        for end in await self._judge.many(cases):
            if isinstance(end, _Judged):
                self._spending.needed("judge", self._model, end.usage)
                ends.append(end.verdict)
            else:
                ends.append(end)
        return ends

    def _key(self, case: Case) -> bytes:
        return digest(self._model, self._effort, PROMPT_VERSION, *_depends_on(case))

    async def _work(self, case: Case) -> _Judged:
        used = Usage()

        async def find(room: int) -> Facts:
            facts: Facts = await self._on_page(workers.facts, case, room)
            return facts

        async def ask(request: Request) -> Reply:
            nonlocal used
            reply = await self.ask(request)
            used += reply.usage
            return reply

        verdict = await model.judge(case.spec, find, ask, self._model, self._effort)
        return _Judged(verdict, used)


def _depends_on(case: Case) -> tuple[object, ...]:
    """All of a case that a verdict can depend on."""
    record, page = case.record, case.page
    return (
        RULES_VERSION,
        case.spec.digest,
        record.url,
        record.item,
        record.answer,
        record.excerpts,
        page.state,
        page.reason,
        page.final_url,
        page.text,
    )
