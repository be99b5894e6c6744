"""The command line: `assay COMMAND`. A command's module is imported when the command is used, so
that `assay --help` is quick."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

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
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            raise SystemExit(130) from None


@click.group(
    cls=Front,
    epilog='Shell completion, for bash: eval "$(_ASSAY_COMPLETE=bash_source assay)" '
    "(or zsh_source, fish_source).",
)
@click.version_option(package_name="assay-grader", prog_name="assay")
def main() -> None:
    """Grade the output of web-research agents."""
