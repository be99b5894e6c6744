"""Text that a page only repeats from its URL."""

import tomllib
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import NamedTuple
from urllib.parse import unquote

import regex

from judges.records.search import Place
from judges.records.sentences import sentence_around
from judges.text.forms import folded

LEFT_OUT = "\ufffc"
"""The character that stands where text was left out."""


def without_reflections(text: str, *urls: str) -> str:
    """`text` of a page, with `LEFT_OUT` for each passage that only repeats one of its URLs.

    Whoever writes a URL can write a claim into it, and many pages show their URL's query, path or
    fragment ("Results for: …", "No page named … was found", a breadcrumb, a form field). Such a
    passage proves nothing. But most URLs describe their page honestly: `/tower-built-in-1903` is
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
       fragment) are left out only where they stand alone or beside words such as "not found"
       (reflection.toml), and only if the rest of the page does not speak of them: it lacks one of
       their numbers (of two digits or more) or half of their longer words. So the title of an
       article stays, and the echo of a page that does not exist is left out.

    Linear time. Only the first `_LONGEST_URL` characters of a URL are read.
    """
    parts = _parts(urls)
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


# --------------------------------------------------------------------------------- parts of a URL

_LONGEST_URL = 8_000  # characters
_MOST_PARTS = 32
_TIMES_ENCODED = 3
# Before a segment of the path that somebody typed.
_SEARCH = frozenset(
    ("search", "find", "query", "q", "s", "results", "suche", "recherche", "buscar")
)
# Parameters whose value names the page.
_NAMES = frozenset(("title", "slug", "page", "name", "id", "article", "path", "file", "p"))


class Word(NamedTuple):
    """A word or a number of a text, in the form in which they are compared, and its offsets."""

    text: str
    start: int
    end: int


_UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)
_WORD = regex.compile(
    rf"""{_UNSPACED} | \p{{Nd}}+(?:[.,]\p{{Nd}}+)*+
      | [[\p{{L}}\p{{M}}\p{{N}}\p{{Cf}}]--{_UNSPACED}--\p{{Nd}}]+""",
    regex.VERBOSE | regex.V1,
)
_IS_UNSPACED = regex.compile(_UNSPACED)


def _words(text: str) -> list[Word]:
    found = (Word(folded(match[0]), *match.span()) for match in _WORD.finditer(text))
    return [word for word in found if word.text]


def _is_number(word: str) -> bool:
    return word[0].isdigit()


def _weight(words: Sequence[str]) -> float:
    """How many words there are; a character of a script without spaces is half a word."""
    return sum(0.5 if _IS_UNSPACED.match(word) else 1.0 for word in words)


@dataclass(frozen=True)
class _Part:
    """A part of a URL, as words. `typed`: by somebody who used the page, not by its makers."""

    words: tuple[str, ...]
    typed: bool

    @property
    def can_be_reflected(self) -> bool:
        """Whether there are enough words."""
        return _weight(self.words) >= _LONG or (self.typed and _is_short_claim(self.words))

    @cached_property
    def pairs(self) -> dict[tuple[str, str], list[int]]:
        """Where each pair of words stands."""
        places: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for number, pair in enumerate(pairwise(self.words)):
            if len(places[pair]) < _MOST_STARTS:
                places[pair].append(number)
        return dict(places)

    @cached_property
    def distinct(self) -> list[str]:
        """Its words, the longest first."""
        return sorted(set(self.words), key=lambda word: (-len(word), word))


_LONG = 4.0  # words
_MOST_STARTS = 8
_WHOLE = 0.8  # of the words of a part
_FIRST = 3  # words of a part that the page cuts stand there, at least
_ALONE = 2  # other words in a sentence


def _is_short_claim(words: Sequence[str]) -> bool:
    return _weight(words) >= 2 and any(map(_is_number, words))


