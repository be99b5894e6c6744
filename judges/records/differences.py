"""The difference between an excerpt and a page that does not contain it: a changed number, a
changed negation, or something else (scoring.md, section 2)."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice

from judges.records.search import MOST_TRIES, is_list_number, occurrences
from judges.text.tokens import kind

_EDGE = 4  # words
_SHOWN = 40  # characters of a token
_THOUSANDS = re.compile(r"(?<=\d)[,'](?=\d{3}(?!\d))")


class Skeleton:
    """The words of a text without marks and white space. Each number is a blank, and negations are
    left out. So the skeleton stays the same if somebody changes a number or a negation."""

    def __init__(self, found: Sequence[str]) -> None:
        kinds = list(map(kind, found))
        words = [
            "#" if what == "number" else token
            for token, what in zip(found, kinds, strict=True)
            if what in ("word", "number")
        ]
        self.words = "".join(words)
        self.ends = "".join(words[:_EDGE]), "".join(words[-_EDGE:])
        self._starts: list[int] = []
        # Every number and negation, with its offset in `words`.
        self._taken: list[tuple[int, str]] = []
        at = 0
        for token, what in zip(found, kinds, strict=True):
            if what in ("number", "negation"):
                self._taken.append((at, _THOUSANDS.sub("", token)))
            if what in ("word", "number"):
                self._starts.append(at)
                at += 1 if what == "number" else len(token)
        self._starts.append(at)
        self.numbers = {
            _THOUSANDS.sub("", token)
            for token, what, mark in zip(found, kinds, (*found[1:], ""), strict=False)
            if what == "number" and not is_list_number((token, mark))
        }

    def change(self, part: "Skeleton") -> str:
        """The number or negation of `part` that differs here, in words for users. Empty if the
        words of `part` do not stand here, or stand here with the same numbers and negations."""
        change = ""
        size, mine = len(part.words), set(part._taken)
        for at in islice(occurrences(part.words, self.words), MOST_TRIES):
            if self._starts[bisect_left(self._starts, at)] != at:
                continue
            first, last = (bisect_left(self._taken, (place,)) for place in (at, at + size + 1))
            here = {(place - at, token) for place, token in self._taken[first:last]}
            # A negation before the first word or after the last word is not part of the quotation.
            here = {
                fact
                for fact in here
                if fact in mine
                or 0 < fact[0] < size
                or (fact[0] == 0 and kind(fact[1]) == "number")
            }
            if here == mine:
                return ""
            change = change or _in_words(
                min(mine - here, default=None), min(here - mine, default=None)
            )
        return change

    def missing_number(self, part: "Skeleton") -> str:
        """A number of `part` that does not stand here; empty if all of them do."""
        return min(part.numbers - self.numbers, default="")[:_SHOWN]


def _in_words(mine: tuple[int, str] | None, page: tuple[int, str] | None) -> str:
    what = next(kind(fact[1]) for fact in (mine, page) if fact)
    said, shown = (fact[1][:_SHOWN] if fact else "none" for fact in (mine, page))
    return f"a {what} differs: {said} (the page: {shown})"
