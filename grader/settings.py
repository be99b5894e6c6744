"""The settings of a grader, which flags and `grader.toml` can change."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fetchers.guard import Guard
from judges.endpoint.questions import Price

RULES = "rules"
"""The name of the judge that calls no model."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The cache, the sources of pages, the judge, and the concurrency.

    `pages` are WARC archives that are searched before the network. With `offline`, only they and
    the cache are used. A page that was fetched more than `max_age` seconds ago is fetched again. An
    address that is unreachable in `give_up_after` calls, at least an hour apart, or for a day, is
    dead; None never gives up. `allow_hosts` are HOST or HOST:PORT that the address guard allows.
    `workers` is the number of model calls at once, `fetch_workers` of fetches, `browser_workers` of
    pages in a browser (without `browser`, no page is rendered), and `cpu_workers` of processes that
    read pages and compare excerpts. `judge_timeout` is in seconds, for one attempt at a model call.
    `budget` is in US dollars, computed with the `prices` of models. A `dry` grader calls no model,
    and estimates the cost.

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
