"""The cache key of a verdict, and how the stages of a model handle faults."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from modelserver import agreement

from cache.folder import Cache
from fetchers.page import Page
from grader.stages import judging
from grader.stages.judging import ByModel, ByRules, Case
from grader.stages.spending import Role, Spending
from judges.endpoint import until_usable
from judges.endpoint.questions import (
    ModelUnusable,
    RateLimited,
    Rejected,
    Reply,
    Request,
    TooLong,
    Trouble,
    UnusableReply,
    Usage,
)
from judges.records import by_model
from judges.records.by_rules import JudgedPage
from judges.records.excerpts import PageText
from judges.records.facts import find_facts
from judges.records.record import Record
from judges.records.spec import JudgeSpec
from judges.records.verdict import Verdict
from queues import adaptive
from queues.graph import Graph
from queues.retry import DeadlinePassed, Retry

SPEC = JudgeSpec.model_validate({"requirements": [{"id": "wise", "text": "The page is wise."}]})
TEXT = "The larch is old, and it sheds its needles in autumn."
RECORD = Record(0, None, {"tree": "larch"}, "https://trees.example/", (TEXT[:16],), "It is old.")
PAGE = Page(
    "ok", "", "http", 200, "https://trees.example/", "b" * 64, "2026", 10, TEXT, "text/html"
)
CASE = Case(SPEC, RECORD, PAGE)


class Model:
    """A model that raises the given exceptions first, and then finds nothing wrong."""

    def __init__(self, *ends: Exception) -> None:
        self.asked: list[Request] = []
        self.spent: defaultdict[Role, Usage] = defaultdict(Usage)
        self._ends = list(ends)

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request)
        if self._ends:
            raise self._ends.pop(0)
        usage = Usage(1, 100, 0, 7)
        self.spent[request.role, request.model] += usage
        return Reply(agreement(json.loads(request.schema)), usage)


async def on_page(function: Callable[..., Any], case: Case, *args: Any) -> Any:
    """The work of a worker process, in this process."""
    page = case.page
    seen = JudgedPage(page.state, page.reason, page.final_url, PageText(page.text))
    return find_facts(case.spec, case.record, seen, *args)


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Judges cases with a model. The calls share one ledger."""
    monkeypatch.setattr(judging, "Retry", partial(Retry, first=0.0, longest=0.0))
    monkeypatch.setattr(adaptive, "_QUIET", 0.0)

    async def run(
        asked: Model,
        *cases: Case,
        name: str = "m",
        identity: str = "m at https://models.example/v1",
        seconds: float = 5.0,
    ) -> Sequence[Verdict | Exception]:
        spending = Spending(asked.spent, {})
        async with Cache.open(tmp_path / "cache") as cache:
            by = ByModel(cache.ledger, on_page, asked.ask, name, identity, spending, 4, seconds)
            async with Graph(by.nodes):
                return await by.judge(cases)

    return run


CHANGES = {
    "url": replace(CASE, record=replace(RECORD, url="https://trees.example/#a")),
    "item": replace(CASE, record=replace(RECORD, item={"tree": "Larch"})),
    "answer": replace(CASE, record=replace(RECORD, answer={"old": True})),
    "excerpts": replace(CASE, record=replace(RECORD, excerpts=(TEXT[:17],))),
    "text": replace(CASE, page=replace(PAGE, text=TEXT + " So it is.")),
    "state": replace(CASE, page=replace(PAGE, state="login")),
    "reason": replace(CASE, page=replace(PAGE, reason="a wall")),
    "final URL": replace(CASE, page=replace(PAGE, final_url="https://other.example/")),
    "spec": replace(
        CASE,
        spec=JudgeSpec.model_validate({"requirements": [{"id": "wise", "text": "It is wise."}]}),
    ),
    "instructions": replace(CASE, spec=SPEC.model_copy(update={"instructions": "Be kind."})),
}
SAME = {
    "index": replace(CASE, record=replace(RECORD, index=7)),
    "subtask": replace(CASE, record=replace(RECORD, subtask="listings")),
    "via": replace(CASE, page=replace(PAGE, via="browser", fetched_at="2027", sha256="c" * 64)),
}


@pytest.mark.parametrize("changed", CHANGES)
async def test_a_change_that_may_change_the_verdict_changes_the_key(
    judge: Callable[..., Any], changed: str
) -> None:
    await judge(Model(), CASE)
    asked = Model()
    (verdict,) = await judge(asked, CHANGES[changed])
    unusable = CHANGES[changed].page.state != "ok"
    assert len(asked.asked) == (0 if unusable else 1)
    assert verdict.page_content_usable is not unusable


@pytest.mark.parametrize("changed", SAME)
async def test_a_change_that_cannot_change_the_verdict_keeps_the_key(
    judge: Callable[..., Any], changed: str
) -> None:
    before = await judge(Model(), CASE)
    asked = Model()
    assert await judge(asked, SAME[changed]) == before
    assert not asked.asked


