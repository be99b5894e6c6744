"""The numbers and marks that triage reads of a page."""

import pytest

from fetchers.reading.html import parse
from fetchers.triage.reader import read_signals
from fetchers.triage.signals import Signals

LEGAL = "By using this website you agree to our Terms of Service."  # 11 words


def text(count: int, word: str = "ferry") -> str:
    return " ".join([word] * count)


def signals(body: str, title: str = "", head: str = "") -> Signals:
    return read_signals(parse(f"<head>{head}</head><body>{body}</body>"), "", title)


def counted(body: str) -> dict[str, int]:
    found = signals(body)
    numbers = {
        "prose": found.prose, "legal": found.legal, "teasers": found.teasers,
        "links": found.links, "chrome": found.chrome,
    }  # fmt: skip
    assert found.seen == sum(numbers.values())
    return {name: number for name, number in numbers.items() if number}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", {}),
        (f"<p>{text(7)}</p>", {"prose": 7}),
        (f"<p>{text(7)} <a href=/a>two words</a></p>", {"prose": 7, "links": 2}),
        (f"<nav>{text(5)}</nav><p>{text(7)}</p>", {"prose": 7, "chrome": 5}),
        (f"<header>{text(5)}</header><main>{text(7)}</main>", {"prose": 7, "chrome": 5}),
        (f"<article><header>{text(5)}</header>{text(7)}</article>", {"prose": 12}),
        (f"<footer>{text(5)} <a href=/a>two words</a></footer>", {"chrome": 7}),
        (f"<button>{text(5)}</button><aside>{text(4)}</aside>", {"chrome": 9}),
        (f"<div hidden>{text(5)}</div><script>{text(5)}</script>", {}),
        (f"<noscript>{text(5)}</noscript>", {}),
        (f"<p>{LEGAL}</p><p>{text(7)}</p>", {"prose": 7, "legal": 11}),
        ("<p>The liability of a warranty is in dispute.</p>", {"legal": 8}),
        ("<p>The liability of a warranty is disputed.</p>", {"prose": 7}),
    ],
)
def test_words_are_counted_by_what_they_are(body: str, expected: dict[str, int]) -> None:
    assert counted(body) == expected


def test_a_paragraph_that_says_what_a_mark_says_is_not_prose() -> None:
    found = signals(f"<p>{text(30)}</p><p>Please verify you are human.</p>")
    assert (found.prose, found.seen) == (30, 35)
    assert "phrase:captcha" in found.marks


def test_legal_text_is_prose_on_a_page_about_it() -> None:
    body = f"<h1>Terms</h1><p>{LEGAL}</p>"
    assert (signals(body).prose, signals(body).legal) == (1, 11)
    assert (signals(body, "Terms of Service").prose, signals(body, "Terms of Service").legal) == (
        12,
        0,
    )
    headed = signals(f"<h1>Privacy policy</h1><h2>Ferries</h2><p>{LEGAL}</p>")
    assert (headed.prose, headed.legal) == (12, 0)
    second = signals(f"<h2>Ferries</h2><h1>Privacy policy</h1><p>{LEGAL}</p>")
    assert second.legal == 11


def card(length: int, byline: str = "", title: str = "A new ferry") -> str:
    return f"<div><h3><a href=/n>{title}</a></h3>{byline}<p>{text(length)}</p></div>"


@pytest.mark.parametrize(
    ("body", "prose", "teasers"),
    [
        (card(10) * 3, 0, 30),
        (card(10) * 2, 20, 0),  # two are not a list
        (card(40) * 3, 0, 120),
        (card(41) * 3, 123, 0),
        (card(10, byline="<p>12 May</p>") * 3, 0, 36),
        (card(10, byline=f"<p>{text(6)}</p>") * 3, 0, 48),
        (card(10, byline=f"<p>{text(7)}</p>") * 3, 30, 21),
        (card(10, title="Ferries") * 3, 30, 0),  # one word is not a title
        (f"<ul>{f'<li><a href=/n>A new ferry</a> {text(10)}</li>' * 3}</ul>", 0, 30),
        (f"<ul>{f'<li>{text(10)} <a href=/n>A new ferry</a></li>' * 3}</ul>", 30, 0),
        (f"{card(10) * 3}<p>{text(50)}</p>", 50, 30),
    ],
)
def test_texts_under_linked_titles_are_teasers(body: str, prose: int, teasers: int) -> None:
    found = signals(body)
    assert (found.prose, found.teasers) == (prose, teasers)


