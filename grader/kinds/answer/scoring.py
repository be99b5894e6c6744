"""Grading of short answers without a model, and the figures of a run (K-BrowseComp, sections 4 to
6)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any, TypeVar

from grader.tasks.answer import AnswerTask
from judges.text.markup import plain
from judges.values.answers import Outcome, decide, read

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One graded attempt. `extracted` is None if only a model can find the answer. `confidence` is
    from 0 to 1. `checklist` says for each slot if its value is in the trajectory; it is None
    without a checklist or a trajectory. `mode` is the failure mode that a model names."""

    outcome: Outcome
    extracted: str | None
    confidence: float
    search_calls: int | None = None
    checklist: Mapping[str, bool] | None = None
    mode: str | None = None

    @property
    def failure(self) -> str | None:
        """The failure mode: F0 if there is no final answer. Only a model names other modes
        (K-BrowseComp, table 1)."""
        return "F0" if self.outcome == "no_answer" else self.mode

    def score(self) -> dict[str, Any]:
        """The fields that it adds to a line of scores.jsonl."""
        return {
            "correct": self.outcome == "correct",
            "outcome": self.outcome,
            "extracted": self.extracted,
            "confidence": self.confidence,
            "search_calls": self.search_calls,
            "failure": self.failure,
        }

    def row(self, response: str) -> dict[str, Any]:
        """The fields that it adds to a line of records.jsonl."""
        return {
            "response": response,
            "extracted": self.extracted,
            "outcome": self.outcome,
            "checklist": self.checklist,
        }


def assess(
    task: AnswerTask, response: str, trajectory: Any = None, search_calls: int | None = None
) -> Attempt:
    """Grade a response without a model. The response of a failed attempt is an empty text."""
    reading = read(response)
    outcome = decide(reading, task.answer, *task.aliases)
    found = reading.marked or outcome != "undecided"
    extracted = reading.answer if found else None
    return Attempt(outcome, extracted, reading.confidence, search_calls, hits(task, trajectory))


# -------------------------------------------------------------------------------------- checklists


def hits(task: AnswerTask, trajectory: Any) -> dict[str, bool] | None:
    """Say for each slot if its value is in a trajectory (any JSON). The text of the question in it
    does not count. None without a checklist or a trajectory."""
    if not task.checklist or not trajectory:
        return None
    text = "\n".join(_texts(trajectory))
    if task.prompt:
        text = text.replace(task.prompt, "\n")
    text = plain(text).casefold()
    return {slot.id: bool(_value_pattern(slot.value).search(text)) for slot in task.checklist}


def _texts(trajectory: Any) -> Iterator[str]:
    """All strings and numbers in a JSON value, as text."""
    stack = [trajectory]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            stack.extend(value.values())
        elif isinstance(value, list | tuple):
            stack.extend(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield str(value)


_NEXT_TO_NON_ASCII = re.compile(r"(?<=[^\x00-\x7f])(?=.)|(?<=.)(?=[^\x00-\x7f])")
_SPACE_NEXT_TO_NON_ASCII = re.compile(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])")


def _value_pattern(value: str) -> re.Pattern[str]:
    """A pattern that finds a value, but not inside a longer number or Latin word. Spaces next to
    non-ASCII characters do not matter."""
    text = _SPACE_NEXT_TO_NON_ASCII.sub("", " ".join(plain(value).casefold().split()))
    if not text:
        return re.compile(r"(?!)")
    parts = _NEXT_TO_NON_ASCII.split(text)
    pattern = r"\s*".join(re.escape(part).replace(r"\ ", r"\s+") for part in parts)
    edges = {True: (r"(?<!\d)(?<!\d[.,])", r"(?!\d|[.,]\d)"), False: (r"(?<![a-z])", r"(?![a-z])")}
    before = edges[text[0].isdigit()][0] if text[0].isascii() and text[0].isalnum() else ""
    after = edges[text[-1].isdigit()][1] if text[-1].isascii() and text[-1].isalnum() else ""
    return re.compile(before + pattern + after)


# ----------------------------------------------------------------------------------------- figures

BINS = 5
UNSPLIT = "unsplit"
"""The split of tasks without the label `split`."""


