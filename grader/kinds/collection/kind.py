"""How a collection is graded: records to verdicts, identities, a score (WANDR, sections 3, 5)."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cache.errors import MissingBody
from fetchers.page import Page
from fetchers.urls import canonical
from grader.kinds.collection.funnel import evidence
from grader.kinds.collection.identities import Identities, Named
from grader.kinds.collection.leaves import Leaf
from grader.kinds.collection.rollup import Scorer
from grader.kinds.result import Result
from grader.runs.submissions import Submission
from grader.stages.judging import Case
from grader.stages.pipeline import Pipeline, aside
from grader.tasks.collection import CollectionTask
from judges.endpoint.questions import Rejected, Trouble
from judges.records.record import Record
from judges.records.rules import Undecided
from judges.records.verdict import Verdict
from queues.node import DeadlinePassed
from queues.pool import Crashed, TimedOut

TOGETHER = 256
"""Records of one page that are judged at once, at most."""


THIS_RECORD_ALONE = (
    Crashed, TimedOut, Undecided, MissingBody, Trouble, Rejected, DeadlinePassed,
)  # fmt: skip
"""Why there may be no verdict on a record while others can be judged."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a record: a page and a verdict, or why there is no verdict (`error`).

    A malformed record has neither, and no error: it failed, as its `fault` says.
    """

    page: Page | None = None
    verdict: Verdict | None = None
    error: str = ""


class CollectionKind:
    """Grades the submissions of one collection task."""

    def __init__(self, task: CollectionTask) -> None:
        self._name = task.name
        self._hierarchies = task.hierarchies
        self._scorer = Scorer(task)
        self._identities = Identities(task.hierarchies)

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """One submission's result."""
        records = submission.records
        urls = {url: canonical(url) for url in {record.url for record in records}}
        naming = asyncio.create_task(self._identities.name(records, urls, pipeline))
        try:
            outcomes = await self._judge_all(records, urls, pipeline)
            named = await naming
        finally:
            naming.cancel()
        return await aside(len(records), self._result, ordinal, submission, outcomes, named)

    def read(self, row: Mapping[str, Any]) -> Leaf:
        """A row of records.jsonl as the rollup sees it. Raises ValueError where it is none."""
        return self._scorer.leaf(row)

    def score(
        self,
        ordinal: int,
        run: str,
        rollout: str,
        rows: Sequence[Mapping[str, Any]],
        error: str = "",
    ) -> Result:
        """A submission's score, from the rows of all its records."""
        rollup = self._scorer.rollup(map(self.read, rows))
        figures = rollup.plain()
        counts = figures.pop("counts")
        names = {"run": run, "task": self._name, "rollout": rollout}
        return Result(
            **names,
            ordinal=ordinal,
            kind="collection",
            ungraded=rollup.counts.ungraded,
            error=error,
            metrics={**figures, **evidence(rows).plain()},
            score={
                **names,
                "kind": "collection",
                "complete": rollup.complete,
                **({"error": error} if error else {}),
                **figures,
                "counts": counts,
            },
            rows=rows,
        )

    async def _judge_all(
        self,
        records: Sequence[Record],
        urls: Mapping[str, str],
        pipeline: Pipeline,
    ) -> list[Outcome]:
        """The outcomes in the order of the records; those of one page are judged together."""
        outcomes = [Outcome()] * len(records)
        by_page: dict[str, list[int]] = defaultdict(list)
        for place, record in enumerate(records):
            if not record.fault:
                by_page[urls[record.url]].append(place)

        async def on_page(url: str, places: Sequence[int]) -> None:
            page = await pipeline.pages.page(url)
            for start in range(0, len(places), TOGETHER):
                group = places[start : start + TOGETHER]
                judged = await self._judge([records[place] for place in group], page, pipeline)
                for place, outcome in zip(group, judged, strict=True):
                    outcomes[place] = outcome

        try:
            async with asyncio.TaskGroup() as tasks:
                for url, places in by_page.items():
                    await pipeline.slots.acquire()
                    task = tasks.create_task(on_page(url, places))
                    task.add_done_callback(lambda _: pipeline.slots.release())
        except ExceptionGroup as group:  # what stops one page stops all: the first will do
            raise group.exceptions[0] from None
        return outcomes

    async def _judge(
        self, records: Sequence[Record], page: Page, pipeline: Pipeline
    ) -> list[Outcome]:
        """The outcomes of records of one page."""
        if page.state == "unreachable":
            return [Outcome(page, error=f"page unreachable: {page.reason}")] * len(records)
        cases = [Case(self._hierarchies[r.subtask].judge, r, page) for r in records]
        return [_outcome(page, end) for end in await pipeline.judge.judge(cases)]

    def _result(
        self,
        ordinal: int,
        submission: Submission,
        outcomes: Sequence[Outcome],
        named: Sequence[Named],
    ) -> Result:
        rows = [
            _row(submission, *record)
            for record in zip(submission.records, outcomes, named, strict=True)
        ]
        return self.score(ordinal, submission.run, submission.rollout, rows, submission.error)


def _outcome(page: Page, end: Verdict | Exception) -> Outcome:
    """What became of a record. Raises what concerns more than this record."""
    match end:
        case Verdict():
            return Outcome(page, end)
        case _ if isinstance(end, THIS_RECORD_ALONE):
            return Outcome(page, error=f"cannot be judged: {end}")
        case _:
            raise end


def _row(submission: Submission, record: Record, outcome: Outcome, named: Named) -> dict[str, Any]:
    """A line of records.jsonl (formats.md, 3)."""
    row: dict[str, Any] = {
        "run": submission.run,
        "task": submission.task.name,
        "rollout": submission.rollout,
        "subtask": record.subtask,
        "index": record.index,
        "item": record.item,
        "url": record.url,
        "canonical": named.names.canonical,
        "identity": named.names.identity,
        "page": outcome.page and _page(outcome.page),
    }
    if named.reasons:
        row["identity_reasons"] = named.reasons
    verdict, error = outcome.verdict, outcome.error or named.undecided
    if verdict is None or error:
        error = "" if record.fault else error
        passed = None if error else False
        return {
            **row,
            "criteria": None,
            "validity": None,
            "requirements": None,
            "verdict_full": passed,
            "verdict_retrieval": passed,
            "confidence": None,
            "reason": record.fault,
            "judge": None,
            "state": "ungraded" if error else "invalid",
            "error": error or None,
        }
    criteria = verdict.criteria
    return {
        **row,
        "criteria": criteria,
        "validity": verdict.validity,
        "requirements": {
            name: {"satisfied": shown.satisfied, "supported": shown.supported}
            for name, shown in verdict.requirements.items()
        },
        "verdict_full": all(criteria.values()),
        "verdict_retrieval": criteria["requirements_all_satisfied"],
        "confidence": verdict.confidence,
        "reason": verdict.reason,
        "judge": verdict.judge,
        "state": "graded",
        "error": None,
    }


def _page(page: Page) -> dict[str, Any]:
    return {
        "state": page.state,
        "reason": page.reason,
        "via": page.via,
        "status": page.status,
        "final_url": page.final_url,
        "sha256": page.sha256,
        "fetched_at": page.fetched_at,
        "words": page.words,
    }
