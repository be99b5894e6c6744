import time
from datetime import date

import pytest

from judges.text.dates import PartialDate, find_dates, parse_date

DAY = PartialDate(2025, 3, 1)
MONTH = PartialDate(2025, 3)
YEAR = PartialDate(2025)


@pytest.mark.parametrize(
    "text",
    [
        "2025-03-01",
        "2025-3-1",
        "2025-03-01T23:59:59.123Z",
        "2025-03-01 10:00 UTC",
        "2025.03.01.",
        "2025. 3. 1.",
        "2025/03/01",
        "20250301",
        "01.03.2025",
        "1. 3. 2025",
        "March 1, 2025",
        "MARCH 1 2025",
        "Mar. 1st, 2025",
        "1st of March 2025",
        "1 March 2025",
        "01-Mar-2025",
        "2025-Mar-01",
        "Saturday, March 1, 2025",
        "Sat, 01 Mar 2025 10:11:12 GMT",
        "March 1, 2025 at 9:05 a.m.",
        "2025년 3월 1일",
        "2025년 03월 01일 (토)",
        "2025년3월1일 토요일",
        "2025年3月1日",
        "2025年3月1日(土)",
        "２０２５年３月１日",
        "1. März 2025",
        "1. Marz 2025",
        "1. ma\u0308rz 2025",
        "Samstag, 1. März 2025",
        "1er mars 2025",
        "samedi 1er mars 2025",
        "1 de marzo de 2025",
        "1º de março de 2025",
        "1 marzo 2025",
        "1 maart 2025",
        "1 марта 2025",
        "  1 March 2025 \n",
    ],
)
def test_a_day_in_many_forms(text: str) -> None:
    assert parse_date(text) == DAY
    assert list(find_dates(f"Published {text} by the editors")) == [DAY]


@pytest.mark.parametrize(
    "text",
    ["2025-03", "March 2025", "Mar. 2025", "Mar 2025", "March, 2025", "March of 2025",
     "2025년 3월", "2025年3月", "März 2025", "mars 2025", "marzo de 2025", "março de 2025"],
)  # fmt: skip
def test_a_month(text: str) -> None:
    assert parse_date(text) == MONTH
    assert list(find_dates(f"As of {text} it was open")) == [MONTH]


@pytest.mark.parametrize("text", ["2025.03", "2025.3.", "2025/03", "03/2025", "abr. 2025"])
def test_a_month_in_numbers_is_read_only_as_a_whole_value(text: str) -> None:
    found = parse_date(text)
    assert found is not None
    assert found.format("YYYY-MM") in ("2025-03", "2025-04")
    assert list(find_dates(f"Nr. {text} of them")) == []


def test_a_bare_year_is_a_date_only_as_a_whole_value() -> None:
    assert parse_date("2025") == parse_date("2025년") == parse_date("2025年") == YEAR
    assert list(find_dates("It has 2025 members")) == []
    assert list(find_dates("2025년에 생겼다")) == [YEAR]


def test_the_order_of_a_slashed_date_is_not_guessed() -> None:
    assert parse_date("25/12/2026") == parse_date("12/25/2026") == PartialDate(2026, 12, 25)
    assert parse_date("05/05/2026") == PartialDate(2026, 5, 5)
    assert parse_date("03/04/2026") == parse_date("03-04-2026") == PartialDate(2026)


@pytest.mark.parametrize(
    "text",
    ["2025-02-30", "2025-13-01", "20251301", "31 April 2025", "13/13/2025", "0000-01-01",
     "2025년 2월 30일", "32.01.2025", "2025-00-10"],
)  # fmt: skip
def test_impossible_dates_are_not_read(text: str) -> None:
    assert parse_date(text) is None
    assert list(find_dates(f"on {text} at noon")) == []


@pytest.mark.parametrize(
    "text",
    ["", "March", "5", "May the 4th", "Q1 2025", "spring 2025", "March 2025 – April 2025",
     "1-5 March 2025", "2025-03-01/2025-03-05", "2024-25", "2025-03-01 and more", "25.03.01",
     "v2025.3.1", "tomorrow", "\x00", "\ud800", "1 March 2025" + " " * 100],
)  # fmt: skip
def test_texts_that_are_not_dates(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "10.2025.3.1.5",
        "CVE12025-03-019",
        "call 010-2025-03-01",
        "id 1202503011",
        "x20250301",
        "sold out 2025, set 2025, next gen 2025",
        "marching 1, 2025",
        "remarch 2025",
        "March 1, 20256",
    ],
)
def test_numbers_and_words_in_a_text_that_are_not_dates(text: str) -> None:
    assert list(find_dates(text)) == []


def test_dates_of_a_text_come_in_its_order() -> None:
    text = (
        "Founded 3 May 2001 (see https://x.example/2002/03/04/story); 2003.05.06판, March\n7, 2004"
    )
    assert list(find_dates(text)) == [
        PartialDate(2001, 5, 3),
        PartialDate(2002, 3, 4),
        PartialDate(2003, 5, 6),
        PartialDate(2004, 3, 7),
    ]


def test_format_removes_parts_and_never_adds_them() -> None:
    assert DAY.format("YYYY-MM-DD") == "2025-03-01"
    assert DAY.format("YYYY-MM") == MONTH.format("YYYY-MM") == "2025-03"
    assert DAY.format("YYYY") == YEAR.format("YYYY") == "2025"
    assert MONTH.format("YYYY-MM-DD") is None
    assert YEAR.format("YYYY-MM") is None


def test_the_whole_date_must_lie_within() -> None:
    first, last = date(2025, 2, 15), date(2025, 4, 15)
    assert MONTH.within(first, last)
    assert PartialDate(2025, 2, 15).within(first, last)
    assert PartialDate(2025, 4, 15).within(first, last)
    assert not PartialDate(2025, 2).within(first, last)
    assert not PartialDate(2025, 4).within(first, last)
    assert not YEAR.within(first, last)
    assert PartialDate(2024, 2).within(date(2024, 2, 1), date(2024, 2, 29))
    assert YEAR.within(date(2025, 1, 1), date(2025, 12, 31))


@pytest.mark.parametrize(
    "piece", [" ", "1", "1 ", "2025-", "march ", "march 1, ", " de", "─", "\u0301\u0323", "2025年 "]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    start = time.perf_counter()
    assert all(found == YEAR for found in find_dates(piece * (500_000 // len(piece))))
    assert time.perf_counter() - start < 3
