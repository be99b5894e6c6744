"""Runs the asynchronous work of a command, which a signal may interrupt."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from cache.errors import CacheError
from fetchers.archives.archive import ArchiveError
from grader.commands.errors import INTERRUPTED, CommandError
from grader.commands.streams import tell
from grader.interrupts import interrupts
from grader.lines import OutputError
from grader.tasks.packages import TaskError
from judges.endpoint.questions import ModelUnusable, NeverUsable

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run the work of a command, and return its result.

    The first SIGINT or SIGTERM cancels the work, so that it is cleaned up, and ends the command
    with the exit status 130. A further one ends the process at once.
    Raises CommandError for the errors that a user can correct.
    """
    try:
        return asyncio.run(_interruptible(work))
    except asyncio.CancelledError:
        tell("interrupted")
        raise SystemExit(INTERRUPTED) from None
    except TaskError as error:
        raise CommandError(*error.lines) from None
    except (ArchiveError, CacheError, OutputError) as error:
        raise CommandError(str(error)) from None
    except NeverUsable as error:
        raise CommandError(str(error)) from None
    except ModelUnusable as error:
        raise CommandError(f"the model cannot be asked: {error}") from None


async def _interruptible(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.current_task()
    assert task is not None
    with interrupts(task.cancel):
        return await work
