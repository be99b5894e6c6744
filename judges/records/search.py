"""Search for whole tokens in the text of a page.

Most excerpts are found by a plain search. White space and hyphens at the end of a line may differ:
a second search runs on texts without them. A place counts only if it begins with the start of a
token of the page and ends with the end of one.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from judges.text.numbers import number_gaps
from judges.text.tokens import kind, tokens_of_pieces

MOST_TRIES = 256
"""Places that are compared in detail, for one excerpt on one page."""
_MOST_COMPARED = 1_000_000  # characters
_PARTED = "\x1f"  # white space between two digits; no token contains it
_DIGITS_PARTED = re.compile(r"(?<=\d) (?=(?:[.,] )?\d)")  # "in 1990. 5 of" is not 1990.5
_HYPHEN = re.compile(r"(?<=[^\W\d_])(?:-| - )(?=[^\W\d_])")
# Particles follow a noun without a space and are words themselves (조사). So is the copula.
_PARTICLES = re.compile(
    "(?:들|등)?(?:은|는|이|가|을|를|의|도|만|에|에서|에게|에게서|께|께서|한테|로|으로|로서|으로서|로써"
    "|으로써|와|과|나|이나|랑|이랑|부터|까지|마다|처럼|보다|조차|마저|밖에|뿐|대로|라고|이라고|라는|이라는"
    "|라며|이라며|란|이란|인|이다|다|이며|며|이고|고|였다|이었다|입니다|이자)?(?:는|도|만|의)?"
)


class Place(NamedTuple):
    """Part of a text: offsets of characters, `end` excluded."""

    start: int
    end: int


class TokenString:
    """Tokens to search in, joined by single spaces. Places are offsets in that string."""

    def __init__(self, spaced: str) -> None:
        self._padded = f" {spaced} "

    @property
    def tokens(self) -> list[str]:
        """The tokens. Not stored: the list takes ten times the memory of the string."""
        return self._padded.split()

    def places(self, needle: Sequence[str], numbered: bool) -> Iterator[Place]:
        """Where the tokens of `needle` stand, up to white space. If the needle was `numbered` (it
        had a list number that was removed), a place after a list number is left out."""
        wanted = " ".join(needle)
        if not numbered:
            for at in occurrences(f" {wanted} ", self._padded):
                yield Place(at, at + len(wanted))
        negations = _count_negations(needle)
        for first, last in self._glued_places(needle):
            listed = numbered and is_list_number(self._between(max(0, first - 2), first))
            # "notable" is not "not able".
            if not listed and _count_negations(self._between(first, last)) == negations:
                yield Place(self._offset(first), self._offset(last) - 1)

    def _between(self, first: int, last: int) -> list[str]:
        text, starts = self._glued
        places = pairwise(starts[first : last + 1])
        return [text[begin:end].rstrip(_PARTED) for begin, end in places]

    def _offset(self, number: int) -> int:
        """Where token `number` begins in the string."""
        text, starts = self._glued
        return starts[number] - text.count(_PARTED, 0, starts[number]) + number

    @cached_property
    def _glued(self) -> tuple[str, "array[int]"]:
        """All tokens without white space, except between digits, and the start of each token."""
        marked = _glue(self._padded.strip())
        return "".join(marked), array("Q", accumulate(map(len, marked), initial=0))

    def _glued_places(self, needle: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Where the characters of `needle` stand: the first token, and the one after the last."""
        text, starts = self._glued
        wanted = "".join(_glue(" ".join(needle)))
        for at in islice(occurrences(wanted, text), MOST_TRIES):
            end = at + len(wanted)
            end += text.startswith(_PARTED, end)
            first, last = bisect_left(starts, at), bisect_left(starts, end)
            if starts[first] == at and (
                starts[last] == end
                or ("가" <= text[end - 1] <= "힣" and _PARTICLES.fullmatch(text, end, starts[last]))
            ):
                yield first, last


def _glue(spaced: str) -> list[str]:
    return _DIGITS_PARTED.sub(_PARTED + " ", spaced).split(" ")


