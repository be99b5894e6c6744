"""Flags that several commands share, and the types of their values."""

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click

from grader.commands.errors import CommandError
from grader.settings import Settings

DEFAULTS = Settings()
EXISTING = click.Path(exists=True, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
POSITIVE = click.IntRange(1)

F = TypeVar("F", bound=Callable[..., Any])


class Age(click.ParamType[float]):
    """A time span in seconds, written as a number with its unit: 30m, 12h, 7d."""

    name = "AGE"
    units: ClassVar = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the text of a flag; a number is in seconds already."""
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", str(value))
        if match is None:
            self.fail(f"{value!r} is not an age such as 30m, 12h or 7d", param, ctx)
        return float(match[1]) * self.units[match[2]]


class Calls(click.ParamType[int | None]):
    """A positive number of calls, or `never`, which is None."""

    name = "N|never"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Read the text of a flag."""
        if value == "never":
            return None
        return POSITIVE.convert(value, param, ctx)


def dollars(value: Any) -> float:
    """An amount of US dollars. Raises ValueError."""
    amount = float(value)
    if not 0 <= amount < math.inf:
        raise ValueError(f"{value!r} is not a number of US dollars")
    return amount


tasks_option = click.option(
    "--tasks", multiple=True, type=EXISTING, default=("tasks",), show_default=True,
    help="A folder of task packages, one package, a .jsonl file of tasks, or a pipe.",
)  # fmt: skip
out_option = click.option(
    "--out", type=FOLDER, default="out", show_default=True, help="The folder of the results."
)
cache_option = click.option(
    "--cache", type=FOLDER, default=str(DEFAULTS.cache), show_default=True,
    help="The folder that keeps pages and verdicts.",
)  # fmt: skip


def _count(flag: str, default: int, text: str) -> Callable[[F], F]:
    return click.option(flag, type=POSITIVE, default=default, show_default=True, help=text)


def page_options(command: F) -> F:
    """The flags of commands that fetch pages."""
    options = (
        click.option(
            "--pages", multiple=True, type=EXISTING,
            help="A WARC archive that is searched before the network.",
        ),
        click.option("--offline", is_flag=True, help="Never fetch a page."),
        click.option(
            "--max-age", type=Age(), help="Fetch a page again if it is older (30m, 12h, 7d)."
        ),
        click.option(
            "--give-up-after", type=Calls(), metavar="N|never",
            default=DEFAULTS.give_up_after, show_default=True,
            help="Calls, an hour apart, after which an address that never answers is dead.",
        ),
        click.option(
            "--allow-host", "allow_hosts", multiple=True, metavar="HOST[:PORT]",
            help="Allow a host that the address guard refuses.",
        ),
        _count("--fetch-workers", DEFAULTS.fetch_workers, "Pages that are fetched at once."),
        _count(
            "--browser-workers", DEFAULTS.browser_workers, "Pages open in a browser at once."
        ),
    )  # fmt: skip
    for option in (cache_option, *reversed(options)):
        command = option(command)
    return command


def grading_options(command: F) -> F:
    """The flags of commands that fetch pages and judge records."""
    options = (
        click.option(
            "--judge", default=DEFAULTS.judge, show_default=True, metavar="rules|MODEL",
            help="The judge: the tasks' rules, or a model.",
        ),
        click.option(
            "--judge-id", metavar="ID",
            help="Name the judge in the cache. Without it, the same model at another "
            "OPENAI_BASE_URL is another judge; with it, mirrors of a model share their verdicts.",
        ),
        _count("--workers", DEFAULTS.workers, "Model calls at once."),
        click.option(
            "--judge-timeout", type=click.FloatRange(0, min_open=True), metavar="S",
            default=DEFAULTS.judge_timeout, show_default=True,
            help="Seconds before a model call times out.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return page_options(command)


def settings_from(options: Mapping[str, Any]) -> Settings:
    """The settings that flags describe, with the prices of `grader.toml`.

    Raises CommandError if they do not fit together.
    """
    prices = click.get_current_context().find_root().obj
    try:
        return Settings(prices=prices, **options)
    except ValueError as error:
        raise CommandError(str(error)) from None
