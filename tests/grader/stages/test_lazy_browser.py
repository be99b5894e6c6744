"""The browser is started with the first page, once."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from fetchers.guard import Guard
from fetchers.page import Response
from fetchers.web import browser as module
from fetchers.web.chromium import Died
from fetchers.web.launch import NoBrowser
from grader.stages.lazy_browser import BrowserMissing, LazyBrowser
from queues.pool import Crashed


class FakeBrowser:
    def __init__(self, failure: Exception | None = None, at_start: bool = False) -> None:
        self.failure, self.at_start, self.started, self.closed = failure, at_start, 0, 0
        self.workers = 0

    def __call__(self, guard: Guard, workers: int) -> "FakeBrowser":
        self.workers = workers
        return self

    async def __aenter__(self) -> "FakeBrowser":
        self.started += 1
        if self.failure and self.at_start:
            raise self.failure
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed += 1

    async def render(self, url: str) -> Response:
        if self.failure:
            raise self.failure
        return Response(200, url, {}, b"", "browser", "2026-09-01T12:00:00Z")


def use(monkeypatch: pytest.MonkeyPatch, *args: Any) -> FakeBrowser:
    fake = FakeBrowser(*args)
    monkeypatch.setattr(module, "Browser", fake)
    return fake


async def test_pages_at_the_same_time_start_one_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = use(monkeypatch)
    async with AsyncExitStack() as stack:
        browser = LazyBrowser(Guard(()), 3, stack)
        assert fake.started == 0
        urls = ["https://a.example/", "https://b.example/"]
        shown = await asyncio.gather(*map(browser.render, urls))
        assert [response.final_url for response in shown] == urls
        assert (fake.started, fake.workers, browser.problem) == (1, 3, "")
    assert fake.closed == 1


@pytest.mark.parametrize("at_start", [True, False])
async def test_a_missing_browser_is_named_and_not_looked_for_again(
    monkeypatch: pytest.MonkeyPatch, at_start: bool
) -> None:
    fake = use(monkeypatch, NoBrowser("install one"), at_start)
    async with AsyncExitStack() as stack:
        browser = LazyBrowser(Guard(()), 1, stack)
        for _ in range(2):
            with pytest.raises(BrowserMissing):
                await browser.render("https://a.example/")
    assert (fake.started, browser.problem) == (1, "install one")


async def test_a_browser_that_dies_of_a_page_has_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Died("the page took all memory"))
    async with AsyncExitStack() as stack:
        with pytest.raises(Crashed, match="all memory"):
            await LazyBrowser(Guard(()), 1, stack).render("https://a.example/")
