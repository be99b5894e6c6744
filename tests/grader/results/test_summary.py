"""What a call's results come to."""

import random
from typing import Any

import pytest

from grader.kinds.result import Result
from grader.results.summary import Summary
from grader.runs.submissions import Reject
from grader.tasks.collection import CollectionTask


def task(name: str, **labels: Any) -> CollectionTask:
    return CollectionTask.model_validate(
        {
            "name": name,
            "kind": "collection",
            "labels": labels,
            "keys": [{"name": "url", "volume": 1}],
        }
    )


def result(
    task: str, value: float | None = 0.0, rollout: int = 0, *, run: str = "r", ungraded: int = 0,
    error: str = "",
) -> Result:  # fmt: skip
    metrics = {"full": {"soft": {"f1": value}}, "failures": {"faithful": None}}
    return Result(0, run, task, str(rollout), "collection", ungraded, error, metrics, {}, ())


def summary(tasks: list[CollectionTask], *results: Result) -> Any:
    summed = Summary(tasks)
    for one in results:
        summed.add(one)
    return summed.report({})["runs"]


def f1(part: Any) -> Any:
    return part["metrics"]["full"]["soft"]["f1"]


TASKS = [task("a"), task("b"), task("c")]


def test_means_are_over_rollouts_first_and_then_over_tasks() -> None:
    rows = [result("a", 1.0, n) for n in range(9)] + [result("b", 0.0), result("b", 0.5, 1)]
    report = summary(TASKS, *rows)["r"]["collection"]
    assert f1(report) == 0.625
    assert report["submissions"] == report["completed"] == 11
    assert report["tasks"] == 2
    assert report["loaded_tasks_without_a_submission"] == 1
    assert "provisional" not in report


def test_a_failed_attempt_counts_0() -> None:
    report = summary(TASKS, result("a", 1.0), result("a", 0.0, 1, error="x"))["r"]["collection"]
    assert f1(report) == 0.5
    assert (report["submissions"], report["completed"], report["errors"]) == (2, 1, 1)


def test_an_incomplete_submission_is_counted_and_left_out() -> None:
    rows = [result("a", 1.0), result("a", 0.0, 1, ungraded=3), result("b", 0.0, ungraded=1)]
    report = summary(TASKS, *rows)["r"]["collection"]
    assert f1(report) == 1.0
    assert (report["incomplete"], report["ungraded"], report["tasks"]) == (2, 4, 2)
    assert report["provisional"] is True


def test_without_a_whole_submission_there_are_no_figures() -> None:
    report = summary(TASKS, result("a", 1.0, ungraded=1))["r"]["collection"]
    assert report["metrics"] == {}
    assert report["provisional"] is True


def test_figures_without_a_value_are_left_out_of_means() -> None:
    report = summary(TASKS, result("a", None), result("a", 0.5, 1), result("b", None))["r"]
    assert f1(report["collection"]) == 0.5
    assert "failures" not in report["collection"]["metrics"]


def test_runs_do_not_mix() -> None:
    runs = summary(TASKS, result("a", 1.0, run="x"), result("a", 0.0, run="y"))
    assert {run: f1(kinds["collection"]) for run, kinds in runs.items()} == {"x": 1.0, "y": 0.0}


def test_there_are_figures_for_each_value_of_each_label() -> None:
    tasks = [
        task("a", tier="hard", verticals=["law", "tax", "law"], year=2025),
        task("b", tier="easy", verticals=["law"]),
        task("c", tier="hard"),
    ]
    rows = [result("a", 1.0), result("b", 0.0), result("c", 0.5), result("c", 0.0, 1, ungraded=1)]
    by = summary(tasks, *rows)["r"]["collection"]["by"]
    figures = {
        label: {value: (f1(part), part["tasks"]) for value, part in values.items()}
        for label, values in by.items()
    }
    assert figures == {
        "tier": {"easy": (0.0, 1), "hard": (0.75, 2)},
        "verticals": {"law": (0.5, 2), "tax": (1.0, 1)},
        "year": {"2025": (1.0, 1)},
    }
    assert by["tier"]["hard"]["provisional"] is True
    assert by["tier"]["hard"]["submissions"] == 3
    assert "provisional" not in by["tier"]["easy"]


def test_the_order_of_results_does_not_change_the_summary() -> None:
    rng = random.Random(1)
    tasks = [task(f"t{n}", part=str(n % 3)) for n in range(20)]
    rows = [result(f"t{n % 20}", rng.choice([None, rng.random()]), n // 20) for n in range(400)]
    first = summary(tasks, *rows)
    for _ in range(5):
        rng.shuffle(rows)
        assert repr(summary(tasks, *rows)) == repr(first)


def test_rejects_are_counted_by_run() -> None:
    summed = Summary(TASKS)
    for run in ("y", "x", "y", ""):
        summed.reject(Reject("f:1", "why", run))
    assert summed.report({})["rejects"] == {"count": 4, "by_run": {"": 1, "x": 1, "y": 2}}


def test_the_work_is_part_of_the_report() -> None:
    assert Summary(TASKS).report({"fetch": {"done": 1}}) == {
        "runs": {},
        "work": {"fetch": {"done": 1}},
        "rejects": {"count": 0, "by_run": {}},
    }


@pytest.mark.parametrize("value", [True, 1, 0.25])
def test_any_number_is_a_figure(value: Any) -> None:
    assert f1(summary(TASKS, result("a", value))["r"]["collection"]) == float(value)
