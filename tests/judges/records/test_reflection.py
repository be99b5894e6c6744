"""Text that a page only repeats from its URL is no evidence."""

import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.records.excerpts import PageText, faithful
from judges.records.reflection import LEFT_OUT, without_reflections

CLAIM = "Paris has 10.9 million people"
SLUG = "paris-has-10.9-million-people"
SITE = "https://echo.example"
ONLY_A_REPETITION = "stands on the page only as a repetition of its URL"


@pytest.mark.parametrize(
    ("url", "page"),
    [
        (f"/search?q={quote_plus(CLAIM)}", f"Results for: {CLAIM}\nNo results."),
        (f"/search?q={quote(CLAIM)}", f"You searched for “{CLAIM}”."),
        (f"/search?q={quote(quote(CLAIM))}", f"Results for {CLAIM} (0)"),
        (f"/search?q={quote(quote(quote(CLAIM)))}", f"Results for {CLAIM} (0)"),
        (f"/x?a=1&note={quote(CLAIM)}&b=2", f"Note: {CLAIM}"),
        (f"/x?a=1;note={quote(CLAIM)}", f"Note: {CLAIM}"),
        (f"/x?{quote(CLAIM)}", f"Unknown parameter {CLAIM}"),
        (f"/x?{quote(CLAIM)}=1", f"Unknown parameter {CLAIM}"),
        (f"/x?q={quote('in ' + CLAIM + ' today')}", f"Results for: in {CLAIM} today"),
        (f"/x?q={quote(CLAIM + ' and it has more than any other town')}", f"Results for: {CLAIM}…"),
        (f"/x?q={quote(CLAIM + ' and it has more than any other town')}", f"Search: {CLAIM}\nNo."),
        (f"/x?q={quote('site:a.example ' + CLAIM)}", f"Results for: {CLAIM}\nNone"),
        (f"/x?q={quote(CLAIM.upper())}", f"Results for: {CLAIM}"),
        (f"/x?u={quote(SITE + '/' + SLUG, safe='')}", f"Share: {CLAIM}"),
        (f"/x?u={quote('https://other.example/a?b=' + CLAIM, safe='')}", f"Share b={CLAIM}"),
        (f"/wiki/{CLAIM.replace(' ', '_')}", f"No page named {CLAIM} was found.\nStart it?"),
        (f"/wiki/{quote(CLAIM)}", f"No page named “{CLAIM}” was found."),
        (f"/{SLUG}", f"Not found: {CLAIM}\nGo to the front page."),
        (f"/tag/{SLUG}/", f"Posts tagged {CLAIM}\nNothing here yet."),
        ("/paris/has/10.9-million/people", f"Home\n{CLAIM}\nNothing here."),
        (f"/search/{quote(CLAIM)}", f"{CLAIM}\nParis has had 10.9 thousand million people."),
        (f"/w/index.php?title={quote(CLAIM)}", f"{CLAIM}\nThis page does not exist."),
        (f"/app#{quote(CLAIM)}", f"You are at {CLAIM}"),
        (f"/app#/search?q={quote(CLAIM)}", f"Results for {CLAIM}"),
        (f"/app#!q={quote_plus(CLAIM)}", f"Results for {CLAIM}"),
        (f"/x?q={quote(CLAIM)}", f"{CLAIM} - Search\nResults for: {CLAIM}\nDid you mean: {CLAIM}?"),
        (f"/x?q={quote('Pa' + chr(0x200B) + 'ris has 10.9 million people')}", f"For: {CLAIM}"),
    ],
)
def test_a_claim_written_into_the_url_is_left_out(url: str, page: str) -> None:
    text = without_reflections(page, SITE + url)
    assert CLAIM not in text
    assert LEFT_OUT in text
    finding = faithful(CLAIM, PageText(page).without_reflections(SITE + url))
    assert finding.reason == ONLY_A_REPETITION
    assert finding.final
    assert not finding.number_or_negation


