"""The parts of a URL that a page may repeat, as words: keys and values of its query, segments of
its path, and the same of its fragment."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

import regex

from judges.text.markup import folded
from judges.text.tokens import UNSPACED

LONG = 4.0
"""Words from which a passage is long enough to be a repetition."""

_LONGEST_URL = 100_000  # characters
_MOST_PARTS = 32
_MOST_STARTS = 8  # of one pair of words
_TIMES_ENCODED = 3
# A segment of the path after one of these was typed by a user.
_SEARCH = frozenset(
    ("search", "find", "query", "q", "s", "results", "suche", "recherche", "buscar")
)
# The value of one of these parameters names the page.
_NAMES = frozenset(("title", "slug", "page", "name", "id", "article", "path", "file", "p"))
_AUTHORITY = regex.compile(r"\s*+(?:[A-Za-z][A-Za-z0-9+.-]*+:)?[/\\]*+[^/\\?#]*+")


class Word(NamedTuple):
    """A word or a number of a text in the form in which they are compared, with its offsets."""

    text: str
    start: int
    end: int


_WORD = regex.compile(
    rf"""{UNSPACED} | \p{{Nd}}+(?:[.,]\p{{Nd}}+)*+
      | [[\p{{L}}\p{{M}}\p{{N}}\p{{Cf}}]--{UNSPACED}--\p{{Nd}}]+""",
    regex.VERBOSE | regex.V1,
)
_IS_UNSPACED = regex.compile(UNSPACED)


def words(text: str) -> list[Word]:
    """The words and numbers of a text. In scripts without spaces each character is a word."""
    found = (Word(folded(match[0]), *match.span()) for match in _WORD.finditer(text))
    return [word for word in found if word.text]


def is_number(word: str) -> bool:
    """Whether a word is a number."""
    return word[0].isdigit()


def is_unspaced(word: str) -> bool:
    """Whether a word begins with a character of a script without spaces."""
    return _IS_UNSPACED.match(word) is not None


def weight(found: Sequence[str]) -> float:
    """The number of words, where a character of a script without spaces is half a word."""
    return sum(0.5 if is_unspaced(word) else 1.0 for word in found)


def is_short_claim(found: Sequence[str]) -> bool:
    """Whether words are at least two, with a number among them."""
    return weight(found) >= 2 and any(map(is_number, found))


@dataclass(frozen=True)
class Part:
    """A part of a URL, as words. `typed`: by a user of the site, and not chosen by its makers."""

    words: tuple[str, ...]
    typed: bool

    @property
    def can_be_repeated(self) -> bool:
        """Whether there are enough words."""
        return weight(self.words) >= LONG or (self.typed and is_short_claim(self.words))

    @cached_property
    def pairs(self) -> dict[tuple[str, str], list[int]]:
        """Where each pair of words stands, at most at `_MOST_STARTS` places."""
        places: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for number, pair in enumerate(pairwise(self.words)):
            if len(places[pair]) < _MOST_STARTS:
                places[pair].append(number)
        return dict(places)

    @cached_property
    def distinct(self) -> list[str]:
        """Its words, the longest first."""
        return sorted(set(self.words), key=lambda word: (-len(word), word))


def parts_of(urls: Sequence[str]) -> list[Part]:
    """The parts of URLs that have enough words. If a URL has more than `_MOST_PARTS`, its last part
    has the words of all others."""
    found: dict[Part, None] = {}
    for url in dict.fromkeys(urls):
        parts = (
            Part(tuple(word.text for word in words(text)), typed)
            for text, typed in _decoded_parts(url[:_LONGEST_URL])
        )
        enough = list(dict.fromkeys(part for part in parts if part.can_be_repeated))
        found.update(dict.fromkeys(enough[:_MOST_PARTS]))
        if more := enough[_MOST_PARTS:]:
            found[Part(tuple(word for part in more for word in part.words), typed=True)] = None
    by_users = {part.words for part in found if part.typed}
    return [part for part in found if part.typed or part.words not in by_users]


def _decoded_parts(url: str) -> Iterator[tuple[str, bool]]:
    address, _, fragment = url.partition("#")
    path, _, query = _AUTHORITY.sub("", address, count=1).partition("?")
    yield from _of_query(query)
    yield from _of_path(path)
    # A text fragment is a way to cite; it is not sent to the server.
    route, _, query = fragment.partition(":~:")[0].partition("?")
    yield from _of_query(query)
    if "=" in route:
        yield from _of_query(route)
    else:
        yield from _of_path(route)


def _of_query(query: str) -> Iterator[tuple[str, bool]]:
    for parameter in regex.split("[&;]", query):
        key, _, value = parameter.partition("=")
        yield _decoded(key), True
        yield _decoded(value), key.lower() not in _NAMES


def _of_path(path: str) -> Iterator[tuple[str, bool]]:
    before = ""
    for segment in regex.split(r"[/\\]", path):
        yield _decoded(segment), before in _SEARCH
        before = segment.lower()
    yield _decoded(path), False


def _decoded(text: str) -> str:
    for _ in range(_TIMES_ENCODED):
        plain = unquote(text, errors="replace")
        if plain == text:
            break
        text = plain
    return text
