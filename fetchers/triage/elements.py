"""The role that an element gives to the text in it."""

import re
from collections.abc import Mapping

from fetchers.triage.markers import is_consent_box

MAX_NAME = 500  # characters of an attribute that are read

_ROOTS = {
    "root", "app", "__next", "__nuxt", "__layout", "___gatsby", "svelte", "react", "react-root",
    "react-app", "app-root", "app-mount", "app-container", "application", "mount", "main-app",
    "main-root", "page-root", "q-app", "ember-app", "vue-app", "ng-app",
}  # fmt: skip
_SKELETON = re.compile(r"skeleton|shimmer|placeholder-glow|ghost-line|loading-spinner|\bspinner\b")
_HIDDEN = re.compile(r"display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden", re.I)
_FOOTER = re.compile(
    r"(?:^|\s)(?:(?:site|page|main|global|app)[-_]?)?(?:footer|colophon)(?:\s|$)"
)  # a whole class or id

INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr", "img", "svg",
}  # fmt: skip
_UNREAD = {"script", "style", "template", "title", "svg", "datalist"}
_FALLBACK = {"noscript", "iframe", "noframes"}
_CHROME = {"nav", "footer", "aside", "dialog", "menu"}
_CONTROLS = {"button", "select", "label", "option", "legend", "textarea"}
_HEADINGS = {"h1", "h2", "h3"}


def is_root(tag: str, attributes: Mapping[str, str]) -> bool:
    """Say if an application fills the element by script."""
    return tag == "app-root" or attributes.get("id", "").casefold() in _ROOTS


def is_skeleton(name: str) -> bool:
    """Say if an element is a placeholder for content, by its class and id in lower case."""
    return _SKELETON.search(name) is not None


def role_of(tag: str, name: str, attributes: Mapping[str, str], inside: Mapping[str, int]) -> str:
    """Give the role of the text in an element.

    "skip": not read; "fallback": shown if scripts or frames are off; "heading", "link", "control",
    "footer", "site" (navigation, header), "aside", "article"; "read" for any other.
    `name` is the class and id in lower case; `inside` counts the roles of the elements around it.
    """
    if tag in _UNREAD:
        return "skip"
    if tag in _FALLBACK:
        return "fallback"
    # A page that is hidden as a whole is shown by a script.
    if tag not in ("html", "body") and (
        "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")[:MAX_NAME])
    ):
        return "skip"
    if tag in _HEADINGS:
        return "heading"
    if tag == "a":  # without an address it may be the target of one
        is_target = "href" not in attributes and ("name" in attributes or "id" in attributes)
        return "read" if is_target else "link"
    if tag in _CONTROLS:
        return "control"
    role = attributes.get("role")
    is_box = tag in ("div", "section")
    if tag == "footer" or role == "contentinfo" or (is_box and _FOOTER.search(name)):
        return "footer"
    if tag == "nav" or role in ("navigation", "banner"):
        return "site"
    if tag in _CHROME:
        return "site" if role is not None else "aside"
    if tag == "header" and not inside["article"]:
        return "site"
    if tag in ("article", "main"):
        return "article"
    return "aside" if is_box and is_consent_box(name) else "read"
