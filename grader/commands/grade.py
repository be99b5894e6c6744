"""The commands that score runs: `grade` and `score`."""

from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from cache.errors import CacheError
from grader.call import grade_runs
from grader.commands.errors import COMPLETE, CommandError
from grader.commands.inputs import input_files, load_packages, require_rules
from grader.commands.messages import exit_status, show_dry_run, show_scores, tell_report
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
from grader.commands.running import run
from grader.lines import STANDARD_INPUT, OutputError
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
    """Grade RUNS: files (.jsonl, .jsonl.gz), pipes, or - for standard input."""
    settings = settings_from(options)
    if missing := [name for name in runs if name != STANDARD_INPUT and not _is_readable(name)]:
        raise CommandError(f"no such run file: {missing[0]}")
    packages = load_packages(tasks)
    loaded = [package.task for package in packages]
    if settings.judge == RULES:
        require_rules(loaded)
    inputs = input_files(tasks, packages)
    watch = partial(progress, Console(stderr=True))
    report = run(grade_runs(runs, loaded, out, settings, limit, watch, inputs))
    if settings.dry:
        show_dry_run(report)
        raise SystemExit(exit_status(report, COMPLETE))
    show_scores(report)
    tell_report(report, out)
    raise SystemExit(exit_status(report))


def _is_readable(name: str) -> bool:
    """Whether a run is a file, a pipe or a device. It is not opened: a pipe is read only once."""
    return Path(name).exists() and not Path(name).is_dir()


@click.command()
@click.argument("records", type=EXISTING)
@tasks_option
@out_option
def score(records: Path, tasks: tuple[Path, ...], out: Path) -> None:
    """Recompute the scores from RECORDS, a records.jsonl, without pages or a judge."""
    packages = load_packages(tasks)
    loaded = [package.task for package in packages]
    try:
        report = rescore(records, loaded, out, input_files(tasks, packages))
    except (CacheError, OutputError) as error:
        raise CommandError(str(error)) from None
    show_scores(report)
    tell_report(report, out)
    raise SystemExit(exit_status(report))
