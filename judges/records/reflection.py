"""Text that a page only repeats from its URL."""

import tomllib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import accumulate
from typing import NamedTuple

import regex

from judges.records.search import Place
from judges.records.sentences import sentence_around
from judges.records.url_parts import (
    LONG,
    Part,
    Word,
    is_number,
    is_short_claim,
    is_unspaced,
    parts_of,
    weight,
    words,
)
from judges.text.markup import folded

LEFT_OUT = "\ufffc"
"""The character that stands where text was left out."""


def without_reflections(text: str, *urls: str) -> str:
    """`text` of a page, with `LEFT_OUT` for each passage that only repeats one of its URLs.

    The author of a URL can write a claim into it, and many pages show the query, path or fragment
    of their URL ("Results for: …", "No page named … was found", a breadcrumb, a form field). Such a
    passage proves nothing. But most URLs describe their page correctly: `/tower-built-in-1903` is
    the title of an article, `?q=eiffel+tower` are words that any page on the tower has. So:

    1. The parts of a URL are the keys and values of its query, the segments of its path, the whole
       path, and the same of its fragment (a text fragment, `#:~:text=`, is not sent to the server).
       They are percent-decoded up to three times and compared word by word, without marks.
    2. A passage is a reflection if it is a whole part (four fifths of its words in one run, or its
       beginning where the page cuts it off) of at least four words. In Chinese, Japanese and Korean
       two characters count as a word.
    3. Words that somebody typed (values of a query, what follows `/search/`) are left out wherever
       all of them are reflected. Two or three words with a number among them, and a run of four
       words that is only a piece of the part, are left out only if they make up their sentence:
       they have all its numbers and most of its words.
    4. Words that a site itself may have put into the URL (a segment of the path, `?title=`, a
       fragment) are left out only if they stand alone or beside words such as "not found"
       (reflection.toml), and only if the rest of the page does not speak of them: it lacks one of
       their numbers (of two digits or more) or half of their longer words. So the title of an
       article stays, and the echo of a page that does not exist is left out.

    Linear time.
    """
    parts = parts_of(urls)
    if not parts:
        return text
    page = _Page(text)
    spans = sorted({span for part in parts for span in page.reflections_of(part)})
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        if stop <= end:
            continue
        if start >= end:
            pieces += text[end:start], LEFT_OUT
        end = stop
    return "".join((*pieces, text[end:])) if spans else text


_WHOLE = 0.8  # share of the words of a part that a whole repetition has
_FIRST = 3  # words at the start of a part; a page that cuts the part has at least these
_ALONE = 2  # other words in a sentence, at most, beside a part that stands alone
_FEW = 64  # different words of a part


class _Run(NamedTuple):
    """Words of a line (`first` to before `end`) that are words of a part in the same order."""

    first: int
    end: int
    at: int  # in the part

    @property
    def size(self) -> int:
        """How many words it has."""
        return self.end - self.first


@dataclass
class _Line:
    """A line of a page. `folded` has its words in the form in which they are compared."""

    number: int
    start: int
    text: str
    folded: str

    @cached_property
    def words(self) -> list[Word]:
        """The words of the line."""
        return words(self.text)


