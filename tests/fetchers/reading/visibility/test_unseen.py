"""Text that CSS hides from readers is not read; text that a reader can open is."""

import time

import pytest

from fetchers.reading.extract import extract
from fetchers.reading.visibility.unseen import MARK


def text(page: str) -> str:
    return extract(page.encode(), "text/html; charset=utf-8").text


def styled(css: str, element: str, more: str = "") -> str:
    """The text of a page of standards mode with a style sheet and one element between two."""
    return text(f"<!doctype html><style>{css}</style>{more}<p>a</p>{element}<p>b</p>")


X = "<p class=x id=i>no</p>"
SCRIPT = "<script>start()</script>"


@pytest.mark.parametrize(
    "css",
    [
        ".x{display:none}",
        "#i{display:none}",
        "p.x{display:none!important}",
        "body > p.x:nth-of-type(2){DISPLAY : None}",
        ".y,.x{display:none}",
        "[class~=x]{display:none}",
        ":is(.x,.y){display:none}",
        "p.x:not(:first-of-type):not(:last-of-type){display:none}",
        "p + .x{display:none}",
        "p ~ .x{display:none}",
        "html .x{display:none}",
        ".x{display/**/:/**/none}",
        ".x{disp\\6c ay:none}",
        ".\\78{display:none}",
        "<!-- .x{display:none} -->",
        "a{content:'}.y{'} .x{display:none}",
        ".x{display:none",
        ".x{color:red;;display:none;}",
        "body{.x{display:none}}",
        "p{&.x{display:none}}",
        "@media screen{.x{display:none}}",
        "@media all and (min-width: 1024px){.x{display:none}}",
        "@media (width >= 40em){.x{display:none}}",
        "@media print, screen{.x{display:none}}",
        "@media not print{.x{display:none}}",
        "@supports (display:grid){.x{display:none}}",
        "@layer base{.x{display:none}}",
        ":root{--hide:none}.x{display:var(--hide)}",
        ".x{display:var(--missing, none)}",
        ".x{display:block}.x{display:none}",
        "#i{display:none}.x{display:block}",
        ".x{display:none!important}#i{display:block}",
        "@layer a{#i{display:block}}.x{display:none}",
        "@layer a,b;@layer b{.x{display:none}}@layer a{#i{display:block}}",
        "@layer a{.x{display:none!important}}#i{display:block!important}",
        ".x{visibility:hidden}",
        ".x{visibility:collapse}",
        ".x{opacity:0}",
        ".x{opacity:0%}",
        ".x{opacity:.01}",
        ".x{font-size:0}",
        ".x{font:0/0 a}",
        ".x{font:bold 0px serif}",
        ".x{text-indent:-9999px}",
        ".x{position:absolute;left:-9999px}",
        ".x{position:absolute}.x{left:-9999px}",
        ".x{position:fixed;top:-200vh}",
        ".x{position:absolute;inset:0 auto auto -5000px}",
        ".x{transform:translateX(-9999px)}",
        ".x{translate:-5000px 0}",
        ".x{position:absolute;clip:rect(0 0 0 0)}",
        ".x{position:absolute;clip:rect(1px,1px,1px,1px)}",
        ".x{clip-path:inset(50%)}",
        ".x{clip-path:circle(0)}",
        ".x{height:0;overflow:hidden}",
        ".x{max-height:0;overflow:hidden}",
        ".x{width:0;overflow:hidden}",
        ".x{position:absolute;width:1px;height:1px;overflow:hidden}",
        ".x{transform:scale(0)}",
        ".x{transform:rotate(3deg) scaleX(0)}",
        ".x{scale:0}",
        ".x{color:#fff}",
        ".x{color:white;background:white}",
        ".x{color:#fefefe}",
        ".x{color:transparent}",
        ".x{color:rgb(0 0 0 / 0)}",
        ".x{color:rgba(0,0,0,.03)}",
        ".x{color:hsl(0 0% 100%)}",
        ".x{-webkit-text-fill-color:#fff}",
        ".x{background:currentcolor;color:red}",
        ":root{--c:#fff}.x{color:var(--c)}",
        "body{background:#222;color:#eee}.x{color:#232323}",
        "body{background:#000;color:#fff}.x{background:#fff}",
        "html{background:#036}.x{color:#003366}",
    ],
)
def test_text_that_a_style_sheet_hides_is_not_read(css: str) -> None:
    assert styled(css, X) == "a\nb"
    assert styled(css, "<p class=z>yes</p>") == "a\nyes\nb"


