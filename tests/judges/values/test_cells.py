"""The comparator for each column format, and what holds for all of them."""

import time
from dataclasses import FrozenInstanceError
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.values.cells import comparator_for, compare
from judges.values.formats.cell import Match
from judges.values.formats.dates import DateFormat
from judges.values.formats.names import EnumFormat, NameFormat
from judges.values.formats.numbers import FloatFormat, IntFormat
from judges.values.formats.text import TextFormat
from judges.values.formats.urls import UrlFormat


@pytest.mark.parametrize(
    "form", ["number", "float", "float:", "date", "date:DD", "enum:", "INT", ""]
)
def test_an_unknown_format_is_refused(form):
    with pytest.raises(ValueError, match="unknown format"):
        comparator_for(form)


@pytest.mark.parametrize("form", ["int", "name", "date:YYYY", "enum:A|B", "url", "text"])
def test_a_tolerance_is_for_float_only(form):
    with pytest.raises(ValueError, match=f"tolerance is for float:N only, not for {form[:4]}"):
        comparator_for(form, 0.1)


@pytest.mark.parametrize(
    ("form", "tolerance", "comparator"),
    [
        ("text", None, TextFormat()),
        ("int", None, IntFormat()),
        ("name", None, NameFormat()),
        ("url", None, UrlFormat()),
        ("float:0", None, FloatFormat(0, Decimal(0))),
        ("float:12", 0.1, FloatFormat(12, Decimal("0.1"))),
        ("date:YYYY", None, DateFormat(1)),
        ("date:YYYY-MM", None, DateFormat(2)),
        ("date:YYYY-MM-DD", None, DateFormat(3)),
        ("enum:A| B |C\nD|", None, EnumFormat(("A", "B", "C\nD"))),
    ],
)
def test_each_format_has_its_comparator(form, tolerance, comparator):
    found = comparator_for(form, tolerance)
    assert type(found) is type(comparator)
    assert vars(found) == vars(comparator)


@pytest.mark.parametrize("form", ["float:1", "date:YYYY", "enum:A|B"])
def test_a_comparator_does_not_change(form):
    with pytest.raises(FrozenInstanceError):
        comparator_for(form).places = 3


@pytest.mark.parametrize(
    ("gold", "pred", "match"),
    [
        ("1", "", Match(False, "blank")),
        ("", "1", Match(False, "blank")),
        ("", " ", Match(True, "both are blank")),
        ("<br>", "\u200b", Match(True, "both are blank")),
        ("100", "109", Match(True, "the same number")),
        ("100", "111", Match(False, "111.0 is not the gold 100.0")),
    ],
)
def test_two_cells_are_compared(gold, pred, match):
    assert compare("float:1", gold, pred, tolerance=0.1) == match


FORMATS = ["name", "int", "float:2", "date:YYYY-MM-DD", "date:YYYY", "enum:A|B", "url", "text"]
written = st.text(
    st.sampled_from("가나만억천년월일abAB0123456789.,-~/()[]<>&;:#*_`'\"²㈜% \n") | st.characters(),
    max_size=20,
)


@settings(deadline=None)
@given(form=st.sampled_from(FORMATS), one=written, other=written)
def test_a_cell_equals_itself_and_the_order_of_two_cells_does_not_matter(form, one, other):
    assert compare(form, one, one).match
    if "(" not in one + other:
        assert compare(form, one, other).match == compare(form, other, one).match
    comparator = comparator_for(form)
    first, second = comparator.read(one), comparator.read(other)
    if comparator.exact(first) == comparator.exact(second):
        assert comparator.compare(first, second).match
    if comparator.compare(first, second).match:
        assert comparator.aliases(first) & comparator.aliases(second)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "unit",
    ["(", "[", "1", "1,", "만", "[a](", "가 ", "<", "&", "\u0301", "'", "http://", " ", "-1"],
)
def test_hostile_cells_take_linear_time(form, unit):
    started = time.process_time()
    assert compare(form, unit * 100_000, unit * 100_000 + "x").why
    assert time.process_time() - started < 3