def occurrences(wanted: str, text: str) -> Iterator[int]:
    """Where `wanted` stands in `text`; bounded, since the occurrences may overlap."""
    at = text.find(wanted)
    left = max(MOST_TRIES, _MOST_COMPARED // max(1, len(wanted)))
    while at >= 0 and left:
        yield at
        left -= 1
        at = text.find(wanted, at + 1)


def _count_negations(found: Sequence[str]) -> int:
    return sum(kind(token) == "negation" for token in found)


def is_list_number(pair: Sequence[str]) -> bool:
    """Whether two tokens are the number of a list item: "7" and ".", "12" and ")"."""
    match pair:
        case [number, "." | ")"]:
            return number.isdecimal() and len(number) <= 3
        case _:
            return False


class Written(TokenString):
    """The tokens of a text, and their offsets in the text. `source` comes from `without_markup`."""

    def __init__(self, source: str) -> None:
        pieces = tokens_of_pieces(source)
        self.source = source
        self.spaced = " ".join(filter(None, pieces))
        self._lengths = array("Q", map(len, pieces))
        self._line_pieces: dict[int, list[tuple[int, int]]] = {}
        super().__init__(self.spaced)

    def places(self, needle: Sequence[str], numbered: bool) -> Iterator[Place]:
        """As in TokenString, without the places that contain only a part of a number ("250" in
        "1 250")."""
        return (place for place in super().places(needle, numbered) if not self.cuts_number(place))

    def cuts_number(self, place: Place) -> bool:
        """Whether a place begins or ends inside a number whose digits are grouped by spaces."""
        return place.start in self._inside_numbers or place.end + 1 in self._inside_numbers

    def in_source(self, place: Place) -> Place:
        """The part of `source` for a place in the token string."""
        first = bisect_right(self._offsets, place.start) - 1
        last = bisect_left(self._offsets, place.end) - 1
        begin, size = self._piece(first)
        start = begin + self._inside_piece(first, size, place.start, at_end=False)
        begin, size = self._piece(last)
        return Place(start, begin + self._inside_piece(last, size, place.end, at_end=True))

    def _inside_piece(self, number: int, size: int, offset: int, at_end: bool) -> int:
        """How many characters of a piece stand before `offset` of the token string. If a character
        of the piece is not one of its tokens, this is unknown: the start or the end of the piece is
        taken."""
        begin = self._offsets[number]
        end = begin + self._lengths[number]
        if end - begin - self.spaced.count(" ", begin, end) != size:
            return size if at_end else 0
        return offset - begin - self.spaced.count(" ", begin, offset)

    @cached_property
    def whole_numbers(self) -> str:
        """The token string with each grouped number as one token: "1'250" for "1 250"."""
        starts = sorted(self._inside_numbers)
        cuts = [0, *starts, len(self.spaced) + 1]
        return "'".join(self.spaced[begin : end - 1] for begin, end in pairwise(cuts))

    @cached_property
    def _inside_numbers(self) -> frozenset[int]:
        """Where a group of digits begins that belongs to the number before it."""
        gaps = number_gaps(self.source)
        return frozenset(self._offsets[self._piece_at(gap)] for gap in gaps)

    # A piece is the text between white space. Most lines of a page are never searched for pieces.

    def _piece(self, number: int) -> tuple[int, int]:
        """The start and the size of a piece of the source."""
        line = bisect_right(self._pieces_before, number) - 1
        start, end = self._pieces_of(line)[number - self._pieces_before[line]]
        return self._line_starts[line] + start, end - start

    def _piece_at(self, offset: int) -> int:
        """The number of the piece that begins at `offset` of the source, or has it inside."""
        line = bisect_right(self._line_starts, offset) - 1
        at = offset - self._line_starts[line]
        inside = bisect_right(self._pieces_of(line), at, key=lambda span: span[0]) - 1
        return self._pieces_before[line] + inside

    def _pieces_of(self, line: int) -> list[tuple[int, int]]:
        if line not in self._line_pieces:
            text = self._lines[line]
            self._line_pieces[line] = [piece.span() for piece in re.finditer(r"\S+", text)]
        return self._line_pieces[line]

    @cached_property
    def _lines(self) -> list[str]:
        return self.source.split("\n")

    @cached_property
    def _line_starts(self) -> "array[int]":
        return array("Q", accumulate((len(line) + 1 for line in self._lines), initial=0))

    @cached_property
    def _pieces_before(self) -> "array[int]":
        """How many pieces stand before each line."""
        return array("Q", accumulate((len(line.split()) for line in self._lines), initial=0))

    @cached_property
    def _offsets(self) -> "array[int]":
        """Where the tokens of each piece begin in the token string. A piece without a token has the
        offset of the next one."""
        lengths = (length + 1 if length else 0 for length in self._lengths)
        return array("Q", accumulate(lengths, initial=0))[:-1]


class Unhyphenated(TokenString):
    """The tokens of a text without hyphens between letters. Places are those in the text."""

    def __init__(self, written: Written) -> None:
        super().__init__(" ".join(without_hyphens(written.tokens)))
        self._written = written

    def places(self, needle: Sequence[str], numbered: bool) -> Iterator[Place]:
        """As in TokenString. Places are offsets in the token string of the text with hyphens."""
        for place in super().places(needle, numbered):
            there = Place(self._back(place.start), self._back(place.end))
            if not self._written.cuts_number(there):
                yield there

    def _back(self, offset: int) -> int:
        """The offset in the string with hyphens."""
        starts, removed = self._removed
        return offset + removed[bisect_left(starts, offset)]

    @cached_property
    def _removed(self) -> tuple["array[int]", "array[int]"]:
        """Where characters were removed, and how many were removed before each such place."""
        starts, removed = array("Q"), array("Q", [0])
        for hyphen in _HYPHEN.finditer(self._written.spaced):
            starts.append(hyphen.start() - removed[-1])
            removed.append(removed[-1] + len(hyphen[0]))
        return starts, removed


def without_hyphens(found: Sequence[str]) -> list[str]:
    """Tokens in which words that a hyphen joins are one word."""
    return _HYPHEN.sub("", " ".join(found)).split()
