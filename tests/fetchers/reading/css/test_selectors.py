"""Selectors match for good, now, after a change of state, or never."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from fetchers.reading.css.budget import Budget, TooMuch
from fetchers.reading.css.document import Document, is_state
from fetchers.reading.css.matching import Match
from fetchers.reading.css.selectors import parse

PAGE = """<!doctype html><html><body class=home>
<div class="a b" id=one data-kind="Big cat" lang=en-US>
<p class=c>first</p><p>second <b id=bold>bold</b></p><span></span><a href=/ class=link>link</a>
</div>
<div class=z><input type=checkbox><em tabindex=0>em</em></div>"""


def match(selector: str, target: str = "p.c", page: str = PAGE) -> Match:
    document = Document(LexborHTMLParser(page), Budget())
    parsed = parse(selector)
    assert parsed is not None
    return parsed.match(document, document.element(document.tree.css(target)[0]))


@pytest.mark.parametrize(
    "selector",
    [
        "p", "P", "*", ".c", "p.c", ".a .c", "#one > p", "div.a.b > .c", "body .b p", "html p",
        "p:first-child", "p:nth-child(1)", "p:nth-child(odd)", "p:nth-child(2n + 1)", ".home p",
        "p:nth-last-child(4)", "p:first-of-type", "p:nth-of-type(1)", "p:nth-last-of-type(2)",
        "p:nth-child(-n+1)", "p:not(.b)", "p:not(.a, .b)", "p:is(.c, .d)", "p:where(.c)", "[class]",
        "[class=c]", "[class~=c]", "[class^=c]", "[class$=c]", "[class*=c]", "[data-kind*=cat] p",
        "[data-kind='big CAT' i] p", "[lang|=en] .c", "p:not(:last-child)", ":root p", "p:defined",
        "p::before", "p:after", ":not(:not(p))",
    ],
)  # fmt: skip
def test_selectors_that_match_for_good(selector: str) -> None:
    assert match(selector) is Match.ALWAYS


@pytest.mark.parametrize(
    "selector",
    [
        "b", ".b", "#one", "body > p", "p + .c", "p ~ .c", ".z .c", "p:last-child", "p:only-child",
        "p:nth-child(2)", "p:nth-child(2n)", "p:not(p)", "p:not(.c)", "[id]", "[class=b]",
        "p:empty",
        "[data-kind='big cat'] p:nth-of-type(2)", "p:root", "p:focus", "p:checked", "p:link",
        "p:unheard-of", "p:unheard-of(2)", "p:last-of-type", "p:only-of-type", "p:target", "p:open",
        "[class^='']", "[class$='']", "[class*='']",
    ],
)  # fmt: skip
def test_selectors_that_never_match(selector: str) -> None:
    assert match(selector) is Match.NEVER


@pytest.mark.parametrize(
    ("selector", "target"),
    [
        ("p:hover", "p.c"),
        (".a:hover p", "p.c"),
        ("p.open", "p.c"),
        (".is-active p", "p.c"),
        ("p.never-seen-here", "p.c"),
        ("[aria-expanded=true] p", "p.c"),
        ("div:has(> p) p", "p.c"),
        ("p:nth-child(1):active", "p.c"),
        ("div:focus-within p", "p.c"),
        ("#one:target", "#one"),
        ("a:focus", "a"),
        ("em:focus", "em"),
        ("input:checked", "input"),
        ("input:checked + em", "em"),
        ("input:checked ~ em", "em"),
        ("p:not(:not(.open))", "p.c"),
        ("a:visited", "a"),
    ],
)
def test_selectors_that_match_after_a_change_of_state(selector: str, target: str) -> None:
    assert match(selector, target) is Match.CHANGED


@pytest.mark.parametrize("selector", ["p:not(.open)", "p:not(:hover)", ".a:not(.shown) p"])
def test_selectors_that_match_until_the_state_changes(selector: str) -> None:
    assert match(selector) is Match.NOW


def test_classes_that_are_states_can_be_taken_away() -> None:
    page = "<p class='c collapsed'>x"
    assert match("p.collapsed", page=page) is Match.ALWAYS
    assert match("p:not(.collapsed)", page=page) is Match.CHANGED
    assert match("p:not(.c)", page=page) is Match.NEVER
    assert match("p:not(.c .collapsed)", page=page) is Match.ALWAYS
    assert is_state("is-open")
    assert is_state("menuOpen")
    assert not is_state("content")


def test_a_reader_has_scripts() -> None:
    for name in ("no-js", "nojs", "client-nojs", "no_script"):
        assert match(f".{name} p", page=f"<div class={name}><p class=c>") is Match.NEVER
    assert match(".nojsx p", page="<div class=nojsx><p class=c>") is Match.ALWAYS


def test_matches_now_leaves_changes_out() -> None:
    document = Document(LexborHTMLParser(PAGE), Budget())
    element = document.element(document.tree.css("p.c")[0])
    for source, found in (
        (".a .c", 3),
        ("p:not(.open)", 2),
        ("p:hover", 0),
        (".d .c", 0),
        (".z p", 0),
    ):
        selector = parse(source)
        assert selector is not None
        assert selector.matches_now(document, element) == found


@pytest.mark.parametrize(
    ("source", "keys", "specificity", "pseudo_element"),
    [
        ("a", ("a",), (0, 0, 1), ""),
        ("*", ("*",), (0, 0, 0), ""),
        ("p.x.y#z", (".x", ".y", "#z"), (1, 2, 1), ""),
        (".a > .b:hover", (".b",), (0, 3, 0), ""),
        ("a[href]", ("a",), (0, 1, 1), ""),
        ("[href]", ("[href]",), (0, 1, 0), ""),
        (".a::before", (".a",), (0, 1, 1), "before"),
        (".a:after", (".a",), (0, 1, 1), "after"),
        (":is(#a, b)", ("*",), (1, 0, 0), ""),
        (":where(#a) b", ("b",), (0, 0, 1), ""),
        (":not(.a)", ("*",), (0, 1, 0), ""),
        (r".md\:x", (".md:x",), (0, 1, 0), ""),
        ("a+b~c d", ("d",), (0, 0, 4), ""),
    ],
)
def test_parsed(
    source: str, keys: tuple[str, ...], specificity: tuple[int, int, int], pseudo_element: str
) -> None:
    selector = parse(source)
    assert selector is not None
    found = (selector.keys, selector.specificity, selector.pseudo_element)
    assert found == (keys, specificity, pseudo_element)


@pytest.mark.parametrize(
    "source", ["", ">", "a >", "&", "a{", ".", "a..b", "::", "[", "a::nonsense", "}a", "a" * 401]
)
def test_what_is_no_selector_is_none(source: str) -> None:
    assert parse(source) is None


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "<div>" * 300 + "<p class=c>"
    document = Document(LexborHTMLParser(page), Budget(steps=2_000))
    selector = parse("i " * 40 + "div " * 40 + "p")
    assert selector is not None
    element = document.element(document.tree.css("p")[0])
    with pytest.raises(TooMuch):
        selector.match(document, element)
