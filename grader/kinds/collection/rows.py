"""Lines of records.jsonl for a collection (formats.md, section 3)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fetchers.page import Page
from fetchers.triage.open_publishing import is_open_publishing
from grader.kinds.collection.identities import RecordNames
from grader.runs.submissions import Submission
from grader.stages.unreachable import NEVER_ANSWERED
from judges.records.record import Record
from judges.records.verdict import Verdict

OPEN_PUBLISHING = "open_publishing"
"""Flag: anyone can publish any text at the cited URL or at the final URL."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one record: its page, with a verdict or with an `error` that prevented one.

    A malformed record has no page, no verdict and no error: the agent failed, and the record's
    `fault` is the reason.
    """

    page: Page | None = None
    verdict: Verdict | None = None
    error: str = ""


def record_row(
    submission: Submission, record: Record, outcome: Outcome, names: RecordNames
) -> dict[str, Any]:
    """Build the line of one record. An undecided identity makes the record `ungraded`."""
    row: dict[str, Any] = {
        "run": submission.run,
        "task": submission.task.name,
        "rollout": submission.rollout,
        "subtask": record.subtask,
        "index": record.index,
        "item": record.item,
        "url": record.url,
        "canonical": names.names.canonical,
        "identity": names.names.identity,
        "page": outcome.page and _page(outcome.page),
        "flags": _flags(record, outcome),
    }
    if names.reasons:
        row["identity_reasons"] = names.reasons
    error = outcome.error or names.undecided
    if record.fault:
        return {**row, **_without_verdict("invalid", reason=record.fault)}
    if error or outcome.verdict is None:
        return {**row, **_without_verdict("ungraded", error=error)}
    return {**row, **_with_verdict(outcome.verdict)}


def _without_verdict(state: str, reason: str = "", error: str | None = None) -> dict[str, Any]:
    """The fields of a record that has no verdict: both verdicts are false if it is `invalid`, and
    null if it is `ungraded`."""
    passed = None if state == "ungraded" else False
    return {
        "criteria": None,
        "validity": None,
        "requirements": None,
        "verdict_full": passed,
        "verdict_retrieval": passed,
        "confidence": None,
        "reason": reason,
        "judge": None,
        "state": state,
        "error": error,
    }


def _with_verdict(verdict: Verdict) -> dict[str, Any]:
    """The fields of a graded record."""
    criteria = verdict.criteria
    return {
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


def _flags(record: Record, outcome: Outcome) -> list[str]:
    """The sorted names of facts that are reported and do not change the score."""
    flags = outcome.verdict.flags if outcome.verdict else ()
    final_url = outcome.page.final_url if outcome.page else ""
    if is_open_publishing(record.url) or is_open_publishing(final_url):
        flags = (OPEN_PUBLISHING, *flags)
    return sorted(set(flags)) if flags else []


def count_flags(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows have each flag, by its name in alphabetical order."""
    names: Counter[str] = Counter()
    for row in rows:
        if isinstance(flags := row.get("flags"), list) and flags:
            names.update({flag for flag in flags if isinstance(flag, str)})
    return dict(sorted(names.items()))


def was_given_up(row: Mapping[str, Any]) -> bool:
    """Whether a row's page counts as dead because its address never answered."""
    page = row.get("page")
    return (
        isinstance(page, Mapping)
        and page.get("state") == "dead"
        and page.get("reason") == NEVER_ANSWERED
    )


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
