"""What a person sees at the end of a call."""

from collections.abc import Iterable
from io import StringIO

from rich.console import Console

from grader.results.terminal import MOST_RUNS, scores_tables


def shown(runs: Iterable[str]) -> str:
    """The tables of some runs of one answer each, as they are printed."""
    report = {
        "tasks": 1, "submissions": 1, "completed": 1, "ungraded": 0,
        "metrics": {"all": {"accuracy": 1.0, "accuracy_decided": 1.0}},
    }  # fmt: skip
    summary = {"runs": {run: {"answer": report} for run in runs}, "rejects": {"by_run": {}}}
    text = StringIO()
    for table in scores_tables(summary):
        Console(file=text, width=120, force_terminal=True, color_system=None).print(table)
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
