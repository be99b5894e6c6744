"""Exit statuses, and how a command runs its work."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import click

from cache.errors import CacheError
from fetchers.archives.archive import ArchiveError
from grader.lines import OutputError
from grader.tasks.packages import TaskError
from judges.endpoint.questions import ModelUnusable, NeverUsable

COMPLETE, UNGRADED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130

T = TypeVar("T")


class CommandError(click.ClickException):
    """Why a command cannot start or go on: bad usage, or no readable input."""

    exit_code = UNUSABLE


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run the asynchronous work of a command, and return its result.

    Raises CommandError for the errors that a user can correct.
    """
    try:
        return asyncio.run(work)
    except (ArchiveError, CacheError, OutputError, TaskError) as error:
        raise CommandError(str(error)) from None
    except NeverUsable as error:
        raise CommandError(str(error)) from None
    except ModelUnusable as error:
        raise CommandError(f"the model cannot be asked: {error}") from None