@pytest.mark.parametrize(
    "css",
    [
        "@media print{.x{display:none}}",
        "@media (max-width: 600px){.x{display:none}}",
        "@media (min-width: 2000px){.x{display:none}}",
        "@media not screen{.x{display:none}}",
        "@media (400px <= width <= 700px){.x{display:none}}",
        "@media (prefers-reduced-motion){.x{display:none}}",
        "@media (strange-thing){.x{display:none}}",
        "@container (width > 1px){.x{display:none}}",
        "@supports not (display:grid){.x{display:none}}",
        "@keyframes k{from{display:none}}",
        "@font-face{display:none}",
        ".x{display:none}.x{display:block}",
        ".x{display:none}#i{display:block}",
        "#i{display:none}.x{display:block!important}",
        "@layer a{.x{display:none}}.x{display:block}",
        ".x{--display:none}",
        ".x{content:'display:none'}",
        "/* .x{display:none} */",
        ".x::before{display:none}",
        ".x > b{display:none}",
        ".x{visibility:hidden}.x{visibility:visible}",
        ".x{opacity:.5}",
        ".x{font-size:.9em}",
        ".x{font:400 0.9em/1 serif}",
        ".x{text-indent:-20px}",
        ".x{position:relative;left:-9999px}",
        ".x{position:absolute;left:-100%}",
        ".x{margin-left:-9999px}",
        ".x{clip:rect(0 0 0 0)}",
        ".x{clip-path:polygon(0 0,100% 0,100% 90%,0 100%)}",
        ".x{height:0}",
        ".x{height:0;overflow:hidden;padding-bottom:56.25%}",
        ".x{height:0;min-height:2em;overflow:hidden}",
        ".x{width:0;overflow:hidden;display:inline}",
        ".x{width:1px;overflow:hidden}",
        ".x{transform:scale(0.5)}",
        ".x{color:#ccc}",
        ".x{color:#fff;background:#000}",
        ".x{color:#fff;background-image:url(a.png)}",
        ".x{color:#fff;background:linear-gradient(red,blue)}",
        ".x{color:#fff;background:oklch(0 0 0)}",
        ".x{color:#fff;text-shadow:0 0 2px #000}",
        ".x{color:transparent;background:linear-gradient(red,blue);background-clip:text}",
        ".x{color:transparent;-webkit-text-stroke:1px #000}",
        ".x::before{background:#000}.x{color:#fff}",
        ".x{position:absolute;color:#fff}",
        "body{background:url(dark.png)}.x{color:#fff}",
        "body{background:#000}.x{color:#fff}",
        "body{color:#fff}",
        "@import 'more.css';.x{color:#fff}",
        "p:nonsense{display:none}",
        "p::nonsense{display:none}",
        "} .x{display:none}",
    ],
)
def test_text_that_no_rule_hides_is_read(css: str) -> None:
    assert styled(css, X.replace("no", "yes")) == "a\nyes\nb"


