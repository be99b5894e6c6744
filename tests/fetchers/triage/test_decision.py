"""How much text outweighs which marks."""

from dataclasses import replace
from typing import Any

import pytest

from fetchers.page import State
from fetchers.triage.markers import ENOUGH
from fetchers.triage.signals import Signals
from fetchers.triage.triage import triage


class Body:
    """An extracted HTML page with the given signals."""

    kind = "html"

    def __init__(
        self, words: int | None = None, problem: str = "", seen: int | None = None, **found: Any
    ) -> None:
        read = Signals(**found)
        counted = read.prose + read.legal + read.teasers + read.links + read.chrome
        self.signals = replace(read, seen=counted if seen is None else seen)
        self.words = counted if words is None else words
        self.problem = problem


def state(body: Body, status: int = 200, url: str = "https://site.example/a") -> State:
    return triage(status, {}, url, body)[0]


@pytest.mark.parametrize(
    ("marks", "room", "expected"),
    [
        (["hint:captcha"], 12, "blocked"),
        (["script:captcha"], 12, "blocked"),
        (["hint:captcha", "hint:captcha"], 12, "blocked"),  # hints do not add up
        (["phrase:captcha"], 60, "blocked"),
        (["phrase:captcha", "hint:captcha"], 120, "blocked"),
        (["phrase:captcha", "phrase:access denied"], 120, "blocked"),
        (["phrase:captcha", "phrase:not found"], 60, "blocked"),
        (["headline:not found"], 120, "dead"),
        (["headline:not found", "phrase:not found", "phrase:not found"], 120, "dead"),
        (["word:not found"], 12, "dead"),
        (["word:not found", "word:not found"], 12, "dead"),
        (["word:not found", "hint:not found"], 120, "dead"),
        (["hint:paywall"], 12, "paywall"),
        (["hint:paywall", "hint:paywall"], 60, "paywall"),  # those of a paywall do
        (["phrase:paywall"], 60, "paywall"),
        (["phrase:paywall", "hint:paywall"], 120, "paywall"),
        (["phrase:paywall", "cut:paywall"], 160, "paywall"),
        (["hint:paywall", "hint:paywall", "hint:paywall", "script:paywall"], 160, "paywall"),
        (["headline:JavaScript needed", "phrase:JavaScript needed"], 40, "unrendered"),
    ],
)
def test_marks_decide_beside_so_many_words(marks: list[str], room: int, expected: State) -> None:
    for words, state_of_page in ((0, expected), (room, expected), (room + 1, "ok")):
        assert state(Body(prose=words, marks=tuple(marks))) == state_of_page


@pytest.mark.parametrize(
    ("mark", "expected"),
    [("headline:not found", "dead"), ("phrase:not found", "ok"), ("header:AWS WAF", "blocked")],
)
def test_teasers_do_not_outweigh_a_mark_of_the_whole_page(mark: str, expected: State) -> None:
    assert state(Body(prose=5, teasers=200, marks=(mark,))) == expected


def test_the_heaviest_evidence_names_the_state() -> None:
    two = ("phrase:captcha", "hint:captcha", "headline:not found", "hint:not found")
    assert state(Body(marks=two)) == "dead"
    assert state(Body(marks=(*two, "hint:captcha"))) == "blocked"  # the first state of equals
    word = ("phrase:login", "hint:login", "word:not found", "hint:not found")
    assert state(Body(marks=word)) == "login"


def test_legal_text_outweighs_no_mark() -> None:
    assert state(Body(prose=5, legal=300, marks=("phrase:captcha",))) == "blocked"


def test_a_captcha_outside_a_form_is_a_wall() -> None:
    marks = ("element:captcha widget",)
    assert state(Body(prose=60, marks=marks)) == "blocked"
    assert state(Body(prose=61, marks=marks)) == "ok"
    assert state(Body(prose=12, marks=marks, fields=1)) == "blocked"
    assert state(Body(prose=13, marks=marks, fields=1)) == "ok"
    assert state(Body(prose=5, marks=marks, fields=2)) == "ok"
    assert state(Body(prose=13, marks=("script:captcha widget",))) == "ok"


def test_a_password_is_a_hint() -> None:
    assert state(Body(prose=12, passwords=1)) == "login"
    assert state(Body(prose=13, passwords=1)) == "ok"


def test_words_that_the_signals_miss_are_prose() -> None:
    shell: dict[str, Any] = {"empty_roots": 1, "scripts": 3}
    assert state(Body(words=1_250, **shell)) == "ok"
    assert state(Body(words=150, **shell)) == "ok"
    assert state(Body(words=149, **shell)) == "unrendered"
    assert state(Body(words=250, chrome=101, **shell)) == "unrendered"
    assert state(Body(words=151, seen=1, marks=("headline:not found",))) == "ok"