class _Page:
    """The lines of a page, and where the parts of a URL are repeated in them."""

    def __init__(self, text: str) -> None:
        self._folded = folded(text)
        self._texts, self._forms = text.split("\n"), self._folded.split("\n")
        self._starts = array("Q", accumulate((len(line) + 1 for line in self._texts), initial=0))
        self._form_starts = array("Q", accumulate((len(f) + 1 for f in self._forms), initial=0))
        self._lines: dict[int, _Line] = {}

    def reflections_of(self, part: Part) -> list[Place]:
        """The places at which a part is reflected, by the rules of `without_reflections`."""
        if part.typed:
            lines = map(self._line, range(len(self._texts)))
            return [
                self._place(line, run)
                for line in lines
                for run in self._runs(line, part)
                if self._is_typed_reflection(line, run, part)
            ]
        whole = {
            line.number: found
            for line in self._lines_with_whole(part)
            if (found := [run for run in self._runs(line, part) if self._is_echo(line, run, part)])
        }
        if not whole or self._says_more(whole):
            return []
        return [self._place(self._lines[n], run) for n, found in whole.items() for run in found]

    def _line(self, number: int) -> _Line:
        if number not in self._lines:
            self._lines[number] = _Line(
                number, self._starts[number], self._texts[number], self._forms[number]
            )
        return self._lines[number]

    def _lines_with_whole(self, part: Part) -> Iterator[_Line]:
        """The lines that have enough words of a part for a run that is whole: all but a fifth, or
        the first ones."""
        can_miss, first = len(part.words) // 5, part.words[:_FIRST]
        missing = sum(word not in self._folded for word in part.distinct)
        if missing <= can_miss or all(word in self._folded for word in first):
            # One of these words stands in each such line.
            needed = {*part.distinct[: can_miss + 1], max(first, key=len)}
            numbers = {number for word in needed for number in self._lines_with(word)}
            for line in map(self._line, sorted(numbers)):
                missing = sum(word not in line.folded for word in part.distinct)
                if missing <= can_miss or all(word in line.folded for word in first):
                    yield line

    def _lines_with(self, word: str) -> Iterator[int]:
        at = self._folded.find(word)
        while at >= 0:
            number = bisect_right(self._form_starts, at) - 1
            yield number
            at = self._folded.find(word, self._form_starts[number + 1])

    def _place(self, line: _Line, run: _Run) -> Place:
        words = line.words
        return Place(line.start + words[run.first].start, line.start + words[run.end - 1].end)

    def _runs(self, line: _Line, part: Part) -> Iterator[_Run]:
        """The longest runs of words of a part in a line that has enough words of the part."""
        if len(part.distinct) <= _FEW:  # a larger part takes longer to look for than to compare
            present = [word for word in part.distinct if word in line.folded]
            if weight(present) < LONG and not is_short_claim(present):
                return
        words = [word.text for word in line.words]
        first = 0
        while first + 1 < len(words):
            best = 0
            for at in part.pairs.get((words[first], words[first + 1]), ()):
                size = _common(words, first, part.words, at)
                if size > best:
                    best, start = size, at
            if best:
                yield _Run(first, first + best, start)
            # A run that begins inside this one may go on after it.
            first += max(1, best - 3)

    def _is_typed_reflection(self, line: _Line, run: _Run, part: Part) -> bool:
        """Whether a run of a part that somebody typed is left out (rule 3)."""
        words = part.words[run.at : run.at + run.size]
        is_all = run.size == len(part.words) or _is_cut_by_the_page(line, run, part)
        is_long = weight(words) >= LONG
        if is_long and is_all:
            return True
        if not is_long and not (is_all and is_short_claim(words)):
            return False
        others = self._others(line, run)
        share = 1 / 2 if is_all else 2 / 3 if any(map(is_number, words)) else 4 / 5
        return not any(map(is_number, others)) and run.size >= share * (run.size + len(others))

    def _is_echo(self, line: _Line, run: _Run, part: Part) -> bool:
        """Whether a run is a whole part that stands alone or beside the words of an echo."""
        if not _is_whole(line, run, part) or not _is_written_as_text(line, run):
            return False
        others = self._others(line, run)
        return len(others) <= _ALONE or _has_echo_words(others)

    def _others(self, line: _Line, run: _Run) -> list[str]:
        """The other words of the sentence in which a run stands."""
        place = Place(line.words[run.first].start, line.words[run.end - 1].end)
        sentence = sentence_around(line.text, place)
        first = bisect_left(line.words, sentence.start, key=lambda word: word.start)
        last = bisect_left(line.words, sentence.end, key=lambda word: word.start)
        return [word.text for word in (*line.words[first : run.first], *line.words[run.end : last])]

    def _says_more(self, whole: dict[int, list[_Run]]) -> bool:
        """Whether the rest of the page has the numbers of the runs, and half of their longer words,
        up to the ending."""
        said = {
            word.text
            for number, runs in whole.items()
            for run in runs
            for word in self._lines[number].words[run.first : run.end]
        }
        rest = "\n".join(
            _without_runs(self._lines[number].words, whole[number]) if number in whole else form
            for number, form in enumerate(self._forms)
        )
        numbers = {word for word in said if is_number(word)}
        longer = {word[:_STEM] for word in said - numbers if len(word) >= _LONGER}
        longer = longer or said - numbers
        return 2 * sum(word in rest for word in longer) >= len(longer) and all(
            regex.search(rf"(?<![\d.,]){regex.escape(number)}(?![.,]?\d)", rest)
            for number in numbers
            if len(number) > 1
        )


_LONGER, _STEM = 4, 5  # letters


def _without_runs(words: Sequence[Word], runs: Sequence[_Run]) -> str:
    """The words of a line outside its runs."""
    covered = {number for run in runs for number in range(run.first, run.end)}
    return " ".join(word.text for number, word in enumerate(words) if number not in covered)


def _common(words: Sequence[str], first: int, part: Sequence[str], at: int) -> int:
    """How many words from `first` on equal the words of a part from `at` on."""
    size = 0
    while (
        first + size < len(words)
        and at + size < len(part)
        and words[first + size] == part[at + size]
    ):
        size += 1
    return size


def _is_whole(line: _Line, run: _Run, part: Part) -> bool:
    """Whether a run has four fifths of a part, or its beginning up to where the page cuts it."""
    return run.size >= _WHOLE * len(part.words) or _is_cut_by_the_page(line, run, part)


def _is_cut_by_the_page(line: _Line, run: _Run, part: Part) -> bool:
    """Whether a run is the beginning of a part and the page cuts it: at an ellipsis or the end of
    the line."""
    if run.at or weight(part.words[: run.size]) < LONG:
        return False
    end = line.words[run.end - 1].end
    rest = line.text[end : end + 20].lstrip("\"'”’»)] ")
    return not rest or rest.startswith(("…", "..."))


def _is_written_as_text(line: _Line, run: _Run) -> bool:
    """Whether there is a space in a run, so that it is not itself a part of a URL."""
    first, last = line.words[run.first], line.words[run.end - 1]
    return " " in line.text[first.start : last.end] or is_unspaced(first.text)


def _has_echo_words(others: Sequence[str]) -> bool:
    spaced, glued = _echo_words()
    text = f" {' '.join(others)} "
    return any(words in text for words in spaced) or any(
        words in "".join(others) for words in glued
    )


@cache
def _echo_words() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of reflection.toml: of scripts with spaces, and of those without."""
    data = tomllib.loads(files("judges.records").joinpath("reflection.toml").read_text("utf-8"))
    listed = [word for words in data.values() for word in words]
    return (
        tuple(f" {word} " for word in listed if not is_unspaced(word)),
        tuple(word.replace(" ", "") for word in listed if is_unspaced(word)),
    )
