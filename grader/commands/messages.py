"""The messages at the end of a call: rejects, ungraded records, costs, and how to continue."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from rich.console import Console

from grader.call import CallReport
from grader.commands.errors import COMPLETE, INTERRUPTED, UNGRADED, UNUSABLE
from grader.commands.streams import show, show_raw, tell
from grader.results.terminal import WIDEST, models_lines, scores_tables

MOST_REASONS = 5
"""Reasons for ungraded records that a message lists."""
NOTES = {
    "invalid": "malformed",
    "low confidence": "judged with too little confidence to count in a figure",
    "refused": "on refused addresses (--allow-host allows a host)",
    "dead": "on dead pages",
    "blocked": "on blocked pages",
    "login": "on pages behind a login",
    "paywall": "on pages behind a paywall",
    "unrendered": "on pages that need JavaScript",
}
"""How a message names the records that failed before the judge, or count in no figure."""


def show_scores(report: CallReport) -> None:
    """Print the tables of scores."""
    terminal, text = Console(), StringIO()
    console = Console(
        file=text,
        width=WIDEST,
        force_terminal=terminal.is_terminal,
        color_system="auto" if terminal.color_system else None,
    )
    for table in scores_tables(report.summary, terminal.width):
        console.print(table, "")
    show_raw(text.getvalue())


def show_dry_run(report: CallReport) -> None:
    """Print the input that a call would grade, and the model calls that it would make."""
    show(f"Dry run: {report.submissions:,} submissions read, no model called, nothing written.")
    show(*_input_lines(report, ""))
    show(*_ungraded_lines(report, "have no verdict yet"))
    show(*(f"The call would cost about: {line}" for line in models_lines(report.summary["work"])))


def tell_report(report: CallReport, out: Path) -> None:
    """Print the messages of a call that wrote its results to `out`."""
    tell(*_input_lines(report, f" (all are in {out / 'rejects.jsonl'})"))
    again = "are ungraded. Run the same command again to grade them"
    tell(*_ungraded_lines(report, again))
    if not (report.submissions or report.rejects or report.interrupted):
        tell("There was no submission to grade.")
    if report.notable:
        counts = report.notable.most_common()
        tell("Of the records: " + ", ".join(f"{n:,} {NOTES.get(note, note)}" for note, n in counts))
    if number := len(report.gave_up):
        addresses, count = ("address", "counts") if number == 1 else ("addresses", "count")
        tell(f"{number:,} {addresses} never answered in several calls: {count} as dead")
    tell(*models_lines(report.summary["work"]))
    if report.interrupted:
        tell(f"interrupted: the results so far are in {out}. Run the same command again to grade")
        tell("the rest; pages and verdicts that are in the cache cost nothing.")


def _input_lines(report: CallReport, place: str) -> Iterator[str]:
    if report.rejects:
        yield f"{report.rejects:,} rejected lines or records{place}:"
        for reject in report.first_rejects:
            yield f"  {reject.where}: {reject.reason}"
        if more := report.rejects - len(report.first_rejects):
            yield f"  and {more:,} more"
    yield from report.problems


def _ungraded_lines(report: CallReport, state: str) -> Iterator[str]:
    if report.ungraded:
        yield f"{report.ungraded.total():,} records {state}:"
        for reason, number in report.ungraded.most_common(MOST_REASONS):
            yield f"  {number:,} x {reason}"
        if (more := len(report.ungraded) - MOST_REASONS) > 0:
            yield f"  and {more:,} other reasons"


def exit_status(report: CallReport, ungraded: int = UNGRADED) -> int:
    """The exit status of a call; `ungraded` is the status if records are ungraded."""
    if report.interrupted:
        return INTERRUPTED
    if not report.submissions:
        return UNUSABLE
    return ungraded if report.ungraded else COMPLETE
