"""What models cost: counted by role and model, foreseen, and bounded."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, astuple
from typing import Any

from cache.keys import digest
from judges.endpoint.questions import Ask, Price, Rejected, Reply, Request, Usage

BYTES_A_TOKEN = 3.5
"""Of a request, about, over languages."""
TOKENS_OUT = 500
"""Of a reply, until replies have shown better."""

Role = tuple[str, str]
"""A role such as "judge", and the model that plays it."""


class OverBudget(Rejected):
    """A request that the budget does not cover, so that it was not made."""


class NotAsked(Rejected):
    """A request of a dry run: counted, and not made."""


class Spending:
    """What the model calls of one grader cost, or would. `spent` is what was paid for so far.

    What results take without cache and shared work is told to `needed`: the difference is what
    these saved. `budget` is in US dollars, and wants a price for every model; a `dry` one makes no
    call and counts what each would take.
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
        self._foreseen: defaultdict[Role, Usage] = defaultdict(Usage)

    def bounded(self, ask: Ask) -> Ask:
        """`ask` within the budget: raises OverBudget in place of a call whose estimated cost
        would pass it, and NotAsked in place of every call of a dry run."""
        if self._dry:
            return self._foresee
        if self._budget is None:
            return ask
        budget = self._budget

        async def within(request: Request) -> Reply:
            cost = await self._reserve(request, budget)
            role = request.role, request.model
            try:
                reply = await ask(request)
                took = self._prices[request.model].of(reply.usage)
                self._dearest[role] = max(took, self._dearest.get(role, 0.0))
                return reply
            finally:
                self._reserved -= cost
                self._freed.set()

        return within

    async def _foresee(self, request: Request) -> Reply:
        key = digest(*astuple(request))
        if key not in self._asked_dry:  # what failed is asked again by who needs it too
            self._asked_dry.add(key)
            self._foreseen[request.role, request.model] += self._estimate(request)
        raise NotAsked("not asked: a dry run")

    async def _reserve(self, request: Request, budget: float) -> float:
        """Set aside what a call may cost, in US dollars: as much as the dearest one of its role
        did. The first goes alone, since nobody knows yet how much a model writes."""
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
        """A result was used that took so much when it was made, now or in an earlier call."""
        self._needed[role, model] += usage

    @property
    def cost(self) -> float:
        """US dollars spent so far, on models that have a price."""
        return sum(self._cost(role, usage) or 0.0 for role, usage in self._spent.items())

    def by_role(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Calls, tokens and cost by role and model, as summary.json has them."""
        roles: defaultdict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for role, usage in (self._foreseen if self._dry else self._spent).items():
            roles[role[0]][role[1]] = self._told(role, usage)
        return dict(roles)

    def saved(self) -> dict[str, Any]:
        """What cache and shared work saved: calls, tokens and cost."""
        none = Usage()
        parts = {role: _less(u, self._spent.get(role, none)) for role, u in self._needed.items()}
        total = sum(parts.values(), none)
        costs = [self._cost(role, usage) for role, usage in parts.items()]
        known = None if None in costs else sum(filter(None, costs))
        return {**asdict(total), "cost_usd": known}

    def _told(self, role: Role, usage: Usage) -> dict[str, Any]:
        return {**asdict(usage), "cost_usd": self._cost(role, usage)}

    def _cost(self, role: Role, usage: Usage) -> float | None:
        price = self._prices.get(role[1])
        return None if price is None else price.of(usage)

    def _estimate(self, request: Request) -> Usage:
        text = len(request.system.encode()) + len(request.user.encode()) + len(request.schema)
        role = request.role, request.model
        so_far = self._spent.get(role) or self._needed.get(role) or Usage()
        out = so_far.tokens_out // so_far.calls if so_far.calls else TOKENS_OUT
        return Usage(calls=1, tokens_in=round(text / BYTES_A_TOKEN), tokens_out=out)


def _less(one: Usage, other: Usage) -> Usage:
    return Usage(*(max(0, a - b) for a, b in zip(astuple(one), astuple(other), strict=True)))
