"""What a command says at the end of a call: rejects, ungraded records, costs, how to go on."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from grader.call import Ending
from grader.commands.running import COMPLETE, INTERRUPTED, UNGRADED, UNUSABLE
from grader.results.terminal import models_lines, scores_tables

REMARKS = {
    "invalid": "malformed",
    "low confidence": "judged with too little confidence to count in a figure",
    "refused": "on addresses that are refused (--allow-host opens a host)",
    "dead": "on dead pages",
    "blocked": "on blocked pages",
    "login": "on pages behind a login",
    "paywall": "on pages behind a paywall",
    "unrendered": "on pages that need JavaScript",
}
"""What is said of records that failed before they were read, or count in no figure."""

console = Console(stderr=True)


def print_scores(ending: Ending) -> None:
    """Print the table of scores."""
    for table in scores_tables(ending.summary):
        Console().print(table)


def tell_dry_run(ending: Ending) -> None:
    """Say what a call would meet, and what it would ask of models."""
    say = partial(Console().print, soft_wrap=True, markup=False)
    say(f"a dry run: {ending.submissions} submissions read, no model asked, nothing written")
    _tell_input(ending, "rejected lines or records", say)
    _tell_ungraded(ending, "records have no verdict yet", say)
    for line in models_lines(ending.summary["work"]):
        say(f"the call would take about: {line}")


def tell_ending(ending: Ending, out: Path) -> None:
    """Say what a reader of the table should know, and how to go on."""
    say = partial(console.print, soft_wrap=True, markup=False)
    _tell_input(ending, f"rejected lines or records: see {out / 'rejects.jsonl'}", say)
    _tell_ungraded(ending, "records are ungraded; `grade`, called again, goes on with them", say)
    if not (ending.submissions or ending.rejects or ending.interrupted):
        say("there was no submission to grade")
    if ending.remarkable:
        found = ending.remarkable.most_common()
        say("of the records: " + ", ".join(f"{n} {REMARKS.get(what, what)}" for what, n in found))
    if number := len(ending.gave_up):
        addresses, count = ("address", "counts") if number == 1 else ("addresses", "count")
        say(f"{number} {addresses} never answered in several calls: {count} as dead")
    for line in models_lines(ending.summary["work"]):
        say(line)
    if ending.interrupted:
        console.print("interrupted; what was done is kept, the same command goes on from here")


def _tell_input(ending: Ending, rejected: str, say: Callable[[str], None]) -> None:
    if ending.rejects:
        say(f"{ending.rejects} {rejected}")
        for reject in ending.first_rejects:
            say(f"  {reject.where}: {reject.reason}")
    for problem in ending.problems:
        say(problem)


def _tell_ungraded(ending: Ending, ungraded: str, say: Callable[[str], None]) -> None:
    if ending.ungraded:
        say(f"{ending.ungraded.total()} {ungraded}:")
        for reason, number in ending.ungraded.most_common(5):
            say(f"  {number} x {reason}")


def exit_status(ending: Ending, ungraded: int = UNGRADED) -> int:
    """The exit status of a call; `ungraded` is the status if records are ungraded."""
    if ending.interrupted:
        return INTERRUPTED
    if not ending.submissions:
        return UNUSABLE
    return ungraded if ending.ungraded else COMPLETE
