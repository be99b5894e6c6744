"""The cost of model calls: counted by role and model, estimated, and bounded."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, astuple
from typing import Any

from cache.digests import digest
from judges.endpoint.questions import (
    Ask,
    Price,
    Rejected,
    Reply,
    Request,
    UnusableReply,
    Usage,
)

BYTES_A_TOKEN = 3.5
"""Bytes of a request for each token: an average over languages."""
TOKENS_OUT = 500
"""Tokens of a reply, as long as there is no reply to measure."""

Role = tuple[str, str]
"""A role such as "judge", and the name of its model."""


class OverBudget(Rejected):
    """The request was not sent: its cost would exceed the budget."""


class NotAsked(Rejected):
    """The request was counted and not sent: this is a dry run."""


class Spending:
    """The cost of one grader's model calls.

    `spent` has the replies that were paid for. `needed` counts what the results would cost without
    cache and shared work; the difference to `spent` is what these saved. `budget` is in US dollars
    and needs a price for every model. If `dry`, no call is made, and each is estimated.
    """

    def __init__(
        self,
        spent: Mapping[Role, Usage],
        prices: Mapping[str, Price],
        budget: float | None = None,
        dry: bool = False,
    ) -> None:
        self._spent = spent
        self._prices = prices
        self._budget = budget
        self._dry = dry
        self._reserved = 0.0
        self._dearest: dict[Role, float] = {}
        self._freed = asyncio.Event()
        self._asked_dry: set[bytes] = set()
        self._needed: defaultdict[Role, Usage] = defaultdict(Usage)
        self._estimated: defaultdict[Role, Usage] = defaultdict(Usage)

    def bounded(self, ask: Ask) -> Ask:
        """`ask` within the budget. It raises OverBudget instead of a call whose estimated cost
        exceeds the budget, and NotAsked instead of every call of a dry run."""
        if self._dry:
            return self._estimate_only
        if self._budget is None:
            return ask
        budget = self._budget

        async def within(request: Request) -> Reply:
            cost = await self._reserve(request, budget)
            role = request.role, request.model
            try:
                reply = await ask(request)
                self._note_cost(role, reply.usage)
                return reply
            except UnusableReply as unusable:  # paid for as well
                self._note_cost(role, unusable.usage)
                raise
            finally:
                self._reserved -= cost
                self._freed.set()

        return within

    def _note_cost(self, role: Role, usage: Usage) -> None:
        cost = self._prices[role[1]].of(usage)
        self._dearest[role] = max(cost, self._dearest.get(role, 0.0))

    async def _estimate_only(self, request: Request) -> Reply:
        key = digest(*astuple(request))
        if key not in self._asked_dry:  # a failed request is sent again by its next caller
            self._asked_dry.add(key)
            self._estimated[request.role, request.model] += self._estimate(request)
        raise NotAsked("not asked: a dry run")

    async def _reserve(self, request: Request, budget: float) -> float:
        """Wait until the budget has room for a call, and reserve its cost, in US dollars: the
        highest cost of a call of its role so far. The first call of a role goes alone, since the
        length of its replies is unknown. Raises OverBudget."""
        role = request.role, request.model
        while True:
            estimate = self._prices[request.model].of(self._estimate(request))
            cost = max(estimate, self._dearest.get(role, 0.0))
            if self.cost + cost > budget:
                raise OverBudget(f"the budget of {budget:g} USD is spent")
            fits = role in self._dearest and self.cost + self._reserved + cost <= budget
            if fits or not self._reserved:
                self._reserved += cost
                return cost
            self._freed.clear()
            await self._freed.wait()

    def needed(self, role: str, model: str, usage: Usage) -> None:
        """Count a result that is used: `usage` is what it took, in this run or an earlier one."""
        self._needed[role, model] += usage

    @property
    def cost(self) -> float:
        """US dollars spent so far on models with a price."""
        return sum(self._cost(role, usage) or 0.0 for role, usage in self._spent.items())

    def by_role(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Calls, tokens and cost by role and model, for summary.json."""
        roles: defaultdict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for role, usage in (self._estimated if self._dry else self._spent).items():
            roles[role[0]][role[1]] = {**asdict(usage), "cost_usd": self._cost(role, usage)}
        return dict(roles)

    def saved(self) -> dict[str, Any]:
        """Calls, tokens and cost that cache and shared work saved."""
        none = Usage()
        parts = {
            role: _difference(u, self._spent.get(role, none)) for role, u in self._needed.items()
        }
        total = sum(parts.values(), none)
        costs = [self._cost(role, usage) for role, usage in parts.items()]
        known = None if None in costs else sum(filter(None, costs))
        return {**asdict(total), "cost_usd": known}

    def _cost(self, role: Role, usage: Usage) -> float | None:
        price = self._prices.get(role[1])
        return None if price is None else price.of(usage)

    def _estimate(self, request: Request) -> Usage:
        texts = (request.system, request.user, request.schema, *(text for _, text in request.turns))
        text = sum(len(one.encode("utf-8", "surrogatepass")) for one in texts)
        role = request.role, request.model
        so_far = self._spent.get(role) or self._needed.get(role) or Usage()
        out = so_far.tokens_out // so_far.calls if so_far.calls else TOKENS_OUT
        return Usage(calls=1, tokens_in=round(text / BYTES_A_TOKEN), tokens_out=out)


def _difference(one: Usage, other: Usage) -> Usage:
    return Usage(*(max(0, a - b) for a, b in zip(astuple(one), astuple(other), strict=True)))
