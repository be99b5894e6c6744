"""Style sheets are split into rules; blocks into declarations."""

import re

import pytest

from fetchers.reading.css.budget import MAX_CSS, Budget, TooMuch
from fetchers.reading.css.declarations import (
    Declared,
    declarations,
    with_plain_escapes,
    without_comments,
)
from fetchers.reading.css.media import media_matches
from fetchers.reading.css.sheets import Rule, Sheets, split_list


def rules(*css: str) -> list[Rule]:
    sheets = Sheets(Budget())
    for sheet in css:
        sheets.add(sheet)
    return sheets.rules


def test_rules_keep_their_order_over_sheets() -> None:
    found = rules("a{x:1} b , c{y:2;z:3}", "d{w:4}")
    assert [(rule.selectors, rule.block, rule.order) for rule in found] == [
        ("a", "x:1", 0),
        ("b , c", "y:2;z:3", 1),
        ("d", "w:4", 2),
    ]
    assert all(rule.certain for rule in found)


def test_strings_escapes_and_urls_hide_braces() -> None:
    css = "a{content:'}b{'}" + r"a\}b{x:1}" + "c{background:url(}d{)}e{x:'\\'}'}"
    assert [rule.selectors for rule in rules(css)] == ["a", r"a\}b", "c", "e"]


def test_groups_pass_their_conditions_on() -> None:
    css = (
        "@media screen{a{x:1}@media print{b{x:1}}}@container (width>1px){c{x:1}}"
        "@supports(display:grid){d{x:1}}@supports not (x:y){e{x:1}}@media(min-width:9px){f{x:1}}"
        "@page{margin:0}@keyframes k{from{x:1}}@font-face{x:1}@unknown{g{x:1}}"
    )
    assert [(rule.selectors, rule.certain) for rule in rules(css)] == [
        ("a", True), ("c", False), ("d", True), ("e", False), ("f", True),
    ]  # fmt: skip


def test_nested_rules_are_written_out() -> None:
    css = "a,b{x:1;&.c{x:2}d &{x:3} > e{x:4}@media screen{x:5}x:6}"
    assert [(rule.selectors, rule.block.strip(" ;")) for rule in rules(css)] == [
        ("a,b", "x:1"),
        (":is(a,b).c", "x:2"),
        ("d :is(a,b)", "x:3"),
        (":is(a,b) > e", "x:4"),
        ("a,b", "x:5"),
        ("a,b", "x:6"),
    ]


def test_layers_rank_by_their_first_mention() -> None:
    css = "@layer b, a;@layer a{x{x:1}}@layer b{y{x:1}}z{x:1}@layer c{w{x:1}}"
    ranks = {rule.selectors: rule.layer for rule in rules(css)}
    assert ranks["y"] < ranks["x"] < ranks["w"] < ranks["z"]


def test_a_sheet_that_ends_early_is_read_as_far_as_it_goes() -> None:
    assert [rule.block for rule in rules("@media screen{a{x:1;y:2")] == ["x:1;y:2"]
    assert rules("a") == rules("a{") == rules("a{}") == rules("@layer x;") == []


def test_too_much_css_is_refused() -> None:
    sheets = Sheets(Budget())
    sheets.add(" " * MAX_CSS)
    with pytest.raises(TooMuch):
        sheets.add(" ")
    with pytest.raises(TooMuch):
        rules("a{x:1}" * 100_001)


def test_a_search_finds_the_blocks_with_a_match() -> None:
    sheets = Sheets(Budget())
    sheets.add("red{x:1} b{COLOR:red} c{col\\6f r:red} i\u0130{x:y} d{y:1;color:blue}")
    sheets.add("e{color:red}")
    found = sheets.search(re.compile("color:red"), re.compile("y:1"))
    assert [rule.selectors for rule in found] == ["b", "c", "d", "e"]


