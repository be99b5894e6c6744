"""The result of grading one submission."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One graded submission.

    `ordinal` is its place in the input. `score` is its line of scores.jsonl, `rows` its lines of
    records.jsonl. `metrics` are the figures that summary.json averages over rollouts and tasks,
    nested as in `score`; a figure that is None is left out of its mean. For an answer, `metrics` is
    the attempt. `ungraded` counts the records that could not be judged, `gave_up` those whose
    address never answered, `flags` those that have a flag, by its name. `error` is the error of a
    failed attempt, or empty.
    """

    ordinal: int
    run: str
    task: str
    rollout: str
    kind: str
    ungraded: int
    error: str
    metrics: Any
    score: Any
    rows: Sequence[Any]
    gave_up: int = 0
    flags: Mapping[str, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every record could be judged."""
        return not self.ungraded
