"""A number or a negation that somebody changed is found."""

import pytest

from judges.records.differences import Skeleton
from judges.text.tokens import tokens


def skeleton(text: str) -> Skeleton:
    return Skeleton(tokens(text))


PAGE = skeleton("1. In 1874 Ada did not sell 1,250 bowls, nor 30 cups. In 1875 she sold cups.")


@pytest.mark.parametrize(
    ("excerpt", "change"),
    [
        ("Ada did not sell 1250 bowls", ""),
        ("Ada did not sell 1,251 bowls", "a number differs: 1251 (the page: 1250)"),
        ("Ada did sell 1,250 bowls", "a negation differs: none (the page: not)"),
        ("sell 1,250 bowls, 30 cups", "a negation differs: none (the page: nor)"),
        ("In 1875 she never sold cups", "a negation differs: never (the page: none)"),
        ("In 1873 she sold cups", "a number differs: 1873 (the page: 1875)"),
        ("sell 1,250 bowls", ""),
        ("1,250 bowls", ""),
        ("he sold cups", ""),
    ],
)
def test_change(excerpt: str, change: str) -> None:
    assert PAGE.change(skeleton(excerpt)) == change


def test_a_number_that_stands_nowhere() -> None:
    assert PAGE.missing_number(skeleton("1875 or 1250 or 77")) == "77"
    assert PAGE.missing_number(skeleton("5. 1875")) == ""
    assert PAGE.missing_number(skeleton("9" * 100)) == "9" * 40
