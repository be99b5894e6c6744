"""The result of grading one submission."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One graded submission: `score` and `rows` are its lines in scores.jsonl and records.jsonl.

    `ordinal` is the submission's place in the input. `metrics` are what the summary is made
    of: the figures that are averaged over rollouts and tasks, nested as in `score` (one that is
    None is left out of its mean); for an answer the attempt.
    `ungraded` counts the records that could not be judged; `error` is what the attempt failed with.
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

    @property
    def complete(self) -> bool:
        """Whether every record could be judged."""
        return not self.ungraded
