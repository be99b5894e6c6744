"""The formats `url`: which cells are equal (tables.md, "The comparator")."""

import pytest
from cell_cases import check_equal, check_unequal, listed

from judges.values.formats.urls import UrlFormat

EQUAL = {
    "url": [
        ("https://example.org/A", value)
        for value in (
            "http://example.org/A", "https://www.example.org/A/", "example.org/A",
            "https://EXAMPLE.org/A#top", "https://example.org/A?utm_source=x", "www.example.org/A",
            "[site](https://example.org/A)", "<https://example.org/A>", "https://example.org:443/A",
            "https://example.org/%41", "https://example.org/A.", "`https://example.org/A`",
            "https://example.org/A (공식)",
        )
    ]
    + [
        ("https://ko.wikipedia.org/wiki/서울", "https://ko.wikipedia.org/wiki/%EC%84%9C%EC%9A%B8"),
        ("https://한국.kr", "https://xn--3e0b707e.kr/"),
        ("https://example.org/a_(b)", "http://example.org/a_(b)"),
    ],
}  # fmt: skip

UNEQUAL = {
    "url": [
        ("https://example.org/A", value)
        for value in (
            "https://example.org/a", "https://example.org/A/B", "https://example.com/A",
            "https://example.org", "https://example.org/A?id=2", "https://sub.example.org/A",
            "없음", "https://example.org/A https://example.org/B",
        )
    ],
}  # fmt: skip


@pytest.mark.parametrize(("form", "gold", "pred"), listed(EQUAL))
def test_equal(form, gold, pred):
    check_equal(form, gold, pred)


@pytest.mark.parametrize(("form", "gold", "pred"), listed(UNEQUAL))
def test_unequal(form, gold, pred):
    check_unequal(form, gold, pred)


URL = UrlFormat()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("https://example.org/A", "example.org/A"),
        ("ftp://example.org/A", "example.org/A"),
        ("example.org", "example.org"),
        ("example.org.", "example.org"),
        ("example.org (official)", "example.org"),
        ("example", None),
        ("see example.org", None),
        ("see https://example.org/A, please", "example.org/A"),
        ("(https://example.org/A)", "example.org/A"),
        ("https://example.org/a?b=c&utm_source=x#d", "example.org/a?b=c"),
        ("https://example.org/a/?q=%41", "example.org/a?q=A"),
        ("https://example.org/a https://www.example.org/a/", "example.org/a"),
        ("https://example.org/a https://example.org/b", None),
        ("[a](https://example.org/a) and [b](https://example.org/b)", None),
        ("[a](https://example.org/a) https://example.org/b", "example.org/a"),
        ('[a](https://example.org/a "title")', "example.org/a"),
        ("[a](example.org/a_(b))", "example.org/a_(b)"),
        ("[a](none)", None),
        ("", None),
        ("https://example.org/" + "a" * 3980, "example.org/" + "a" * 3980),
        ("https://example.org/" + "a" * 3981, None),
    ],
)
def test_the_value_is_the_one_url_of_a_cell(text, value):
    assert URL.read(text).value == value


@pytest.mark.parametrize(
    ("gold", "pred", "why"),
    [
        ("https://example.org/A", "<https://example.org/A>", "the same text"),
        ("https://example.org/A", "example.org/A", "the same URL"),
        ("https://example.org/A", "none", "'none' is not a URL: no URL"),
        (
            "https://example.org/A",
            "http://a.org http://b.org",
            "'http://a.org http://b.org' is not a URL: more than one URL",
        ),
        (
            "https://example.org/A",
            "https://example.org/B",
            "'https://example.org/B' is not the gold 'https://example.org/A'",
        ),
    ],
)
def test_reasons(gold, pred, why):
    assert URL.compare(URL.read(gold), URL.read(pred)).why == why
