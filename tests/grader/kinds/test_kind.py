"""The path of a record, with pages and a judge that record their calls."""

import asyncio
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from cache.errors import CacheError, MissingBody
from fetchers.page import Page, State
from grader.kinds.answer.kind import AnswerKind
from grader.kinds.collection import kind as module
from grader.kinds.collection.kind import CollectionKind
from grader.kinds.kind import kind_of
from grader.kinds.result import Result
from grader.kinds.table.kind import TableKind
from grader.runs.submissions import read_submission
from grader.stages.judging import Case
from grader.tasks.answer import AnswerTask
from grader.tasks.collection import CollectionTask
from grader.tasks.table import TableTask
from judges.endpoint.questions import Rejected, Trouble
from judges.records.conditions import Undecided
from judges.records.verdict import Verdict
from queues.node import Stopped
from queues.pool import Crashed, TimedOut
from queues.retry import DeadlinePassed

URL = {"name": "url", "volume": 1}
TASK = CollectionTask.model_validate(
    {
        "name": "facts",
        "kind": "collection",
        "keys": [{"name": "fact", "volume": 10, "identity": {"how": "exact"}}, URL],
        "judge": {"requirements": [{"id": "told", "rule": {"contains": "{item.fact}"}}]},
    }
)
PASSED = Verdict(True, True, True, {}, {}, 3, "", "rules")


def page_in(state: State, url: str = "http://a.example/") -> Page:
    return Page(state, f"reason of {state}", "http", 200, url, "", "", 7, "", "")


class Pages:
    """Pages whose states are set by step."""

    def __init__(self, triage: State, render: State = "ok", give_up: State = "dead") -> None:
        self.states = {"triage": triage, "render": render, "give_up": give_up}
        self.steps: list[str] = []
        self.open = self.most_open = 0

    async def fetch(self, url: str) -> str:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(0)
        self.open -= 1
        return self._step("fetch", url)

    async def triage(self, url: str, visit: str) -> Page:
        assert visit == url
        return page_in(self.states[self._step("triage", "triage")])

    def worth_a_browser(self, page: Page) -> bool:
        return page.state == "unrendered"

    async def render(self, url: str, page: Page) -> Page:
        return page_in(self.states[self._step("render", "render")])

    async def give_up(self, url: str, page: Page) -> Page:
        return page_in(self.states[self._step("give_up", "give_up")])

    def _step(self, name: str, result: str) -> str:
        self.steps.append(name)
        return result


class Judge:
    """Passes each record, or returns a prepared error for those with a certain fact."""

    roles = None

    def __init__(self, **errors: Exception) -> None:
        self.errors = errors
        self.batches: list[list[int]] = []

    async def judge(self, cases: Iterable[Case]) -> list[Verdict | Exception]:
        batch = list(cases)
        self.batches.append([case.record.index for case in batch])
        return [self.errors.get(case.record.item["fact"], PASSED) for case in batch]


def record(fact: str, url: str = "http://a.example/") -> dict[str, Any]:
    return {"item": {"fact": fact}, "url": url, "excerpts": [fact], "answer": fact}


async def grade(pages: Pages, judge: Judge, *records: Any, slots: int = 10) -> Result:
    pipeline: Any = SimpleNamespace(
        pages=pages, judge=judge, page_slots=asyncio.Semaphore(slots), compute=None
    )
    one = read_submission(TASK, {"run": "r", "records": list(records)})
    result = await CollectionKind(TASK).grade(7, one, pipeline)
    assert not pipeline.page_slots.locked()
    return result


@pytest.mark.parametrize(
    ("pages", "steps", "state"),
    [
        (Pages("ok"), ["fetch", "triage"], "ok"),
        (Pages("dead"), ["fetch", "triage"], "dead"),
        (Pages("unrendered", "ok"), ["fetch", "triage", "render"], "ok"),
        (Pages("unrendered", "unreachable"), ["fetch", "triage", "render", "give_up"], "dead"),
        (Pages("unreachable"), ["fetch", "triage", "give_up"], "dead"),
        (Pages("unreachable", give_up="unreachable"), ["fetch", "triage", "give_up"], ""),
    ],
)
async def test_the_steps_of_a_page(pages: Pages, steps: list[str], state: str) -> None:
    judge = Judge()
    result = await grade(pages, judge, record("x"))
    (row,) = result.rows
    assert pages.steps == steps
    assert (result.ordinal, row["index"]) == (7, 0)
    if state:
        assert (row["page"]["state"], row["state"], row["verdict_full"]) == (state, "graded", True)
        assert judge.batches == [[0]]
    else:
        assert (row["state"], row["verdict_full"]) == ("ungraded", None)
        assert row["error"] == "page unreachable: reason of unreachable"
        assert judge.batches == []
        assert result.ungraded == 1


async def test_records_of_one_page_are_judged_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECORDS_PER_BATCH", 2)
    judge, other = Judge(), "http://b.example/"
    records = [record(f"{n}", other if n == 1 else "http://a.example/#x") for n in range(6)]
    result = await grade(Pages("ok"), judge, *records, None)
    assert sorted(judge.batches) == [[0, 2], [1], [3, 4], [5]]
    assert [row["index"] for row in result.rows] == list(range(7))
    assert [row["state"] for row in result.rows] == ["graded"] * 6 + ["invalid"]
    assert result.rows[1]["canonical"] == {"url": other}


async def test_a_bounded_number_of_pages_is_in_flight() -> None:
    pages = Pages("ok")
    records = [record(f"{n}", f"http://a.example/{n}") for n in range(9)]
    await grade(pages, Judge(), *records, slots=3)
    assert pages.most_open == 3


@pytest.mark.parametrize(
    "error",
    [
        Crashed("killed"), TimedOut("slow"), Undecided("a rule"), MissingBody("gone"),
        Trouble("503"), Rejected("no"), DeadlinePassed("late"),
    ],
)  # fmt: skip
async def test_an_error_of_one_record_leaves_it_ungraded(error: Exception) -> None:
    result = await grade(Pages("ok"), Judge(bad=error), record("good"), record("bad"))
    good, bad = result.rows
    assert (good["state"], good["error"]) == ("graded", None)
    assert (bad["state"], bad["error"]) == ("ungraded", f"cannot be judged: {error}")
    assert bad["page"]["state"] == "ok"
    assert result.ungraded == 1


@pytest.mark.parametrize("error", [CacheError("full"), Stopped("stopped"), ValueError("a bug")])
async def test_any_other_error_stops_the_grading(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        await grade(Pages("ok"), Judge(bad=error), record("good"), record("bad"))


def test_each_task_has_its_kind() -> None:
    table = TableTask.model_validate(
        {
            "name": "t", "kind": "table", "key_columns": ["a"], "rows": [{"a": "1"}],
            "columns": [{"name": "a", "format": "int"}],
        }
    )  # fmt: skip
    answer = AnswerTask.model_validate({"name": "q", "kind": "answer", "answer": "x"})
    assert isinstance(kind_of(TASK), CollectionKind)
    assert isinstance(kind_of(table), TableKind)
    assert isinstance(kind_of(answer), AnswerKind)
