"""Colours are read from CSS values and old attributes, and compared."""

import pytest

from fetchers.reading.css.colours import BLACK, WHITE, Colour, read_colour, read_legacy_colour


@pytest.mark.parametrize(
    ("value", "colour"),
    [
        ("#fff", WHITE),
        ("white", WHITE),
        ("rgb(0,0,0)", BLACK),
        ("hsl(0 0% 100%)", WHITE),
        ("#ff000080", Colour(1, 0, 0, 128 / 255)),
        ("transparent", Colour(0, 0, 0, 0)),
        ("url(a.png) no-repeat 0 0 #fff", WHITE),
        ("no colour", None),
        ("inherit", None),
        ("", None),
        ("oklch(1 0 0)", None),
        ("rgb(a b c)", None),
    ],
)
def test_read_colour(value: str, colour: Colour | None) -> None:
    assert read_colour(value) == colour


def test_the_current_colour_is_that_of_the_text() -> None:
    assert read_colour("currentcolor", BLACK) == BLACK
    assert read_colour("currentcolor") is None


def test_old_attributes_may_lack_the_hash() -> None:
    assert read_legacy_colour(" ffffff ") == read_legacy_colour("fff") == WHITE
    assert read_legacy_colour("#000") == read_legacy_colour("black") == BLACK
    assert read_legacy_colour("chucknorris") is None


def test_near_colours() -> None:
    assert WHITE.is_near(Colour(1, 1, 239 / 255))
    assert not WHITE.is_near(Colour(1, 1, 238 / 255))
    assert not Colour(1, 0, 0).is_near(Colour(0, 0.5, 0))


def test_a_colour_is_mixed_with_what_is_below() -> None:
    assert Colour(0, 0, 0, 0.5).over(WHITE) == Colour(0.5, 0.5, 0.5)
    assert Colour(0, 1, 0, 1).over(WHITE) == Colour(0, 1, 0)
    assert Colour(0, 0, 0, 0).over(Colour(0.1, 0.2, 0.3)) == Colour(0.1, 0.2, 0.3)
