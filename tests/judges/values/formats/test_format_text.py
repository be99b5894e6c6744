"""The formats `text`: which cells are equal (tables.md, "The comparator")."""

import time

import pytest
from cell_cases import check_equal, check_unequal, listed

from judges.values.formats.text import (
    TextFormat,
    is_blank,
    one_line,
    shortened,
    shown_text,
    unspaced,
)

EQUAL = {
    "text": [
        ("Tom & Jerry", "Tom &amp; Jerry"),
        ("ＡＢＣ", "abc"),
        ("Gone  with\tthe wind", "gone with the wind"),
        ("강한 바람", "**강한 바람**"),
        ("강한 바람", "`강한 바람`"),
        ("강한 바람", "[강한 바람](https://example.org/wind)"),
        ("강한 바람", "강한<br>바람"),
        ("강한 바람", "강한 바람[1]"),
        ("강한 바람", "강한 바람[주 1]"),
        ("강한 바람", "강한 바람†"),
        ("강한 바람", "“강한 바람”"),
        ("훈민정음", "《훈민정음》"),
        ("훈민정음", "『훈민정음』"),
        ("rock 'n' roll", "rock ‘n’ roll"),
        ("Paris–Roubaix", "Paris-Roubaix"),
        ("It ended", "It ended."),
        ("終わった", "終わった。"),
        ("서울특별시 강남구", "서울특별시, 강남구"),
        ("a new hope", "A new hope!"),
        ("전북·전남", "전북ㆍ전남"),
        ("1,000 visitors", "1000 visitors"),
        ("up to 5", "up to: 5"),
    ],
}  # fmt: skip

UNEQUAL = {
    "text": [
        ("한국 최초의 항공사", "최초의 항공사"),
        ("1.5", "15"),
        ("-5", "5"),
        ("10:30", "1030"),
        ("10²", "102"),
        ("C++", "C"),
        ("3 4", "34"),
        ("a (b)", "a"),
        ("에어부산 (Air Busan)", "에어부산"),
        ("abc", ""),
        ("≥5", "5"),
        ("5 ± 2", "5 2"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("form", "gold", "pred"), listed(EQUAL))
def test_equal(form, gold, pred):
    check_equal(form, gold, pred)


@pytest.mark.parametrize(("form", "gold", "pred"), listed(UNEQUAL))
def test_unequal(form, gold, pred):
    check_unequal(form, gold, pred)


TEXT = TextFormat()


@pytest.mark.parametrize(
    "text", ["", " ", "\u200b", "\ufeff", "&nbsp;", "<br/>", "<BR>", "\n", "\u3000"]
)
def test_blank(text):
    assert is_blank(text)
    assert is_blank(text * 3)


@pytest.mark.parametrize("text", ["-", "0", "&amp;", "b", "\u200bx"])
def test_not_blank(text):
    assert not is_blank(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  a   b ", "a b"),
        ("a<br>b<BR />c", "a b c"),
        ("a < b", "a < b"),
        ("'a'", "a"),
        ("\"'a' \"", "a"),
        ("'", "'"),
        ("''", "''"),
        ("'a\"", "'a\""),
        ("' a '", "a"),
        ("\"''\"", "\"''\""),
        ("a.", "a"),
        ("a..", "a."),
        (".", "."),
        ("。", "。"),
        ("a。", "a"),
        ("10²", "10^2"),
        ("a†", "a"),
        ("a[주 12]", "a"),
        ("a ‒ b", "a - b"),
        ("가ㆍ나", "가·나"),
        ("《가》", "가"),
        ("3〜5", "3~5"),
        ("†", "†"),
        ("&amp;", "&"),
    ],
)
def test_marks_that_never_count(text, shown):
    assert shown_text(text) == shown


def test_one_line():
    assert one_line(" a<br>b\n c<BR/>d") == "a b c d"


def test_quotes_however_deep_take_linear_time():
    started = time.process_time()
    assert shown_text("'" * 400_001) == "'"
    assert shown_text("' " * 200_000 + "a" + " '" * 200_000) == "a"
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    ("text", "left"), [("a b", "ab"), ("1 2", "1 2"), ("1 a 2", "1a2"), ("a 1", "a1"), ("ab", "ab")]
)
def test_spaces_between_digits_stay(text, left):
    assert unspaced(text) == left


def test_quotes_in_reasons_are_cut():
    assert shortened("a" * 60) == "a" * 60
    assert shortened("a" * 61) == "a" * 59 + "…"


@pytest.mark.parametrize(
    ("gold", "pred", "why"),
    [
        ("a b", "A B", "the same text"),
        ("a, b", "a b", "the same text"),
        ("up to 5", "up to: 5", "the same text"),
        ("a", "b", "'b' is not the gold 'a'"),
        ("a" * 99, "b" * 99, f"'{'b' * 59}…' is not the gold '{'a' * 59}…'"),
    ],
)
def test_reasons(gold, pred, why):
    assert TEXT.compare(TEXT.read(gold), TEXT.read(pred)).why == why


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("1,000", "1000", True),
        ("1,000,000", "1000000", True),
        ("0,123", "0123", False),
        ("1,00", "100", False),
        ("1,0000", "10000", False),
        ("12,345", "12345", True),
        ("1234,567", "1234567", False),
        ("a: b", "a b", True),
        ("a: 5", "a 5", True),
        ("5: a", "5 a", True),
        ("5-a", "5 a", True),
        ("a-5", "a 5", True),
        ("-5", "5", False),
        ("a/b", "ab", True),
        ("1/2", "12", False),
        ("3.5", "35", False),
        ("!!", "??", False),
        ("a!", "a?", True),
    ],
)
def test_punctuation_counts_only_with_numbers(one, other, equal):
    assert TEXT.compare(TEXT.read(one), TEXT.read(other)).match is equal
