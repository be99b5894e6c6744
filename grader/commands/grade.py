"""The commands that score runs: `grade` and `score`."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import click

from grader.call import grade_runs
from grader.commands.inputs import load_packages, require_rules
from grader.commands.messages import console, exit_status, print_scores, tell_dry_run, tell_ending
from grader.commands.options import (
    EXISTING,
    POSITIVE,
    dollars,
    grading_options,
    out_option,
    settings_from,
    tasks_option,
)
from grader.commands.progress import progress
from grader.commands.running import COMPLETE, CommandError, run
from grader.rescore import rescore
from grader.settings import RULES


@click.command()
@click.argument("runs", nargs=-1, required=True)
@tasks_option
@out_option
@click.option("--limit", type=POSITIVE, help="Grade only the first N records.")
@click.option("--budget", type=dollars, metavar="USD", help="Stop before model calls cost more.")
@click.option("--dry-run", "dry", is_flag=True, help="Call no model; estimate the cost.")
@grading_options
def grade(
    runs: tuple[str, ...], tasks: tuple[Path, ...], out: Path, limit: int | None, **options: Any
) -> None:
    """Grade run files (.jsonl, .jsonl.gz, or - for standard input)."""
    settings = settings_from(options)
    if missing := [name for name in runs if name != "-" and not Path(name).is_file()]:
        raise CommandError(f"no such run file: {missing[0]}")
    loaded = [package.task for package in load_packages(tasks)]
    if settings.judge == RULES:
        require_rules(loaded)
    ending = run(grade_runs(runs, loaded, out, settings, limit, partial(progress, console)))
    if settings.dry:
        tell_dry_run(ending)
        raise SystemExit(exit_status(ending, COMPLETE))
    print_scores(ending)
    tell_ending(ending, out)
    raise SystemExit(exit_status(ending))


@click.command()
@click.argument("records", type=EXISTING)
@tasks_option
@out_option
def score(records: Path, tasks: tuple[Path, ...], out: Path) -> None:
    """Recompute the scores from RECORDS, a records.jsonl, without pages or a judge."""
    loaded = [package.task for package in load_packages(tasks)]
    ending = run(asyncio.to_thread(rescore, records, loaded, out))
    print_scores(ending)
    tell_ending(ending, out)
    raise SystemExit(exit_status(ending))
