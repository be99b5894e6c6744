"""Reads the tasks that a command names, and checks that it can grade them."""

from collections.abc import Sequence
from pathlib import Path

from grader.commands.configuration import FILE as CONFIGURATION
from grader.commands.errors import CommandError
from grader.settings import RULES
from grader.tasks.packages import FILES, AnyTask, Package, TaskError, load, needing_model


def load_packages(paths: Sequence[Path]) -> list[Package]:
    """Read every task under `paths`. Raises CommandError, which names every fault."""
    try:
        return load(paths)
    except TaskError as error:
        raise CommandError(*error.lines) from None


def input_files(tasks: Sequence[Path], packages: Sequence[Package]) -> list[Path]:
    """The files that tasks and the configuration were read from, which no result may replace."""
    folders = [package.folder for package in packages if package.folder]
    return [CONFIGURATION, *tasks, *(folder / name for folder in folders for name in FILES)]


def require_rules(tasks: Sequence[AnyTask]) -> None:
    """Raise CommandError for a task that the judge `rules` cannot grade."""
    for task in tasks:
        if needs := needing_model(task):
            raise CommandError(
                f"task {task.name!r}: no rule decides {', '.join(needs)}; --judge {RULES} needs "
                "one, or name a model"
            )
