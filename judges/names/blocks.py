"""Blocks of names that look alike, so that a model is asked about those alone (scoring.md, section
3: deduplication).

Likeness depends on the two names alone. So a name that is added or removed changes only the blocks
of names that look like it, and a cached answer about a block serves the next submission too. An
index of rare traces finds the pairs to compare, so that time does not grow with the square of the
number of names.
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
"""The most names in a block: more do not fit into one question."""
LARGEST_BY_WORDS = 8
"""The most names in a block if some pairs of it share words only (`_BY_WORDS`)."""


def blocks(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of 2 to LARGEST names that may name one thing. Each name is in at most one group; a
    name in no group looks like no other. Groups and names are sorted; the input order does not
    matter.

    `names` are folded (`folding.fold`). The most alike pairs are joined first, so a full block
    leaves out the names that are least like it. Two names that `contradict` each other are never
    a pair, but may be in one block through a third name.
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
    """Whether each of two names has a number that the other lacks. Such names are never one thing:
    "Windows 10" and "Windows 11"."""
    return _contradict(_numbers(_ascii(one)), _numbers(_ascii(other)))


def _contradict(one: frozenset[str], other: frozenset[str]) -> bool:
    return not (one <= other or other <= one)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(number.lstrip("0") for number in re.findall(r"\d+", text))


def _ascii(name: str) -> str:
    return anyascii(name)[:_LONGEST].lower()


_LONGEST = 500

# ------------------------------------------------------------------------------ features of a name


@dataclass(frozen=True, slots=True)
class _Look:
    """The features of a name that are compared.

    `words` are its words without articles and numbers, `different_words` their set. `joined` is all
    letters and digits. `parts` are the strings that make another name part of this one: a word, two
    adjacent words, the initials. `traces` are sorted; names that are alike share at least one.
    `numbers` are its numbers without leading zeros.
    """

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
_LONGEST_SPELT = 40  # characters; a longer name has no traces of pieces of words
_SMALL = frozenset(
    ("a", "an", "the", "of", "and", "for", "de", "du", "des", "der", "die", "das", "und", "von")
)


def _initials(words: Sequence[str]) -> frozenset[str]:
    return frozenset({"".join(word[0] for word in words)} if len(words) > 1 else ())


# -------------------------------------------------------------------------------------- candidates


def _pairs(looks: Sequence[_Look]) -> Iterator[tuple[int, int, int]]:
    """The pairs of names that are alike, as (likeness, number, number). A name is paired with at
    most LARGEST names after it, the most alike ones."""
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


_COMMON = 32  # a trace of more names than this is ignored
_RARE = 4  # a word of at most this many names is rare
_MOST_COMPARED = 40  # names that one name is compared with


# ---------------------------------------------------------------------------------------- likeness

_BY_WORDS = 60
_ALIKE = 75
_LEAST_SHARED = 3  # at least one word in three is shared


def _likeness(one: _Look, other: _Look, rare: frozenset[str]) -> int:
    """How alike two names are, from 0 (not alike) to 100. `rare` has the words of `one` that few
    names have."""
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
    """Whether the short words are the initials of the long ones, or abbreviate or misspell them
    word by word."""
    letters = "".join(short)
    if len(letters) == len(long) and letters in _initials(long):
        return True
    return len(short) == len(long) and all(
        _abbreviates(a, b) or _abbreviates(b, a) or _ratio(a, b)
        for a, b in zip(short, long, strict=True)
    )


def _abbreviates(short: str, word: str) -> bool:
    """Whether a word starts with the first letter of the other and has its letters in order: "st"
    of "saint", "j" of "john", "intl" of "international"."""
    if short[0] != word[0]:
        return False
    letters = iter(word)
    return all(letter in letters for letter in short)
