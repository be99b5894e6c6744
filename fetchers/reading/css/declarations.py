"""The block of a rule to its declarations."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import tinycss2
from tinycss2 import ast

_MAX_VALUE = 400  # characters of a value that is kept
_COMMENT = re.compile(r"""/\*.*?(?:\*/|\Z)|"(?>[^"\\\n]+|\\.)*"?|'(?>[^'\\\n]+|\\.)*'?""", re.S)


class Declared(NamedTuple):
    """A declared value, in lower case, with single spaces."""

    value: str
    important: bool


def without_comments(css: str) -> str:
    """`css` with each comment replaced by a space."""
    if "/*" not in css:
        return css
    return _COMMENT.sub(lambda found: " " if found[0].startswith("/*") else found[0], css)


_ESCAPE = re.compile(
    r"""("(?>[^"\\\n]+|\\.)*"?|'(?>[^'\\\n]+|\\.)*'?)|\\(?:([0-9a-f]{1,6})\s?|([g-z-]))""",
    re.S | re.I,
)


def with_plain_escapes(block: str) -> str:
    """`block` with the letters, digits and hyphens that it writes as escapes outside strings, so
    that a search for a property name finds it."""

    def plain(found: re.Match[str]) -> str:
        string, code, letter = found.groups()
        if string:
            return str(string)
        sign = letter or (chr(int(code, 16)) if int(code, 16) < 128 else "")
        return sign if re.fullmatch(r"[A-Za-z0-9-]", sign) else found[0]

    return _ESCAPE.sub(plain, block) if "\\" in block else block


def declarations(block: str) -> dict[str, Declared]:
    """The declared values of a block by property name; `font`, `background`, `inset` and the like
    also give the longhand properties that they set. A later value replaces an earlier one, unless
    only the earlier one is important."""
    declared: dict[str, Declared] = {}
    for name, value, is_important in _pairs(block):
        for longhand, part in _longhands(name, value):
            before = declared.get(longhand)
            if before is None or is_important or not before.important:
                declared[longhand] = Declared(part, is_important)
    return declared


_INTRICATE = re.compile(r"[\"'({\[\\@]")
_IMPORTANT = re.compile(r"\s*!\s*important$")


def _pairs(block: str) -> Iterator[tuple[str, str, bool]]:
    """Name, value and importance of each declaration. tinycss2 is asked if a block has more in it
    than words, which is not often."""
    if not _INTRICATE.search(block):
        for part in block.split(";"):
            name, colon, value = part.partition(":")
            value = " ".join(value.split())
            if colon and value and len(value) <= _MAX_VALUE:
                value = value if name.strip()[:2] == "--" else value.lower()
                plain = _IMPORTANT.sub("", value)
                name = name.strip()
                yield name if name[:2] == "--" else name.lower(), plain, plain != value
        return
    for item in tinycss2.parse_blocks_contents(block, skip_comments=True, skip_whitespace=True):
        if not isinstance(item, ast.Declaration):
            continue
        try:
            value = " ".join(tinycss2.serialize(item.value).split())
        except RecursionError:
            continue
        if not value or len(value) > _MAX_VALUE:
            continue
        if item.name[:2] == "--":
            yield item.name, value, item.important
        else:
            yield item.lower_name, value.lower(), item.important


_SIZE = re.compile(r"(?<![\w/.-])([\d.]+(?:px|pt|r?em|%|vw|vh)?)(?=\s*/|\s)")
_SIDES = ("top", "right", "bottom", "left")


def _longhands(name: str, value: str) -> Iterator[tuple[str, str]]:
    yield name, value
    if name == "font":
        sizes = [size for size in _SIZE.findall(value) if not re.fullmatch(r"[1-9]\d\d", size)]
        if sizes:
            yield "font-size", sizes[0]
    elif name == "background":
        yield "background-image", value if re.search(r"url\(|gradient|image", value) else "none"
        yield "background-color", value
    elif name == "inset":
        yield from zip(_SIDES, _four(value.split()), strict=True)
    elif name == "padding":
        pads = zip(_SIDES, _four(value.split()), strict=True)
        yield from ((f"padding-{side}", pad) for side, pad in pads)


def _four(values: list[str]) -> list[str]:
    """The values of the four sides, from one to four values of a shorthand."""
    top = values[0]
    right = values[1] if len(values) > 1 else top
    bottom = values[2] if len(values) > 2 else top
    return [top, right, bottom, values[3] if len(values) > 3 else right]
