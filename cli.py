"""The front door: parses a command, calls one method, prints."""

import asyncio
import math
import re
import tomllib
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click
import orjson
from rich.console import Console

from cache.errors import CacheError
from cache.folder import Cache, Stats
from cache.transfer import Exported, Imported, export, import_
from fetchers.archives.archive import ArchiveError
from fetchers.page import Page
from grader.call import Ending, grade_runs
from grader.fixtures import run_fixtures
from grader.grader import Grader
from grader.lines import OutputError, printable
from grader.rescore import rescore
from grader.results.terminal import models_lines, progress, scores_tables
from grader.settings import RULES, Settings
from grader.tasks.importers import IMPORTERS, import_benchmark
from grader.tasks.packages import AnyTask, Package, TaskError, load, needing_model
from judges.endpoint.questions import ModelUnusable, Price

COMPLETE, UNGRADED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130
CONFIGURATION = Path("grader.toml")
REMARKS = {
    "invalid": "malformed",
    "low confidence": "judged with too little confidence to be in any figure",
    "refused": "on addresses that are refused (--allow-host opens a host)",
    "dead": "on dead pages",
    "blocked": "on blocked pages",
    "login": "on pages behind a login",
    "paywall": "on pages behind a paywall",
    "unrendered": "on pages that need JavaScript",
}
"""What is said of records that failed before they were read, or count in no figure."""

console = Console(stderr=True)
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Unusable(click.ClickException):
    """Bad usage, or nothing readable."""

    exit_code = UNUSABLE


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


EXISTING = click.Path(exists=True, path_type=Path)
POSITIVE = click.IntRange(1)
FOLDER = click.Path(file_okay=False, path_type=Path)

tasks_option = click.option(
    "--tasks", multiple=True, type=EXISTING, default=("tasks",), show_default=True,
    help="A folder of task packages, one package, or a .jsonl file of tasks.",
)  # fmt: skip
out_option = click.option(
    "--out", type=FOLDER, default="out", show_default=True, help="Where the results go."
)
cache_option = click.option(
    "--cache", type=FOLDER, default=".assay", show_default=True, help="What is known already."
)


def _dollars(value: Any) -> float:
    dollars = float(value)
    if not 0 <= dollars < math.inf:
        raise ValueError(f"{value!r} is no number of US dollars")
    return dollars


def _count(flag: str, default: int, text: str) -> Callable[[F], F]:
    return click.option(flag, type=POSITIVE, default=default, show_default=True, help=text)


def page_options(command: F) -> F:
    """The flags of commands that fetch pages."""
    options = (
        click.option("--pages", multiple=True, type=EXISTING, help="A WARC archive, asked first."),
        click.option("--offline", is_flag=True, help="Never fetch a page."),
        click.option("--max-age", type=Age(), help="Fetch older pages again (30m, 12h, 7d)."),
        click.option(
            "--allow-host",
            "allow_hosts",
            multiple=True,
            metavar="HOST[:PORT]",
            help="A host that the address guard lets pass.",
        ),
        _count("--fetch-workers", 64, "Visits at once."),
        _count("--browser-workers", 4, "Pages in a browser at once."),
    )
    for option in (cache_option, *reversed(options)):
        command = option(command)
    return command


