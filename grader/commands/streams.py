"""Everything that commands print goes through here: it is safe for terminals, and a stream that
cannot be written stops no work.

`show` prints results on standard output, `tell` prints messages on standard error.
"""

import os
import sys
from io import TextIOWrapper
from typing import TextIO

import click

from grader.commands.errors import CommandError
from grader.printing import harmless


def prepare_streams() -> None:
    """Let both streams write every text, whatever their encoding is."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show(*lines: str) -> None:
    """Print lines of a result on standard output. See `show_raw` for the errors."""
    show_raw("".join(f"{harmless(line)}\n" for line in lines))


def show_raw(text: str) -> None:
    """Print text that is safe for terminals already, such as a table with its colours.

    If the reader has closed the pipe, this and later text is discarded. Raises CommandError if
    standard output cannot be written for another reason, such as a full disk.
    """
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        discard_stdout()
    except OSError as error:
        discard_stdout()
        raise CommandError(f"cannot write to standard output: {error.strerror}") from None


def tell(*lines: str) -> None:
    """Print lines of a message on standard error; discard them if it cannot be written."""
    try:
        click.echo("".join(f"{harmless(line)}\n" for line in lines), nl=False, err=True)
    except OSError:
        _discard(sys.stderr)


def discard_stdout() -> None:
    """Write standard output to the null device from now on. Text that is still buffered goes there
    too, so that Python can close the stream without an error."""
    _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
