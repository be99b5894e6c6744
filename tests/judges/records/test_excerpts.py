"""Faithful excerpts: what does not count, what does, and what an adversary may send."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.records.excerpts import PageText, faithful

TEXT = (
    "Brackwater Pottery — A history\n"
    "The kiln at Brackwater was lit in 1874 and didn’t go cold until 2019.\n"
    "“We never sold seconds,” said Ada O’Neill, who ran it for 21.5 years[2] with a co-owner.\n"
    "Output fell from 1,250 to 34 pieces a week; 5.2 % were lost at -40 °C.\n"
    "Wash the clay\nKnead it twice\nLeave it to rest\n"
    "2. Glaze in winter\n"
    "Home > Shop > Bowls\n"
    "p > 0.05 in non-profit potteries & a café\n"
    "삼성전자는 2020년 5만 명을 고용했다. 그는 사과를 먹지 않았다.\n"
    "他不同意二十五人的计划。この皿は使えません。ドイツ製\n"
    "a price of $7 million\tred glaze\tblue glaze\n"
)
PAGE = PageText(TEXT)


def stands(excerpt: str, page: PageText = PAGE) -> bool:
    return faithful(excerpt, page).faithful


@pytest.mark.parametrize(
    "excerpt",
    [
        "The kiln at Brackwater was lit in 1874",
        "THE KILN at brackwater",
        "the  kiln\n at\u00a0Brackwater",
        "The ki\u00adln at Brack\u200bwater",
        "didn't go cold until 2019",
        '"We never sold seconds," said Ada O\'Neill',
        "«We never sold seconds,» said",
        "Brackwater Pottery – A history",
        "Brackwater Pottery - A history",
        "ｋｉｌｎ ａｔ Brackwater",
        "The **kiln** at *Brackwater* was __lit__ in 1874",
        "# Brackwater Pottery — A history",
        "> The kiln at Brackwater\n> was lit in 1874",
        "| red glaze | blue glaze |",
        "| red glaze | blue glaze |\n|---|---|",
        "- Wash the clay\n- Knead it twice",
        "* Wash the clay\n* Knead it twice",
        "• Knead it twice",
        "1. Wash the clay\n2. Knead it twice\n3. Leave it to rest",
        "1\\. Wash the clay",
        "2. Glaze in winter",
        "The [kiln](https://example.org/kiln_(pottery)) at Brackwater",
        'The [kiln](/kiln "The kiln") at [Brackwater](<https://example.org/a b>)',
        "![a kiln](kiln.png) The kiln at Brackwater",
        "The kiln](https://example.org/kiln) at Brackwater",
        "ran it for 21.5 years with a co\\-owner",
        "21.5 years[2] with",
        "21.5 years[[2]](https://example.org/#cite_note-2) with",
        "The <u>kiln</u> at Brack<sup>water</sup>",
        "potteries &amp; a caf&eacute;",
        "“The kiln at Brackwater was lit”",
        "…at Brackwater was lit in 1874...",
        "[...] at Brackwater was lit […]",
        "The kiln at Brack-\nwater was lit",
        "The kiln at Brackwater\\\nwas lit",
        "with a co-\nowner",
        "Shop > Bowls",
        "owner. Output fell",
        "The `kiln` at ``Brackwater``",
        "삼성전자는 2020년 5만 명을",
        "삼성전자",
        "他不同意",
        "使えません",
        "二十五人",
        "$7 million",
        "-40 °C",
    ],
)
def test_differences_that_do_not_count(excerpt: str) -> None:
    assert faithful(excerpt, PAGE).faithful


@pytest.mark.parametrize(
    ("excerpt", "why"),
    [
        ("lit in 1875", "a number differs: 1875 (the page: 1874)"),
        ("from 1,260 to 34 pieces", "a number differs: 1260 (the page: 1250)"),
        ("from 1,250 to 35 pieces; and more", "a number is not on the page: 35"),
        ("The kiln was not lit in 1874 by Ada", ""),
        ("The kiln at Brackwater was not lit in 1874", "a negation differs: not (the page: none)"),
        ("We sold seconds", "a negation differs: none (the page: never)"),
        ("The kiln at Brackwater was lit in the year 1874", ""),
        ("The kiln was lit in 1874", ""),
        ("was lit in 1874 [...] Output fell from 1,250", ""),
        ("was lit in 1874 … Output fell from 1,250", ""),
        ("Knead it twice Output fell", ""),
        ("The oven at Brackwater", ""),
        ("", "empty"),
        (" \n\t", "empty"),
        ("…", "empty"),
        ("**—** > |", "empty"),
        ("![The kiln](kiln.png)", "empty"),
        ("[2]", "empty"),
    ],
)
def test_differences_that_count(excerpt: str, why: str) -> None:
    finding = faithful(excerpt, PAGE)
    assert not finding.faithful
    assert finding.reason
    assert finding.reason == (why or finding.reason)


@pytest.mark.parametrize(
    "excerpt",
    [
        "ckwater was lit",
        "was lit in 187",
        "5 years",
        "1.5 years",
        "250 to 34 pieces",
        "4 pieces",
        "5 % were lost",
        "40 °C",
        "We can",
        "profit potteries",
        "The kiln at Brackwater was lit in 1874 and didn",
        "삼성",
        "2020년 5",
        "同意",
        "五人",
        "使え",
        "イツ製",
    ],
)
def test_a_word_or_number_is_not_cut(excerpt: str) -> None:
    assert not stands(excerpt, PageText(TEXT + "We can't pay"))


@pytest.mark.parametrize(
    ("page", "excerpt", "expected"),
    [
        ("in 20 25 days", "in 2025 days", False),
        ("in 2025 days", "in 20 25 days", False),
        ("in 1990. 5 potters", "in 1990.5 potters", False),
        ("for $1.5 million", "for $1. 5 million", False),
        ("in 1990. 5 potters", "in  1990.\n5 potters", True),
        ("won by 3 : 1", "won by 3:1", True),
        ("5 kg of clay", "5kg of clay", True),
        ("a red\nbowl", "a redbowl", True),
        ("with clear limits", "with**clear limits**", True),
        ("not able to pay", "notable to pay", False),
        ("notable potters", "not able potters", False),
        ("now here", "nowhere", False),
        ("they cannot pay", "they can not pay", True),
        ("2½ litres", "21/2 litres", False),
        ("2½ litres", "2 1/2 litres", True),
        ("rose by p < 0.05", "rose by p > 0.05", False),
        ("rose by 5", "rose by > 5", False),
        ("7. Fire the kiln", "1. Fire the kiln", False),
        ("Fire the kiln\n7. Fire the kiln", "1. Fire the kiln", True),
        ("exam-\nple of long-\nterm growth", "example of long-term growth", True),
        ("İSTANBUL", "istanbul", True),
        ("किताब", "क", False),
        ("C# and C", "C# and C", True),
    ],
)
def test_white_space_and_form_of_pages_and_excerpts(
    page: str, excerpt: str, expected: bool
) -> None:
    assert stands(excerpt, PageText(page)) is expected


def test_a_changed_number_or_negation_is_final() -> None:
    assert faithful("lit in 1875", PAGE).final
    assert faithful("was not lit in 1874", PAGE).final
    assert faithful("lit in 1875, as everybody knows", PAGE).final
    assert not faithful("was lighted in 1874", PAGE).final
    assert not faithful("fell from 1250 to 34", PAGE).final
    assert not faithful("was lit in 1874, and didn't go cold", PAGE).final


@pytest.mark.parametrize(
    "space", [" ", "\u00a0", "\u202f", "\u2009", "\u2007", "&nbsp;", " \u200b"]
)
@pytest.mark.parametrize(
    ("page", "whole", "parts"),
    [
        ("we saw 1_250 boats", "1_250 boats", ["250 boats", "250", "saw 1"]),
        ("we saw 12_345_678 boats", "12_345_678", ["345_678 boats", "12_345", "12", "678", "345"]),
        ("it cost 1_250,5 kr", "1_250,5 kr", ["250,5 kr", "1", "it cost 1"]),
        ("it cost 1_250.50 kr", "cost 1_250.50", ["250.50 kr", "cost 1"]),
        ("it fell to −1_250 points", "-1_250 points", ["250 points", "1_250 points", "to -1"]),
        ("it cost $1_250 then", "$1_250", ["250 then", "$1"]),
        ("from 1_000–1_250 boats", "1_000-1_250", ["250 boats", "000–1", "from 1"]),
        ("약1_250명이 왔다", "1_250명", ["250명"]),
    ],
)
def test_digits_grouped_by_spaces_are_one_number(
    page: str, whole: str, parts: list[str], space: str
) -> None:
    text = PageText(page.replace("_", space))
    assert stands(whole.replace("_", space), text)
    assert stands(whole.replace("_", " "), text)
    assert stands(whole.replace("_", "\n"), text)
    for part in parts:
        finding = faithful(part.replace("_", space), text)
        assert not finding.faithful
        assert finding.final


@pytest.mark.parametrize(
    ("page", "excerpt"),
    [
        ("in 2024 250 boats", "250 boats"),
        ("in 2024 250 boats", "in 2024"),
        ("7\t250 boats", "250 boats"),
        ("7\n250 boats", "250 boats"),
        ("7 25 boats", "25 boats"),
        ("7 2500 boats", "2500 boats"),
        ("at 10:30 250 boats", "250 boats"),
        ("on 2019-12 250 boats", "250 boats"),
        ("a length of 1.5 250 boats", "250 boats"),
        ("the A4 250 boats", "250 boats"),
        ("room 0 250 boats", "250 boats"),
        ("the board | 45\t120\t333 |", "45 120 333"),
        ("we saw 1 250 boats. In 250 boats", "250 boats"),
    ],
)
def test_numbers_beside_each_other_are_not_joined(page: str, excerpt: str) -> None:
    assert stands(excerpt, PageText(page))


@pytest.mark.parametrize("page", ["1 250 boats", "1,250 boats", "1'250 boats", "1250 boats"])
@pytest.mark.parametrize("excerpt", ["1 250 boats", "1,250 boats", "1250 boats"])
def test_another_way_to_group_digits_is_a_matter_of_form(page: str, excerpt: str) -> None:
    finding = faithful(excerpt, PageText(page))
    assert finding.faithful is (page == excerpt)
    assert not finding.final


@pytest.mark.parametrize("excerpt", ["1 260 boats", "1260 boats", "11 250 boats", "1 boats", "260"])
def test_a_changed_group_of_digits_is_a_changed_number(excerpt: str) -> None:
    assert faithful(excerpt, PageText("we saw 1 250 boats")).final


def test_a_row_of_numbers_with_another_fault_is_not_one_number() -> None:
    assert not faithful("Ada 45 120 goals", PageText("Ada\t45\t120\tcaps goals")).final


def test_digits_are_found_after_many_places_that_cut_a_number() -> None:
    assert stands("250", PageText("1 250, " * 1000 + "or 250"))


WORDS = st.sampled_from(
    [
        "kiln",
        "clay",
        "Ada",
        "glaze",
        "Öl",
        "don’t",
        "co-op",
        "3",
        "12,500",
        "4.7",
        "(old)",
        "end.",
        "“so”",
        "삼성전자는",
        "не",
        "l’été",
        "x²",
        "50 %",
        "-8",
    ]
)


@given(st.lists(WORDS, min_size=3, max_size=40), st.data())
@settings(max_examples=150, deadline=None)
def test_whole_words_cut_from_a_page_stand_on_it(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    assert PageText(" ".join(words)).contains(" ".join(words[first:last]))


@given(st.lists(WORDS, min_size=1, max_size=20), st.integers(0, 999))
@settings(max_examples=100, deadline=None)
def test_a_number_that_the_page_has_nowhere_is_not(words: list[str], number: int) -> None:
    page = PageText(" ".join([*words, f"fired {number:03}", *words]))
    other = f"{number:03}".replace(f"{number:03}"[0], "9" if number < 900 else "1", 1)
    finding = faithful(" ".join([*words, f"fired 9{other}"]), page)
    assert not finding.faithful
    assert finding.final


@given(st.text(max_size=60), st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_no_text_raises_an_error(excerpt: str, page: str) -> None:
    faithful(excerpt, PageText(page))


@pytest.mark.parametrize(
    "unit",
    [
        "[a](",
        "[a](u (v)",
        "![",
        "<a ",
        "<",
        "&#",
        "&" + "9" * 50,
        "a\u0316\u0301",
        "_a",
        "#",
        "- \n",
        "a-\n",
        "1 ",
        "a't ",
        '"',
        "[...] ",
        "\ud800",
        "\0",
        "ﷺ",
        "不",
        "1. \n",
        "](http://a(b)",
    ],
)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    text = "x " + unit * (40_000 // len(unit))
    began = time.process_time()
    page = PageText(text)
    faithful(text, page)
    faithful(text + " y", page)
    assert time.process_time() - began < 3


def test_a_run_of_combining_marks_takes_linear_time() -> None:
    text = "a" + "\u0316\u0301" * 50_000
    began = time.process_time()
    faithful(text, PageText(text))
    assert time.process_time() - began < 3


def test_a_page_with_many_near_matches_takes_linear_time() -> None:
    began = time.process_time()
    assert not stands("a" * 50_000, PageText("x" + "a" * 1_000_000))
    assert not stands("a " * 50_000 + "b", PageText("a " * 500_000))
    assert time.process_time() - began < 5


def test_a_rule_can_search_for_a_mark() -> None:
    assert PAGE.contains("%")
    assert not PAGE.contains("€")
    assert not PAGE.contains("“”")
