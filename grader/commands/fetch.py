"""The command `fetch`: how Assay reads pages."""

from typing import Any

import click
import orjson

from fetchers.page import Page
from grader.commands.options import page_options, settings_from
from grader.commands.running import COMPLETE, UNGRADED, run
from grader.grader import Grader
from grader.lines import printable

FIELDS = ("state", "reason", "status", "via", "final_url", "words", "sha256")


@click.command()
@click.argument("urls", nargs=-1, required=True)
@click.option("--browser", is_flag=True, help="Open in a browser the pages that HTTP cannot get.")
@page_options
def fetch(urls: tuple[str, ...], **options: Any) -> None:
    """Fetch pages and print a JSON line for each: its state, the reason, and its length."""
    settings = settings_from(options)
    urls = tuple(map(printable, urls))

    async def work() -> list[Page]:
        async with Grader(settings) as grader:
            return await grader.pages(urls)

    pages = run(work())
    for url, page in zip(urls, pages, strict=True):
        click.echo(orjson.dumps({"url": url, **{name: getattr(page, name) for name in FIELDS}}))
    unreachable = any(page.state == "unreachable" for page in pages)
    raise SystemExit(UNGRADED if unreachable else COMPLETE)
