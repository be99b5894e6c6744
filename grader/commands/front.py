"""The command line: `assay COMMAND`. A command's module is imported when the command is used, so
that `assay --help` is quick."""

import traceback
from collections.abc import Mapping
from importlib import import_module
from io import StringIO
from typing import Any

import click

from grader.commands.errors import UNUSABLE
from grader.commands.streams import discard_stdout, prepare_streams, show, tell

DISTRIBUTION = "assay-grader"

GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Grade": {
        "grade": ("grader.commands.grade:grade", "Grade run files."),
        "score": ("grader.commands.grade:score", "Recompute the scores from graded records."),
    },
    "Look": {
        "fetch": ("grader.commands.fetch:fetch", "Show how Assay reads pages."),
    },
    "Write tasks": {
        "check": ("grader.commands.tasks:check", "Validate tasks and run their fixtures."),
        "import": ("grader.commands.tasks:import_tasks", "Convert a benchmark to tasks."),
    },
    "Cache": {
        "cache": ("grader.commands.cache:cache", "Inspect the cache, or move it."),
    },
}
"""The commands as `assay --help` lists them: by group, each with its module and function, and one
line of help."""

_PLACES = {name: place for group in GROUPS.values() for name, (place, _) in group.items()}


class Front(click.Group):
    """The commands of `GROUPS`. `grader.toml` sets the defaults of their flags."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(_PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command. None if there is no such command."""
        if cmd_name not in _PLACES:
            return None
        module, _, function = _PLACES[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, group by group."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Read `grader.toml`, then run the command."""
        from grader.commands.configuration import read_configuration

        configuration = read_configuration(self)
        ctx.default_map, ctx.obj = dict(configuration.defaults), configuration.prices
        return super().invoke(ctx)


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import PackageNotFoundError, version

        try:
            show(f"assay {version(DISTRIBUTION)}")
        except PackageNotFoundError:
            show("assay, not installed: run from its sources")
        ctx.exit()


@click.group(
    cls=Front,
    epilog='Shell completion, for bash: eval "$(_ASSAY_COMPLETE=bash_source assay)" '
    "(or zsh_source, fish_source).",
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version,
    help="Show the version and exit.",
)  # fmt: skip
def main() -> None:
    """Grade the output of web-research agents."""


def run_command_line() -> int:
    """Run the command that `sys.argv` names, and return the exit status.

    Every error becomes a message on standard error.
    """
    prepare_streams()
    try:
        return main.main(standalone_mode=False) or 0
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        tell(*shown.getvalue().splitlines())
        return error.exit_code
    except OSError as error:
        discard_stdout()
        place = f"{error.filename}: " if error.filename else ""
        tell(f"Error: {place}{error.strerror or error}")
        return UNUSABLE
    except Exception as error:
        tell(f"Error: unexpected {type(error).__name__} at {_place_of(error)}: {error}")
        return UNUSABLE


def _place_of(error: Exception) -> str:
    """FILE:LINE at which an exception was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}"
