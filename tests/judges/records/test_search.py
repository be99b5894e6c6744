"""Places in a text, and the way back from tokens to the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.records.excerpts import PageText
from judges.records.search import Place, Unhyphenated, Written, is_list_number
from judges.text.markup import without_markup
from judges.text.tokens import tokens


@pytest.mark.parametrize(
    ("page", "excerpt", "part"),
    [
        ("an exam-\nple of 1 250 co-\nworkers here", "an example of", "an exam-\nple of"),
        ("an exam-\nple of 1 250 co-\nworkers here", "coworkers", "co-\nworkers"),
        ("a  *red*\tbowl , [sold](u)", "red bowl", "*red*\tbowl"),
        ("a  *red*\tbowl , [sold](u)", "redbowl", "*red*\tbowl"),
        ("no - 1. Wash it", "wash", "Wash"),
        ("彼は「塔は1903年に建てられた」と言った。", "塔は1903年", "塔は1903年"),
        ("탑은 1903년에 지어졌다(그는 말했다).", "지어졌다", "지어졌다"),
        ("in 20 30 red. The1 end", "30red", "30 red"),
    ],
)
def test_a_place_leads_back_to_the_text(page: str, excerpt: str, part: str) -> None:
    written = PageText(page).written
    for place in PageText(page).places(excerpt):
        start, end = written.in_source(place)
        assert written.source[start:end] == part


@given(st.text(st.sampled_from("ab1 .\t\n-*é漢가\u200b\u00a8"), max_size=60))
def test_every_token_leads_back_to_the_text_that_has_it(text: str) -> None:
    written = Written(without_markup(text))
    at = 0
    for token in written.tokens:
        place = Place(at, at + len(token))
        assert written.spaced[slice(*place)] == token
        assert token in tokens(written.source[slice(*written.in_source(place))])
        at += len(token) + 1


def test_tokens_in_order_of_the_text() -> None:
    written = Written("He sold 1 250 bowls, 12 345 678 in\tall")
    assert written.spaced == "he sold 1 250 bowls , 12 345 678 in all"
    assert written.whole_numbers == "he sold 1'250 bowls , 12'345'678 in all"
    assert list(written.places(["250"], False)) == []
    assert next(written.places(["in", "all"], False)) == Place(33, 39)


def test_a_place_after_a_list_number_is_another_item() -> None:
    written = Written("7. Fire it. Fire it")
    assert set(written.places(["fire", "it"], True)) == {Place(14, 21)}
    assert set(written.places(["fire", "it"], False)) == {Place(4, 11), Place(14, 21)}


def test_the_number_of_a_list_item() -> None:
    assert is_list_number(["7", "."])
    assert is_list_number(["123", ")"])
    assert not is_list_number(["1234", "."])
    assert not is_list_number(["7", ","])
    assert not is_list_number(["a", "."])
    assert not is_list_number(["."])


def test_words_without_hyphens_stand_where_the_hyphens_are() -> None:
    written = Written("the co-op sold ex-\nample cups, semi-\nfinal 1 250 left-\nover cups")
    for wanted in ("coop", "example", "semifinal", "leftover"):
        (place, *_) = Unhyphenated(written).places([wanted], False)
        assert written.spaced[slice(*place)].replace(" - ", "") == wanted
    assert list(Unhyphenated(written).places(["250", "leftover"], False)) == []