def grading_options(command: F) -> F:
    """The flags of commands that fetch pages and judge."""
    options = (
        click.option(
            "--judge", default=RULES, show_default=True, metavar="rules|MODEL",
            help="Who judges the records.",
        ),
        _count("--workers", 64, "Model calls at once."),
        click.option(
            "--judge-timeout", type=click.FloatRange(0, min_open=True), metavar="S", default=120.0,
            show_default=True, help="Seconds that a model has to answer.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return page_options(command)


def _settings(options: Mapping[str, Any]) -> Settings:
    prices = click.get_current_context().find_root().obj
    try:
        return Settings(prices=prices, **options)
    except ValueError as error:
        raise Unusable(str(error)) from None


def _prices(configuration: dict[str, Any]) -> dict[str, Price]:
    """The price table of a configuration, taken out of it."""
    try:
        prices = configuration.pop("prices", {})
        return {
            model: Price(**{part: _dollars(price[part]) for part in price})
            for model, price in prices.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise Unusable(f"{CONFIGURATION}: prices: {error}") from None


def _configured(command: click.Command, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a configuration that sets flags of a command."""
    if isinstance(command, click.Group):
        return {name: _configured(sub, configuration) for name, sub in command.commands.items()}
    return {
        param.name: _as_typed(param, configuration[flag.lstrip("-")])
        for param in command.params
        if isinstance(param, click.Option) and param.name is not None
        for flag in param.opts
        if flag.lstrip("-") in configuration
    }


def _as_typed(param: click.Option, value: Any) -> str | list[str]:
    """A value of the configuration as it is typed behind its flag; one that may be repeated takes
    a list too."""
    values = value if param.multiple and isinstance(value, list) else [value]
    if any(isinstance(one, list | dict) for one in values):
        raise Unusable(f"{CONFIGURATION}: {param.opts[0]} takes no such value")
    texts = list(map(str, values))
    return texts if param.multiple else texts[0]


class Front(click.Group):
    """The commands, with `grader.toml` of the current folder behind their flags."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Raises Unusable where the configuration cannot be read or sets what no flag sets."""
        configuration: dict[str, Any] = {}
        if CONFIGURATION.exists():
            try:
                configuration = tomllib.loads(CONFIGURATION.read_text("utf-8"))
            except (OSError, ValueError) as error:
                raise Unusable(f"{CONFIGURATION}: {error}") from None
        kwargs["obj"] = _prices(configuration)
        options = (p for c in _leaves(self) for p in c.params if isinstance(p, click.Option))
        flags = {flag.lstrip("-") for option in options for flag in option.opts}
        if unknown := configuration.keys() - flags:
            raise Unusable(f"{CONFIGURATION}: no flag --{min(unknown)}")
        kwargs["default_map"] = _configured(self, configuration)
        return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C ends one that does not see to it itself."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            console.print("interrupted")
            raise SystemExit(INTERRUPTED) from None


def _leaves(command: click.Command) -> Iterator[click.Command]:
    if isinstance(command, click.Group):
        for sub in command.commands.values():
            yield from _leaves(sub)
    else:
        yield command


@click.group(cls=Front)
def main() -> None:
    """Grade what web-research agents hand in."""


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work; what it cannot go on from is said in one line."""
    try:
        return asyncio.run(work)
    except (ArchiveError, CacheError, OutputError, TaskError) as error:
        raise Unusable(str(error)) from None
    except ModelUnusable as error:
        raise Unusable(f"the model cannot be asked: {error}") from None


def _load(paths: Sequence[Path]) -> list[Package]:
    try:
        return load(paths)
    except TaskError as error:
        raise Unusable(str(error)) from None


def _refuse_what_needs_a_model(tasks: Sequence[AnyTask]) -> None:
    for task in tasks:
        if needs := needing_model(task):
            raise Unusable(
                f"task {task.name!r}: no rule decides {', '.join(needs)}; --judge {RULES} needs "
                "one, or name a model"
            )


@main.command()
@click.argument("runs", nargs=-1, required=True)
@tasks_option
@out_option
@click.option("--limit", type=POSITIVE, help="Grade the first N records.")
@click.option("--budget", type=_dollars, metavar="USD", help="For model calls.")
@click.option("--dry-run", "dry", is_flag=True, help="Ask no model; tell what it would cost.")
@grading_options
def grade(
    runs: tuple[str, ...], tasks: tuple[Path, ...], out: Path, limit: int | None, **options: Any
) -> None:
    """Grade run files (.jsonl, .jsonl.gz, or - for standard input)."""
    settings = _settings(options)
    if missing := [run for run in runs if run != "-" and not Path(run).is_file()]:
        raise Unusable(f"no such run file: {missing[0]}")
    loaded = [package.task for package in _load(tasks)]
    if settings.judge == RULES:
        _refuse_what_needs_a_model(loaded)
    ending = _run(grade_runs(runs, loaded, out, settings, limit, partial(progress, console)))
    if settings.dry:
        _tell_dry(ending)
        raise SystemExit(_status(ending, COMPLETE))
    for table in scores_tables(ending.summary):
        Console().print(table)
    _tell(ending, out)
    raise SystemExit(_status(ending))


def _tell_dry(ending: Ending) -> None:
    """Say what a call would meet, and what it would ask of models."""
    say = partial(Console().print, soft_wrap=True, markup=False)
    say(f"a dry run: {ending.submissions} submissions read, no model asked, nothing written")
    _tell_input(ending, "rejected lines or records", say)
    _tell_ungraded(ending, "records have no verdict yet", say)
    for line in models_lines(ending.summary["work"]):
        say(f"the call would take about: {line}")


def _tell(ending: Ending, out: Path) -> None:
    """Say what a reader of the table should know, and how to go on."""
    say = partial(console.print, soft_wrap=True, markup=False)
    _tell_input(ending, f"rejected lines or records: see {out / 'rejects.jsonl'}", say)
    _tell_ungraded(ending, "records are ungraded; `grade`, called again, goes on with them", say)
    if not (ending.submissions or ending.rejects or ending.interrupted):
        say("there was no submission to grade")
    if ending.remarkable:
        found = ending.remarkable.most_common()
        say("of the records: " + ", ".join(f"{n} {REMARKS.get(what, what)}" for what, n in found))
    for line in models_lines(ending.summary["work"]):
        say(line)
    if ending.interrupted:
        console.print("interrupted; what was done is kept, the same command goes on from here")


def _tell_input(ending: Ending, rejected: str, say: Callable[[str], None]) -> None:
    if ending.rejects:
        say(f"{ending.rejects} {rejected}")
        for reject in ending.first_rejects:
            say(f"  {reject.where}: {reject.reason}")
    for problem in ending.problems:
        say(problem)


def _tell_ungraded(ending: Ending, ungraded: str, say: Callable[[str], None]) -> None:
    if ending.ungraded:
        say(f"{ending.ungraded.total()} {ungraded}:")
        for reason, number in ending.ungraded.most_common(5):
            say(f"  {number} x {reason}")


def _status(ending: Ending, ungraded: int = UNGRADED) -> int:
    if ending.interrupted:
        return INTERRUPTED
    if not ending.submissions:
        return UNUSABLE
    return ungraded if ending.ungraded else COMPLETE


@main.command()
@click.argument("records", type=EXISTING)
@tasks_option
@out_option
def score(records: Path, tasks: tuple[Path, ...], out: Path) -> None:
    """Compute the scores anew from RECORDS, a records.jsonl: no page is fetched, nothing judged."""
    loaded = [package.task for package in _load(tasks)]
    ending = _run(asyncio.to_thread(rescore, records, loaded, out))
    for table in scores_tables(ending.summary):
        Console().print(table)
    _tell(ending, out)
    raise SystemExit(_status(ending))


@main.command()
@click.argument("urls", nargs=-1, required=True)
@click.option("--browser", is_flag=True, help="Let a browser show what http cannot get.")
@page_options
def fetch(urls: tuple[str, ...], **options: Any) -> None:
    """Show each page's fate as a line of JSON."""
    settings = _settings(options)
    urls = tuple(map(printable, urls))

    async def work() -> bool:
        unreachable = False
        async with Grader(settings) as grader:
            for url, page in zip(urls, await grader.pages(urls), strict=True):
                unreachable |= page.state == "unreachable"
                click.echo(orjson.dumps({"url": url, **_fate(page)}))
        return unreachable

    raise SystemExit(UNGRADED if _run(work()) else COMPLETE)


def _fate(page: Page) -> dict[str, Any]:
    return {
        name: getattr(page, name)
        for name in ("state", "reason", "status", "via", "final_url", "words", "sha256")
    }


@main.command()
@click.argument("tasks", nargs=-1, required=True, type=EXISTING)
@grading_options
def check(tasks: tuple[Path, ...], **options: Any) -> None:
    """Validate task packages, and run their fixtures through the judge."""
    settings = _settings(options)
    packages = _load(tasks)
    if settings.judge == RULES:
        _refuse_what_needs_a_model([package.task for package in packages])
    report = _run(run_fixtures(packages, settings))
    for disagreement in report.disagreements:
        click.echo(str(disagreement))
    click.echo(
        f"{len(packages)} tasks, {report.fixtures} fixtures, {len(report.disagreements)} disagree"
    )
    raise SystemExit(UNGRADED if report.disagreements else COMPLETE)


@main.command("import")
@click.argument("benchmark", type=click.Choice(list(IMPORTERS)))
@click.argument("source", type=EXISTING)
@click.option("--out", type=click.Path(path_type=Path), default="tasks.jsonl", show_default=True)
def import_tasks(benchmark: str, source: Path, out: Path) -> None:
    """Turn a benchmark's own file into a file of tasks."""
    try:
        count = import_benchmark(benchmark, source, out)
    except (OutputError, TaskError) as error:
        raise Unusable(str(error)) from None
    click.echo(f"{count} tasks in {out}")


@main.group()
def cache() -> None:
    """Look into the cache, or move it."""


@cache.command()
@cache_option
def stats(cache: Path) -> None:
    """Rows and bytes by stage, bodies and their bytes."""

    async def work() -> Stats:
        async with Cache.open(cache) as opened:
            return await opened.stats()

    found = _run(work())
    for stage, size in found.stages.items():
        click.echo(f"{stage}: {size.rows} rows, {size.bytes} bytes")
    click.echo(f"bodies: {found.bodies}, {found.body_bytes} bytes")


@cache.command()
@cache_option
def verify(cache: Path) -> None:
    """Read everything back; a line for what is damaged, exit status 1 where anything is."""

    async def work() -> bool:
        damaged = False
        async with Cache.open(cache) as opened:
            async for damage in opened.verify():
                damaged = True
                click.echo(f"{damage.where}: {damage.what}")
        return damaged

    if _run(work()):
        raise SystemExit(1)
    click.echo("nothing is damaged")


@cache.command("export")
@click.argument("archive", type=click.Path(path_type=Path))
@cache_option
def export_command(archive: Path, cache: Path) -> None:
    """Write the cache to ARCHIVE (.warc.gz), with its ledger's rows beside it."""

    async def work() -> Exported:
        async with Cache.open(cache) as opened:
            return await export(opened, archive)

    done = _run(work())
    click.echo(f"{done.rows} rows, {done.bodies} bodies, {done.damaged} damaged left out")


@cache.command("import")
@click.argument("archive", type=EXISTING)
@cache_option
def import_command(archive: Path, cache: Path) -> None:
    """Add what an export wrote."""

    async def work() -> Imported:
        async with Cache.open(cache) as opened:
            return await import_(opened, archive)

    done = _run(work())
    click.echo(f"{done.rows} rows, {done.new_rows} of them new, {done.bodies} bodies")


if __name__ == "__main__":
    main()
