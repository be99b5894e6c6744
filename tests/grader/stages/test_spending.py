"""The cost of model calls: counted, estimated, bounded."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import pytest

from grader.settings import Settings
from grader.stages.spending import NotAsked, OverBudget, Role, Spending
from judges.endpoint.questions import Price, Reply, Request, Trouble, UnusableReply, Usage

DOLLAR_A_TOKEN = {"m": Price(0, 0, 1e6)}
PRICES = {"m": Price(tokens_in=10, cached_in=1, tokens_out=100)}


def request(user: str = "u", role: str = "judge") -> Request:
    return Request(role, "m", "low", "s", user, "{}")


class Model:
    """A model with replies of given lengths. Each reply waits for `answer` or `fail`."""

    def __init__(self, *tokens: int) -> None:
        self.spent: defaultdict[Role, Usage] = defaultdict(Usage)
        self.asked: list[asyncio.Future[None]] = []
        self._tokens = list(tokens)

    async def ask(self, request: Request) -> Reply:
        usage = Usage(1, 0, 0, self._tokens[len(self.asked)])
        self.asked.append(asyncio.get_running_loop().create_future())
        await self.asked[-1]
        self.spent[request.role, request.model] += usage
        return Reply({}, usage)

    def answer(self, which: int) -> None:
        self.asked[which].set_result(None)

    def fail(self, which: int) -> None:
        self.asked[which].set_exception(Trouble("dropped"))


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_first_call_goes_alone_and_the_others_wait_for_the_budget() -> None:
    model = Model(600, 700, 700, 700)
    ask = Spending(model.spent, DOLLAR_A_TOKEN, budget=2700).bounded(model.ask)
    calls = [asyncio.create_task(ask(request(str(n)))) for n in range(5)]
    await settle()
    assert len(model.asked) == 1  # the length of a reply is not known yet
    model.answer(0)
    await settle()
    assert len(model.asked) == 4  # 600 are spent, and three times 600 set aside
    model.answer(1)
    await settle()
    assert not calls[4].done()  # it depends on what the others take
    model.answer(2)
    model.answer(3)
    with pytest.raises(OverBudget, match="the budget of 2700 USD is spent"):
        await calls[4]
    assert [call.exception() for call in calls[:4]] == [None] * 4


async def test_a_failed_call_gives_back_its_reserve() -> None:
    model = Model(600, 600, 600)
    spending = Spending(model.spent, DOLLAR_A_TOKEN, budget=1200)
    ask = spending.bounded(model.ask)
    calls = [asyncio.create_task(ask(request(str(n)))) for n in range(3)]
    await settle()
    model.fail(0)
    await settle()
    model.answer(1)
    await settle()
    model.answer(2)
    ends = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(end) for end in ends] == [Trouble, Reply, Reply]
    assert spending.cost == 1200


async def test_an_unusable_reply_is_paid_for_and_tells_the_cost_of_a_call() -> None:
    class Talker(Model):
        async def ask(self, request: Request) -> Reply:
            reply = await super().ask(request)
            raise UnusableReply("prose", usage=reply.usage)

    model = Talker(600, 600, 600)
    spending = Spending(model.spent, DOLLAR_A_TOKEN, budget=1800)
    ask = spending.bounded(model.ask)
    calls = [asyncio.create_task(ask(request(str(n)))) for n in range(3)]
    await settle()
    model.answer(0)
    await settle()
    assert len(model.asked) == 3  # the cost of a call is known: the others go together
    model.answer(1)
    model.answer(2)
    ends = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(end) for end in ends] == [UnusableReply] * 3
    assert spending.cost == 1800


async def test_a_repeat_costs_its_turns_too() -> None:
    model = Model()
    spending = Spending(model.spent, PRICES, dry=True)
    turns = (("assistant", "b" * 700), ("user", "c" * 350))
    with pytest.raises(NotAsked):
        await spending.bounded(model.ask)(replace(request("a" * 697), turns=turns))
    assert spending.by_role()["judge"]["m"]["tokens_in"] == 500


async def test_a_call_that_waits_for_the_budget_can_be_cancelled() -> None:
    model = Model(600, 600)
    ask = Spending(model.spent, DOLLAR_A_TOKEN, budget=1e6).bounded(model.ask)
    first, second, third = (asyncio.create_task(ask(request(str(n)))) for n in range(3))
    await settle()
    second.cancel()
    await settle()
    model.answer(0)
    await settle()
    model.answer(1)
    await asyncio.gather(first, third)
    assert second.cancelled()


async def test_a_budget_of_zero_sends_nothing() -> None:
    model = Model()
    ask = Spending(model.spent, PRICES, budget=0).bounded(model.ask)
    with pytest.raises(OverBudget):
        await ask(request())


async def test_without_a_budget_requests_go_straight_to_the_endpoint() -> None:
    model = Model()
    assert Spending(model.spent, {}).bounded(model.ask) == model.ask


async def test_a_dry_run_counts_each_request_once() -> None:
    model = Model()
    spending = Spending(model.spent, PRICES, dry=True)
    ask = spending.bounded(model.ask)
    for user in ("a" * 696, "a" * 696, "b" * 1396):
        with pytest.raises(NotAsked):
            await ask(request(user))
    with pytest.raises(NotAsked):
        await ask(request("a", role="dedupe"))
    judge = spending.by_role()["judge"]["m"]
    cost = (600 * 10 + 1000 * 100) / 1e6
    assert judge == {
        "calls": 2, "tokens_in": 600, "cached_in": 0, "tokens_out": 1000, "cost_usd": cost,
    }  # fmt: skip
    assert spending.by_role()["dedupe"]["m"]["calls"] == 1


async def test_replies_in_the_cache_give_the_estimated_length() -> None:
    spending = Spending({}, {}, dry=True)
    spending.needed("judge", "m", Usage(2, 100, 0, 60))
    with pytest.raises(NotAsked):
        await spending.bounded(Model().ask)(request())
    assert spending.by_role()["judge"]["m"]["tokens_out"] == 30


@pytest.mark.parametrize(("prices", "dollars"), [(PRICES, 0.004), ({}, None)])
def test_the_saving_is_the_difference_of_needed_and_spent(
    prices: Mapping[str, Price], dollars: float | None
) -> None:
    spent = {("judge", "m"): Usage(1, 100, 60, 10), ("dedupe", "m"): Usage(3, 9, 9, 9)}
    spending = Spending(spent, prices)
    for _ in range(3):
        spending.needed("judge", "m", Usage(1, 100, 0, 10))
    spending.needed("dedupe", "m", Usage(1, 3, 3, 3))  # two replies were unreadable
    saved = spending.saved()
    cost = saved.pop("cost_usd")
    assert saved == {"calls": 2, "tokens_in": 200, "cached_in": 0, "tokens_out": 20}
    assert cost == (dollars and pytest.approx(dollars))


def test_a_budget_needs_the_price_of_the_model() -> None:
    with pytest.raises(ValueError, match="price of m"):
        Settings(judge="m", budget=1.0)
    Settings(judge="rules", budget=1.0)
    Settings(judge="m", budget=1.0, prices=PRICES)
