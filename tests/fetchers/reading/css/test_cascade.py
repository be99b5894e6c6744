"""Of several rules for one element, the right one wins."""

from selectolax.lexbor import LexborHTMLParser

from fetchers.reading.css.budget import Budget
from fetchers.reading.css.cascade import Cascade
from fetchers.reading.css.document import Document, Element
from fetchers.reading.css.sheets import Sheets


def made(css: str, page: str = "<div class=w><p class=x id=i>x") -> tuple[Cascade, Element]:
    sheets = Sheets(Budget())
    sheets.add(css)
    document = Document(LexborHTMLParser("<!doctype html>" + page), Budget())
    return Cascade(document, sheets), document.element(document.tree.css("p")[0])


def value(css: str, page: str = "<div class=w><p class=x id=i>x", name: str = "color") -> str:
    cascade, element = made(css, page)
    return cascade.values(element, (name,)).get(name, "")


def test_order_specificity_importance_and_layers() -> None:
    assert value(".x{color:a}p{color:b}") == "a"
    assert value("p{color:a}p{color:b}") == "b"
    assert value("#i{color:a}.w .x{color:b}") == "a"
    assert value("#i{color:a}p{color:b!important}") == "b"
    assert value("@layer m{#i{color:a}}p{color:b}") == "b"
    assert value("@layer m,n;@layer n{p{color:a}}@layer m{#i{color:b}}") == "a"
    assert value("p{color:a!important}@layer m{p{color:b!important}}") == "b"
    assert value("@layer m{p{color:a!important}}@layer n{#i{color:b!important}}") == "a"
    assert value("p{color:a}@container c{p{color:b}}") == "a"
    assert value("p{color:a}p:hover{color:b}p::before{color:c}") == "a"
    assert value(".y{color:a}") == ""


def test_inline_styles_win_unless_a_rule_is_important() -> None:
    page = "<p class=x style='color:red'>"
    assert value("#i.x{color:a}", page) == "red"
    assert value("p{color:a!important}", page) == "a"
    assert value("p{color:a!important}", "<p style='color:red!important'>") == "red"
    assert value("", "<p style='/* color:a */COLOR:b'>") == "b"


def test_variables_are_inherited_and_have_fallbacks() -> None:
    assert value(".w{--c:a}.x{color:var(--c)}") == "a"
    assert value(".w{--c:a}p{--c:b}.x{color:var( --c , z)}") == "b"
    assert value(".x{color:var(--c, z)}") == "z"
    assert value(".x{color:var(--c)}") == ""
    assert value(".w{--c:var(--d);--d:a}.x{color:var(--c)}") == "a"
    assert value(".x{color:var(--c)}", "<div style='--c:a'><p class=x>") == "a"
    assert value(".w{--c:a!important}#i{--c:b}.x{color:rgb(var(--c) 1)}") == "rgb(b 1)"
    assert value(":root{--c:var(--c)}.x{color:var(--c)}") == "var(--c)"
    assert len(value(":root{--c:var(--c) var(--c) var(--c)}.x{color:var(--c)}")) <= 500


def test_changes_of_state() -> None:
    css = "p{color:a}p:hover{color:b}.x.open{color:c}.open p{color:d}@container c{p{color:e}}"
    cascade, element = made(
        css + ".x::before{color:f}.x:hover::before{color:g}.missing .w{color:h}"
    )
    changes = [change["color"] for change in cascade.after_changes(element, ("color",))]
    assert sorted(changes) == ["b", "c", "e"]
    cascade, element = made(".w.open p{color:d}")
    assert [change["color"] for change in cascade.after_changes(element, ("color",))] == ["d"]


def test_pseudo_elements_are_decorations() -> None:
    cascade, element = made("p::before{color:a}p{color:b}b::after{color:c}")
    assert [each["color"] for each in cascade.decorations(element, ("color",))] == ["a"]