async def test_the_same_model_at_another_address_is_another_judge(
    judge: Callable[..., Any],
) -> None:
    before = await judge(Model(), CASE)
    asked = Model()
    after = await judge(asked, CASE, identity="m at https://mirror.example/v1")
    assert len(asked.asked) == 1
    assert [verdict.judge for verdict in (*before, *after)] == ["m", "m"]


async def test_judges_with_the_same_id_share_verdicts(judge: Callable[..., Any]) -> None:
    before = await judge(Model(), CASE, name="m", identity="id ours")
    asked = Model()
    assert await judge(asked, CASE, name="m-mirror", identity="id ours") == before
    assert not asked.asked


async def test_another_identity_or_prompt_has_another_key(
    judge: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await judge(Model(), CASE)
    asked = Model()
    await judge(asked, CASE, name="n", identity="n at https://models.example/v1")
    monkeypatch.setattr(judging, "PROMPT_VERSION", "another")
    await judge(asked, CASE)
    assert [request.model for request in asked.asked] == ["n", "m"]


async def test_equal_cases_take_one_request(judge: Callable[..., Any]) -> None:
    asked = Model()
    ends = await judge(asked, CASE, *SAME.values(), CASE)
    assert len(asked.asked) == 1
    assert len(set(map(repr, ends))) == 1


@pytest.mark.parametrize(
    ("end", "attempts"),
    [
        (Trouble("500"), judging.ATTEMPTS),
        (RateLimited("429", 0.0), judging.ATTEMPTS),
        (UnusableReply("prose"), until_usable.ATTEMPTS),
        (Rejected("forbidden"), 1),
        (TooLong("too long"), by_model.ROOMS_TRIED),
        (ModelUnusable("401"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_a_fault_is_retried_if_that_may_help_and_is_not_kept(
    judge: Callable[..., Any], end: Exception, attempts: int
) -> None:
    asked = Model(*[end] * 20)
    (found,) = await judge(asked, CASE)
    assert type(found) is type(end)
    assert len(asked.asked) == attempts
    (verdict,) = await judge(Model(), CASE)
    assert isinstance(verdict, Verdict)


async def test_a_verdict_costs_what_all_attempts_took(
    judge: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    needed: list[Usage] = []
    monkeypatch.setattr(Spending, "needed", lambda self, role, model, usage: needed.append(usage))
    await judge(Model(UnusableReply("prose", usage=Usage(1, 100, 0, 3))), CASE)
    await judge(Model(), CASE)  # from the cache
    assert needed == [Usage(2, 200, 0, 10)] * 2


async def test_a_request_without_a_response_times_out(judge: Callable[..., Any]) -> None:
    class Hanging(Model):
        async def ask(self, request: Request) -> Reply:
            self.asked.append(request)
            return await asyncio.Event().wait()  # type: ignore[return-value]

    asked = Hanging()
    (end,) = await judge(asked, CASE, seconds=0.01)
    assert isinstance(end, DeadlinePassed)
    assert len(asked.asked) == judging.ATTEMPTS


async def test_a_page_that_is_not_usable_takes_no_request(judge: Callable[..., Any]) -> None:
    asked = Model()
    for state in ("blocked", "login", "paywall", "unrendered", "dead", "refused"):
        case = replace(CASE, page=replace(PAGE, state=state, reason="told so"))
        (verdict,) = await judge(asked, case)
        assert (verdict.full, verdict.judge) == (False, "rules")
    assert not asked.asked


async def test_verdicts_of_rules_and_of_a_model_are_kept_apart(
    judge: Callable[..., Any], tmp_path: Path
) -> None:
    await judge(Model(), CASE)

    async def by_rules(function: object, case: Case, *args: object) -> Verdict:
        return Verdict(False, False, False, {}, {}, 3, "mine", "rules")

    async with Cache.open(tmp_path / "cache") as cache:
        by = ByRules(cache.ledger, by_rules, 1)
        async with Graph(by.nodes):
            (verdict,) = await by.judge([CASE])
    assert isinstance(verdict, Verdict)
    assert verdict.reason == "mine"


async def test_a_damaged_row_of_the_cache_is_replaced(
    judge: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await judge(Model(), CASE)
    key = judging.verdict_key(
        CASE.spec,
        CASE.record,
        CASE.page,
        "m at https://models.example/v1",
        judging.EFFORTS["judge"],
        judging.PROMPT_VERSION,
    )
    async with Cache.open(tmp_path / "cache") as cache:
        assert await cache.ledger.get_many("judge", [key])
        await cache.ledger.append_many("judge", [(key, b'{"verdict": {}')])
    asked = Model()
    assert await judge(asked, CASE) == before
    assert len(asked.asked) == 1