@pytest.mark.parametrize(
    ("css", "page", "seen"),
    [
        (".x{visibility:hidden}.y{visibility:visible}", "<p class=x>no <b class=y>yes</b>", "yes"),
        (".x{visibility:hidden}", "<div class=x><p style='visibility:visible'>yes</p>no", "yes"),
        (".x{visibility:hidden}", "<div class=x><p>no</p></div>yes", "yes"),
        (".x{display:none}.y{display:block}", "<div class=x><p class=y>no</div>yes", "yes"),
        (".x{font-size:0}.y{font-size:16px}", "<p class=x>no <b class=y>yes</b>", "yes"),
        (".x{font-size:0}.y{font-size:2em}", "<p class=x>no <b class=y>no</b></p>yes", "yes"),
        (".x{color:#fff}.y{color:red}", "<p class=x>no <b class=y>yes</b>", "yes"),
        (".x{color:#fff}.y{background:blue}", "<p class=x>no <b class=y>yes</b>", "yes"),
        (".x{color:#fff}", "<p class=x>no <b>no</b> <i>no</i></p>yes", "yes"),
        (".x{color:#fff}", "<div class=x><img src=a.png><p>yes</p></div>", "yes"),
        (".x{color:#fff}", "<p class=x><a href=/>yes</a></p>", "yes"),
        (".x{background:#123}.y{color:#123}", "<div class=x>a <span class=y>no</span></div>", "a"),
        ("", "<p style='opacity:0'>no</p>yes", "yes"),
        ("", "<p style='opacity:0;opacity:1'>yes</p>", "yes"),
        ("", "<p style='color:#fff;background:#fff'>no</p>yes", "yes"),
        ("", "<p style='color:#fff'>no</p>yes", "yes"),
        ("", "<font color=white>no</font>yes", "yes"),
        ("", "<font color=ffffff>no</font>yes", "yes"),
        ("", "<table bgcolor=#000><tr><td><font color=black>no</font>", ""),
        ("", "<body bgcolor=black text=white>yes<p style='color:#000'>no", "yes"),
        (".x{display:block!important}", "<p class=x style='display:none'>yes", "yes"),
        (".x{display:block}", "<p class=x style='display:none'>no</p>yes", "yes"),
        (".s{position:absolute;clip:rect(0,0,0,0)}", "<nav class=menu><b class=s>no</b>yes", "yes"),
    ],
)  # fmt: skip
def test_values_are_inherited_and_override_each_other(css: str, page: str, seen: str) -> None:
    assert text(f"<!doctype html><style>{css}</style>{page}") == seen


def test_a_style_sheet_of_another_file_makes_colours_unknown() -> None:
    link = "<link rel=stylesheet href=more.css>"
    assert styled(".x{color:#fff}", "<p class=x>yes</p>", link) == "a\nyes\nb"
    assert styled(".x{color:#fff;background:#fff}", X, link) == "a\nb"
    assert styled(".x{color:transparent}", X, link) == "a\nb"
    assert styled(".x{display:none}", X, link) == "a\nb"


@pytest.mark.parametrize(
    "sheet",
    [
        "<style media=print>.x{display:none}</style>",
        "<style type=text/less>.x{display:none}</style>",
        "<noscript><style>.x{display:none}</style></noscript>",
        "<template><style>.x{display:none}</style></template>",
        "<style>.no-js .x{display:none}</style><script>document.body.className=''</script>",
    ],
)
def test_style_sheets_that_do_not_apply_hide_nothing(sheet: str) -> None:
    page = f"<!doctype html><html class=no-js>{sheet}<p>a</p><p class=x>yes</p>"
    assert text(page) == "a\nyes"


@pytest.mark.parametrize(
    ("css", "element"),
    [
        (".x{display:none}.m:hover .x{display:block}", "<div class=m>m<p class=x>yes</p></div>"),
        (".x{display:none}.x:target{display:block}", "<p class=x id=t>yes</p>"),
        (".x{display:none}input:checked ~ .x{display:block}", "<input><p class=x>yes</p>"),
        (".x{left:-9999px;position:absolute}.x:focus{left:0}", "<a href=#m class=x>yes</a>"),
        (".x{display:none}[open] .x{display:block}", "<details open><p class=x>yes</p></details>"),
        (".x{display:none}", "<details><summary>m</summary><p class=x>yes</p></details>"),
        (".x{display:none}", "<dialog><p class=x>yes</p></dialog>"),
        (".x{display:none}", "<div popover><p class=x>yes</p></div>"),
        (".x{opacity:0;animation:show 1s forwards}", "<p class=x>yes</p>"),
        (".x{opacity:0;transition:opacity 1s}", "<p class=x>yes</p>"),
        (".x{color:#000;background:#000}.x:hover{color:#fff}", "<p class=x>yes</p>"),
        (".x{display:none}.x.open{display:block}", "<p class=x>yes</p>"),
        (".x{display:none}.open .x{display:block}", "<p class=x>yes</p>"),
        (".x{display:none}@container (width > 1px){.x{display:block}}", "<p class=x>yes</p>"),
    ],
)  # fmt: skip
def test_text_that_opens_without_a_script_is_read(css: str, element: str) -> None:
    assert "yes" in styled(css, element)


