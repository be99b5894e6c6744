"""Which names are worth a question whether they are one: blocks of names that look alike.

Two names are alike by what stands in both of them alone, so that a name more or less changes no
block but those that it resembles, and an answer about a block stays true for the next submission.
An index of what is rare finds the pairs; nothing is compared with everything.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise

from anyascii import anyascii
from rapidfuzz import fuzz

LARGEST = 30
"""Names in a block at most: what a model can hold side by side."""
LARGEST_BY_WORDS = 8
"""The same where some of them share no more than a rare word, or the first and most others."""


def blocks(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of two to LARGEST of the names, given in their folded form, that may be one; no name
    is in two of them, and those in none resemble no other. Sorted, and independent of the order.

    The most alike come together first, so that what does not fit into a block is what is least
    like it. Names that `contradict` each other are alike only by way of a third.
    """
    looks = [_look(name) for name in sorted(set(names))]
    block_of = list(range(len(looks)))
    members = {number: [number] for number in block_of}
    for likeness, one, other in sorted(_pairs(looks), key=lambda pair: (-pair[0], pair[1:])):
        one, other = block_of[one], block_of[other]
        most = LARGEST_BY_WORDS if likeness == _BY_WORDS else LARGEST
        if one != other and len(members[one]) + len(members[other]) <= most:
            if len(members[one]) < len(members[other]):
                one, other = other, one
            for number in members[other]:
                block_of[number] = one
            members[one] += members.pop(other)
    whole = [sorted(block) for block in members.values() if len(block) > 1]
    return [tuple(looks[number].name for number in block) for block in sorted(whole)]


def contradict(one: str, other: str) -> bool:
    """Whether each of two names has a number that the other lacks: they are never one."""
    return _contradict(_numbers(_ascii(one)), _numbers(_ascii(other)))


def _contradict(one: frozenset[str], other: frozenset[str]) -> bool:
    return not (one <= other or other <= one)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(number.lstrip("0") for number in re.findall(r"\d+", text))


def _ascii(name: str) -> str:
    return anyascii(name)[:_LONGEST].lower()


_LONGEST = 500

# ------------------------------------------------------------------------------- how a name looks


@dataclass(frozen=True, slots=True)
class _Look:
    """`words` are those that tell names apart, `joined` all letters and digits; `parts` what
    another name is that is a part of this one, or its initials; `traces`, sorted, what names that
    are alike have in common."""

    name: str
    words: tuple[str, ...]
    different_words: frozenset[str]
    joined: str
    parts: frozenset[str]
    traces: tuple[str, ...]
    numbers: frozenset[str]


def _look(name: str) -> _Look:
    text = _ascii(name)
    every = re.findall(r"[a-z]+|[0-9]+", text)[:_MOST_WORDS]
    words = [word for word in every if word not in _SMALL]
    words = [word for word in words if not word.isdigit()] or words or every
    joined = "".join(every)
    whole = {*words, joined, *_initials(every), *_initials(words)}
    parts = whole.union(map("".join, pairwise(every)))
    pieces = {word[at : at + 4] for word in words for at in range(len(word) - 3)}
    turned = {"".join(sorted(words)), *(words[0][0] + word for word in words[1:])}
    traces = parts | pieces | turned if len(joined) <= _LONGEST_SPELT else whole
    return _Look(
        name=name,
        words=tuple(words),
        different_words=frozenset(words),
        joined=joined,
        parts=frozenset(parts),
        traces=tuple(sorted(traces - {""})),
        numbers=_numbers(text),
    )


_MOST_WORDS = 12
_LONGEST_SPELT = 40  # longer names are found by whole words
_SMALL = frozenset(
    ("a", "an", "the", "of", "and", "for", "de", "du", "des", "der", "die", "das", "und", "von")
)


def _initials(words: Sequence[str]) -> frozenset[str]:
    return frozenset({"".join(word[0] for word in words)} if len(words) > 1 else ())


# ------------------------------------------------------------------------------ which are compared


def _pairs(looks: Sequence[_Look]) -> Iterator[tuple[int, int, int]]:
    """The pairs that are alike, with how much: for each name its closest among those after it."""
    index: defaultdict[str, list[int]] = defaultdict(list)
    for number, look in enumerate(looks):
        for trace in look.traces:
            index[trace].append(number)
    for number, look in enumerate(looks):
        lists = [index[trace] for trace in look.traces]
        rare = sorted((found for found in lists if 1 < len(found) <= _COMMON), key=len)
        others: set[int] = set()
        for found in rare:
            others.update(other for other in found if other > number)
            if len(others) > _MOST_COMPARED:
                break
        one_of_few = frozenset(word for word in look.words if len(index[word]) <= _RARE)
        alike = (
            (likeness, number, other)
            for other in others
            if not _contradict(look.numbers, looks[other].numbers)
            and (likeness := _likeness(look, looks[other], one_of_few))
        )
        yield from nsmallest(LARGEST, alike, key=lambda pair: (-pair[0], pair[2]))


_COMMON = 32  # what more names have in common says nothing
_RARE = 4
_MOST_COMPARED = 40


# ------------------------------------------------------------------------------------- how alike

_BY_WORDS = 60
_ALIKE = 75
_LEAST_SHARED = 3  # a third of the words


def _likeness(one: _Look, other: _Look, rare: frozenset[str]) -> int:
    """How much two names are alike, up to 100; 0 where they are not. `rare` are the words of `one`
    that few names have."""
    if one.joined == other.joined:
        return 100
    if one.joined in other.parts or other.joined in one.parts:
        return 90
    shared = one.different_words & other.different_words
    if not shared:
        return _ratio(one.joined, other.joined)
    fewer = min(len(one.words), len(other.words))
    if _LEAST_SHARED * len(shared) < fewer:
        return 0
    left = [word for word in one.words if word not in shared]
    right = [word for word in other.words if word not in shared]
    if not left or not right:
        return 90
    if _stands_for(left, right) or _stands_for(right, left):
        return 85
    if ratio := _ratio("".join(left), "".join(right)):
        return ratio
    begin_alike = one.words[0] == other.words[0] and 3 * len(shared) >= 2 * fewer
    if begin_alike or (2 * len(shared) >= fewer and not rare.isdisjoint(shared)):
        return _BY_WORDS
    return 0


def _ratio(one: str, other: str) -> int:
    return int(fuzz.ratio(one, other, score_cutoff=_ALIKE))


def _stands_for(short: Sequence[str], long: Sequence[str]) -> bool:
    """Whether words are the initials of others, or abbreviate or misspell them one by one."""
    letters = "".join(short)
    if len(letters) == len(long) and letters in _initials(long):
        return True
    return len(short) == len(long) and all(
        _abbreviates(a, b) or _abbreviates(b, a) or _ratio(a, b)
        for a, b in zip(short, long, strict=True)
    )


def _abbreviates(short: str, word: str) -> bool:
    """ "st" abbreviates "saint", "j" "john", "intl" "international"."""
    if short[0] != word[0]:
        return False
    letters = iter(word)
    return all(letter in letters for letter in short)