@pytest.mark.parametrize(
    ("url", "page", "excerpt"),
    [
        ("?q=10.9+million", "Results for: 10.9 million\nNothing.", "10.9 million"),
        ("?q=10.9+million", "Results for: 10.9 million\nNothing.", "Results for: 10.9 million"),
        ("?q=巴黎有1090万人口", "搜索结果：巴黎有1090万人口。没有。", "巴黎有1090万人口"),
        (
            "?q=パリの人口は1090万人です",
            "検索：パリの人口は1090万人です\nなし",
            "パリの人口は1090万人です",
        ),
        (
            f"?q={quote('파리의 인구는 1090만 명이다')}",
            "검색: 파리의 인구는 1090만 명이다",
            "파리의 인구는 1090만",
        ),
        (
            f"/{quote('파리의-인구는-1090만-명이다')}",
            "없는 문서: 파리의 인구는 1090만 명이다",
            "인구는 1090만",
        ),
        (
            "?q=the+mayor+was+never+elected",
            "Results: the mayor was never elected",
            "the mayor was never",
        ),
        (
            f"?q={quote('Ｐａｒｉｓ ｈａｓ ｍａｎｙ ｐｅｏｐｌｅ')}",
            "Results: Paris has many people",
            "Paris has many people",
        ),
    ],
)
def test_short_claims_and_other_scripts(url: str, page: str, excerpt: str) -> None:
    own = PageText(page).without_reflections(f"{SITE}/x/{url}")
    assert faithful(excerpt, own).reason == ONLY_A_REPETITION


TOWER = (
    "Tower built in 1903\nThe tower was built in 1903 by Ada Quill. The Eiffel Tower is taller.\n"
    "The council of Overby paid for the tower in 1903, and it has 118 steps."
)


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("/tower-built-in-1903", TOWER),
        ("/2024/05/03/tower-built-in-1903.html", TOWER),
        ("/news/tower_built_in_1903/", TOWER),
        ("/the-tower-was-built-in-1903-by-ada-quill", TOWER),
        ("/wiki/Eiffel_Tower", TOWER),
        ("/wiki/Eiffel%20Tower", TOWER),
        ("/w/index.php?title=Eiffel+Tower", TOWER),
        ("/search?q=eiffel+tower", TOWER),
        ("/search?q=tower+built", TOWER),
        ("/search?q=tower+1903", TOWER),
        ("/search?q=1903", TOWER),
        ("/?id=1903&page=118", TOWER),
        ("/page#tower-built-in-1903", TOWER),
        ("/page#:~:text=The%20tower%20was%20built%20in%201903%20by%20Ada%20Quill", TOWER),
        ("/page#top:~:text=council%20of%20Overby%20paid%20for%20the%20tower", TOWER),
        ("/?title=Tower_built_in_1903", TOWER),
        ("/search?q=what+is+the+council+of+Overby+doing+about+it", TOWER),
        ("/council/of/Overby", TOWER),
        ("", TOWER),
        ("/?utm_source=the&utm_medium=tower&utm_campaign=was", TOWER),
    ],
)
def test_an_honest_url_takes_nothing_from_the_page(url: str, page: str) -> None:
    assert without_reflections(page, SITE + url) == page
    text = PageText(page)
    assert text.without_reflections(SITE + url, SITE) is text
    assert not text.has_reflections


@pytest.mark.parametrize(
    ("url", "excerpt"),
    [
        ("?q=iphone+15", "The iPhone 15 was released on 22 September 2023"),
        ("?q=iphone+15", "It weighs 171 grams, as the iPhone 15 of the year before"),
        ("?q=who+is+the+ceo+of+apple", "Tim Cook is the CEO of Apple"),
    ],
)
def test_a_sentence_that_says_more_stays(url: str, excerpt: str) -> None:
    page = f"Results\n{excerpt}. And more."
    assert without_reflections(page, f"{SITE}/{url}") == page


@pytest.mark.parametrize(
    "url",
    [
        f"https://echo.example?q={quote(CLAIM)}",
        f" https:/\\echo.example?q={quote(CLAIM)}",
        f"echo.example/x?q={quote(CLAIM)}",
        f"{SITE}/x?a=/b&q={quote(CLAIM)}",
        f"{SITE}\\x\\{quote(CLAIM)}",
        f"{SITE}/x?"
        + "&".join(f"k{n}=one+two+three+{n}" for n in range(100))
        + f"&q={quote(CLAIM)}",
        f"{SITE}/x?a={'x' * 20_000}&q={quote(CLAIM)}",
        f"{SITE}/x?q={quote('Paris has Paris has Paris has ' + CLAIM)}",
    ],
)
def test_no_form_of_a_url_hides_a_claim(url: str) -> None:
    page = f"Search\nResults for: {CLAIM}\nNothing."
    assert not PageText(page).without_reflections(url).contains(CLAIM)


