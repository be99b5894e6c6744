"""A page that is longer than a model's room, cut to what a judge of one record needs of it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from judges.text.forms import tokens

GAP = "\n[… part of the page is left out here …]\n"

_SIZE = 1200  # characters of a passage
_HEAD = 5  # a fifth, of the room
_LONGEST_QUERY = 2000  # characters of an excerpt or a text that are looked for
_MOST_QUERIES = 200


def passages(text: str, room: int, excerpts: Sequence[str], wanted: Iterable[str]) -> str:
    """At most `room` characters of `text`, in its order: its head; where each of the `excerpts`
    stands, with what surrounds it; what shares most with the `wanted` texts, rare words before
    frequent ones; and what follows the head, as far as there is room. A text that fits comes back
    whole. Linear time."""
    if len(text) <= room:
        return text
    index = _index(text, min(_SIZE, max(1, room // 8)))
    pieces = index.pieces
    chosen: dict[int, None] = {}
    left = room - len(GAP)
    for number in chain(
        range(1 + room // _HEAD // _SIZE),
        _surroundings([index.best(excerpt) for excerpt in excerpts[:_MOST_QUERIES]]),
        index.ranked(wanted),
        range(len(pieces)),
    ):
        if number in chosen or not 0 <= number < len(pieces):
            continue
        cost = len(pieces[number]) + len(GAP)
        if cost > left:
            break
        chosen[number] = None
        left -= cost
    return _joined(pieces, sorted(chosen))


def _pieces(text: str, size: int) -> Iterator[str]:
    """`text` in pieces of at most `size` characters, cut at the end of a line or a word if there
    is one in the last quarter."""
    at = 0
    while at < len(text):
        end = at + size
        if end < len(text):
            late = at + size * 3 // 4
            cut = max(text.rfind("\n", late, end), text.rfind(". ", late, end))
            cut = cut if cut >= 0 else text.rfind(" ", late, end)
            end = cut + 1 if cut >= 0 else end
        yield text[at:end]
        at = end


def _surroundings(places: Sequence[int | None]) -> Iterator[int]:
    found = [place for place in places if place is not None]
    for distance in (0, 1, -1):
        for place in found:
            yield place + distance


def _joined(pieces: Sequence[str], numbers: Sequence[int]) -> str:
    parts = []
    for number, following in pairwise((*numbers, len(pieces))):
        parts.append(pieces[number])
        if following != number + 1:
            parts.append(GAP)
    return "".join(parts)


class _Index:
    """Which pieces hold which words and pairs of words."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces
        self._holders: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, piece in enumerate(pieces):
            for term in _terms(piece):
                self._holders[term].append(number)

    def best(self, text: str) -> int | None:
        """The piece that shares most with a text."""
        scores = self._scores([text])
        return max(scores, key=lambda number: (scores[number], -number), default=None)

    def ranked(self, texts: Iterable[str]) -> list[int]:
        """The pieces that share anything with the texts, the most telling first."""
        scores = self._scores(texts)
        return sorted(scores, key=lambda number: (-scores[number], number))

    def _scores(self, texts: Iterable[str]) -> dict[int, float]:
        scores: defaultdict[int, float] = defaultdict(float)
        for term in set().union(*(_terms(text[:_LONGEST_QUERY]) for text in texts)):
            holders = self._holders.get(term, ())
            if len(holders) <= _FREQUENT:
                for number in holders:
                    scores[number] += 1 / len(holders)
        return scores


@lru_cache(maxsize=1)  # records of one page follow one another
def _index(text: str, size: int) -> _Index:
    return _Index(list(_pieces(text, size)))


_FREQUENT = 50  # pieces; a word that stands in more of them tells nothing
_WORD = re.compile(r"\w")


def _terms(text: str) -> set[tuple[str, ...]]:
    words = [token for token in tokens(text) if _WORD.search(token)]
    return {*((word,) for word in words), *pairwise(words)}
