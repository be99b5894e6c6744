"""The table of scores at the end of a call, and the lines about models."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import chop_cells
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.printing import harmless

MOST_RUNS = 200
"""Runs in a table. Nobody reads more, and the layout of tens of thousands takes minutes."""
WIDEST = 10_000
"""Characters that a table may take: its figures are not cut, however narrow the terminal is."""
LEAST_ROWS = 3
"""Rows that a long name may take, also if the run has fewer rows of figures."""
NARROWEST = 8
"""Characters of a name in one row, at least."""
FIGURES = ("P", "R", "F1", "accuracy", "decided", "ECE")
COUNTS = ("tasks", "completed", "ungraded", "rejects")

Row = tuple[Any, ...]


def scores_tables(summary: Mapping[str, Any], width: int) -> Iterator[Table]:
    """A table for each kind of task in a summary, for a terminal of `width` characters.

    A run has one row or more. A name that is too long for one row goes on in the next ones, and is
    cut in the middle if it is too long for all; summary.json has it whole.
    """
    rejects = summary["rejects"]["by_run"]
    for kind, (columns, rows_of) in _KINDS.items():
        reports = {run: kinds[kind] for run, kinds in summary["runs"].items() if kind in kinds}
        if not reports:
            continue
        runs = {
            run: _with_counts(rows_of(report["metrics"]), report, rejects.get(run, 0))
            for run, report in islice(reports.items(), MOST_RUNS)
        }
        figures = _table(columns)
        for row in chain.from_iterable(runs.values()):
            figures.add_row(*row)
        room = max(NARROWEST, width - 2 - Console(width=WIDEST).measure(figures).maximum)
        table = _table(("run", *columns))
        for run, rows in runs.items():
            for piece, row in zip_longest(_pieces(run, room, len(rows)), rows):
                table.add_row(Text(piece or ""), *(row or ()))
            table.add_section()
        if more := len(reports) - len(runs):
            table.add_row(f"{more:,} more", "see summary.json")
        yield table


def _table(columns: Sequence[str]) -> Table:
    """An empty table with these columns and those of the counts; figures are on the right."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, justify="right" if name in FIGURES else "left", no_wrap=True)
    for name in COUNTS:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _pieces(name: str, room: int, rows: int) -> list[str]:
    """A name in pieces of `room` characters, for about `rows` rows and `LEAST_ROWS` at least."""
    most = max(rows, LEAST_ROWS) * room
    if len(name) > most:
        name = f"{name[: most // 2]}…{name[1 - most // 2 :]}"
    return chop_cells(harmless(name), room)


def _with_counts(
    rows: Iterable[Row], report: Mapping[str, Any], rejects: int
) -> list[tuple[Text, ...]]:
    """The rows of a run as they are shown, with its counts at the end of the first one."""
    completed = f"{report['completed']}/{report['submissions']}"
    counts = (str(report["tasks"]), completed, str(report["ungraded"]), str(rejects))
    shown = [(name, *map(_figure, figures)) for name, *figures in rows]
    first = [(*shown[0], *counts)] if shown else []
    return [tuple(map(Text, row)) for row in (*first, *shown[1:])]  # Text: no markup of rich's


def models_lines(work: Mapping[str, Any]) -> Iterator[str]:
    """A line for what each model used in each role, and one for what the cache saved. `work` is
    the field `work` of a summary."""
    for role, stage in work.items():
        for model, usage in stage.get("models", {}).items():
            yield f"{role} by {model}: {_usage(usage)}"
    if work.get("saved", {}).get("calls"):
        yield f"saved by the cache and by shared requests: {_usage(work['saved'])}"


def _usage(usage: Mapping[str, Any]) -> str:
    share = usage["cached_in"] / max(usage["tokens_in"], 1)
    dollars = usage["cost_usd"]
    return (
        f"{usage['calls']:,} calls, {usage['tokens_in']:,} tokens in"
        f"{f' ({share:.0%} from the provider’s cache)' if share else ''}, "
        f"{usage['tokens_out']:,} out, "
        f"{'no price known' if dollars is None else f'{dollars:,.4f} USD'}"
    )


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
