"""The commands that inspect the cache, and move it."""

from pathlib import Path

import click

from cache.folder import Cache, Stats
from cache.transfer import Exported, Imported, export, import_
from grader.commands.options import EXISTING, cache_option
from grader.commands.running import run
from grader.commands.streams import show


@click.group()
def cache() -> None:
    """Inspect the cache, or move it."""


@cache.command()
@cache_option
def stats(cache: Path) -> None:
    """Print the number and the size of rows by stage, and of page bodies."""

    async def work() -> Stats:
        async with Cache.open(cache) as opened:
            return await opened.stats()

    found = run(work())
    for stage, size in found.stages.items():
        show(f"{stage}: {size.rows} rows, {size.bytes} bytes")
    show(f"bodies: {found.bodies}, {found.body_bytes} bytes")


@cache.command()
@cache_option
def verify(cache: Path) -> None:
    """Read the whole cache and print each damaged entry. Exit status 1 if there is one."""

    async def work() -> bool:
        damaged = False
        async with Cache.open(cache) as opened:
            async for damage in opened.verify():
                damaged = True
                show(f"{damage.where}: {damage.problem}")
        return damaged

    if run(work()):
        raise SystemExit(1)
    show("nothing is damaged")


@cache.command("export")
@click.argument("archive", type=click.Path(path_type=Path))
@cache_option
def export_command(archive: Path, cache: Path) -> None:
    """Write the cache to ARCHIVE (.warc.gz), with the rows of the ledger in a file beside it."""

    async def work() -> Exported:
        async with Cache.open(cache) as opened:
            return await export(opened, archive)

    done = run(work())
    show(f"{done.rows} rows, {done.bodies} bodies, {done.damaged} damaged left out")


@cache.command("import")
@click.argument("archive", type=EXISTING)
@cache_option
def import_command(archive: Path, cache: Path) -> None:
    """Add the pages and rows of an export to the cache."""

    async def work() -> Imported:
        async with Cache.open(cache) as opened:
            return await import_(opened, archive)

    done = run(work())
    show(f"{done.rows} rows, {done.new_rows} of them new, {done.bodies} bodies")
