"""The command `fetch`: how Assay reads pages."""

from typing import Any

import click
import orjson

from fetchers.page import Page
from grader.commands.errors import COMPLETE, UNGRADED
from grader.commands.options import page_options, settings_from
from grader.commands.running import run
from grader.commands.streams import show, tell
from grader.grader import Grader
from grader.printing import printable

FIELDS = ("state", "reason", "status", "via", "final_url", "words", "sha256")


@click.command()
@click.argument("urls", nargs=-1, required=True)
@click.option("--browser", is_flag=True, help="Open in a browser the pages that HTTP cannot get.")
@page_options
def fetch(urls: tuple[str, ...], **options: Any) -> None:
    """Fetch pages and print a JSON line for each: its state, the reason, and its length."""
    settings = settings_from(options)
    urls = tuple(map(printable, urls))

    async def work() -> tuple[list[Page], tuple[str, ...]]:
        async with Grader(settings) as grader:
            return await grader.pages(urls), grader.problems

    pages, problems = run(work())
    for url, page in zip(urls, pages, strict=True):
        line = {"url": url, **{name: getattr(page, name) for name in FIELDS}}
        show(orjson.dumps(line).decode())
    tell(*problems)
    unreachable = any(page.state == "unreachable" for page in pages)
    raise SystemExit(UNGRADED if unreachable else COMPLETE)
