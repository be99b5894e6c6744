"""What elements make of the text in them."""

import pytest

from fetchers.triage.elements import is_root, is_skeleton, role_of


@pytest.mark.parametrize(
    ("tag", "attributes", "role"),
    [
        ("p", {}, "read"),
        ("div", {"class": "text"}, "read"),
        ("main", {}, "article"),
        ("article", {}, "article"),
        ("h2", {}, "heading"),
        ("a", {"href": "/a"}, "link"),
        ("a", {}, "link"),
        ("a", {"name": "top"}, "read"),
        ("a", {"id": "top"}, "read"),
        ("a", {"id": "more", "href": "/a"}, "link"),
        ("button", {}, "control"),
        ("nav", {}, "site"),
        ("header", {}, "site"),
        ("div", {"role": "banner"}, "site"),
        ("aside", {}, "aside"),
        ("aside", {"role": "note"}, "site"),
        ("footer", {}, "footer"),
        ("div", {"role": "contentinfo"}, "footer"),
        ("div", {"class": "wide site-footer"}, "footer"),
        ("section", {"id": "footer"}, "footer"),
        ("div", {"class": "has-footer"}, "read"),
        ("p", {"class": "footer"}, "read"),
        ("div", {"id": "onetrust-banner-sdk"}, "aside"),
        ("p", {"id": "onetrust-banner-sdk"}, "read"),
        ("noscript", {}, "fallback"),
        ("iframe", {}, "fallback"),
        ("script", {}, "skip"),
        ("div", {"hidden": ""}, "skip"),
        ("div", {"style": "color:red; display : none"}, "skip"),
        ("div", {"style": "visibility:hidden"}, "skip"),
        ("body", {"style": "display:none"}, "read"),
        ("html", {"hidden": ""}, "read"),
    ],
)
def test_the_role_of_an_element(tag: str, attributes: dict[str, str], role: str) -> None:
    name = f"{attributes.get('class', '')} {attributes.get('id', '')}"
    assert role_of(tag, name, attributes, {"article": 0}) == role


def test_the_header_of_an_article_is_part_of_it() -> None:
    assert role_of("header", " ", {}, {"article": 1}) == "read"


def test_the_root_of_an_application() -> None:
    assert is_root("div", {"id": "Root"})
    assert is_root("app-root", {})
    assert not is_root("div", {"id": "roots"})
    assert not is_root("div", {"class": "root"})


def test_a_placeholder_for_content() -> None:
    assert is_skeleton("card skeleton-line")
    assert is_skeleton("spinner ")
    assert not is_skeleton("spinners")
    assert not is_skeleton("text")
