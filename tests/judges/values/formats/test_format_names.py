"""The formats `enum`, `name`: which cells are equal (tables.md, "The comparator")."""

import pytest
from cell_cases import check_equal, check_unequal, listed

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
