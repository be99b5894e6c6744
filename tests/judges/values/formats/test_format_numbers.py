"""The formats `int`, `float`: which cells are equal (tables.md, "The comparator")."""

from decimal import Decimal

import pytest
from cell_cases import check_equal, check_unequal, listed
from hypothesis import given
from hypothesis import strategies as st

from judges.values.formats.numbers import FloatFormat, IntFormat

EQUAL = {
    "int": [
        ("1234567", "1,234,567"),
        ("1234567", "1 234 567"),
        ("1234567", "1\u00a0234\u202f567"),
        ("34", "34.0"),
        ("34", "34.000"),
        ("34", "３４"),
        ("34", "약 34명"),
        ("34", "34 개"),
        ("34", "about 34"),
        ("34", "34 people"),
        ("34", "만 34세"),
        ("34", "34명 (비례 5명 포함)"),
        ("34", "34(2위)"),
        ("1", "공동 1위"),
        ("7", "제7회"),
        ("7", "제 7 회"),
        ("7", "7th"),
        ("7", "第7回"),
        ("7", "No. 7"),
        ("605", "605 km²"),
        ("605", "605㎢"),
        ("605", "605 km2"),
        ("605", "605 m^2"),
        ("30", "30[2]"),
        ("30", "**30**"),
        ("1500000", "1.5e6"),
        ("-5", "\u22125"),
        ("-5", "–5"),
        ("35000", "3.5만"),
        ("35000", "3만5천"),
        ("35000", "3만 5,000원"),
        ("30000000", "3천만 원"),
        ("35000000", "3천 5백만"),
        ("2500000000000", "2조 5,000억 원"),
        ("123456789", "1억 2,345만 6,789"),
        ("2000", "2천"),
        ("35000", "3万5千"),
        ("120000000", "1.2億円"),
        ("120000000", "1.2亿"),
        ("1500000", "1.5M"),
        ("1500000", "1.5 Million"),
        ("2000000000", "$2 billion"),
        ("2000000000", "2bn"),
        ("34000", "34K"),
        ("3", "3조각"),
        ("2018", "2018년"),
        ("1000000", "₩1,000,000"),
        ("34~35", "34 ~ 35"),
    ],
    "float:2": [
        ("0.87", "0,87"),
        ("52.79", "52.79%"),
        ("52.79", "52.790"),
        ("52.79", "52.788"),
        ("52.79", "약 52.79 %p"),
        ("1234.5", "1.234,5"),
        ("1234.5", "1,234.5"),
        ("-0.5", "\u2212.5"),
        ("150000000", "1.5억"),
        ("12.5", "12,5 km"),
        ("8.5", "8.5점 (10점 만점)"),
    ],
    "float:1": [("1.25", "1.3"), ("53.7", "53.7 퍼센트")],
    "float:0": [("12", "12.4")],
}  # fmt: skip

UNEQUAL = {
    "int": [
        ("1000", "1.000"),
        ("34", "34~35"),
        ("34", "34-35"),
        ("34", "34 또는 35"),
        ("34", "34, 35"),
        ("12", "12/300"),
        ("12", "12명 중 3명"),
        ("7", "2018년 7회"),
        ("34", "34.5"),
        ("34", "-34"),
        ("34", "34만"),
        ("34", "34K"),
        ("34", "<34"),
        ("34", "삼십사"),
        ("34", "미상"),
        ("34", "-"),
        ("87", "0,87"),
        ("12345", "1,2345"),
        ("342", "34²"),
        ("6052", "605 km²"),
        ("35000", "3만 50000"),
        ("20240301", "2024-03-01"),
        ("34", "34e400"),
    ],
    "float:2": [
        ("1.25", "1.3"),
        ("52.79", "52.8"),
        ("52.79", "0.5279"),
        ("1.234", "1,234"),
        ("52.79", "52.79 ~ 53.00"),
        ("4.5", "4.5/5"),
        ("0.87", "-0.87"),
        ("0.87", "0.87e-400"),
    ],
    "float:0": [("12", "12.5")],
}  # fmt: skip


@pytest.mark.parametrize(("form", "gold", "pred"), listed(EQUAL))
def test_equal(form, gold, pred):
    check_equal(form, gold, pred)


@pytest.mark.parametrize(("form", "gold", "pred"), listed(UNEQUAL))
def test_unequal(form, gold, pred):
    check_unequal(form, gold, pred)


