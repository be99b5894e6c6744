"""Text in the colour of its background."""

from selectolax.lexbor import LexborHTMLParser

from fetchers.reading.css.budget import Budget
from fetchers.reading.css.cascade import Cascade
from fetchers.reading.css.document import Document
from fetchers.reading.css.sheets import Sheets
from fetchers.reading.visibility.painting import LEGACY, Painting


def unreadable(css: str, body: str, is_whole: bool = True) -> list[str]:
    """The ids of the elements whose text cannot be read."""
    tree = LexborHTMLParser(f"<!doctype html>{body}")
    budget = Budget()
    sheets = Sheets(budget)
    sheets.add(css)
    painting = Painting(Cascade(Document(tree, budget), sheets), is_whole)
    for node in tree.css(f"[style], {LEGACY}"):
        painting.add(node, (node.attributes.get("style") or "").lower())
    found = [each for each in painting.unreadable() if not painting.can_change(each)]
    return [each.id for each in found if each.id]


def test_each_element_is_given_once() -> None:
    assert unreadable("p{color:#fff}.x{color:white}", "<p id=a class=x>text") == ["a"]
    assert unreadable("p{color:#fff}", "<p id=a style='color:white'>text") == ["a"]
    assert unreadable("p{color:#fff}", "<p id=a> </p>") == []


def test_the_nearest_background_counts() -> None:
    css = ".d{background:#111}.w{background:#fff}.t{color:#eee}"
    assert unreadable(css, "<div class=d><p id=a class=t>x") == []
    assert unreadable(".t{color:#fff}" + css, "<div class=w><p id=a class=t>x") == []
    css = ".d{background:#111}.w{background:#eee}.t{color:#eee}"
    assert unreadable(css, "<div class=d><div class=w><p id=a class=t>x") == ["a"]
    assert unreadable(css, "<div class=w><div class=d><p id=a class=t>x") == []


def test_half_transparent_backgrounds_are_mixed() -> None:
    css = "body{background:#000}.x{background:rgb(255 255 255 / .5);color:#808080}"
    assert unreadable(css, "<p id=a class=x>x") == ["a"]
    assert unreadable(css.replace("#000", "#fff"), "<p id=a class=x>x") == []


def test_what_may_lie_behind_makes_text_readable() -> None:
    css = ".t{color:#fff}"
    assert unreadable(css, "<p id=a class=t>x") == ["a"]
    for more in (
        "<div><img><p id=a class=t>x",
        "<div style='position:absolute'><p id=a class=t>x",
        "<div style='background:url(a)'><p id=a class=t>x",
        "<div style='text-shadow:1px 1px red'><p id=a class=t>x",
        "<button><b id=a class=t>x",
        "<a href=/ style='background:oklch(0 0 0)'><b id=a class=t>x",
    ):
        assert unreadable(css, more) == []
    assert unreadable(css + ".t:hover{color:red}", "<p id=a class=t>x") == []
    assert unreadable(css + "div::before{background:red}", "<div><p id=a class=t>x") == []
    assert unreadable(css, "<div style='background:none'><p id=a class=t>x") == ["a"]


def test_links_have_a_colour_of_their_own() -> None:
    css = ".d{color:#00e}.b{background:#00f}"
    assert unreadable(css, "<div class=d><a href=/ id=a class=b>x") == []


def test_other_files_may_set_colours() -> None:
    css = ".x{color:#fff}.y{background:#fff}.z{color:#fff;background:#fff}.t{color:transparent}"
    body = "<div class=y><p id=a class=x>x</p></div><p id=b class=z>x</p><p id=c class=t>x</p>"
    assert unreadable(css, body) == ["a", "b", "c"]
    assert unreadable(css, body, is_whole=False) == ["b", "c"]


def test_elements_inside_may_differ() -> None:
    tree = LexborHTMLParser(
        "<p style='color:#fff'><a>x</a><b class=k>y</b><i>z</i><u style='color:red'>"
    )
    budget = Budget()
    document = Document(tree, budget)
    cascade = Cascade(document, Sheets(budget))
    tags = ("a", "b", "i", "u")
    for is_whole, differ in ((True, {"a", "u"}), (False, {"a", "b", "u"})):
        painting = Painting(cascade, is_whole)
        elements = (document.element(tree.css(tag)[0]) for tag in tags)
        assert {each.tag for each in elements if painting.may_differ(each)} == differ
