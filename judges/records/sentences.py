"""The sentence of a page around a part of it."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from judges.records.search import Place

_REACH = 400  # characters before and after a place

# The text of a page has a line for each block and a tab between cells. Both end a sentence.
_END = re.compile(
    r"""[\n\t\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029\ufffc] | [。！？｡]+[」』）"'”’]*
      | (?P<mark>[.!?…])[.!?…]*["'”’»)\]]*(?=\s)""",
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"(?:\A|[^\w.])([\w.]{1,12})\Z")
_NEXT_LETTER = re.compile(r"""[\s"'“‘«(\[]*(\w)""")
_INITIAL_OR_NUMBER = re.compile(r"(?:\w\.)*[^\W\d]|\d{1,2}")


class Cut(NamedTuple):
    """The parts of a sentence that an excerpt leaves out, before it and after it. A part is empty
    if the excerpt begins or ends where the sentence does."""

    before: str
    after: str

    @property
    def has_words(self) -> bool:
        """Whether anything but marks is left out."""
        return any(map(str.isalnum, f"{self.before}{self.after}"))


def cut_off(text: str, place: Place) -> Cut:
    """The rest of the sentence in which `place` begins and of the one in which it ends, at most
    `_REACH` characters each."""
    start, end = sentence_around(text, place)
    return Cut(text[start : place.start].strip(), text[place.end : end].strip())


def sentence_around(text: str, place: Place) -> Place:
    """From the start of the sentence in which `place` begins to the end of the one in which it
    ends, at most `_REACH` characters before and after it. Abbreviations, initials and decimal
    points do not end a sentence."""
    start = max(0, place.start - _REACH)
    for end in _sentence_ends(text, start, place.start):
        start = end
    stop = min(len(text), place.end + _REACH)
    # If the place has the mark that ends its sentence, the search begins with that mark.
    first = place.end
    while first > place.start and text[first - 1] in _MARKS:
        first -= 1
    for end in _sentence_ends(text, first, stop):
        stop = max(end, place.end)
        break
    return Place(start, stop)


_MARKS = frozenset(".!?…。！？｡\"'”’»)]」』）")


def _sentence_ends(text: str, start: int, stop: int) -> list[int]:
    return [
        end.end()
        for end in _END.finditer(text, start, min(len(text), stop + 1))
        if end.end() <= stop and not _goes_on(text, end)
    ]


def _goes_on(text: str, end: re.Match[str]) -> bool:
    """Whether a sentence goes on after a full stop or another mark."""
    if not end["mark"]:
        return False
    after = _NEXT_LETTER.match(text, end.end(), end.end() + 20)
    if after and after[1].islower():
        return True
    if end["mark"] != "." or end[0] != ".":
        return False
    word = _LAST_WORD.search(text, max(0, end.start() - 20), end.start())
    return word is not None and (
        _INITIAL_OR_NUMBER.fullmatch(word[1]) is not None
        or word[1].casefold().rpartition(".")[2] in _abbreviations()
    )


@cache
def markers() -> dict[str, dict[str, list[str]]]:
    """The data of truncation.toml, by language."""
    data: dict[str, Any] = tomllib.loads(
        files("judges.records").joinpath("truncation.toml").read_text("utf-8")
    )
    return data


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset(word for data in markers().values() for word in data.get("abbreviations", ()))