def test_comments_are_spaces_but_not_in_strings() -> None:
    assert without_comments("a/* b */c '/* d */' /*") == "a c '/* d */'  "
    assert without_comments("a/b") == "a/b"


def test_escapes_of_names_are_read() -> None:
    assert with_plain_escapes(r"\64 isplay:n\one") == "display:none"
    assert with_plain_escapes(r"a:'\64';b\:c\9") == r"a:'\64';b\:c\9"


def test_a_list_is_split_outside_brackets() -> None:
    assert split_list("a, b") == ["a", "b"]
    assert split_list(":is(a,b) c,[x=','],d") == [":is(a,b) c", "[x=',']", "d"]


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("all", True),
        ("screen", True),
        ("", True),
        ("print", False),
        ("speech", False),
        ("only screen and (min-width: 1280px)", True),
        ("(min-width: 1281px)", False),
        ("(max-width: 1279.9px)", False),
        ("(max-width: 1280px)", True),
        ("screen and (max-width: 80em)", True),
        ("(min-width: 80.1rem)", False),
        ("(min-height: 800px)", True),
        ("(max-height: 799px)", False),
        ("(width > 1280px)", False),
        ("(width >= 1280px)", True),
        ("(width < 1280px)", False),
        ("(800px < height)", False),
        ("(800px <= height)", True),
        ("(600px <= width <= 1280px)", True),
        ("(600px <= width < 1280px)", False),
        ("not print", True),
        ("not screen", False),
        ("not all and (monochrome)", None),
        ("print, screen", True),
        ("print, (monochrome)", None),
        ("screen and (monochrome)", None),
        ("print and (monochrome)", False),
        ("(orientation:landscape)", True),
        ("(orientation: portrait)", False),
        ("(hover: hover) and (pointer: fine)", True),
        ("(hover: none)", False),
        ("(prefers-color-scheme: dark)", False),
        ("(prefers-reduced-motion: no-preference)", True),
        ("(scripting: none)", False),
        ("(min-width: 1.2.3px)", None),
        ("(min-width: calc(1px))", None),
        ("screen or (color)", None),
    ],
)
def test_media_queries_of_a_desktop_reader(query: str, matches: bool | None) -> None:
    assert media_matches(query) is matches
    assert media_matches(query.upper()) is matches


@pytest.mark.parametrize(
    ("block", "name", "value", "is_important"),
    [
        ("Display : None", "display", "none", False),
        ("display:none ! important", "display", "none", True),
        ("display:none!important;display:block", "display", "none", True),
        ("display:none!important;display:block!IMPORTANT", "display", "block", True),
        ("display:none;display:block", "display", "block", False),
        ("--My-X: Red", "--My-X", "Red", False),
        ("--My-X: a(B)", "--My-X", "a(B)", False),
        ("transform:translateX(-1px) Scale(0)", "transform", "translatex(-1px) scale(0)", False),
        ("font:bold 12px/1 serif", "font-size", "12px", False),
        ("font:700 0/0 a", "font-size", "0", False),
        ("font:700 1em a", "font-size", "1em", False),
        ("background:red", "background-color", "red", False),
        ("background:url(a.png) red", "background-image", "url(a.png) red", False),
        ("background:red", "background-image", "none", False),
        ("inset:1px 2px", "bottom", "1px", False),
        ("inset:1px 2px 3px 4px", "left", "4px", False),
        ("padding:1px 2px 3px", "padding-bottom", "3px", False),
        ("padding:1px 2px 3px", "padding-left", "2px", False),
        ("padding:1px", "padding-right", "1px", False),
    ],
)
def test_declarations(block: str, name: str, value: str, is_important: bool) -> None:
    assert declarations(block)[name] == Declared(value, is_important)


def test_broken_declarations_are_left_out() -> None:
    assert declarations("x;:y;z:;(a:b);color red") == {}
    assert declarations("a:" + "x" * 401) == {}
    assert "a" not in declarations("a:" + "(" * 10_000)
