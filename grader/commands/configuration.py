"""`grader.toml` in the current folder: defaults for flags, and the prices of models."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from grader.commands.errors import CommandError
from grader.commands.options import dollars
from judges.endpoint.questions import Price

FILE = Path("grader.toml")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The content of `grader.toml`. `defaults` has the values of flags as click's `default_map`
    wants them: by command, then by parameter. `prices` are by model."""

    defaults: Mapping[str, Any]
    prices: Mapping[str, Price]


def read_configuration(group: click.Group) -> Configuration:
    """Read `grader.toml`, if there is one, for the commands of a group.

    Raises CommandError if it cannot be read, or names a flag that no command has.
    """
    values: dict[str, Any] = {}
    if FILE.exists():
        try:
            values = tomllib.loads(FILE.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise CommandError(f"{FILE}: {error}") from None
    prices = _prices(values.pop("prices", {}))
    if not values:
        return Configuration({}, prices)
    flags = {name for command in _leaves(group) for _, name in _flags(command)}
    if unknown := values.keys() - flags:
        raise CommandError(f"{FILE}: there is no flag --{min(unknown)}")
    return Configuration(_defaults(group, values), prices)


def _prices(tables: Any) -> dict[str, Price]:
    try:
        return {
            model: Price(**{part: dollars(price[part]) for part in price})
            for model, price in tables.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise CommandError(f"{FILE}: prices: {error}") from None


def _defaults(command: click.Command, values: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of a command's flags; of a group's, by command."""
    if isinstance(command, click.Group):
        return {name: _defaults(sub, values) for name, sub in _commands(command)}
    return {
        str(option.name): _as_typed(option, values[flag])
        for option, flag in _flags(command)
        if flag in values
    }


def _as_typed(option: click.Option, value: Any) -> str | list[str]:
    """A value as a user types it after the flag. A list is allowed if the flag may be repeated."""
    values = value if option.multiple and isinstance(value, list) else [value]
    if any(isinstance(one, list | dict) for one in values):
        raise CommandError(f"{FILE}: {option.opts[0]} does not take such a value")
    texts = list(map(str, values))
    return texts if option.multiple else texts[0]


def _flags(command: click.Command) -> Iterator[tuple[click.Option, str]]:
    """The options of a command, each with its flag as `grader.toml` spells it."""
    for option in command.params:
        if isinstance(option, click.Option):
            yield from ((option, flag.lstrip("-")) for flag in option.opts)


def _commands(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        if command := group.get_command(context, name):
            yield name, command


def _leaves(command: click.Command) -> Iterator[click.Command]:
    """The commands in a group and its groups."""
    if isinstance(command, click.Group):
        for _, sub in _commands(command):
            yield from _leaves(sub)
    else:
        yield command
