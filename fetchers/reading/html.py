"""Parses HTML in linear time, and reads the title and the visible text of a page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetchers.reading import ruby
from fetchers.reading.css.budget import Budget
from fetchers.reading.visibility.unseen import remove_unseen

# --------------------------------------------------------------------------------- bounded parsing

_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd",
    "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
    "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li",
    "listing", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "search", "section",
    "select", "summary", "table", "tbody", "textarea", "tfoot", "thead", "title", "tr", "ul",
    "xmp",
))  # fmt: skip

# Elements without an end tag: the next element of the same group closes them.
_CLOSED_BY_NEXT = {
    "p": "p",
    "li": "li",
    **dict.fromkeys(("dd", "dt"), "dd"),
    **dict.fromkeys(("option", "optgroup"), "option"),
    **dict.fromkeys(("tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup"), "row"),
    **dict.fromkeys(("rt", "rp"), "rt"),
}
_FORMATTING = frozenset((
    "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
))  # fmt: skip
_FLAT = frozenset((
    "a", "area", "base", "body", "br", "col", "embed", "head", "hr", "html", "img", "input",
    "link", "meta", "noscript", "param", "source", "textarea", "title", "track", "wbr",
))  # fmt: skip
_MANY = 1_000  # start tags; with fewer, any nesting is parsed quickly
_DEEP = 512  # as in browsers

_TAG = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"|<(?P<raw>script|style|iframe|noembed|noframes|xmp)\b(?:.*?</(?P=raw)\b|.*)"
    r"|<(?P<end>/?)(?P<name>[a-z][^\s/>]*)",
    re.I | re.S,
)


def parse(html: str) -> LexborHTMLParser:
    """Parse a page or a part of one as the HTML Standard says.

    The algorithm of the Standard takes quadratic time and space in the depth of elements and in
    the number of open ones. So elements of large pages that are nested deeper than 512 levels, as
    in browsers, are flattened.
    """
    if html.count("<") - html.count("</") > _MANY:
        html = _flattened(html)
    if _has_flood(html):
        html = _EVERY_TAG.sub(r"\g<comment>\g<kept>\g<inside>", html)
    return LexborHTMLParser(html)


# A parser compares every attribute of a tag with those before it. Real tags have fewer.
_ATTRIBUTE = r"""(?:(?:[\s/]++|(?<=["']))[^\s/>=]++
    (?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?)?)"""
_FEW = rf"(?>{_ATTRIBUTE}{{0,256}})"
_TAMED = re.compile(
    rf"(?>(?:[^<]++|<(?!/?[a-z])|</?[a-z][^\s/>]*+{_FEW}[\s/]*+(?:>|\Z)){{0,10000}})", re.I | re.X
)
_EVERY_TAG = re.compile(
    rf"""(?P<comment><!--(?:.*?-->|.*))
    |(?P<kept><(?:(?P<raw>script|style|iframe|noembed|noframes|xmp)(?![^\s/>])|/?[a-z][^\s/>]*+){_FEW})
     (?>{_ATTRIBUTE}*)(?P<inside>(?(raw)[^>]*+>(?>.*?(?=</(?P=raw)\b)|.*)))""",
    re.I | re.S | re.X,
)


def _has_flood(html: str) -> bool:
    """Whether something in a page looks like a tag with very many attributes."""
    at = 0
    while (tamed := _TAMED.match(html, at)) and tamed.end() > at:
        at = tamed.end()
    return at < len(html)


def _flattened(html: str) -> str:
    """Replace the elements below level `_DEEP` by empty elements. The text stays.

    If elements overlap, the level is counted too high, never too low. A parser opens formatting
    elements again in every block until they are closed, so they become `span`.
    """
    open_: list[str] = []

    def tamed(tag: re.Match[str]) -> str:
        name = (tag["name"] or "").lower()
        if not name or name in _FLAT:
            return tag[0]
        if name in _FORMATTING:
            name = "span"
        if tag["end"]:
            while name in _BLOCKS and open_ and open_[-1] != name and open_[-1] in _CLOSED_BY_NEXT:
                open_.pop()
            if open_ and open_[-1] == name:
                open_.pop()
            return f"</{name}"
        group = _CLOSED_BY_NEXT.get(name)
        if group and open_ and open_[-1] == "p":
            open_.pop()
        if group and open_ and _CLOSED_BY_NEXT.get(open_[-1]) == group:
            open_[-1] = name
        elif len(open_) < _DEEP:
            open_.append(name)
        else:
            return "<br" if name in _BLOCKS else "<wbr"
        return f"<{name}"

    return _TAG.sub(tamed, html)


# ------------------------------------------------------------------------------------- visible text

_UNSEEN = (
    "head, title, script, style, template, iframe, noembed, noframes, object, video, audio, canvas,"
    " datalist, rp, svg desc, svg metadata, annotation, annotation-xml,"
    ' [hidden]:not([hidden="until-found" i])'
)
# Marks between the texts of elements. In the text of a page, these characters are white space.
_BREAK, _CELL, _PRE, _END_PRE = "\x1e", "\x1f", "\x1c", "\x1d"
_AROUND = {
    ", ".join(sorted(_BLOCKS - {"br", "hr", "pre", "textarea", "listing", "xmp", "body"})): (
        _BREAK,
        _BREAK,
    ),
    "pre, textarea, listing, xmp": (_BREAK + _PRE, _END_PRE + _BREAK),
    "td, th": (_CELL, _CELL),
    "button": (" ", " "),
    "br, hr": (_BREAK, ""),
}
_PRE_MARK = re.compile(f"[{_PRE}{_END_PRE}]")
_INNER = 2  # levels of documents inside documents
_FRAMES = 50  # documents inside a document that are read


_LABEL = 1_000  # characters of a title that are kept


def title(tree: LexborHTMLParser) -> str:
    """Return the title of a page on one line."""
    found = (node.text() for node in tree.css("title") if node.parent and node.parent.tag != "svg")
    return " ".join(next(found, "").split())[:_LABEL]


@dataclass(frozen=True, slots=True)
class VisibleText:
    """The text of a page: a line for each block, with tabs between the cells of a row. `readings`
    repeats the lines with readings over characters, this time with the readings in them."""

    text: str
    readings: str = ""

    @property
    def whole(self) -> str:
        """The text and, after it, the lines with readings."""
        return f"{self.text}\n{self.readings}" if self.readings else self.text


def visible_text(tree: LexborHTMLParser) -> VisibleText:
    """Read all the text of a page that a reader sees or can open. Changes the tree."""
    lines = list(_lines(_marked(tree, _INNER, Budget())))
    readings = (form for line in lines for form in ruby.with_readings(line))
    return VisibleText("\n".join(map(ruby.without_readings, lines)), "\n".join(readings))


def _marked(tree: LexborHTMLParser, levels: int, budget: Budget) -> str:
    """Return the visible text, with marks at the borders of elements."""
    if levels:
        for node in tree.css("template[shadowrootmode], iframe[srcdoc]")[:_FRAMES]:
            if node.tag == "template":
                inner = node.template_fragments()[0].html
            else:
                inner = node.attributes.get("srcdoc")
            node.insert_before(f"{_BREAK}{_marked(parse(inner or ''), levels - 1, budget)}{_BREAK}")
    remove_unseen(tree, _BLOCKS, budget)
    for node in tree.css(_UNSEEN):
        _unlink(node)
    ruby.mark_readings(tree)
    for selector, (before, after) in _AROUND.items():
        for node in tree.css(selector):
            node.insert_before(before)
            if after:
                node.insert_after(after)
    fallback = tree.css("noscript")
    unseen = [node.text() for node in fallback]
    for node in fallback:
        _unlink(node)
    text = tree.root.text() if tree.root else ""
    return text if not _blank(text) else _BREAK.join(unseen)


def _unlink(node: LexborNode) -> None:
    if node.tag not in ("html", "body"):
        node.decompose(recursive=False)


def _blank(text: str) -> bool:
    return not text or text.isspace()  # the marks are white space


def _lines(marked: str) -> Iterator[str]:
    """Yield the lines of a marked text, with tabs between cells and single spaces elsewhere."""
    if _PRE in marked:
        marked = _with_lines_of_pre(marked)
    for line in marked.split(_BREAK):
        if _CELL in line:
            cells = (" ".join(cell.split()) for cell in line.split(_CELL))
            line = "\t".join(cell for cell in cells if cell)
        else:
            line = " ".join(line.split())
        if line:
            yield line


def _with_lines_of_pre(marked: str) -> str:
    parts, depth, at = [], 0, 0
    for mark in _PRE_MARK.finditer(marked):
        part = marked[at : mark.start()]
        parts.append(part.replace("\n", _BREAK) if depth > 0 else part)
        depth += 1 if mark[0] == _PRE else -1
        at = mark.end()
    return " ".join((*parts, marked[at:]))
