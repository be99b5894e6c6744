"""From a URL to a page: which stage answers, what is cached, what is tried again."""

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from material import Answer, article, serving, write_archive
from page_steps import opened_pages, visit

from fetchers.guard import Guard
from fetchers.page import Dead, Refused, Response, Unreachable
from fetchers.web import browser as fetchers_browser
from fetchers.web.chromium import Died
from fetchers.web.launch import NoBrowser
from grader.stages import pages as module
from queues.pool import Crashed
from queues.retry import Retry

SHELL = '<title>App</title><div id="root"></div><script src="/main.js"></script>'
WALL = "<title>Just a moment...</title><h1>Checking your browser</h1>"
SITE: dict[str, Answer] = {
    "/article": article("Larch", "The larch is old."),
    "/shell": Answer(SHELL),
    "/wall": Answer(WALL, 403),
    "/busy": Answer("<p>Later</p>", 503, {"Content-Type": "text/html"}),
    "/busy-wall": Answer(WALL, 503),
    "/gone": Answer("<h1>Not found</h1>", 404),
}
SHOWN = article("Larch", "The larch is drawn by a script.").content


class FakeBrowser:
    """A browser that returns a prepared end, and records the pages that it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.opened = 0
        self.entering: Exception | None = None
        self.end: Exception | bytes = SHOWN

    def __call__(self, guard: Guard, workers: int) -> "FakeBrowser":
        return self

    async def __aenter__(self) -> "FakeBrowser":
        self.opened += 1
        if self.entering:
            raise self.entering
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    async def render(self, url: str) -> Response:
        self.asked.append(url.rpartition("/")[2])
        if isinstance(self.end, Exception):
            raise self.end
        headers = {"content-type": "text/html; charset=utf-8"}
        return Response(200, url, headers, self.end, "browser", "2026-09-01T12:00:00Z")


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> FakeBrowser:
    fake = FakeBrowser()
    monkeypatch.setattr(fetchers_browser, "Browser", fake)
    monkeypatch.setattr(module, "Retry", partial(Retry, first=0.0, longest=0.0))
    return fake


Opened = Callable[..., Any]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return partial(opened_pages, tmp_path / "cache")


async def test_a_browser_renders_pages_that_http_could_not_read(
    browser: FakeBrowser, opened: Opened
) -> None:
    with serving(SITE) as port:
        async with opened(port) as pages:
            found = {path: await visit(pages, f"http://127.0.0.1:{port}{path}") for path in SITE}
    assert {path: (page.state, page.via) for path, page in found.items()} == {
        "/article": ("ok", "http"),
        "/shell": ("ok", "browser"),
        "/wall": ("ok", "browser"),
        "/busy": ("unreachable", "http"),
        "/busy-wall": ("ok", "browser"),
        "/gone": ("dead", "http"),
    }
    assert browser.asked == ["shell", "wall", "busy-wall"]
    assert browser.opened == 1


async def test_no_browser_is_started_if_it_is_not_needed_or_is_switched_off(
    browser: FakeBrowser, opened: Opened, tmp_path: Path
) -> None:
    with serving(SITE) as port:
        base = f"http://127.0.0.1:{port}"
        async with opened(port) as pages:
            assert (await visit(pages, f"{base}/article")).state == "ok"
        async with opened(port, browser=False) as pages:
            assert (await visit(pages, f"{base}/shell")).state == "unrendered"
    archive = write_archive(tmp_path / "pages.warc", {"https://a.example/": Answer(SHELL)})
    async with opened(1, pages=(archive,)) as pages:
        page = await visit(pages, "https://a.example/")
        assert (page.state, page.via) == ("unrendered", "archive")
    assert not browser.opened


async def test_offline_nothing_is_rendered_but_cached_renderings_are_used(
    browser: FakeBrowser, opened: Opened
) -> None:
    with serving(SITE) as port:
        base = f"http://127.0.0.1:{port}"
        async with opened(port, browser=False) as pages:
            await visit(pages, f"{base}/wall")
        async with opened(port) as pages:
            before = await visit(pages, f"{base}/shell")
    async with opened(port, offline=True) as pages:
        assert await visit(pages, f"{base}/shell") == before
        assert (await visit(pages, f"{base}/wall")).state == "blocked"  # the page of the http visit
        assert (await visit(pages, f"{base}/article")).state == "unreachable"
        assert (await visit(pages, "http://10.0.0.1/")).state == "refused"
    assert browser.asked == ["shell"]


@pytest.mark.parametrize("when", ["opened", "started"])
async def test_a_missing_browser_is_reported_once(
    browser: FakeBrowser, opened: Opened, when: str
) -> None:
    absent = NoBrowser("no browser: install one")
    if when == "opened":
        browser.entering = absent
    else:
        browser.end = absent
    with serving(SITE) as port:
        async with opened(port) as pages:
            for path, state in (("/shell", "unrendered"), ("/wall", "blocked")):
                assert (await visit(pages, f"http://127.0.0.1:{port}{path}")).state == state
            assert pages.problems == ("no browser: install one",)
    assert browser.opened == 1


@pytest.mark.parametrize(
    "end", [Unreachable("timed out"), Refused("a private address"), WALL.encode(), SHELL.encode()]
)
async def test_a_rendering_that_shows_no_more_is_not_used(
    browser: FakeBrowser, opened: Opened, end: Any
) -> None:
    browser.end = end
    with serving(SITE) as port:
        base = f"http://127.0.0.1:{port}"
        async with opened(port, browser=False) as pages:
            before = await visit(pages, f"{base}/wall")
        async with opened(port) as pages:
            assert await visit(pages, f"{base}/wall") == before


async def test_a_page_that_ends_the_browser_is_unreachable(
    browser: FakeBrowser, opened: Opened
) -> None:
    """Another page may have ended it."""
    browser.end = Died("the browser died")
    with serving(SITE) as port:
        url = f"http://127.0.0.1:{port}/shell"
        async with opened(port) as pages:
            for _ in range(2):
                page = await visit(pages, url)
                assert (page.state, page.reason) == ("unreachable", "the browser died")
        assert browser.asked == ["shell"]
        browser.end = SHOWN
        async with opened(port) as pages:
            assert (await visit(pages, url)).state == "ok"


async def test_a_rendering_with_another_state_replaces_an_unrendered_page(
    browser: FakeBrowser, opened: Opened
) -> None:
    with serving(SITE) as port:
        url = f"http://127.0.0.1:{port}/shell"
        browser.end = Dead("no such host")
        async with opened(port) as pages:
            page = await visit(pages, url)
            assert (page.state, page.reason, page.via) == ("dead", "no such host", "browser")


async def test_a_failed_rendering_is_tried_once_in_a_call(
    browser: FakeBrowser, opened: Opened
) -> None:
    """A rendering may take half a minute, and many rollouts cite the same page."""
    browser.end = Unreachable("timed out")
    with serving(SITE) as port:
        url = f"http://127.0.0.1:{port}/shell"
        async with opened(port) as pages:
            for _ in range(3):
                assert (await visit(pages, url)).state == "unrendered"
        assert browser.asked == ["shell"]
        browser.end = SHOWN
        async with opened(port) as pages:
            assert (await visit(pages, url)).state == "ok"


class Counted(dict[str, Answer]):
    """Pages, and the list of requests for them."""

    def __init__(self, pages: Mapping[str, Answer]) -> None:
        super().__init__(pages)
        self.asked: list[str] = []

    def get(self, path: str, default: Any = None) -> Any:
        self.asked.append(path)
        return super().get(path, default)


async def test_a_page_is_visited_again_only_after_its_max_age(
    browser: FakeBrowser, opened: Opened
) -> None:
    site = Counted(SITE)
    with serving(site) as port:
        url = f"http://127.0.0.1:{port}/article"
        for settings, visits in (
            ({}, 1),
            ({}, 1),
            ({"max_age": 3600.0}, 1),
            ({"max_age": -1.0}, 2),
        ):
            async with opened(port, **settings) as pages:
                assert (await visit(pages, url)).state == "ok"
            assert site.asked == ["/article"] * visits


async def test_a_503_is_tried_three_times_in_a_call_and_not_cached(
    browser: FakeBrowser, opened: Opened
) -> None:
    site = Counted(SITE)
    with serving(site) as port:
        url = f"http://127.0.0.1:{port}/busy"
        async with opened(port) as pages:
            for _ in range(2):
                assert (await visit(pages, url)).state == "unreachable"
        assert len(site.asked) == 3
        site["/busy"] = SITE["/article"]
        async with opened(port) as pages:
            assert (await visit(pages, url)).state == "ok"


async def test_a_body_that_is_missing_from_the_cache_is_fetched_or_rendered_again(
    browser: FakeBrowser, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(SITE) as port:
        base = f"http://127.0.0.1:{port}"
        async with opened(port) as pages:
            before = [await visit(pages, f"{base}/{name}") for name in ("article", "shell")]
        shutil.rmtree(tmp_path / "cache" / "bodies")
        monkeypatch.setattr(
            module, "EXTRACTOR_VERSION", "another"
        )  # so that bodies are extracted again
        async with opened(port) as pages:
            after = [await visit(pages, f"{base}/{name}") for name in ("article", "shell")]
    assert [(p.state, p.sha256, p.text) for p in after] == [
        (p.state, p.sha256, p.text) for p in before
    ]
    assert browser.asked == ["shell", "shell"]


async def test_a_page_is_unreachable_if_the_worker_process_crashes_on_its_body(
    browser: FakeBrowser, opened: Opened
) -> None:
    with serving(SITE) as port:
        url = f"http://127.0.0.1:{port}/article"
        async with opened(port) as pages:
            pages._pool.failure = Crashed("worker died: SIGSEGV")  # type: ignore[attr-defined]
            for _ in range(2):
                page = await visit(pages, url)
                assert (page.state, page.reason) == (
                    "unreachable", "cannot be read: worker died: SIGSEGV",
                )  # fmt: skip
            assert pages._pool.runs == 1  # type: ignore[attr-defined]  # tried once in a call
        async with opened(port) as pages:
            assert (await visit(pages, url)).state == "ok"
