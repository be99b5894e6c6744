"""How a grader works: what `Grader` is made with, and what flags and `grader.toml` set."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fetchers.address import Guard
from judges.endpoint.questions import Price

RULES = "rules"
"""The judge that needs no model."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where results are kept, how pages are got and judged, and how much at once.

    `pages` are WARC archives that answer before the network; with `offline` nothing else than
    they and the cache does. `max_age` is in seconds: a page that was fetched longer ago is
    fetched again. An address that is unreachable in `give_up_after` calls, at least an hour
    apart, or for a day, is dead; None gives up no address. `allow_hosts` are HOST or HOST:PORT
    that the address guard lets through. `workers` counts model calls under way at once,
    `fetch_workers` visits of pages, `browser_workers` pages in a browser (none without `browser`),
    `cpu_workers` processes that read pages and compare excerpts. `judge_timeout` is in seconds,
    for one attempt at a model call; `budget` in US dollars, by the `prices` of models; a `dry`
    grader asks no model, and counts what it would take.

    Verdicts are kept for one judge: a model's name at one address (`OPENAI_BASE_URL`). `judge_id`
    names the judge instead, so that several addresses of the same model share their verdicts.
    """

    cache: Path = Path(".assay")
    judge: str = RULES
    judge_id: str | None = None
    workers: int = 64
    pages: tuple[Path, ...] = ()
    offline: bool = False
    max_age: float | None = None
    give_up_after: int | None = 3
    allow_hosts: tuple[str, ...] = ()
    fetch_workers: int = 64
    browser: bool = True
    browser_workers: int = 4
    judge_timeout: float = 120.0
    budget: float | None = None
    dry: bool = False
    prices: Mapping[str, Price] = field(default_factory=dict)
    cpu_workers: int = field(default_factory=lambda: os.cpu_count() or 1)

    def __post_init__(self) -> None:
        """Raises ValueError if one of `allow_hosts` is not a host, if `give_up_after` is below 1,
        or if there is a budget for a model without a price."""
        Guard(self.allow_hosts)
        if self.give_up_after is not None and self.give_up_after < 1:
            raise ValueError(
                f"give_up_after is a positive number of calls, not {self.give_up_after}"
            )
        if self.budget is not None and self.judge not in (RULES, *self.prices):
            raise ValueError(
                f"a budget needs the price of {self.judge}: write it in grader.toml as "
                f'[prices."{self.judge}"] with tokens_in, cached_in and tokens_out, '
                "in US dollars for a million tokens"
            )
