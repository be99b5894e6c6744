"""Addresses that never answer are given up (formats.md, section 3)."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from material import Answer, article, serving, write_archive
from page_steps import opened_pages, visit

from cache.digests import digest
from cache.folder import Cache
from cache.transfer import export, import_
from fetchers.page import Page
from grader.stages import pages as module
from grader.stages.unreachable import (
    DAY,
    HOUR,
    NEVER_ANSWERED,
    STAGE,
    FailureHistory,
    add_failure,
)
from queues.pool import Crashed
from queues.retry import Retry

BUSY = Answer("<p>Later</p>", 503)
SITE = {"/article": article("Larch", "The larch is old."), "/busy": BUSY}


@pytest.mark.parametrize(
    ("failures", "calls"),
    [
        ((0,), 1),
        ((0, HOUR - 1), 1),
        ((0, HOUR), 2),
        ((0, HOUR - 1, HOUR), 2),
        ((0, HOUR - 1, 2 * HOUR - 2), 2),
        ((0, 0.9 * HOUR, 1.8 * HOUR, 2.7 * HOUR), 2),
        ((0, HOUR, 2 * HOUR), 3),
    ],
)
def test_calls_count_that_are_an_hour_apart(failures: tuple[float, ...], calls: int) -> None:
    history = None
    for at in failures:
        history = add_failure(history, 1_000 + at, f"status {at}")
    assert history is not None
    assert history.calls == calls
    assert (history.first, history.last) == (1_000, 1_000 + failures[-1])
    assert history.reason == f"status {failures[-1]}"
    for give_up_after in (1, 2, 3, 4):
        assert history.given_up(give_up_after) is (calls >= give_up_after)
    assert not history.given_up(None)


@pytest.mark.parametrize(("later", "given_up"), [(DAY - 1, False), (DAY, True)])
def test_a_day_of_failures_is_enough(later: float, given_up: bool) -> None:
    history = add_failure(add_failure(None, 0, "no"), later, "no")
    assert history.given_up(9) is given_up
    assert not history.given_up(None)


class Clock:
    """A clock that is set by hand. Unix seconds."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


