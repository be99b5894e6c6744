"""The formats `date`: which cells are equal (tables.md, "The comparator")."""

import pytest
from cell_cases import check_equal, check_unequal, listed

from judges.values.formats.dates import DateFormat

EQUAL = {
    "date:YYYY-MM-DD": [
        ("2024-03-01", value)
        for value in (
            "2024-3-1", "2024.03.01", "2024. 3. 1", "2024.3.1.", "2024/03/01", "20240301",
            "2024-03-01 09:30", "2024-03-01T09:30:00Z", "2024년 3월 1일", "2024년3월1일",
            "2024年3月1日", "March 1, 2024", "1 March 2024", "Mar. 1, 2024", "March 1st, 2024",
            "Friday, March 1, 2024", "1st of March 2024", "24.03.01", "24. 3. 1.", "'24.3.1",
            "약 2024년 3월 1일", "2024-03-01 (금)", "2024-03-01(추정)", "2024년 3월 1일 금요일",
            "2024년 3월 1일 개봉", "2024. 3. 1. (음력 1. 21.)", "2024-03-01[3]",
            "**2024-03-01**",            "2024년 3월 1일 오후 3시", "2024년 3월 1일 기준",
        )
    ]
    + [("1946-09-06", "46.09.06"), ("0918-07-25", "918년 7월 25일")],
    "date:YYYY-MM": [
        ("2024-03", value)
        for value in ("2024년 3월", "2024.03", "2024/3", "March 2024", "2024-03-15", "2024.3.")
    ],
    "date:YYYY": [
        ("1905", value)
        for value in ("1905년", "1905-05-05", "약 1905년",
            "1905년 (광무 9년)", "1905年", "May 1905")
    ]
    + [("918", "0918"), ("918", "918년")],
}  # fmt: skip

UNEQUAL = {
    "date:YYYY-MM-DD": [
        ("2024-03-01", value)
        for value in (
            "2024-03-02", "2024-03", "2024", "2024년 3월", "03/01/2024", "01/03/2024", "미상", "",
            "2024-03-01 ~ 2024-03-05", "2024-03-01 ~", "2024년 3월 1일부터", "2024년 3월 1일 이후",
            "2024-03-01 or 2024-03-02", "2024-03-01 또는 2024-03-02", "March 2024", "24.03.02",
            "before 2024-03-01", "since March 1, 2024", "2024-13-01", "2024. 3. 1. - 3. 5.",
            "음력 2024년 3월 1일", "2024년 3월 1일 이전",
        )
    ]
    + [("2024-02-29", "2024년 2월 30일"), ("2023-02-28", "2023-02-29"), ("1824-03-01", "24.03.01")],
    "date:YYYY-MM": [("2024-03", "2024"), ("2024-03", "2024-04-01"), ("2024-03", "2024-03 ~ 04")],
    "date:YYYY": [
        ("1905", "1906"), ("1905", "1905~1910"), ("57", "기원전 57년"), ("1905", "1905년 이후"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("form", "gold", "pred"), listed(EQUAL))
def test_equal(form, gold, pred):
    check_equal(form, gold, pred)


@pytest.mark.parametrize(("form", "gold", "pred"), listed(UNEQUAL))
def test_unequal(form, gold, pred):
    check_unequal(form, gold, pred)


DAY, MONTH, YEAR = DateFormat(3), DateFormat(2), DateFormat(1)


@pytest.mark.parametrize(
    ("format", "text", "value"),
    [
        (DAY, "2024-03-01", {(2024, 3, 1)}),
        (DAY, "24.03.01", {(1924, 3, 1), (2024, 3, 1)}),
        (DAY, "24년 3월 1일", {(1924, 3, 1), (2024, 3, 1)}),
        (DAY, "00.02.29", {(2000, 2, 29)}),
        (MONTH, "2024-03-01", {(2024, 3)}),
        (YEAR, "2024-03-01", {(2024,)}),
        (YEAR, "57년", {(57,), (1957,), (2057,)}),
        (YEAR, "0057", {(57,)}),
        (YEAR, "0918", {(918,)}),
        (YEAR, "100년", {(100,)}),
        (DAY, "918-07-25", {(918, 7, 25)}),
        (MONTH, "918년 7월", {(918, 7)}),
        (DAY, "918년 13월 1일", None),
        (YEAR, "918년 13월", None),
        (YEAR, "0년", {(1900,), (2000,)}),
        (DAY, "99.13.01", None),
        (YEAR, "918년 2월 30일", None),
    ],
)
def test_the_value_is_the_date_in_each_century_it_may_be_in(format, text, value):
    assert format.read(text).value == (None if value is None else frozenset(value))


@pytest.mark.parametrize(
    ("format", "gold", "pred", "why"),
    [
        (DAY, "2024-03-01", "2024-03-01", "the same text"),
        (DAY, "2024-03-01", "2024. 3. 1", "the same date"),
        (DAY, "2024-03-01", "2024. 3. 2", "2024-03-02 is not the gold 2024-03-01"),
        (MONTH, "2024-03", "2024. 4. 2", "2024-04 is not the gold 2024-03"),
        (YEAR, "918", "917", "917 is not the gold 918"),
        (DAY, "2014-03-01", "24.3.1", "2024-03-01 is not the gold 2014-03-01"),
        (DAY, "2024-03-01", "2024년 3월",
            "'2024년 3월' is not a date: less precise than YYYY-MM-DD"),
        (MONTH, "2024-03", "2024년", "'2024년' is not a date: less precise than YYYY-MM"),
        (DAY, "2024-03-01", "3월", "'3월' is not a date: "
            "no date, an impossible date, or more than one date"),
        (DAY, "?", "2024-03-01", "the gold '?' is not a date: "
            "no date, an impossible date, or more than one date"),
    ],
)  # fmt: skip
def test_reasons(format, gold, pred, why):
    assert format.compare(format.read(gold), format.read(pred)).why == why


def test_a_year_of_two_digits_shares_an_alias_with_either_century():
    short = DAY.aliases(DAY.read("24.03.01"))
    assert short & DAY.aliases(DAY.read("2024-03-01"))
    assert short & DAY.aliases(DAY.read("1924-03-01"))
    assert not short & DAY.aliases(DAY.read("1824-03-01"))
    assert DAY.aliases(DAY.read("unknown")) == {"unknown"}


def test_a_long_text_is_not_a_date():
    assert DAY.read(f"2024-03-01 ({'n' * 187})").value == {(2024, 3, 1)}
    assert DAY.read(f"2024-03-01 ({'n' * 188})").value is None


@pytest.mark.parametrize(
    "time", ["9:30", "9:30 pm", "9:30:15", "오후 3시", "15시 30분", "9:30+09:00"]
)
def test_a_time_does_not_count(time):
    assert DAY.read(f"2024-03-01 {time}").value == {(2024, 3, 1)}
    assert DAY.read(f"2024년 3월 1일 {time}").value == {(2024, 3, 1)}


@pytest.mark.parametrize("note", ["(a)", "[1]", "(a (b) c)", "((((a))))"])
def test_notes_do_not_count(note):
    assert DAY.read(f"2024-03-01 {note}").value == {(2024, 3, 1)}


def test_a_date_in_parentheses_is_a_date():
    assert DAY.read("(2024-03-01)").value == {(2024, 3, 1)}
    assert DAY.read("[2024-03-01]").value == {(2024, 3, 1)}
