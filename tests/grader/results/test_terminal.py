"""What a person sees at the end of a call."""

from collections.abc import Iterable
from io import StringIO

import pytest
from rich.console import Console

from grader.results.terminal import (
    COUNTS,
    LEAST_ROWS,
    MOST_RUNS,
    WIDEST,
    models_lines,
    scores_tables,
)


def shown(runs: Iterable[str], width: int = 120) -> str:
    """The tables of some runs of one answer each, as they are printed."""
    report = {
        "tasks": 1, "submissions": 1, "completed": 1, "ungraded": 0,
        "metrics": {"all": {"accuracy": 1.0, "accuracy_decided": 1.0}},
    }  # fmt: skip
    summary = {"runs": {run: {"answer": report} for run in runs}, "rejects": {"by_run": {}}}
    text = StringIO()
    for table in scores_tables(summary, width):
        Console(file=text, width=WIDEST, force_terminal=True, color_system=None).print(table)
    return text.getvalue()


def test_names_of_runs_cannot_command_the_terminal() -> None:
    told = shown(["\x1b[2J\x9b31mred", "a\nb", "\0\u202eabc", "[/red]:bug:"])
    assert set(map(ord, told)).isdisjoint({0, 0x1B, 0x9B, 0x202E})
    for name in (r"\u001b[2J\u009b31mred", r"a\nb", r"\u0000\u202eabc", "[/red]:bug:"):
        assert name in told


def test_long_names_and_many_runs_are_cut() -> None:
    told = shown(["x" * 5_000, *(f"run{n}" for n in range(50_000))])
    assert told.count("x") < 1_000
    assert f"run{MOST_RUNS - 2} " in told
    assert f"run{MOST_RUNS - 1} " not in told
    assert "49,801 more" in told


def test_a_long_name_takes_a_few_rows_and_shows_its_beginning_and_its_end() -> None:
    name = "checkpoint-" + "0123456789" * 30 + "-seed-42"
    told = shown([name], width=80).splitlines()
    assert max(map(len, told)) <= 80
    column = [line[:12].split(" ")[0] for line in told[2:]]
    assert len(column) <= LEAST_ROWS + 1
    assert "".join(column).startswith("checkpoint")
    assert "".join(column).endswith("-42")
    assert "…" in "".join(column)


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("x" * 24, ["x" * 8] * 3),
        ("a" * 12 + "b" * 13, ["a" * 8, "aaaa…bbb", "b" * 8]),
        ("eightchr", ["eightchr"]),
    ],
)
def test_a_name_is_cut_in_the_middle_if_it_is_too_long_for_its_rows(
    name: str, pieces: list[str]
) -> None:
    told = shown([name], width=20).splitlines()[2:]  # the narrowest column: 8 characters
    assert [line[:8].strip() for line in told if line.strip()] == pieces


def test_a_name_that_fits_is_not_cut() -> None:
    assert "x" * 40 in shown(["x" * 40], width=120)


def test_figures_are_not_cut_on_a_narrow_terminal() -> None:
    told = shown(["a"], width=20)
    assert "accuracy" in told
    assert "1.00" in told
    assert "…" not in told


def test_a_collection_shows_its_counts_once() -> None:
    measures = {"precision": 0.5, "recall": 0.25, "f1": 1 / 3}
    report = {
        "tasks": 7, "submissions": 9, "completed": 8, "ungraded": 6,
        "metrics": {name: {"soft": measures, "hard": measures} for name in ("full", "retrieval")},
    }  # fmt: skip
    summary = {"runs": {"r": {"collection": report}}, "rejects": {"by_run": {"r": 5}}}
    text = StringIO()
    (table,) = scores_tables(summary, 80)
    Console(file=text, width=WIDEST).print(table)
    rows = [line.split() for line in text.getvalue().splitlines() if line.strip()]
    assert rows[0] == [
        *("run", "verdict", "P", "R", "F1"), *COUNTS,
    ]  # fmt: skip
    assert rows[2] == ["r", "full", "soft", "0.50", "0.25", "0.33", "7", "8/9", "6", "5"]
    assert rows[3:] == [
        f"{name} 0.50 0.25 0.33".split()
        for name in ("full hard", "retrieval soft", "retrieval hard")
    ]


def test_lines_about_models_have_tokens_and_costs() -> None:
    usage = {"calls": 1_200, "tokens_in": 4_000, "cached_in": 1_000, "tokens_out": 30}
    work = {
        "judge": {"models": {"m": {**usage, "cost_usd": 0.5}}},
        "saved": {**usage, "cached_in": 0, "cost_usd": None},
    }
    assert list(models_lines(work)) == [
        "judge by m: 1,200 calls, 4,000 tokens in (25% from the provider’s cache), 30 out, "
        "0.5000 USD",
        "saved by the cache and by shared requests: 1,200 calls, 4,000 tokens in, 30 out, "
        "no price known",
    ]
    dry = {"judge": {"models": {"m": {**usage, "tokens_in": 0, "cached_in": 0, "cost_usd": 0.0}}}}
    assert list(models_lines(dry)) == ["judge by m: 1,200 calls, 0 tokens in, 30 out, 0.0000 USD"]
    one = {"judge": {"models": {"m": {**usage, "tokens_in": 1, "cached_in": 1, "cost_usd": 0.0}}}}
    assert "100% from" in next(models_lines(one))
    assert list(models_lines({"judge": {"done": 1}, "saved": {"calls": 0}})) == []
