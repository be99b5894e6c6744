"""How a collection is graded: from records to verdicts, names and a score (WANDR, sections 3, 5).

`CollectionKind.grade` shows the whole path of a record.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from cache.errors import MissingBody
from fetchers.page import Page
from fetchers.urls import canonical
from grader.kinds.collection.funnel import evidence
from grader.kinds.collection.identities import Identities, RecordNames
from grader.kinds.collection.leaves import Leaf
from grader.kinds.collection.rollup import Scorer
from grader.kinds.collection.rows import Outcome, count_flags, record_row, was_given_up
from grader.kinds.result import Result
from grader.runs.submissions import Submission
from grader.stages.event_loop import first_error, in_thread_if_many
from grader.stages.judging import Case, Judge
from grader.stages.pipeline import Pipeline
from grader.tasks.collection import CollectionTask
from judges.endpoint.questions import Rejected, Trouble
from judges.records.conditions import Undecided
from judges.records.record import Record
from judges.records.verdict import Verdict
from queues.pool import Crashed, TimedOut
from queues.retry import DeadlinePassed

RECORDS_PER_BATCH = 256
"""Records of one page that are judged at once, at most."""

ERRORS_OF_ONE_RECORD = (
    Crashed, TimedOut, Undecided, MissingBody, Trouble, Rejected, DeadlinePassed,
)  # fmt: skip
"""Errors that leave one record without a verdict. Any other error stops the grader."""


class CollectionKind:
    """Grades the submissions of one collection task."""

    def __init__(self, task: CollectionTask) -> None:
        self._name = task.name
        self._hierarchies = task.hierarchies
        self._scorer = Scorer(task)
        self._identities = Identities(task.hierarchies)

    async def grade(self, ordinal: int, submission: Submission, pipeline: Pipeline) -> Result:
        """Grade one submission. This is the whole path of its records, step by step.

        Pages are graded side by side, and records are named meanwhile. The records that cite one
        page are judged together.
        """
        records, pages, identities = submission.records, pipeline.pages, self._identities
        urls = {url: canonical(url) for url in {record.url for record in records}}
        outcomes = [Outcome()] * len(records)

        async def grade_page(url: str, places: Sequence[int]) -> None:
            """Grade the records at `places`, which all cite the page at `url`."""
            visit = await pages.fetch(url)
            page = await pages.triage(url, visit)
            if pages.worth_a_browser(page):
                page = await pages.render(url, page)
            if page.state == "unreachable":
                page = await pages.give_up(url, page)
            judged = await self._judge([records[place] for place in places], page, pipeline.judge)
            for place, outcome in zip(places, judged, strict=True):
                outcomes[place] = outcome

        async def name_records() -> list[RecordNames]:
            forms = await identities.canonicalise(records, pipeline)
            clusters = await identities.dedupe(forms, pipeline)
            return await identities.names(records, urls, forms, clusters)

        with first_error():
            async with asyncio.TaskGroup() as tasks:
                naming = tasks.create_task(name_records())
                for url, places in _records_by_page(records, urls).items():
                    await pipeline.page_slots.acquire()
                    grading = tasks.create_task(grade_page(url, places))
                    grading.add_done_callback(lambda _: pipeline.page_slots.release())
        names = naming.result()
        return await in_thread_if_many(
            len(records), self._roll_up, ordinal, submission, outcomes, names
        )

    async def _judge(self, records: Sequence[Record], page: Page, judge: Judge) -> list[Outcome]:
        """Judge records that cite one page, in batches. Return their outcomes, in their order."""
        if page.state == "unreachable":
            return [Outcome(page, error=f"page unreachable: {page.reason}")] * len(records)
        outcomes = []
        for start in range(0, len(records), RECORDS_PER_BATCH):
            batch = records[start : start + RECORDS_PER_BATCH]
            cases = [Case(self._hierarchies[r.subtask].judge, r, page) for r in batch]
            outcomes += [_outcome(page, verdict) for verdict in await judge.judge(cases)]
        return outcomes

    def _roll_up(
        self,
        ordinal: int,
        submission: Submission,
        outcomes: Sequence[Outcome],
        names: Sequence[RecordNames],
    ) -> Result:
        """Build the rows of a submission, and its score from them."""
        rows = [
            record_row(submission, *record)
            for record in zip(submission.records, outcomes, names, strict=True)
        ]
        return self.score(ordinal, submission.run, submission.rollout, rows, submission.error)

    def read(self, row: Mapping[str, Any]) -> Leaf:
        """Read a row of records.jsonl for the rollup. Raises ValueError if it is not a row of this
        task."""
        return self._scorer.leaf(row)

    def score(
        self,
        ordinal: int,
        run: str,
        rollout: str,
        rows: Sequence[Mapping[str, Any]],
        error: str = "",
    ) -> Result:
        """Score a submission from the rows of all its records."""
        rollup = self._scorer.rollup(map(self.read, rows))
        figures = rollup.plain()
        counts = {**figures.pop("counts"), "gave_up": sum(map(was_given_up, rows))}
        flags = count_flags(rows)
        names: dict[str, Any] = {"run": run, "task": self._name, "rollout": rollout}
        return Result(
            **names,
            ordinal=ordinal,
            kind="collection",
            ungraded=rollup.counts.ungraded,
            gave_up=counts["gave_up"],
            flags=flags,
            error=error,
            metrics={**figures, **evidence(rows).plain()},
            score={
                **names,
                "kind": "collection",
                "complete": rollup.complete,
                **({"error": error} if error else {}),
                **figures,
                "counts": counts,
                "flags": flags,
            },
            rows=rows,
        )


def _records_by_page(records: Sequence[Record], urls: Mapping[str, str]) -> dict[str, list[int]]:
    """The places of the well-formed records, by canonical URL."""
    by_page: dict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        if not record.fault:
            by_page[urls[record.url]].append(place)
    return by_page


def _outcome(page: Page, verdict: Verdict | Exception) -> Outcome:
    """The outcome of one judged record. Raises an error that concerns more than this record."""
    if isinstance(verdict, Verdict):
        return Outcome(page, verdict)
    if isinstance(verdict, ERRORS_OF_ONE_RECORD):
        return Outcome(page, error=f"cannot be judged: {verdict}")
    raise verdict
