"""The passages of a long page that a judge of one record needs."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from judges.text.tokens import tokens

GAP = "\n[… part of the page is left out here …]\n"

_SIZE = 1200  # characters of a passage
_HEAD = 5  # the head gets a fifth of the room
_LONGEST_QUERY = 2000  # characters of an excerpt or a text that is searched for
_MOST_QUERIES = 200


def passages(text: str, room: int, excerpts: Sequence[str], wanted: Iterable[str]) -> str:
    """At most `room` characters of `text`, in the order of the text, with GAP between passages.

    The passages are chosen in this order: the head; the places of the `excerpts` and then their
    surroundings; those that share most with the `wanted` texts, where a rare word counts more;
    those after the head. A text that fits is returned whole. Linear time.
    """
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
    """`text` in pieces of at most `size` characters. A piece ends with a line or a word if one ends
    in its last quarter."""
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
    """The pieces that contain each word and each pair of words."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces
        self._holders: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, piece in enumerate(pieces):
            for term in _terms(piece):
                self._holders[term].append(number)

    def best(self, text: str) -> int | None:
        """The piece that shares most with a text, None if no piece shares anything."""
        scores = self._scores([text])
        return max(scores, key=lambda number: (scores[number], -number), default=None)

    def ranked(self, texts: Iterable[str]) -> list[int]:
        """The pieces that share anything with the texts, the one that shares most first."""
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


@lru_cache(maxsize=1)  # the records of one page are judged one after another
def _index(text: str, size: int) -> _Index:
    return _Index(list(_pieces(text, size)))


_FREQUENT = 50  # pieces; a word in more pieces than that does not count
_WORD = re.compile(r"\w")


def _terms(text: str) -> set[tuple[str, ...]]:
    words = [token for token in tokens(text) if _WORD.search(token)]
    return {*((word,) for word in words), *pairwise(words)}
