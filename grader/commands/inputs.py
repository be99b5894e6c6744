"""Reads the tasks that a command names, and checks that it can grade them."""

from collections.abc import Sequence
from pathlib import Path

from grader.commands.configuration import FILE as CONFIGURATION
from grader.commands.errors import CommandError
from grader.commands.streams import tell
from grader.settings import RULES
from grader.tasks.packages import (
    FILES,
    AnyTask,
    Fault,
    Package,
    TaskError,
    first_lines,
    load,
    needing_model,
)

MOST_WARNINGS = 20
"""Warnings that are printed; a line counts the others."""


def load_packages(paths: Sequence[Path]) -> list[Package]:
    """Read every task under `paths`, and warn of unknown fields on standard error.

    Raises CommandError, which names every fault.
    """
    try:
        packages = load(paths)
    except TaskError as error:
        _warn(error.warnings)
        raise CommandError(*error.lines) from None
    _warn([warning for package in packages for warning in package.warnings])
    return packages


def _warn(warnings: Sequence[Fault]) -> None:
    tell(*(f"Warning: {line}" for line in first_lines(warnings, MOST_WARNINGS)))


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
