"""The commands for authors of tasks: `check` and `import`."""

from pathlib import Path
from typing import Any

import click

from grader.commands.errors import COMPLETE, UNGRADED, CommandError
from grader.commands.inputs import load_packages, require_rules
from grader.commands.options import EXISTING, grading_options, settings_from
from grader.commands.running import run
from grader.commands.streams import show, tell
from grader.fixtures import run_fixtures
from grader.lines import OutputError
from grader.settings import RULES
from grader.tasks.importers import IMPORTERS, import_benchmark
from grader.tasks.packages import TaskError


@click.command()
@click.argument("tasks", nargs=-1, required=True, type=EXISTING)
@grading_options
def check(tasks: tuple[Path, ...], **options: Any) -> None:
    """Validate task packages, and run their fixtures through the judge."""
    settings = settings_from(options)
    packages = load_packages(tasks)
    if settings.judge == RULES:
        require_rules([package.task for package in packages])
    report = run(run_fixtures(packages, settings))
    show(*map(str, report.disagreements))
    tell(*report.problems)
    show(f"{len(packages)} tasks, {report.fixtures} fixtures, {len(report.disagreements)} disagree")
    raise SystemExit(UNGRADED if report.disagreements else COMPLETE)


@click.command("import")
@click.argument("benchmark", type=click.Choice(list(IMPORTERS)))
@click.argument("source", type=EXISTING)
@click.option(
    "--out", type=click.Path(path_type=Path), default="tasks.jsonl", show_default=True,
    help="The file of tasks that is written.",
)  # fmt: skip
def import_tasks(benchmark: str, source: Path, out: Path) -> None:
    """Convert the file of a benchmark to a file of tasks."""
    try:
        count = import_benchmark(benchmark, source, out)
    except TaskError as error:
        raise CommandError(*error.lines) from None
    except OutputError as error:
        raise CommandError(str(error)) from None
    show(f"{count} tasks in {out}")
