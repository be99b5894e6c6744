"""How titles, headings and paragraphs are searched for marks."""

import pytest

from fetchers.triage.markers import (
    MARKS,
    cut_marks,
    fallback_marks,
    has_legal_term,
    headline_mark,
    is_consent_box,
    is_error_report,
    is_legal,
    paragraph_marks,
    plain,
    title_marks,
    words,
)


def test_the_plain_form_of_a_text() -> None:
    assert plain("  “Don’t”\n STOP… ＡＢＣ ") == '"don\'t" stop... abc'


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("one two", 2), ("東京は首都", 3), ("五月 六日", 4), ("서울 특별시", 2)],
)
def test_words_are_counted(text: str, count: int) -> None:
    assert words(text) == count


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("page not found", "headline:not found"),
        ("sorry, page not found!", "headline:not found"),
        ("page not found: how we lost our archive", ""),
        ("login", "word:login"),
        ("login history", ""),
        ("the last crossing", ""),
        ("example.org is for sale", "headline:parked domain"),
    ],
)
def test_the_mark_of_a_heading(text: str, mark: str) -> None:
    assert headline_mark(text) == mark


@pytest.mark.parametrize(
    ("title", "marks"),
    [
        ("Page not found", {"headline:not found"}),
        ("Page not found - Ness Post", {"headline:not found"}),
        ("Page not found | News of the island of Ness", {"headline:not found"}),
        ("Page not found - News of the island of Ness", {"hint:not found"}),
        ("Page not found: how we lost our archive", set()),
        ("404: Page not found", {"headline:not found", "word:not found"}),
        ("The last crossing", set()),
        ("", set()),
    ],
)
def test_the_marks_of_a_title(title: str, marks: set[str]) -> None:
    assert set(title_marks(title).values()) == marks


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("please verify you are human", {"phrase:captcha"}),
        ("your access to the archive has been denied", {"phrase:access denied"}),
        ("your access was denied 4 times", set()),
        ("in the film, a machine asks its maker to verify you are human, and he refuses until the "
         "rain stops and both of them go home on foot", set()),
        ("sign in", {"hint:login"}),
        ("please log in to comment on this story", {"phrase:side box"}),
        ("the last crossing", set()),
    ],
)  # fmt: skip
def test_the_marks_of_a_paragraph(text: str, marks: set[str]) -> None:
    found = paragraph_marks(text)
    assert marks <= set(found)
    assert bool(found) == bool(marks)


def test_a_text_for_browsers_without_scripts_gives_hints() -> None:
    assert "hint:JavaScript needed" in set(fallback_marks("JavaScript is required"))


def test_only_the_request_of_a_paywall_stops_a_text() -> None:
    assert cut_marks(["phrase:paywall", "hint:paywall", "phrase:login"]) == ["cut:paywall"]


def test_a_legal_text_has_two_terms_of_the_law() -> None:
    assert is_legal("By using this site you accept our Terms of Use.")
    assert not is_legal("The copyright of the song was sold in 1958. The copyright ended in 2008.")
    assert has_legal_term("Privacy Policy | Ness Post")
    assert not has_legal_term("The last crossing")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"error": "x"}', True),
        (' {"message": "Not Found", "code": 5}', True),
        ('{"message": "hello", "author": "x"}', False),
        ('{"title": "x"}', False),
        ('["error"]', False),
        ('{"error"', False),
        ('{"error": "' + "x" * 4_000 + '"}', False),
    ],
)
def test_a_json_body_that_reports_an_error(text: str, expected: bool) -> None:
    assert is_error_report(text) is expected


def test_the_box_of_a_consent_tool() -> None:
    assert is_consent_box("banner onetrust-banner-sdk")
    assert not is_consent_box("paywall g-recaptcha login-form")
    assert not is_consent_box(" ")


def test_an_english_phrase_stands_between_word_boundaries() -> None:
    assert paragraph_marks("access denied!")
    assert "phrase:captcha" not in paragraph_marks("verify you are humane")
    assert "phrase:captcha" not in paragraph_marks("xverify you are human")
    assert "phrase:captcha" in paragraph_marks("a verify you are human x")


def test_the_marks_are_complete() -> None:
    assert len({mark.name for mark in MARKS}) == len(MARKS)
    for mark in MARKS:
        assert any(mark.texts.values()) or mark.pair
        for place, texts in mark.texts.items():
            assert len(set(texts)) == len(texts), f"{mark.name}: {place} has a text twice"
            assert "" not in texts
