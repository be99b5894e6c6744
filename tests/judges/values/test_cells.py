"""When two cells are the same: clause by clause, what is and what is not."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.values.cells import comparator_for, compare
from judges.values.formats.text import is_blank


def test_a_tolerance_is_a_share_of_the_gold():
    assert compare("float:1", "100", "109", tolerance=0.1).match
    assert not compare("float:1", "100", "111", tolerance=0.1).match
    assert compare("float:1", "-100", "-109", tolerance=0.1).match
    assert not compare("float:1", "0", "0.1", tolerance=0.1).match


@pytest.mark.parametrize(
    "form", ["number", "float", "float:", "date", "date:DD", "enum:", "INT", ""]
)
def test_an_unknown_format_is_refused(form):
    with pytest.raises(ValueError, match="unknown format"):
        comparator_for(form)


def test_a_tolerance_has_no_meaning_elsewhere():
    with pytest.raises(ValueError, match="tolerance"):
        comparator_for("int", 0.1)


def test_the_reason_is_for_people():
    assert compare("float:2", "52.79", "52.8%").why == "52.80 is not the gold 52.79"
    assert compare("int", "34", "34~35").why == (
        "'34~35' is not a whole number: more than one number"
    )
    assert compare("date:YYYY-MM-DD", "2024-03-01", "2024년 3월").why == (
        "'2024년 3월' is not a date: less precise than YYYY-MM-DD"
    )
    assert compare("date:YYYY-MM-DD", "2024-03-01", "2024. 3. 2").why == (
        "2024-03-02 is not the gold 2024-03-01"
    )
    assert compare("enum:남|여", "남", "남/여").why == (
        "'남/여' is not a member: more than one of 남|여"
    )
    assert compare("name", "가", "").why == "blank"


@pytest.mark.parametrize("text", ["", " ", "\u200b", "&nbsp;", "<br/>", "\n"])
def test_blank(text):
    assert is_blank(text)


FORMATS = ["name", "int", "float:2", "date:YYYY-MM-DD", "date:YYYY", "enum:A|B", "url", "text"]
written = st.text(
    st.sampled_from("가나만억천년월일abAB0123456789.,-~/()[]<>&;:#*_`'\"²㈜% \n") | st.characters(),
    max_size=20,
)


@settings(deadline=None)
@given(form=st.sampled_from(FORMATS), one=written, other=written)
def test_every_cell_is_itself_and_the_gold_may_be_either(form, one, other):
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