@pytest.mark.parametrize(
    ("tolerance", "gold", "pred", "equal"),
    [
        ("0.1", "100", "109", True),
        ("0.1", "100", "110", True),
        ("0.1", "100", "90", True),
        ("0.1", "100", "110.1", False),
        ("0.1", "100", "89.9", False),
        ("0.1", "110", "100", True),
        ("0.1", "-100", "-110", True),
        ("0.1", "-100", "100", False),
        ("0.1", "0", "0.1", False),
        ("0.1", "0", "0.04", True),
        ("1e-12", "100", "100.04", True),
        ("1e-12", "100", "100.06", False),
        ("0.999", "1000", "1", True),
        ("1", "10", "0", True),
        ("1", "10", "20", True),
        ("1", "10", "20.1", False),
        ("1", "0", "5", False),
        ("2", "10", "-10", True),
        ("0", "100", "100.04", True),
        ("0", "100", "100.1", False),
    ],
)
def test_a_tolerance_is_a_fraction_of_the_gold(tolerance, gold, pred, equal):
    format = FloatFormat(1, Decimal(tolerance))
    cells = format.read(gold), format.read(pred)
    assert format.compare(*cells).match is equal
    if equal:
        assert format.aliases(cells[0]) & format.aliases(cells[1])


numbers = st.decimals(-(10**9), 10**9, places=3)


@given(numbers, st.sampled_from(["0", "1e-7", "0.001", "0.05", "0.3", "0.99"]), st.floats(-1, 1))
def test_numbers_within_the_tolerance_share_an_alias(gold, tolerance, part):
    format = FloatFormat(2, Decimal(tolerance))
    pred = gold + gold * Decimal(tolerance) * Decimal(part)
    cells = format.read(f"{gold:f}"), format.read(f"{pred:.20f}")
    if format.compare(*cells).match:
        assert format.aliases(cells[0]) & format.aliases(cells[1])


def test_far_numbers_share_no_alias():
    format = FloatFormat(2, Decimal("0.05"))
    assert not format.aliases(format.read("100")) & format.aliases(format.read("120"))
    assert not format.aliases(format.read("100")) & format.aliases(format.read("-100"))
    for gold in range(100, 150):  # 12 % away: more than two buckets
        pred = format.read(f"{gold * 1.12:.3f}")
        assert not format.aliases(format.read(f"{gold}")) & format.aliases(pred)
    assert len(format.aliases(format.read("0"))) == len({"0", Decimal("0.00")})


def test_a_narrow_tolerance_keeps_the_buckets_apart_from_zero_width():
    format = FloatFormat(2, Decimal("1e-40"))
    assert format.aliases(format.read("5")) & format.aliases(format.read("5"))


@pytest.mark.parametrize(
    ("format", "gold", "pred", "why"),
    [
        (IntFormat(), "34", "34", "the same text"),
        (IntFormat(), "34", "34명", "the same whole number"),
        (IntFormat(), "240", "244명", "244 is not the gold 240"),
        (IntFormat(), "34", "34~35", "'34~35' is not a whole number: more than one number"),
        (IntFormat(), "34", "34.50", "'34.50' is not a whole number: 34.50 has a fraction"),
        (IntFormat(), "n/a", "34", "the gold 'n/a' is not a whole number: no number"),
        (IntFormat(), "34", "x" * 99, f"'{'x' * 59}…' is not a whole number: no number"),
        (IntFormat(), "34", "9" * 99, f"{'9' * 59}… is not the gold 34"),
        (FloatFormat(2, Decimal(0)), "0.87", "0,87", "the same number"),
        (FloatFormat(2, Decimal(0)), "52.79", "52.8%", "52.80 is not the gold 52.79"),
        (FloatFormat(2, Decimal(0)), "5", "1.2.3",
            "'1.2.3' is not a number: 1.2.3 is not a number"),
        (FloatFormat(2, Decimal(0)), "5", "9" * 99, f"{'9' * 59}… is not the gold 5.00"),
    ],
)  # fmt: skip
def test_reasons_are_plain_and_bounded(format, gold, pred, why):
    assert format.compare(format.read(gold), format.read(pred)).why == why


def test_without_a_tolerance_the_aliases_are_the_form_and_the_rounded_number():
    format = FloatFormat(1, Decimal(0))
    assert format.aliases(format.read("5.04 km")) == {"5.04km", Decimal("5.0")}


def test_rounded_numbers_are_the_exact_key():
    format = FloatFormat(1, Decimal(0))
    assert format.exact(format.read("1.25")) == format.exact(format.read("1.3%"))
    assert format.exact(format.read("1.24")) == Decimal("1.2")
    assert format.exact(format.read("many")) == "many"
