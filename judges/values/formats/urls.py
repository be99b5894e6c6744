"""The format `url` (tables.md, "The comparator")."""

import re
from typing import ClassVar
from urllib.parse import unquote

from fetchers.urls import canonical
from judges.values.formats.cell import Cell
from judges.values.formats.text import TextFormat, one_line

_LONGEST_URL = 4000
_MARKS = "\"'<>`* "
"""The marks around a URL that do not belong to it."""
_LINK = re.compile(
    r"\[[^\[\]]*+\]\(\s*+<?([^\s<>()]*+(?>(?:\([^\s<>()]*+\)[^\s<>()]*+)*))>?\s*+(?:\"[^\"]*+\"\s*+)?\)"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"']+", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,20}:/{2}(?:www\.)?", re.IGNORECASE)


class UrlFormat(TextFormat):
    """The format `url`: equal without scheme, `www.`, final slash, fragment, tracking parameters,
    percent-encoding and IDNA form. The letter case of the path counts."""

    kind: ClassVar[str] = "URL"

    def read(self, text: str) -> Cell:
        """Read the one URL of a cell. A cell with several different URLs has no value."""
        shown = one_line(text)
        short = len(shown) <= _LONGEST_URL
        urls = {_comparable(url) for url in _urls(shown)} if short else set()
        value = urls.pop() if len(urls) == 1 else None
        fault = "" if value else "more than one URL" if urls else "no URL"
        return Cell(shown, shown.strip(_MARKS), value, fault)


def _urls(text: str) -> list[str]:
    """The URLs in a cell. A cell that is nothing else may leave out the scheme."""
    if found := [link for link in _LINK.findall(text) if "." in link]:
        return found
    if found := _URL.findall(text):
        return [url.rstrip(".,;)") if "(" not in url else url for url in found]
    bare = text.split("(")[0].strip(_MARKS).removesuffix(".")
    return [f"http://{bare}"] if bare and "." in bare and " " not in bare else []


def _comparable(url: str) -> str:
    """The parts of a URL that count, in one spelling."""
    url = url if _SCHEME.match(url) else f"http://{url}"
    rest = canonical(url).partition("#")[0]
    rest = _SCHEME.sub("", rest, count=1)
    path, mark, query = rest.partition("?")
    return unquote(path.rstrip("/")) + mark + unquote(query)