def test_the_words_of_other_bodies_than_html_are_those_of_the_signals() -> None:
    body = Body(words=300, prose=5, marks=("headline:captcha",))
    body.kind = "text"
    assert state(body) == "blocked"
    body.kind = "html"
    assert state(body) == "ok"


def test_words_that_nobody_sees_are_not_prose() -> None:
    hidden = Body(words=10, prose=300, marks=("headline:captcha",))
    assert state(hidden) == "blocked"


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        ({"prose": 39, "empty_roots": 1}, "unrendered"),
        ({"prose": 40, "empty_roots": 1}, "ok"),
        ({"prose": 13, "legal": 13, "teasers": 13, "empty_roots": 1}, "unrendered"),
        ({"prose": 14, "legal": 13, "teasers": 13, "empty_roots": 1}, "ok"),
        ({"links": 149, "empty_roots": 1}, "unrendered"),
        ({"links": 150, "empty_roots": 1}, "ok"),
        ({"prose": 24, "redirects": True}, "unrendered"),
        ({"prose": 25, "redirects": True}, "ok"),
        ({"prose": 24, "skeletons": 1}, "unrendered"),
        ({"prose": 25, "skeletons": 1}, "ok"),
        ({"prose": 2, "links": 3, "frames": 1}, "unrendered"),
        ({"prose": 3, "links": 3, "frames": 1}, "ok"),
        ({"prose": 2, "links": 3, "scripts": 1}, "unrendered"),
        ({"prose": 3, "links": 3, "scripts": 1}, "ok"),
        ({"prose": 1}, "ok"),
        ({"links": 1}, "ok"),
        ({"chrome": 1}, "ok"),
        ({}, "dead"),
    ],
)
def test_a_page_without_marks(signals: dict[str, Any], expected: State) -> None:
    assert state(Body(**signals)) == expected


@pytest.mark.parametrize(
    ("status", "prose", "expected"),
    [
        (404, ENOUGH, "dead"),
        (410, ENOUGH, "dead"),
        (403, ENOUGH, "ok"),
        (403, 161, "ok"),
        (403, 120, "blocked"),
        (403, 121, "ok"),
        (400, 120, "dead"),
        (401, 120, "login"),
        (402, 120, "paywall"),
        (402, 121, "ok"),
        (406, 20, "blocked"),
        (407, 20, "blocked"),
        (418, 20, "blocked"),
        (423, 20, "blocked"),
        (425, 20, "blocked"),
        (430, 20, "blocked"),
        (444, 20, "blocked"),
        (451, 20, "blocked"),
        (999, 20, "blocked"),
        (429, 20, "blocked"),
        (429, 0, "unreachable"),
        (499, 20, "dead"),
        (399, 20, "ok"),
        (500, ENOUGH, "unreachable"),
        (599, 20, "unreachable"),
        (600, 20, "dead"),
    ],
)
def test_the_status_beside_so_much_prose(status: int, prose: int, expected: State) -> None:
    assert state(Body(prose=prose), status) == expected


def test_a_5xx_is_unreachable_unless_it_is_a_wall() -> None:
    assert state(Body(prose=20, marks=("headline:captcha",)), 503) == "blocked"
    assert state(Body(prose=20, marks=("headline:not found",)), 503) == "unreachable"
    assert state(Body(prose=20, marks=("headline:captcha",)), 429) == "blocked"


def test_a_problem_is_the_reason_if_no_mark_decides() -> None:
    body = Body(problem="empty")
    assert triage(200, {}, "", body) == ("dead", "empty")
    assert state(Body(problem="empty"), 403) == "blocked"
    assert state(Body(problem="empty"), url="https://site.example/login") == "login"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://site.example/login", "login"),
        ("https://site.example/Login/?next=/a", "login"),
        ("https://site.example/a/login/b", "login"),
        ("https://site.example/logins", "ok"),
        ("https://site.example/?to=/login", "ok"),
        ("https://hugedomains.com/", "dead"),
        ("https://www.hugedomains.com/x", "dead"),
        ("https://nothugedomains.com/", "ok"),
        ("https://hugedomains.com.example/", "ok"),
    ],
)
def test_the_final_url_is_a_hint(url: str, expected: State) -> None:
    assert state(Body(prose=12), url=url) == expected
    assert state(Body(prose=13), url=url) == "ok"