@pytest.mark.parametrize(
    "element",
    [
        "<div class='tab-pane x'>yes</div>",
        "<div class=accordion><div class=x>yes</div></div>",
        "<div class=carousel__slide><p class=x>yes</p></div>",
        "<div role=tabpanel class=x>yes</div>",
        "<div role=dialog><p class=x>yes</p></div>",
        "<nav><ul class=x>yes</ul></nav>",
        "<span class='read-more-text x'>yes</span>",
        "<p class=x id=more1>yes</p><a href=#more1></a>",
        "<p class=x id=more1>yes</p><button aria-controls=more1></button>",
        "<p class=x id=more1>yes</p><button data-bs-target=#more1></button>",
        "<p class=x id=more1>yes</p><button data-target=.x></button>",
        "<p class=x id=answer1>yes</p>",
        "<p class='x js-extra'>yes</p><script>$('.js-extra').show()</script>",
        "<p class=x id=extra1>yes</p><script>open('extra1')</script>",
    ],
)
def test_text_that_a_script_opens_is_read(element: str) -> None:
    css = ".x{display:none}"
    filler = "<p>more of the page, so that it does not hold most</p>"
    assert "yes" in styled(css, element + filler, SCRIPT)
    assert "yes" not in styled(css, element.partition("<script>")[0] + filler)


@pytest.mark.parametrize(
    "css",
    [
        ".x:not(.active){display:none}",
        ".loading .x{display:none}.x{opacity:1}",
        "[x-cloak]{display:none}",
        ".x.aos{opacity:0}",
        "html:not(.ready) .x{visibility:hidden}",
    ],
)
def test_text_that_a_script_shows_when_the_page_has_loaded_is_read(css: str) -> None:
    element = "<p class='x aos' x-cloak>yes</p>"
    assert styled(css, element, SCRIPT) == "a\nyes\nb"


def test_a_page_that_a_script_shows_as_a_whole_is_read() -> None:
    words = "many words of the page " * 9
    css = "#page{opacity:0}body{visibility:hidden}.x{display:none}"
    page = f"<!doctype html><style>{css}</style>{SCRIPT}<p>a</p><div id=page>{words}<p class=x>no"
    assert text(page) == f"a\n{words.strip()}"
    assert text(page.replace(SCRIPT, "")) == "a"


@pytest.mark.parametrize("name", ["sr-only", "visually-hidden", "screen-reader-text"])
def test_text_for_screen_readers_is_not_read_even_in_a_menu(name: str) -> None:
    css = f".{name}{{position:absolute;left:-9999px}}"
    assert styled(css, f"<nav class=menu><span class={name}>no</span></nav>", SCRIPT) == "a\nb"


def test_a_rule_for_focus_shows_only_what_can_have_the_focus() -> None:
    css = ".x{position:absolute;clip:rect(0,0,0,0)}.x:focus{clip:auto}"
    assert styled(css, "<span class=x>no</span>") == "a\nb"
    assert styled(css, "<div><a class=x href=#c>yes</a></div>") == "a\nyes\nb"


def test_the_marks_of_a_browser_hide_text() -> None:
    page = (
        f"<p {MARK}=display>no</p><p {MARK}=visibility>no <b {MARK}=shown>yes</b></p>"
        f"<p {MARK}=colour>no</p><p {MARK}=nonsense>yes</p>"
        f"<div class=tabs>{SCRIPT}<p {MARK}=display>yes</p></div>"
    )
    assert text(page).split() == ["yes", "yes", "yes"]


# Hostile style sheets

N = 30_000