def _parts(urls: Sequence[str]) -> list[_Part]:
    found: dict[_Part, None] = {}
    for url in dict.fromkeys(urls):
        for text, typed in _decoded_parts(url[:_LONGEST_URL]):
            part = _Part(tuple(word.text for word in _words(text)), typed)
            if part.can_be_reflected and len(found) < _MOST_PARTS:
                found[part] = None
    by_users = {part.words for part in found if part.typed}
    return [part for part in found if part.typed or part.words not in by_users]


def _decoded_parts(url: str) -> Iterator[tuple[str, bool]]:
    address, _, fragment = url.partition("#")
    _, _, rest = address.partition("://")
    _, _, path_and_query = rest.partition("/")
    path, _, query = path_and_query.partition("?")
    yield from _of_query(query)
    yield from _of_path(path)
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
    for segment in path.split("/"):
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


# ------------------------------------------------------------------------------------ on the page


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
        return _words(self.text)


class _Page:
    def __init__(self, text: str) -> None:
        self._folded = folded(text)
        self._texts, self._forms = text.split("\n"), self._folded.split("\n")
        self._starts = array("Q", accumulate((len(line) + 1 for line in self._texts), initial=0))
        self._form_starts = array("Q", accumulate((len(f) + 1 for f in self._forms), initial=0))
        self._lines: dict[int, _Line] = {}

    def reflections_of(self, part: _Part) -> list[Place]:
        """Where a part is reflected, by the rules of `without_reflections`."""
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

    def _lines_with_whole(self, part: _Part) -> Iterator[_Line]:
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

    def _runs(self, line: _Line, part: _Part) -> Iterator[_Run]:
        """The longest runs of words of a part in a line, where enough of them are there."""
        present = [word for word in part.distinct if word in line.folded]
        if _weight(present) < _LONG and not _is_short_claim(present):
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

    def _is_typed_reflection(self, line: _Line, run: _Run, part: _Part) -> bool:
        """Whether a run of a part that somebody typed is left out (rule 3)."""
        words = part.words[run.at : run.at + run.size]
        is_all = run.size == len(part.words) or _is_cut_by_the_page(line, run, part)
        is_long = _weight(words) >= _LONG
        if is_long and is_all:
            return True
        if not is_long and not (is_all and _is_short_claim(words)):
            return False
        others = self._others(line, run)
        share = 1 / 2 if is_all else 2 / 3 if any(map(_is_number, words)) else 4 / 5
        return not any(map(_is_number, others)) and run.size >= share * (run.size + len(others))

    def _is_echo(self, line: _Line, run: _Run, part: _Part) -> bool:
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
        """Whether the rest of the page speaks of what the runs say: it has their numbers, and half
        of their longer words, up to the ending."""
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
        numbers = {word for word in said if _is_number(word)}
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
    size = 0
    while (
        first + size < len(words)
        and at + size < len(part)
        and (words[first + size] == part[at + size])
    ):
        size += 1
    return size


def _is_whole(line: _Line, run: _Run, part: _Part) -> bool:
    """Whether a run has four fifths of a part, or its beginning up to where the page cuts it."""
    return run.size >= _WHOLE * len(part.words) or _is_cut_by_the_page(line, run, part)


def _is_cut_by_the_page(line: _Line, run: _Run, part: _Part) -> bool:
    """Whether a run is the beginning of a part and the page cuts it: at an ellipsis or the end of
    the line."""
    if run.at or _weight(part.words[: run.size]) < _LONG:
        return False
    end = line.words[run.end - 1].end
    rest = line.text[end : end + 20].lstrip("\"'”’»)] ")
    return not rest or rest.startswith(("…", "..."))


def _is_written_as_text(line: _Line, run: _Run) -> bool:
    """Whether there is a space in a run, so that it is not itself a part of a URL."""
    first, last = line.words[run.first], line.words[run.end - 1]
    return " " in line.text[first.start : last.end] or _IS_UNSPACED.match(first.text) is not None


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
        tuple(f" {word} " for word in listed if not _IS_UNSPACED.match(word)),
        tuple(word.replace(" ", "") for word in listed if _IS_UNSPACED.match(word)),
    )
