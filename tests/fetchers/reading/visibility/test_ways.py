"""Each way to hide an element is told from the values that the element gets."""

import pytest

from fetchers.reading.css.declarations import declarations
from fetchers.reading.visibility.ways import BY_NAME, WAYS, length


def hides(name: str, block: str) -> bool:
    way = BY_NAME[name]
    values = {each: declared.value for each, declared in declarations(block).items()}
    found = way.hides(values)
    if found:  # the quick tests must not miss it
        assert way.suspects_style(block)
        assert not way.required or any(each.startswith(way.required) for each in values)
    return found


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", (0, "")),
        ("-9999px", (-9999, "px")),
        (".5em", (0.5, "em")),
        ("1e3px", (1000, "px")),
        ("50%", (50, "%")),
        ("calc(1px)", None),
        ("auto", None),
        ("", None),
    ],
)
def test_length(value: str, expected: tuple[float, str] | None) -> None:
    assert length(value) == expected


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("display", "display:none"),
        ("visibility", "visibility:hidden"),
        ("visibility", "visibility:collapse"),
        ("opacity", "opacity:0"),
        ("opacity", "opacity:0.04"),
        ("opacity", "opacity:4.9%"),
        ("opacity", "opacity:1e-9"),
        ("font", "font-size:0px"),
        ("font", "font:italic 0/1 serif"),
        ("indent", "text-indent:-1000px"),
        ("indent", "text-indent:-100em hanging"),
        ("away", "position:absolute;left:-1000px"),
        ("away", "position:fixed;bottom:-100rem"),
        ("away", "position:absolute;top:-1e4px"),
        ("away", "position:absolute;right:-100vw"),
        ("away", "transform:translate(0,-5000px)"),
        ("away", "transform:translate3d(-200em,0,0)"),
        ("away", "translate:0 -1000px"),
        ("clip", "position:absolute;clip:rect(0, 0, 0, 0)"),
        ("clip", "position:fixed;clip:rect(1px 1px 1px 1px)"),
        ("clip", "clip-path:inset(100%)"),
        ("clip", "clip-path:ellipse(0 0)"),
        ("clip", "clip-path:polygon(0 0, 0 0, 0 0)"),
        ("size", "height:0;overflow:hidden"),
        ("size", "max-width:0;overflow-x:clip"),
        ("size", "height:1px;width:1px;overflow:hidden"),
        ("size", "height:0;padding-left:9px;overflow:hidden"),
        ("size", "height:0;padding:0 9px;overflow:hidden auto"),
        ("scale", "transform:scale(0)"),
        ("scale", "transform:scale3d(0,1,1)"),
        ("scale", "transform:matrix(0, 0, 0, 0, 0, 0)"),
        ("scale", "scale:0 1"),
    ],
)
def test_values_that_hide(name: str, block: str) -> None:
    assert hides(name, block)


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("display", "display:block"),
        ("visibility", "visibility:visible"),
        ("opacity", "opacity:0.05"),
        ("opacity", "opacity:5%"),
        ("opacity", "opacity:inherit"),
        ("font", "font-size:1px"),
        ("font", "font-size:-0.1em"),
        ("indent", "text-indent:-999px"),
        ("indent", "text-indent:1000px"),
        ("away", "position:absolute;left:-999px"),
        ("away", "position:absolute;left:1000px"),
        ("away", "position:absolute;left:-1000%"),
        ("away", "position:static;left:-1000px"),
        ("away", "left:-1000px"),
        ("away", "transform:translateX(-100%)"),
        ("clip", "clip:rect(0,0,0,0)"),
        ("clip", "position:absolute;clip:rect(0,9px,9px,0)"),
        ("clip", "position:absolute;clip:auto"),
        ("clip", "clip-path:inset(40%)"),
        ("clip", "clip-path:circle(9px)"),
        ("size", "height:0"),
        ("size", "height:0;overflow:visible"),
        ("size", "height:1px;overflow:hidden"),
        ("size", "height:1em;width:1em;overflow:hidden"),
        ("size", "height:0;padding-top:1px;overflow:hidden"),
        ("size", "width:0;padding-right:1px;overflow:hidden"),
        ("size", "width:0;min-width:1px;overflow:hidden"),
        ("size", "height:1px;width:1px;padding:9px;overflow:hidden"),
        ("size", "height:0;overflow:hidden;display:inline"),
        ("scale", "transform:scale(0.1)"),
        ("scale", "transform:scale(1, 0.5)"),
        ("scale", "scale:1"),
    ],
)
def test_values_that_do_not_hide(name: str, block: str) -> None:
    assert not hides(name, block)


def test_every_way_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(WAYS) == 9