@pytest.mark.parametrize(
    "css",
    [
        ".x{display:none}" * 100_000,
        "".join(f".x .a{n}{{display:none}}" for n in range(N)),
        "".join(f".a{n},.x{{display:none}}" for n in range(N)),
        ".x " * 100_000 + "{display:none}",
        ".x,"* 100_000 + ".x{display:none}",
        "* " * 60 + ".x{display:none}",
        "* ~ " * 60 + ".x{display:none}",
        ":is(" * 50_000 + ".x{display:none}",
        ":not(" * 90 + ".x" + ")" * 90 + "{display:none}",
        "@media screen{" * 50_000 + ".x{display:none}",
        "a{" * 50_000 + ".x{display:none}",
        "{" * 500_000,
        "}" * 500_000,
        ".x{" + "display:none;" * 100_000 + "}",
        ".x{" + "(" * 100_000 + "display:none}",
        ".x{display:" + "var(--a," * 50_000,
        ":root{" + "".join(f"--a{n}:var(--a{n + 1}) var(--a{n + 1});" for n in range(50)) + "}"
        ".x{display:var(--a0)}",
        ":root{--a:var(--a)}.x{display:var(--a)}",
        "/*" * 200_000,
        '"' * 200_000,
        "\\" * 200_000,
        "url(" * 100_000,
        "@layer a " * 50_000,
        "@layer " + ",".join(f"a{n}" for n in range(N)) + ";",
        "@media " + "(min-width:1px) and " * 20_000 + "{.x{display:none}}",
        "color:" * 100_000,
        ".x{" + "background color:" * 50_000 + "}",
        ".x{font:" + "0 " * 100_000 + "}",
        "p{color:#fff}" * N,
        "".join(f"p{{color:#{n:06x};background:#{n:06x}}}" for n in range(N)),
        "[style]{display:none}p:nth-child(2n+1){opacity:0}*{visibility:hidden}",
    ],
    ids=lambda css: css[:25],
)  # fmt: skip
@pytest.mark.parametrize(
    "body",
    ["<p class=x>x</p>" * 5_000, "<div class=x>" * 400 + "x" + "</div>" * 400],
    ids=["wide", "deep"],
)
def test_no_style_sheet_takes_long(css: str, body: str) -> None:
    start = time.process_time()
    text(f"<!doctype html><style>{css}</style>{body}")
    assert time.process_time() - start < 4


def test_style_sheets_beyond_the_budget_count_for_nothing() -> None:
    css = ".x{display:none}" + " " * 2_000_001
    assert styled(css, "<p class=x>yes</p>") == "a\nyes\nb"
    assert styled(css, "<p style='display:none'>no</p>") == "a\nb"


def test_documents_in_a_page_share_its_budget() -> None:
    css = "".join(f".x .a{n}{{display:none}}" for n in range(3_000))
    inner = f"<style>{css}.x{{display:none}}</style>{'<p class=x>x' * 300}".replace("'", "")
    start = time.process_time()
    text("<!doctype html>" + f"<iframe srcdoc='{inner}'></iframe>" * 50)
    assert time.process_time() - start < 6


@pytest.mark.parametrize("value", ["inherit", "currentColor", "unset", "#fff"])
def test_text_inside_unreadable_text_that_repeats_its_colour_is_not_read(value: str) -> None:
    css = f".x{{color:#fff}} .x b{{color:{value}}}"
    assert "no" not in styled(css, "<p class=x><b>no</b></p>")


@pytest.mark.parametrize("value", ["initial", "#000"])
def test_text_inside_unreadable_text_with_another_colour_is_read(value: str) -> None:
    css = f".x{{color:#fff}} .x b{{color:{value}}}"
    assert "yes" in styled(css, "<p class=x><b>yes</b></p>")


def test_a_transparent_background_inside_unreadable_text_does_not_make_it_readable() -> None:
    page = '<p style="color:#fff"><b style="background:transparent">no</b></p>'
    assert "no" not in styled("", page)


@pytest.mark.parametrize("picture", ["", "<img src=a>"])
def test_many_texts_in_the_colour_of_a_deep_background_take_linear_time(picture: str) -> None:
    around = '<div style="background:#fff">' * 300
    started = time.process_time()
    styled("p{color:#fff}", f"{around}{picture}{'<p>no</p>' * 20_000}")
    assert time.process_time() - started < 10