Call = Callable[..., Awaitable[list[Page]]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def call(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Call:
    """A call that visits URLs one after the other. Each call shares the cache."""
    monkeypatch.setattr(module, "Retry", partial(Retry, first=0.0, longest=0.0))

    async def visit_all(
        port: int, *urls: str, folder: Path = tmp_path / "cache", **settings: Any
    ) -> list[Page]:
        async with opened_pages(folder, port, clock, browser=False, **settings) as pages:
            return [await visit(pages, url) for url in urls]

    return visit_all


def urls_at(port: int) -> tuple[str, str]:
    """A page that answers, and one of another host that does not."""
    return f"http://127.0.0.1:{port}/article", f"http://localhost:{port}/busy"


async def test_an_address_that_fails_in_three_calls_is_dead(call: Call, clock: Clock) -> None:
    site = dict(SITE)
    with serving(site) as port:
        good, busy = urls_at(port)
        for hours in range(2):
            clock.now += HOUR
            _, page = await call(port, good, busy)
            assert (page.state, page.reason) == ("unreachable", "status 503"), hours
        clock.now += HOUR
        _, third = await call(port, good, busy)
        site["/busy"] = SITE["/article"]
        assert await call(port, busy) == [third]  # it is not visited again
    assert (third.state, third.reason, third.status) == ("dead", NEVER_ANSWERED, None)
    assert (third.final_url, third.text, third.words) == (busy, "", 0)
    assert third.fetched_at == "2026-09-21T17:13:20Z"


async def test_calls_within_an_hour_are_one(call: Call, clock: Clock) -> None:
    with serving(SITE) as port:
        good, busy = urls_at(port)
        for _ in range(5):
            clock.now += HOUR / 10
            assert (await call(port, good, busy))[1].state == "unreachable"


async def test_one_call_counts_once_for_many_visits(call: Call, clock: Clock) -> None:
    with serving(SITE) as port:
        good, busy = urls_at(port)
        pages = await call(port, good, busy, busy, busy, give_up_after=2)
        assert {page.state for page in pages[1:]} == {"unreachable"}
        clock.now += HOUR
        pages = await call(port, good, busy, busy, give_up_after=2)
        assert {page.state for page in pages[1:]} == {"dead"}


async def test_after_a_day_an_address_is_dead(call: Call, clock: Clock) -> None:
    with serving(SITE) as port:
        good, busy = urls_at(port)
        assert (await call(port, good, busy))[1].state == "unreachable"
        clock.now += DAY
        assert (await call(port, good, busy))[1].reason == NEVER_ANSWERED


@pytest.mark.parametrize(
    ("setting", "state"), [(1, "dead"), (2, "unreachable"), (None, "unreachable")]
)
async def test_the_number_of_calls_is_a_setting(
    call: Call, setting: int | None, state: str
) -> None:
    with serving(SITE) as port:
        assert (await call(port, *urls_at(port), give_up_after=setting))[1].state == state


async def test_an_address_that_was_given_up_is_open_again_with_another_setting(
    call: Call, clock: Clock
) -> None:
    site = dict(SITE)
    with serving(site) as port:
        good, busy = urls_at(port)
        assert (await call(port, good, busy, give_up_after=1))[1].state == "dead"
        clock.now += HOUR
        assert (await call(port, good, busy, give_up_after=None))[1].state == "unreachable"
        site["/busy"] = SITE["/article"]
        assert (await call(port, busy, give_up_after=1))[0].state == "dead"
        assert (await call(port, busy, give_up_after=None))[0].state == "ok"


async def test_an_address_that_was_given_up_is_visited_again_after_its_age(
    call: Call, clock: Clock
) -> None:
    site = dict(SITE)
    with serving(site) as port:
        good, busy = urls_at(port)
        await call(port, good, busy, give_up_after=1)
        site["/busy"] = SITE["/article"]
        clock.now += DAY
        assert (await call(port, busy, give_up_after=1, max_age=DAY))[0].state == "dead"
        clock.now += 1
        assert (await call(port, busy, give_up_after=1, max_age=DAY))[0].state == "ok"


async def test_an_address_that_answers_starts_anew(call: Call, clock: Clock) -> None:
    site = dict(SITE)
    with serving(site) as port:
        good, busy = urls_at(port)
        for answer, state in (
            (BUSY, "unreachable"), (BUSY, "unreachable"), (SITE["/article"], "ok"),
            (BUSY, "unreachable"), (BUSY, "unreachable"), (BUSY, "dead"),
        ):  # fmt: skip
            site["/busy"] = answer
            clock.now += 2 * HOUR
            # An age below zero: what was visited before is visited again.
            assert (await call(port, good, busy, max_age=-1.0))[1].state == state


async def test_a_dead_answer_ends_a_history_too(call: Call, clock: Clock, tmp_path: Path) -> None:
    site = dict(SITE)
    with serving(site) as port:
        good, busy = urls_at(port)
        await call(port, good, busy)
        site["/busy"] = Answer("", 302, {"Location": "/busy"})
        assert (await call(port, busy))[0].reason == "redirect loop"
    async with Cache.open(tmp_path / "cache") as cache:
        rows = await cache.ledger.get_many(STAGE, [digest(busy)])
    assert rows == {digest(busy): b"null"}


# The network


async def test_a_call_in_which_no_other_host_answers_does_not_count(
    call: Call, clock: Clock
) -> None:
    with serving(SITE) as port:
        _, busy = urls_at(port)
        same_host = f"http://localhost:{port}/article"
        for _ in range(4):
            clock.now += HOUR
            assert (await call(port, busy, give_up_after=1))[0].state == "unreachable"
            pages = await call(port, same_host, busy, f"{busy}#/2", give_up_after=1)
            assert [page.state for page in pages[1:]] == ["unreachable"] * 2


async def test_an_error_of_another_host_shows_that_the_network_works(call: Call) -> None:
    with serving(SITE) as port:
        busy, other = f"http://localhost:{port}/busy", f"http://127.0.0.1:{port}/busy"
        first, second = await call(port, busy, other, give_up_after=1)
        assert (first.state, second.state) == ("unreachable", "dead")


async def test_no_answer_shows_nothing(call: Call) -> None:
    with serving(SITE) as port:
        _, busy = urls_at(port)
        silent = "http://127.0.0.1:1/"  # refused by the guard
        pages = await call(port, silent, "http://no.invalid/", busy, give_up_after=1)
        assert pages[-1].state == "unreachable"


async def test_a_host_that_answered_before_is_asked_if_the_rest_is_cached(
    call: Call, clock: Clock
) -> None:
    """In later calls often only the addresses are left that do not answer."""
    with serving(SITE) as port:
        good, busy = urls_at(port)
        for state in ("unreachable", "unreachable", "dead"):
            clock.now += HOUR
            assert (await call(port, good, busy))[1].state == state
    with serving(SITE) as port:
        good, busy = urls_at(port)
        await call(port, good)
    assert (await call(port, good, busy, give_up_after=1))[1].state == "unreachable"  # all is down


async def test_a_failure_waits_for_the_visits_of_other_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Retry", partial(Retry, first=0.0, longest=0.0))
    with serving(SITE) as port:
        good, busy = urls_at(port)
        async with opened_pages(tmp_path, port, browser=False, give_up_after=1) as pages:
            held, failed, visits = asyncio.Event(), asyncio.Event(), pages._http

            class Slow:
                async def fetch(self, url: str) -> Any:
                    if url == good:
                        await held.wait()
                    return await visits.fetch(url)

            async def count(failure: tuple[str, Page]) -> FailureHistory | None:
                failed.set()
                return await pages._failures._count(failure)

            pages._http = Slow()  # type: ignore[assignment]
            pages._failures.node._work = count
            first = asyncio.create_task(visit(pages, good))
            second = asyncio.create_task(visit(pages, busy))
            await failed.wait()
            assert not second.done()
            held.set()
            assert (await first).state == "ok"
            assert (await second).state == "dead"


# Other ways in which a page is unreachable


async def test_a_page_that_cannot_be_read_is_given_up_too(tmp_path: Path, clock: Clock) -> None:
    with serving(SITE) as port:
        good, other = urls_at(port)[0], f"http://localhost:{port}/article"
        found = []
        for _ in range(4):
            clock.now += HOUR
            async with opened_pages(tmp_path, port, clock, browser=False) as pages:
                await visit(pages, good)
                pages._pool.failure = Crashed("worker died")  # type: ignore[attr-defined]
                found.append(await visit(pages, f"{other}?crash"))
    assert [page.state for page in found] == ["unreachable", "unreachable", "dead", "dead"]
    assert found[3] == found[2]


# Offline, and elsewhere


async def test_offline_nothing_is_counted_but_what_was_given_up_is_dead(
    call: Call, clock: Clock, tmp_path: Path
) -> None:
    with serving(SITE) as port:
        good, busy = urls_at(port)
        await call(port, good, busy)
        for _ in range(5):
            clock.now += HOUR
            _, page = await call(port, good, busy, offline=True)
            assert (page.state, page.reason[:7]) == ("unreachable", "offline")
        await call(port, good, busy)
        clock.now += HOUR
        _, online = await call(port, good, busy)
        assert online.state == "dead"
    assert await call(port, busy, offline=True) == [online]
    archive = write_archive(tmp_path / "pages.warc", {"http://a.example/": SITE["/article"]})
    pages = await call(port, busy, "http://a.example/", pages=(archive,), offline=True)
    assert [page.state for page in pages] == ["dead", "ok"]


async def test_an_import_brings_what_was_given_up(call: Call, clock: Clock, tmp_path: Path) -> None:
    with serving(SITE) as port:
        good, busy = urls_at(port)
        before = await call(port, good, busy, give_up_after=1)
    async with Cache.open(tmp_path / "cache") as cache:
        await export(cache, tmp_path / "moved.warc.gz")
    async with Cache.open(tmp_path / "elsewhere") as cache:
        await import_(cache, tmp_path / "moved.warc.gz")
    elsewhere = {"folder": tmp_path / "elsewhere", "offline": True}
    assert await call(port, good, busy, give_up_after=1, **elsewhere) == before
    assert (await call(port, busy, give_up_after=2, **elsewhere))[0].state == "unreachable"


@pytest.mark.parametrize("value", [b"{}", b"7", b'{"first":"1"}', b"\xff"])
async def test_a_history_that_cannot_be_read_starts_anew(
    call: Call, tmp_path: Path, value: bytes
) -> None:
    with serving(SITE) as port:
        good, busy = urls_at(port)
        async with Cache.open(tmp_path / "cache") as cache:
            await cache.ledger.append_many(STAGE, [(digest(busy), value)])
        assert (await call(port, good, busy))[1].state == "unreachable"
        async with Cache.open(tmp_path / "cache") as cache:
            rows = await cache.ledger.get_many(STAGE, [digest(busy)])
    assert orjson.loads(rows[digest(busy)])["calls"] == 1
