"""Does an excerpt stand on the page (scoring.md, section 2, "Faithful excerpts")?

Mostly this is a search for whole tokens. What white space and hyphens at the end of a line may
hide is looked for after that, in texts where they are gone, and only what begins and ends with a
token of the page counts as found.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise

from fetchers.triage.markers import words as count_words
from judges.text.dates import PartialDate, find_dates
from judges.text.forms import kind, numbers, plain, tokens


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether an excerpt is faithful and, if not, why, in words for users and for a model judge.
    `binding`: what differs is a number or a negation, which no judge may forgive."""

    faithful: bool
    reason: str = ""
    binding: bool = False


class PageText:
    """The text of a page, or several texts that do not adjoin, made ready once, as far as they
    need it, for many excerpts and rules."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    @property
    def raw(self) -> str:
        """The texts as they came."""
        return "\n\n".join(self._texts)

    def contains(self, text: str) -> bool:
        """Whether `text` stands on the page from the start of a word to the end of one, up to what
        does not count. What is nothing but markup stands nowhere."""
        if any(self._written.shows(*reading) for reading in _readings(text)):
            return True
        if not (self._broken or _LINE_BREAK.search(text)):
            return False
        return any(self._unbroken.shows(_unbroken(found), at) for found, at in _readings(text))

    def difference(self, text: str) -> Finding:
        """Why a text that the page does not contain is not faithful."""
        mine, page = _Skeleton(_trimmed(tokens(text))), self._skeleton
        if changed := page.change(mine):
            return Finding(False, changed, binding=True)
        if missing := mine.numbers - page.numbers:
            number = min(missing)[:_SHOWN]
            return Finding(False, f"a number is not on the page: {number}", binding=True)
        if mine.words in page.words:
            return Finding(False, "differs in punctuation, or is cut within a word")
        if all(end in page.words for end in mine.ends):
            return Finding(False, "words differ or are missing, or passages are joined")
        return Finding(False, "not on the page")

    @cached_property
    def line(self) -> str:
        """The plain text with single spaces."""
        return f" {_GAP} ".join(" ".join(plain(text).split()) for text in self._texts)

    @cached_property
    def words(self) -> int:
        """How many words there are, as they are counted for `Page.words`, but without markup."""
        return sum(count_words(plain(text)) for text in self._texts)

    @cached_property
    def numbers(self) -> Sequence[float]:
        """Every number, in order of size."""
        return sorted({reading for number in numbers(self.line) for reading in number})

    @cached_property
    def dates(self) -> Sequence[PartialDate]:
        """Every date."""
        return tuple(chain.from_iterable(map(find_dates, self._texts)))

    @cached_property
    def _written(self) -> "_Sequence":
        return _Sequence(f" {_GAP} ".join(" ".join(tokens(text)) for text in self._texts))

    @cached_property
    def _broken(self) -> bool:
        return any(map(_LINE_BREAK.search, self._texts))

    @cached_property
    def _unbroken(self) -> "_Sequence":
        return _Sequence(" ".join(_unbroken(self._written.tokens)))

    @cached_property
    def _skeleton(self) -> "_Skeleton":
        return _Skeleton(self._written.tokens)


def faithful(excerpt: str, page: PageText) -> Finding:
    """Whether the page contains the excerpt, and if not why. Linear time, but for texts made to
    prevent it, where at most `_MOST_TRIES` places are looked at."""
    if all(kind(token) == "mark" for token in tokens(excerpt)):
        return Finding(False, "empty")
    return Finding(True) if page.contains(excerpt) else page.difference(excerpt)


# --------------------------------------------------------------------------- what an excerpt may be

_ENDS = frozenset("'…-+·")
_ELLIPSES = (["[", "…", "]"], ["(", "…", ")"])
_BULLET = re.compile(r"^[ \t>]*[-+·][ \t]+|^[ \t]*>+|^[ \t]*[-=:][-=: \t]+$", re.MULTILINE)
_LIST_NUMBER = re.compile(r"^[ \t]*\(?\d{1,3}[.)](?=\s)", re.MULTILINE)
_LINE_BREAK = re.compile(r"[-‐](?<=[^\W\d_].)\s+[^\W\d_]")
_HYPHEN = re.compile(r"(?<=[^\W\d_])(?:-| - )(?=[^\W\d_])")


def _readings(text: str) -> Iterator[tuple[list[str], bool]]:
    """The tokens of a text as it is; without the marks that begin its lines; without their list
    numbers too. The second value is whether a list number was taken away before all of it."""
    if found := _trimmed(tokens(text)):
        yield found, False
    lines = plain(text)
    unmarked = _BULLET.sub("", lines)
    if unmarked != lines and (found := _trimmed(tokens(unmarked))):
        yield found, False
    unnumbered = _LIST_NUMBER.sub("", unmarked)
    if unnumbered != unmarked and (found := _trimmed(tokens(unnumbered))):
        yield found, _LIST_NUMBER.match(unmarked.lstrip("\n")) is not None


def _trimmed(found: list[str]) -> list[str]:
    """Tokens without quotation marks, ellipses and bullets at either end."""
    first, last = 0, len(found)
    while first < last:
        if found[first] in _ENDS:
            first += 1
        elif found[first : first + 3] in _ELLIPSES:
            first += 3
        elif found[last - 1] in _ENDS:
            last -= 1
        elif found[max(first, last - 3) : last] in _ELLIPSES:
            last -= 3
        else:
            break
    return found[first:last]


def _unbroken(found: Sequence[str]) -> list[str]:
    return _HYPHEN.sub("", " ".join(found)).split()


# ------------------------------------------------------------------------------ where it may stand

_MOST_TRIES = 256
_GAP = "\ufffc"  # stands in no text that somebody looks for
_PARTED = "\x1f"  # white space between two digits; tokens hold no white space, of which it is one
_DIGITS_PARTED = re.compile(r"(?<=\d) (?=(?:[.,] )?\d)")  # "in 1990. 5 of" is no 1990.5
# Particles follow a noun without a space and are words of their own (조사), as is the copula.
_PARTICLES = re.compile(
    "(?:들|등)?(?:은|는|이|가|을|를|의|도|만|에|에서|에게|에게서|께|께서|한테|로|으로|로서|으로서|로써"
    "|으로써|와|과|나|이나|랑|이랑|부터|까지|마다|처럼|보다|조차|마저|밖에|뿐|대로|라고|이라고|라는|이라는"
    "|라며|이라며|란|이란|인|이다|다|이며|며|이고|고|였다|이었다|입니다|이자)?(?:는|도|만|의)?"
)


class _Sequence:
    """Tokens to search in."""

    def __init__(self, spaced: str) -> None:
        self._spaced = f" {spaced} "

    @property
    def tokens(self) -> list[str]:
        """Not kept: they take ten times the room of the text."""
        return self._spaced.split()

    def shows(self, needle: Sequence[str], numbered: bool) -> bool:
        """Whether the tokens of `needle` stand here, white space aside; if it was `numbered`, where
        no list number stands before it."""
        if not numbered and f" {' '.join(needle)} " in self._spaced:
            return True
        negations = _negations(needle)
        for first, last in self._places(needle):
            listed = numbered and _is_list_number(self._between(max(0, first - 2), first))
            # "notable" is not "not able".
            if not listed and _negations(self._between(first, last)) == negations:
                return True
        return False

    def _between(self, first: int, last: int) -> list[str]:
        text, starts = self._glued
        places = pairwise(starts[first : last + 1])
        return [text[begin:end].rstrip(_PARTED) for begin, end in places]

    @cached_property
    def _glued(self) -> tuple[str, "array[int]"]:
        """All tokens without white space, except between digits, and where each begins."""
        marked = _glue(self._spaced.strip())
        return "".join(marked), array("Q", accumulate(map(len, marked), initial=0))

    def _places(self, needle: Sequence[str]) -> Iterator[tuple[int, int]]:
        """From which token to before which one the characters of `needle` stand here."""
        text, starts = self._glued
        wanted = "".join(_glue(" ".join(needle)))
        for at in islice(_occurrences(wanted, text), _MOST_TRIES):
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


def _occurrences(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _negations(found: Sequence[str]) -> int:
    return sum(kind(token) == "negation" for token in found)


def _is_list_number(pair: Sequence[str]) -> bool:
    match pair:
        case [number, "." | ")"]:
            return number.isdecimal() and len(number) <= 3
        case _:
            return False


# ------------------------------------------------------------------------------- what may differ

_EDGE = 4  # words
_SHOWN = 40  # characters of a token
_THOUSANDS = re.compile(r"(?<=\d)[,'](?=\d{3}(?!\d))")


class _Skeleton:
    """The words of a text, its numbers blanked and its negations apart, without marks and white
    space: what stays alike when somebody changes a number or turns a sentence round."""

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
        # Every number and negation, with where in `words` it stands.
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
            if what == "number" and not _is_list_number((token, mark))
        }

    def change(self, part: "_Skeleton") -> str:
        """What number or negation of `part` differs here; empty if its words do not stand here, or
        stand here with all of them."""
        change = ""
        size, mine = len(part.words), set(part._taken)
        for at in islice(_occurrences(part.words, self.words), _MOST_TRIES):
            if self._starts[bisect_left(self._starts, at)] != at:
                continue
            first, last = (bisect_left(self._taken, (place,)) for place in (at, at + size + 1))
            here = {(place - at, token) for place, token in self._taken[first:last]}
            # A negation before the first word or after the last is beside what was quoted.
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


def _in_words(mine: tuple[int, str] | None, page: tuple[int, str] | None) -> str:
    what = next(kind(fact[1]) for fact in (mine, page) if fact)
    said, shown = (fact[1][:_SHOWN] if fact else "none" for fact in (mine, page))
    return f"a {what} differs: {said} (the page: {shown})"
