"""The formats `url`: which cells are equal (tables.md, "The comparator")."""

import pytest
from cell_cases import check_equal, check_unequal, listed

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