@pytest.mark.parametrize(
    ("tag", "least"),
    [("nav", 150), ("header", 150), ("aside", 150), ("label", 150), ("footer", 400)],
)
def test_much_running_text_in_a_wrong_element_is_prose(tag: str, least: int) -> None:
    paragraphs = f"<p>{text(25)}</p>" * (least // 25)
    found = signals(f"<{tag}>{paragraphs}</{tag}>")
    assert (found.prose, found.chrome) == (least, 0)
    fewer = signals(f"<{tag}>{paragraphs[:-10]}</p></{tag}>")
    assert (fewer.prose, fewer.chrome) == (0, least - 1)


def test_short_paragraphs_and_legal_text_in_a_wrong_element_are_not_prose() -> None:
    assert signals(f"<nav>{f'<p>{text(19)}</p>' * 20}</nav>").prose == 0
    assert signals(f"<nav>{f'<p>{text(20)}</p>' * 8}</nav>").prose == 160
    assert signals(f"<nav>{f'<p>{LEGAL} {text(20)}</p>' * 20}</nav>").prose == 0


def test_much_text_in_one_link_is_prose() -> None:
    assert signals(f"<a href=/a><p>{text(100)}</p><p>{text(50)}</p></a>").prose == 150
    assert signals(f"<a href=/a>{text(149)}</a>").prose == 0
    assert signals(f"<a href=/a>{text(100)}</a><a href=/b>{text(100)}</a>").prose == 0
    assert signals(f"<a href='#'>{text(200)}</a>").prose == 0
    assert signals(f"<a href='javascript:void(0)'>{text(200)}</a>").prose == 0
    assert signals(f"<a name=top>{text(20)}</a>").prose == 20


def test_reading_stops_when_there_is_enough_prose() -> None:
    found = signals(f"<p>{text(400)}</p><p>{text(50)}</p><input type=password>")
    assert (found.prose, found.passwords, found.marks) == (400, 0, ())
    less = signals(f"<p>{text(399)}</p><p>{text(50)}</p><input type=password>")
    assert (less.prose, less.passwords) == (449, 0)
    assert signals(f"<p>{text(399)}</p><input type=password>").passwords == 1


@pytest.mark.parametrize(
    ("after", "stops"), [(0, True), (39, True), (40, False)]
)  # words of prose after the request
def test_a_request_stops_the_text_if_little_follows(after: int, stops: bool) -> None:
    body = f"<p>{text(90)}</p><p>Subscribe to continue reading.</p><p>{text(after)}</p>"
    assert ("cut:paywall" in signals(body).marks) is stops


def test_a_request_that_is_only_a_link_is_a_hint() -> None:
    assert "phrase:captcha" in signals("<p>Please verify you are human</p>").marks
    linked = signals("<p><a href=/v>Please verify you are human</a></p>").marks
    assert "hint:captcha" in linked
    assert "phrase:captcha" not in linked


def test_the_title_and_four_headings_are_headlines() -> None:
    assert signals("", "Page not found").marks == ("headline:not found",)
    found = signals("<h2>Access denied</h2>").marks
    assert "headline:access denied" in found
    assert "headline:not found" not in signals("<h3><a href=/>Page not found</a></h3>").marks
    fifth = signals(f"{'<h2>Ferry</h2>' * 4}<h2>Page not found</h2>").marks
    assert "headline:not found" not in fifth
    fourth = signals(f"{'<h2>Ferry</h2>' * 3}<h2>Page not found</h2>").marks
    assert "headline:not found" in fourth


def test_a_mark_counts_three_times_at_most() -> None:
    body = "<p>Please verify you are human.</p>" * 5
    assert signals(body).marks.count("phrase:captcha") == 3


def test_marks_in_scripts_addresses_and_names() -> None:
    body = (
        "<script src='https://www.google.com/recaptcha/api.js'></script>"
        "<form action='/errors/validateCaptcha'></form><div class='G-Recaptcha'></div>"
    )
    assert {"script:captcha widget", "element:captcha widget"} <= set(signals(body).marks)
    badge = signals("<div class='grecaptcha-badge'></div>")
    assert badge.marks == ()


@pytest.mark.parametrize(
    ("body", "name", "count"),
    [
        ("<script src=a.js></script><script>x</script>", "scripts", 2),
        ("<script type='application/ld+json'>{}</script>", "scripts", 0),
        ("<input><input type=email><textarea></textarea><select></select>", "fields", 4),
        ("<input type=hidden><input type=submit><input type=PASSWORD>", "fields", 0),
        ("<input type=hidden><input type=submit><input type=PASSWORD>", "passwords", 1),
        ("<div id=root></div>", "empty_roots", 1),
        ("<div id=root>Loading, please wait</div>", "empty_roots", 1),
        ("<div id=root>The ferry sails tonight</div>", "empty_roots", 0),
        (f"<p>{text(9)}</p><div id=root><nav>Home</nav></div>", "empty_roots", 1),
        ("<div class=skeleton></div><p class='line spinner'></p>", "skeletons", 2),
        ("<iframe src=/a></iframe><form action=/b></form>", "frames", 1),
    ],
)
def test_things_on_a_page_are_counted(body: str, name: str, count: int) -> None:
    assert getattr(signals(body), name) == count


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<script>location = '/b'</script>", True),
        ("<script>window.location.href='/b'</script>", True),
        ("<script>location.replace('/b')</script>", True),
        ("<script>if (location == '/b') x()</script>", False),
        ("<script type='application/json'>location = '/b'</script>", False),
        ("<meta http-equiv=Refresh content='0; url=/b'>", True),
        ("<meta http-equiv=refresh content='5'>", True),
        ("<meta http-equiv=refresh content='300'>", False),
        ("<meta name=refresh content='0; url=/b'>", False),
    ],
)
def test_a_page_that_leads_elsewhere(head: str, expected: bool) -> None:
    assert signals("<p>Moved</p>", head=head).redirects is expected


def test_a_body_that_is_not_html_is_read_by_lines() -> None:
    found = read_signals(None, f"Not found\n{text(30)}\n", "")
    assert found.prose == 30
    assert "headline:not found" in found.marks or "word:not found" in found.marks
    late = read_signals(None, f"{text(5)}\n{text(5)}\n404 page not found\n{text(30)}", "")
    assert "headline:not found" not in late.marks
    assert read_signals(None, '{"error": "x"}', "").marks
