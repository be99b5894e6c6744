"""Reads the tasks that a command names, and checks that the judge can grade them."""

from collections.abc import Sequence
from pathlib import Path

from grader.commands.running import CommandError
from grader.settings import RULES
from grader.tasks.packages import AnyTask, Package, TaskError, load, needing_model


def load_packages(paths: Sequence[Path]) -> list[Package]:
    """Read every task under `paths`. Raises CommandError, which names every fault."""
    try:
        return load(paths)
    except TaskError as error:
        raise CommandError(str(error)) from None


def require_rules(tasks: Sequence[AnyTask]) -> None:
    """Raise CommandError for a task that the judge `rules` cannot grade."""
    for task in tasks:
        if needs := needing_model(task):
            raise CommandError(
                f"task {task.name!r}: no rule decides {', '.join(needs)}; --judge {RULES} needs "
                "one, or name a model"
            )
