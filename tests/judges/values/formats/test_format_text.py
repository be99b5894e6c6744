"""The formats `text`: which cells are equal (tables.md, "The comparator")."""

import pytest
from cell_cases import check_equal, check_unequal, listed

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
