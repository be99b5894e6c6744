"""The table of scores at the end of a call, and the lines about models."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from grader.printing import harmless

MOST_RUNS = 200
"""Runs in a table: nobody reads more, and tens of thousands take minutes to set."""
LONGEST_NAME = 200
"""Characters of a name that are shown."""


def scores_tables(summary: Mapping[str, Any]) -> Iterator[Table]:
    """A table for every kind of task that a summary has: a run's figures in a row or more."""
    for kind, (columns, rows_of) in _KINDS.items():
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        longest = max(map(len, summary["runs"]), default=0)
        table.add_column("run", overflow="fold", min_width=min(longest, 8))
        table.add_column(columns[0], no_wrap=True)
        for name in (*columns[1:], "tasks", "completed", "ungraded", "rejects"):
            table.add_column(name, justify="right", no_wrap=True)
        reports = {run: kinds[kind] for run, kinds in summary["runs"].items() if kind in kinds}
        for run in islice(reports, MOST_RUNS):
            report = reports[run]
            rejects = summary["rejects"]["by_run"].get(run, 0)
            counts = (
                str(report["tasks"]),
                f"{report['completed']}/{report['submissions']}",
                str(report["ungraded"]),
                str(rejects),
            )
            for number, (name, *figures) in enumerate(rows_of(report["metrics"])):
                ends = counts if number == 0 else ()
                shown = harmless(run[:LONGEST_NAME]) if number == 0 else ""
                names = Text(shown), Text(name)  # no markup of rich's
                table.add_row(*names, *map(_figure, figures), *ends)
            table.add_section()
        if len(reports) > MOST_RUNS:
            table.add_row(f"{len(reports) - MOST_RUNS:,} more", "see summary.json")
        if table.row_count:
            yield table


def models_lines(work: Mapping[str, Any]) -> Iterator[str]:
    """What each model took in each role, and what was spared: a line each, from a summary's
    `work`."""
    for role, stage in work.items():
        for model, usage in stage.get("models", {}).items():
            yield f"{role} by {model}: {_usage(usage)}"
    if work.get("saved", {}).get("calls"):
        yield f"spared by the cache and shared work: {_usage(work['saved'])}"


def _usage(usage: Mapping[str, Any]) -> str:
    share = usage["cached_in"] / max(usage["tokens_in"], 1)
    dollars = usage["cost_usd"]
    return (
        f"{usage['calls']:,} calls, {usage['tokens_in']:,} tokens in"
        f"{f' ({share:.0%} from the provider’s cache)' if share else ''}, "
        f"{usage['tokens_out']:,} out, "
        f"{'no price known' if dollars is None else f'{dollars:,.4f} USD'}"
    )


Row = tuple[Any, ...]


def _collection_rows(metrics: Mapping[str, Any]) -> Iterator[Row]:
    for verdict in ("full", "retrieval"):
        for continuity in ("soft", "hard"):
            yield f"{verdict} {continuity}", *_measures(metrics.get(verdict, {}).get(continuity))


def _table_rows(metrics: Mapping[str, Any]) -> Iterator[Row]:
    for name in ("item", "row", "cell"):
        yield name, *_measures(metrics.get(name))
    for name in ("micro", "macro"):
        yield f"column {name}", *_measures(metrics.get("column", {}).get(name))
    for name in ("success", "parsed"):
        yield name, None, None, metrics.get(name)
    if judged := metrics.get("judged"):
        yield "row, judged", *_measures(judged["row"])


def _answer_rows(metrics: Mapping[str, Any]) -> Iterator[Row]:
    for split, figures in metrics.items():
        error = (figures.get("calibration") or {}).get("error")
        yield split, figures["accuracy"], figures["accuracy_decided"], error


def _measures(measures: Mapping[str, float] | None) -> Iterator[float | None]:
    for name in ("precision", "recall", "f1"):
        yield (measures or {}).get(name)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


_KINDS: Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], Iterator[Row]]]] = {
    "collection": (("verdict", "P", "R", "F1"), _collection_rows),
    "table": (("tables", "P", "R", "F1"), _table_rows),
    "answer": (("answers", "accuracy", "decided", "ECE"), _answer_rows),
}
