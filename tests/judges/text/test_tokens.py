"""Numbers whose digits are grouped by spaces."""

import time

import pytest

from judges.text.markup import plain
from judges.text.numbers import number_gaps, numbers


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("1 250 boats", ["250"]),
        ("999 250 boats", ["250"]),
        ("12\u202f345\u2009678", ["345", "678"]),
        ("１\u3000２５０", ["２５０"]),
        ("-1 250", ["250"]),
        ("€1 250,50", ["250"]),
        ("(1 250)", ["250"]),
        ("2024-1 250", []),
        ("24-1 250", ["250"]),
        ("2024 250", []),
        ("0 250", []),
        ("1 25", []),
        ("1 2500", []),
        ("1  250", []),
        ("1\t250", []),
        ("1\n250", []),
        ("x1 250", []),
        ("é1 250", []),
        ("_1 250", []),
        ("제1 250", ["250"]),
        ("1:1 250", []),
        ("1.1 250", []),
        ("1,1 250", []),
        ("1/1 250", []),
        ("1'1 250", []),
    ],
)
def test_gaps_inside_a_number(text: str, groups: list[str]) -> None:
    assert [text[gap : gap + 3] for gap in number_gaps(text)] == groups


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234", {1234, 1.234}),
        ("1 234", {1234}),
        ("-1 234,5", {-1234.5}),
        ("1 234.25", {1234.25}),
        ("1 234, 5", {1234, 5}),
        ("999 234", {999234}),
        ("2024 250", {2024, 250}),
        ("24:1 234", {24, 1, 234}),
        ("2024-1 250", {2024, 1, 250}),
        ("A4 12", {12}),
        ("é4 12", {12}),
        ("제7회", {7}),
        ("1'234'567.5", {1234567.5}),
    ],
)
def test_numbers(text: str, values: set[float]) -> None:
    found = {value for number in numbers(plain(text)) for value in number}
    assert found == values


def test_a_flood_of_digits_takes_linear_time() -> None:
    began = time.process_time()
    for unit in ("1 ", "1 250 ", "123 ", "1\u200b", "1.250,"):
        text = unit * (200_000 // len(unit))
        number_gaps(text)
        list(numbers(text))
    assert time.process_time() - began < 4