@dataclass(slots=True)
class _Tally:
    """The attempts at one task, as counts."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    answered: Counter[tuple[float, bool]] = field(default_factory=Counter)
    searches: Counter[bool] = field(default_factory=Counter)
    searching: Counter[bool] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    hits: int = 0
    slots: int = 0


class AnswerFigures:
    """The figures of one run. Attempts are added one at a time, in any order."""

    def __init__(self) -> None:
        self._tallies: dict[str, _Tally] = {}

    def add(self, task: str, attempt: Attempt) -> None:
        """Add an attempt at the task with this name."""
        tally = self._tallies.setdefault(task, _Tally())
        correct = attempt.outcome == "correct"
        tally.outcomes[attempt.outcome] += 1
        if attempt.failure is not None:
            tally.failures[attempt.failure] += 1
        if attempt.outcome != "no_answer":
            tally.answered[attempt.confidence, correct] += 1
        if attempt.search_calls is not None:
            tally.searches[correct] += attempt.search_calls
            tally.searching[correct] += 1
        if attempt.checklist is not None:
            tally.hits += sum(attempt.checklist.values())
            tally.slots += len(attempt.checklist)

    def means(self, tasks: Iterable[AnswerTask]) -> dict[str, Any]:
        """The figures over `tasks`, by split. Verified and synthetic tasks are never pooled
        (K-BrowseComp, section 5.2). Tasks without an attempt do not count."""
        splits: dict[str, list[_Tally]] = defaultdict(list)
        for task in tasks:
            if tally := self._tallies.get(task.name):
                splits[str(task.labels.get("split") or UNSPLIT)].append(tally)
        return {split: _figures(tallies) for split, tallies in sorted(splits.items())}


def _figures(tallies: Sequence[_Tally]) -> dict[str, Any]:
    """The figures of one split. Each is the mean over tasks of the mean over a task's attempts.
    Calibration and search calls are over all attempts."""
    outcomes = _merged(tally.outcomes for tally in tallies)
    results = [(t.outcomes.total(), t.outcomes["correct"]) for t in tallies]
    decided = [(n - t.outcomes["undecided"], c) for t, (n, c) in zip(tallies, results, strict=True)]
    return {
        "accuracy": _mean(c / n for n, c in results),
        "accuracy_decided": _mean(c / n for n, c in decided if n),
        "pass_at": pass_at(results),
        "outcomes": {name: outcomes[name] for name in sorted(outcomes)},
        "calibration": calibration(_merged(t.answered for t in tallies)),
        "search_calls": {
            name: _share(
                sum(t.searches[correct] for t in tallies),
                sum(t.searching[correct] for t in tallies),
            )
            for name, correct in (("correct", True), ("wrong", False))
        },
        "checklist": _mean(t.hits / t.slots for t in tallies if t.slots),
        "failures": {
            mode: _mean(t.failures[mode] / t.outcomes.total() for t in tallies)
            for mode in sorted({"F0"}.union(*(t.failures for t in tallies)))
        },
    }


def pass_at(results: Sequence[tuple[int, int]]) -> dict[str, float]:
    """pass@k, by k: the mean over tasks of 1 - C(n - c, k) / C(n, k), the unbiased estimator of
    Chen et al. (arXiv 2107.03374). k goes up to the smallest number of attempts at a task.
    `results` has, for each task, the number n of attempts and the number c of correct ones."""
    found: dict[str, float] = {}
    kinds = Counter(results)
    missed = dict.fromkeys(kinds, 1.0)
    for k in range(1, min((n for n, _ in results), default=0) + 1):
        for n, c in kinds:
            missed[n, c] *= max(n - c - k + 1, 0) / (n - k + 1)
        total = fsum(count * (1 - missed[kind]) for kind, count in kinds.items())
        found[str(k)] = round(total / len(results), 12)
    return found


def calibration(answered: Counter[tuple[float, bool]]) -> dict[str, Any]:
    """The expected calibration error over bins of confidence with equal width, and the bins
    (K-BrowseComp, section 5.1). The last bin includes 1. `answered` counts the attempts that gave
    an answer, by confidence and correctness. An undecided attempt counts as not correct."""
    bins, gaps = [], []
    for place in range(BINS):
        inside = [
            (confidence, correct, count)
            for (confidence, correct), count in answered.items()
            if min(int(confidence * BINS), BINS - 1) == place
        ]
        attempts = sum(count for _, _, count in inside)
        correct = sum(count for _, correct, count in inside if correct)
        confidence = fsum(confidence * count for confidence, _, count in inside)
        gaps.append(abs(confidence - correct))
        bins.append(
            {
                "from": place / BINS,
                "to": (place + 1) / BINS,
                "attempts": attempts,
                "confidence": _share(confidence, attempts),
                "accuracy": _share(correct, attempts),
            }
        )
    return {
        "error": _share(fsum(gaps), answered.total()),
        "attempts": answered.total(),
        "bins": bins,
    }


def _merged(counters: Iterable[Counter[T]]) -> Counter[T]:
    total: Counter[T] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return _share(fsum(values), len(values))


def _share(total: float, of: int) -> float | None:
    return round(total / of, 12) if of else None
