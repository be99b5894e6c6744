"""What a script or HTML itself can open."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from fetchers.reading.css.budget import Budget
from fetchers.reading.css.cascade import Cascade
from fetchers.reading.css.document import Document
from fetchers.reading.css.sheets import Sheets
from fetchers.reading.visibility.opening import Opening, hides_until_loaded
from fetchers.reading.visibility.ways import BY_NAME

FILL = "<p>" + "text of the page " * 9 + "</p>"


def opens(page: str, way: str = "display", css: str = "", is_stable: bool = True) -> bool:
    """Whether the element with the attribute `x` can be opened on a page."""
    tree = LexborHTMLParser(f"<!doctype html>{page}{FILL}")
    budget = Budget()
    sheets = Sheets(budget)
    sheets.add(css)
    document = Document(tree, budget)
    opening = Opening(tree, Cascade(document, sheets))
    element = document.element(tree.css("[x]")[0])
    hidden = BY_NAME[way]
    return opening.is_folded(element, hidden) or opening.can_show(
        element, hidden, {"display": "none", "opacity": "0"}, is_stable
    )


SCRIPT = "<script src=a.js></script>"


@pytest.mark.parametrize(
    "name",
    [
        "tabs", "my-tab", "tabPanel", "accordion", "carousel", "collapse", "dropdown-list", "modal",
        "dialog", "pop-up", "tooltip", "slider", "slide", "swiper", "submenu", "sub-menu", "drawer",
        "off-canvas", "spoiler", "readMore", "show-more", "load-more", "lightbox", "gallery", "faq",
        "answer", "menu", "nav", "panel", "more", "expandable", "toggled", "overlay",
    ],
)  # fmt: skip
def test_names_of_widgets(name: str) -> None:
    assert opens(f"{SCRIPT}<p x class={name}>")
    assert opens(f"{SCRIPT}<p x id={name}>")
    assert not opens(f"<p x class={name}>")


@pytest.mark.parametrize(
    "name", ["table", "content", "text", "hidden", "folder", "stable", "moreover", "tablet", "x"]
)
def test_other_names(name: str) -> None:
    assert not opens(f"{SCRIPT}<p x class={name}>")
    assert not opens(f"{SCRIPT}<div class={name}><p x>")


def test_widgets_around() -> None:
    assert opens(f"{SCRIPT}<div class=accordion><div><p x>")
    assert opens(f"{SCRIPT}<div role=tabpanel><p x>")
    assert opens(f"{SCRIPT}<div aria-expanded=false><p x>")
    assert not opens(f"{SCRIPT}<div class=panel><p x>")
    assert not opens(f"{SCRIPT}<body class=tabs><p x>")


def test_html_opens_without_a_script() -> None:
    assert opens("<details><summary>s</summary><div><p x>")
    assert opens("<dialog><p x>")
    assert opens("<div popover x>")
    assert not opens("<section><p x>")


@pytest.mark.parametrize(
    "control",
    [
        "<a href=#i>", "<button aria-controls='k i'>", "<a data-target=#i>", "<a data-target=.c>",
        "<a data-bs-target=#i>", "<label for=i>", "<button popovertarget=i>",
    ],
)  # fmt: skip
def test_controls(control: str) -> None:
    assert opens(f"{SCRIPT}{control}</a><p x id=i class=c>")
    assert not opens(f"{SCRIPT}{control}</a><p x id=j class=d>")
    assert not opens(f"{control}</a><p x id=i class=c>")


@pytest.mark.parametrize(
    ("code", "is_named"),
    [
        ("$('#extra')", True),
        ("$('.extra')", True),
        ("show('extra')", True),
        ("`extra`", True),
        ("extra()", False),
        ("'extras'", False),
        ("'extra-2'", False),
        ("'xextra'", False),
        ("'extras', 'extra'", True),
    ],
)
def test_names_in_scripts(code: str, is_named: bool) -> None:
    assert opens(f"<script>{code}</script><p x class=extra>") is is_named
    assert opens(f"<script>{code}</script><p x id=extra>") is is_named
    assert not opens(f'{SCRIPT}<script type=application/json>"extra"</script><p x id=extra>')


def test_scripts_are_more_than_data() -> None:
    assert opens("<script>go()</script><p x class=tabs>")
    assert not opens("<script> </script><p x class=tabs>")
    assert not opens("<script type=application/ld+json>{}</script><p x class=tabs>")


def test_most_of_the_page() -> None:
    most = "a long text " * 99
    assert opens(f"{SCRIPT}<div x>{most}</div>")
    assert opens(f"{SCRIPT}<div x>{most}</div>", way="opacity")
    assert not opens(f"<div x>{most}</div>")
    assert not opens(f"{SCRIPT}<div x>{most}</div>", way="away")
    assert not opens(f"{SCRIPT}<div x style='display:none'>{most}</div>")
    assert not opens(f"<script>{most}</script><div x>short</div>")


def test_fading_in() -> None:
    assert opens("<p x>", "opacity", "p{transition:opacity 1s}")
    assert opens("<p x>", "opacity", "p{animation:show 1s}")
    assert opens("<p x style='transform:none'>", "opacity")
    assert not opens("<p x>", "opacity", "p{transition:none}")
    assert not opens("<p x>", "display", "p{transition:opacity 1s}")
    for attributes in ("class=wow", "class=fade-in", "class=lazy", "data-aos=up", "data-reveal"):
        assert opens(f"{SCRIPT}<p x {attributes}>", "opacity")
        assert not opens(f"<p x {attributes}>", "opacity")


def test_states() -> None:
    assert opens(SCRIPT + "<p x>", is_stable=False)
    assert not opens("<p x>", is_stable=False)
    assert opens("<div class=m><p x>", css=".m:hover p{display:block}")
    assert not opens("<div class=m><p x>", css=".m:hover p{color:red}")
    assert not opens("<div class=m><p x>", css=".m:hover p{display:none}")


def test_ways_that_do_not_fold() -> None:
    for way in ("clip", "indent", "font"):
        assert not opens(f"{SCRIPT}<details class=tabs><p x>", way)
    for name in ("sr-only", "visually-hidden", "screen-reader-text"):
        assert not opens(f"{SCRIPT}<nav><p x class='tab {name}'>", "away")


def test_selectors_of_loading_pages() -> None:
    assert hides_until_loaded("[v-cloak]")
    assert hides_until_loaded("html.loading p")
    assert not hides_until_loaded("p.content")
