"""The formats `enum`, `name`: which cells are equal (tables.md, "The comparator")."""

import pytest
from cell_cases import check_equal, check_unequal, listed

from judges.values.formats.names import EnumFormat, NameFormat

EQUAL = {
    "enum:남|여": [("남", " 남 "), ("여", "여[1]"), ("여", "「여」")],
    "enum:EASY|MEDIUM|HARD": [("HARD", "Hard."), ("HARD", "**hard**"), ("HARD", "HARD (어려움)")],
    "enum:국민의힘|더불어민주당": [("국민의힘", "국민의 힘"), ("국민의힘", "국민의힘 소속")],
    "name": [
        ("에어부산 (Air Busan)", "에어부산"),
        ("에어부산", "에어부산(Air Busan)"),
        ("Air Busan", "에어부산 （Air Busan）"),
        ("에어부산 (Air Busan)", "AIR BUSAN"),
        ("에어부산 (Air Busan)", "에어부산 (AIR BUSAN)"),
        ("㈜카카오", "카카오"),
        ("카카오(주)", "카카오"),
        ("카카오", "주식회사 카카오"),
        ("O'Brien", "O’Brien"),
        ("O'Brien", "Oʼbrien"),
        ("J.K. Rowling", "J. K. Rowling"),
        ("김서연", "**김 서연**[1]"),
        ("Beyonce\u0301", "Beyonc\u00e9"),
        ("가-나", "가–나"),
    ],
}  # fmt: skip

UNEQUAL = {
    "enum:남|여": [("남", "여"), ("남", "남/여"), ("남", "남녀"), ("남", "남성"), ("남", "")],
    "enum:EASY|MEDIUM|HARD": [
        ("HARD", "HARD or MEDIUM"), ("HARD", "HARD (MEDIUM)"), ("HARD", "HARDER"),
    ],
    "enum:국민의힘|무소속": [("국민의힘", "국민의힘, 무소속"), ("국민의힘", "국민")],
    "name": [
        ("에어부산", "Air Busan"),
        ("카카오", "카카오뱅크"),
        ("에어부산 (Air Busan)", "에어서울 (Air Busan)"),
        ("하얼빈 (2024)", "하얼빈 (2009)"),
        ("김서연", "김서현"),
        ("김서연", "김서연, 김서현"),
        ("김서연", "김서연 (또는 김서현)"),
        ("Ada Moor", "Ada Moor (or Eda Moor)"),
        ("김서연", "김서현 (김서연) (김세연)"),
        ("Cafe", "Café"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("form", "gold", "pred"), listed(EQUAL))
def test_equal(form, gold, pred):
    check_equal(form, gold, pred)


@pytest.mark.parametrize(("form", "gold", "pred"), listed(UNEQUAL))
def test_unequal(form, gold, pred):
    check_unequal(form, gold, pred)


NAME = NameFormat()
ENUM = EnumFormat(("남", "여", "둘 다"))


@pytest.mark.parametrize(
    ("gold", "pred", "equal"),
    [
        ("하얼빈 (2024)", "하얼빈", True),
        ("하얼빈 (2024)", "하얼빈 (영화)", True),
        ("하얼빈 (2024)", "하얼빈 (2024 영화)", True),
        ("하얼빈 (2024)", "하얼빈 (2009)", False),
        ("하얼빈 (2024) (영화)", "하얼빈 (영화) (2024)", True),
        ("하얼빈 (1) (2)", "하얼빈 (2) (1)", False),
        ("김서연", "김서현 (김서연)", True),
        ("김서연", "김서현 (김서연) (김세연)", False),
        ("김서연 (A) (B)", "A", False),
        ("김서연 (A)", "A", True),
        ("김서연 (A)", "B (A)", False),
        ("김서연 (a) (b) (c) (d)", "김서연", True),
        ("김서연", "김서연 (or 김서현)", False),
        ("김서연", "김서현 (아니면 김서연)", False),
        ("(김서연)", "김서연", True),
        ("(주)", "(주)", True),
        ("(주)", "(株)", False),
        ("(주) 카카오", "株式会社 카카오", True),
    ],
)
def test_glosses(gold, pred, equal):
    cells = NAME.read(gold), NAME.read(pred)
    assert NAME.compare(*cells).match is equal
    assert NAME.compare(*cells[::-1]).match is equal
    if equal:
        assert NAME.aliases(cells[0]) & NAME.aliases(cells[1])


def test_a_name_is_one_exact_key_with_its_glosses():
    assert NAME.exact(NAME.read("에어 부산 (Air Busan)")) == NAME.exact(
        NAME.read("에어부산(air busan)")
    )
    assert NAME.exact(NAME.read("에어부산 (Air Busan)")) != NAME.exact(NAME.read("에어부산"))


def test_four_glosses_count_at_most():
    cell = NAME.read("a (b) (c) (d) (e) (f) (g)")
    assert NAME.aliases(cell) - {cell.form} == {"a", "b", "c", "d", "e"}


def test_a_member_may_be_longer_than_the_part_that_is_searched():
    assert EnumFormat(("x" * 1001,)).read("X" * 1001).value == "x" * 1001


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("남", "남"),
        ("둘 다", "둘 다"),
        ("둘다", "둘 다"),
        ("답: 둘다 (추정)", "둘 다"),
        ("남 (남)", "남"),
        ("남, 여", None),
        ("남자", None),
        ("", None),
        ("-" * 998 + " 남", "남"),
        ("-" * 999 + " 남", None),
    ],
)
def test_one_member_and_no_other(text, member):
    assert ENUM.read(text).value == member


def test_a_longer_member_is_not_its_beginning():
    assert EnumFormat(("A", "A B")).read("x: A B").value == "A B"
    assert EnumFormat(("1.5", "C++")).read("grade 145").value is None


@pytest.mark.parametrize(
    ("format", "gold", "pred", "why"),
    [
        (NAME, "김서연", "김 서연", "the same text"),
        (NAME, "카카오", "㈜카카오", "the same name"),
        (NAME, "김서연", "김서현", "'김서현' is not the gold '김서연'"),
        (ENUM, "남", "'남' (1)", "the same member"),
        (ENUM, "남", "남/여", "'남/여' is not a member: more than one of 남|여|둘 다"),
        (ENUM, "남", "사람", "'사람' is not a member: none of 남|여|둘 다"),
        (ENUM, "남", "여", "'여' is not the gold '남'"),
    ],
)
def test_reasons(format, gold, pred, why):
    assert format.compare(format.read(gold), format.read(pred)).why == why


def test_a_reason_cuts_a_long_list_of_members():
    long = EnumFormat(tuple("abcdefghij" * 2 + str(number) for number in range(50)))
    assert len(long.compare(long.read("x" * 500), long.read("y" * 500)).why) < 160
