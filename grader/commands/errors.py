"""Exit statuses, and the error that ends a command."""

import click

from grader.printing import harmless

COMPLETE, UNGRADED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


class CommandError(click.ClickException):
    """Why a command cannot start or go on: bad usage, no readable input, no place for results."""

    exit_code = UNUSABLE

    def __init__(self, *lines: str) -> None:
        """`lines` may hold names and values from outside; line breaks in them are escaped."""
        super().__init__("\n".join(map(harmless, lines)))