def test_both_urls_count() -> None:
    page = PageText(f"Results for: {CLAIM}\nThe tower is open.")
    cited, final = f"{SITE}/go?q={quote(CLAIM)}", f"{SITE}/results"
    for urls in ((cited, final), (final, cited)):
        own = page.without_reflections(*urls)
        assert own.has_reflections
        assert not own.contains(CLAIM)
        assert own.contains("The tower is open")
        assert own.raw == f"Results for: {LEFT_OUT}\nThe tower is open."
    assert page.without_reflections(final) is page


def test_an_echo_and_a_title_are_told_apart_by_the_rest_of_the_page() -> None:
    url = f"{SITE}/the-tower-was-built-in-1903"
    title = "The tower was built in 1903"
    assert LEFT_OUT in without_reflections(f"{title}\nNothing here.", url)
    assert LEFT_OUT in without_reflections(f"{title}\nOur towers were built in stone.", url)
    assert LEFT_OUT in without_reflections(f"{title}\nIn 1903 the king left.", url)
    assert LEFT_OUT in without_reflections(f"{title}\nTower, built on land 11903 or 1903.5.", url)
    for more in ("Its builders began the towers in 1903.", f"{title} by Ada Quill of Overby."):
        assert LEFT_OUT not in without_reflections(f"{title}\n{more}", url)


def test_a_short_claim_is_left_out_if_it_is_half_of_its_sentence() -> None:
    url = f"{SITE}/?q=10.9+million"
    assert LEFT_OUT in without_reflections("All results: 10.9 million.", url)
    assert LEFT_OUT not in without_reflections("Our best results: 10.9 million.", url)
    assert LEFT_OUT not in without_reflections("Results 7: 10.9 million.", url)


def test_a_piece_of_a_query_is_left_out_if_it_is_most_of_its_sentence() -> None:
    url = f"{SITE}/?q={quote('lang:en Ada sold 34 bowls in May last')}"
    assert LEFT_OUT in without_reflections("Ada sold 34 bowls so far.", url)
    assert LEFT_OUT not in without_reflections("Ada sold 34 bowls so far, it seems.", url)


def test_words_of_four_letters_count_as_longer_words() -> None:
    url = f"{SITE}/gold-rush-at-the-mine"
    assert LEFT_OUT in without_reflections("Gold rush at the mine\nIt began at noon.", url)
    assert LEFT_OUT not in without_reflections("Gold rush at the mine\nThe gold mine shut.", url)


def test_repetitions_that_overlap_are_left_out_once() -> None:
    url = f"{SITE}/?a=one+two+three+four&b=three+four+five+six"
    assert without_reflections("x one two three four five six y", url) == f"x {LEFT_OUT} y"


def test_a_slug_in_a_written_url_stays() -> None:
    page = f"Printed from {SITE}/{SLUG} on Monday"
    assert without_reflections(page, f"{SITE}/{SLUG}") == page


def test_a_claim_that_stands_on_the_page_too_is_faithful() -> None:
    page = f"Results for: {CLAIM}\nThe town counted: in 2024 {CLAIM} or more."
    own = PageText(page).without_reflections(f"{SITE}/wiki/{quote(CLAIM)}")
    assert own.contains(CLAIM)


def test_another_fault_has_its_own_reason() -> None:
    own = PageText(f"Results for: {CLAIM}").without_reflections(f"{SITE}/?q={quote(CLAIM)}")
    assert "repetition" not in faithful("Rome has 2.8 million people", own).reason


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_url_and_text(url: str, page: str) -> None:
    assert len(without_reflections(page, f"https://a.example/{url}")) <= max(len(page), 1)


@pytest.mark.parametrize(
    ("url", "unit"),
    [
        ("?q=" + "a+" * 3000, "a "),
        ("?q=" + "a+b+" * 1500, "a b "),
        ("?" + "&".join(f"k{n}=a+b+c+{n}" for n in range(500)), "a b c 7 "),
        ("/" + "a-" * 3000, "a "),
        ("/" + "/".join(["a-b-c-d"] * 500), "a b c d\n"),
        ("?q=" + "%25" * 2500, "% "),
        ("?q=1+2+3+4+5", "1 2 3 4 5 x\n"),
        ("?q=10+million", "10 million, "),
        ("?q=" + quote("巴" * 500), "巴"),
        ("?q=" + "+".join(f"a{n}" for n in range(15_000)), "a 1 "),
        ("?" + "&".join(f"k{n}=a+b+c+{n}" for n in range(8000)), "a b c 7\n"),
    ],
)
def test_a_hostile_url_takes_linear_time(url: str, unit: str) -> None:
    page = unit * (60_000 // len(unit))
    began = time.process_time()
    without_reflections(page, f"{SITE}/{url}")
    assert time.process_time() - began < 3
