"""Computes summary.json from results, one at a time (formats.md, section 3)."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any

from grader.kinds.answer.scoring import AnswerFigures
from grader.kinds.result import Result
from grader.runs.submissions import Reject
from grader.tasks.packages import AnyTask

FigurePath = tuple[str, ...]
"""The names that lead to a nested figure."""


class _Figures:
    """Nested figures by task. The rollouts of a task are averaged first, then the tasks, so that
    every task counts the same (WANDR, section 5).

    Results end in any order, and the means must not depend on it. All values are kept, and summed
    with `fsum`, which gives the same sum for every order.
    """

    def __init__(self) -> None:
        self._values: dict[str, dict[FigurePath, array[float]]] = {}

    def add(self, task: str, metrics: Mapping[str, Any]) -> None:
        values = self._values.setdefault(task, {})
        for path, value in _leaves(metrics):
            kept = values.setdefault(path, array("d"))  # keeps the order of the figures
            if value is not None:
                kept.append(value)

    def means(self, tasks: Iterable[AnyTask]) -> dict[str, Any]:
        """The means over `tasks`, nested like the figures."""
        by_path: dict[FigurePath, list[float]] = defaultdict(list)
        for task in tasks:
            for path, values in self._values.get(task.name, {}).items():
                by_path[path] += [_mean(values)] if values else []
        nested: dict[str, Any] = {}
        for path, means in by_path.items():
            if not means:
                continue
            at = nested
            for name in path[:-1]:
                at = at.setdefault(name, {})
            at[path[-1]] = _mean(means)
        return nested


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _leaves(metrics: Mapping[str, Any]) -> Iterator[tuple[FigurePath, float | None]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from (((name, *path), leaf) for path, leaf in _leaves(value))
        else:
            yield (name,), value


COUNTS = ("submissions", "completed", "errors", "incomplete", "ungraded", "gave_up")


class _Tally:
    """The submissions of one run and kind: counts for each task, and their figures."""

    def __init__(self, kind: str) -> None:
        self._counts: dict[str, array[int]] = {}
        self._flags: dict[str, Counter[str]] | None = {} if kind == "collection" else None
        self._figures: Any = AnswerFigures() if kind == "answer" else _Figures()

    def add(self, result: Result) -> None:
        counts = self._counts.setdefault(result.task, array("q", [0] * len(COUNTS)))
        errors, incomplete = bool(result.error), not result.complete
        added = (1, not errors, errors, incomplete, result.ungraded, result.gave_up)
        for place, more in enumerate(added):
            counts[place] += more
        if self._flags is not None:
            self._flags.setdefault(result.task, Counter()).update(result.flags)
        if result.complete:
            self._figures.add(result.task, result.metrics)

    def report(self, tasks: Mapping[str, AnyTask]) -> dict[str, Any]:
        """The part of summary.json for this run and kind. `tasks` are all loaded tasks of the
        kind."""
        by: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for name in self._counts:
            for label, value in tasks[name].labels.items():
                several = value if isinstance(value, list | tuple) else (value,)
                for one in dict.fromkeys(map(str, several)):
                    by[label][one].append(name)
        missing = len(tasks) - len(self._counts)
        return {
            **self._part(self._counts, tasks),
            "loaded_tasks_without_a_submission": missing,
            "by": {
                label: {value: self._part(names, tasks) for value, names in sorted(values.items())}
                for label, values in sorted(by.items())
            },
        }

    def _part(self, names: Iterable[str], tasks: Mapping[str, AnyTask]) -> dict[str, Any]:
        names = list(names)
        sums = [sum(self._counts[name][place] for name in names) for place in range(len(COUNTS))]
        part: dict[str, Any] = {**dict(zip(COUNTS, sums, strict=True)), "tasks": len(names)}
        if part["incomplete"]:
            part["provisional"] = True
        if self._flags is not None:
            flags = sum((self._flags[name] for name in names), Counter[str]())
            part["flags"] = dict(sorted(flags.items()))
        return {**part, "metrics": self._figures.means([tasks[name] for name in names])}


class Summary:
    """Counts and mean figures of every run, by kind of task. Incomplete submissions are counted,
    but left out of the means. A failed attempt counts 0 in the means."""

    def __init__(self, tasks: Iterable[AnyTask]) -> None:
        self._tasks: dict[str, dict[str, AnyTask]] = defaultdict(dict)
        for task in tasks:
            self._tasks[task.kind][task.name] = task
        self._tallies: dict[str, dict[str, _Tally]] = {}
        self._rejects: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        """Add one graded submission."""
        kinds = self._tallies.setdefault(result.run, {})
        kinds.setdefault(result.kind, _Tally(result.kind)).add(result)

    def reject(self, reject: Reject) -> None:
        """Count a rejected line or record, by its run if that is known."""
        self._rejects[reject.run] += 1

    def report(self, work: Mapping[str, Any]) -> dict[str, Any]:
        """The content of summary.json. `work` has the counters of the call's stages."""
        return {
            "runs": {
                run: {
                    kind: tally.report(self._tasks[kind]) for kind, tally in sorted(kinds.items())
                }
                for run, kinds in sorted(self._tallies.items())
            },
            "work": work,
            "rejects": {
                "count": self._rejects.total(),
                "by_run": dict(sorted(self._rejects.items())),
            },
        }
