"""The marks of walls, error pages and shells, loaded from markers.toml, and how text is searched
for them."""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import ahocorasick
import orjson

from fetchers.page import State

Place = Literal[
    "headline", "word", "phrase", "hint", "cut", "legal", "script", "element", "url", "header"
]
"""Where a mark was found. markers.toml explains all but two: "word" is a headline of one common
word ("Login"), "cut" a paragraph that stops the text ("subscribe to continue")."""

_LISTED: tuple[Place, ...] = (
    "headline", "phrase", "hint", "legal", "script", "element", "url", "header",
)  # fmt: skip
_FILE = (Path(__file__).parent / "markers.toml").read_bytes()
MARKERS_DIGEST = sha256(_FILE).hexdigest()[:12]

# A page with this many words of running text is a page, whatever marks it carries.
ENOUGH = 400

_SHORT_SENTENCE = 20  # words of a sentence that says one thing only
_AROUND_HEADLINE = 14  # characters that may stand around a headline: "Sorry, page not found"
_LONG_TITLE = 5  # words; a title part beside a longer one may be the subject of an article
_LEGAL_TERMS = 2  # different terms of the law that make a paragraph a legal text


@dataclass(frozen=True, slots=True)
class Mark:
    """One kind of page that is no evidence, as markers.toml describes it.

    `texts` are the texts to look for, by place, in the form that `plain` gives.
    """

    name: str
    state: State | None
    room: int
    texts: dict[Place, tuple[str, ...]]
    pair: tuple[tuple[str, ...], ...]


def plain(text: str) -> str:
    """The form in which marks are compared: NFKC, lower case, straight quotes, single spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return " ".join(folded.split())


_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "„": '"', "…": "..."})


def words(text: str) -> int:
    """Count words by white space; in scripts without spaces, two characters count as a word."""
    return len(text.split()) + (0 if text.isascii() else len(_CJK.findall(text)) // 2)


_CJK = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")


def _load() -> tuple[Mark, ...]:
    return tuple(
        Mark(
            name=mark["name"],
            state=mark.get("state"),
            room=mark.get("room", ENOUGH),
            texts={place: tuple(map(plain, mark.get(place, ()))) for place in _LISTED},
            pair=tuple(map(tuple, mark.get("pair", ()))),
        )
        for mark in tomllib.loads(_FILE.decode())["mark"]
    )


MARKS = _load()
MARKS_BY_NAME = {mark.name: mark for mark in MARKS}

# Marks of paragraphs that stand on healthy pages too ("log in to comment").
_HARMLESS = frozenset(f"phrase:{mark.name}" for mark in MARKS if mark.state is None)
_LOGIN = frozenset(mark.name for mark in MARKS if mark.state == "login")
_PAYWALL = frozenset(f"phrase:{mark.name}" for mark in MARKS if mark.state == "paywall")
_CONSENT = re.compile(
    "|".join(re.escape(e) for m in MARKS if m.name == "consent wall" for e in m.texts["element"])
)

_NO_WORD = re.compile(r"[^\w]+")
_SENTENCE_END = re.compile(r"[.!?]\s|[。!?]")
_DOMAIN = re.compile(r"\b[\w-]{1,63}(?:\.[a-z][\w-]{1,62}){1,3}\b")
_BETWEEN = re.compile(r"\s+[|·•»«–—:-]+\s+|\s*[|»«]\s*|[|_]|: ")
_PUNCTUATION = " .!?:-–—|\"'()[]<>*#"


class _Phrases:
    """Finds all phrases of some places in a text, in one pass."""

    def __init__(self, places: Sequence[Place]) -> None:
        marks: defaultdict[str, list[str]] = defaultdict(list)
        for mark in MARKS:
            for place in places:
                for phrase in mark.texts[place]:
                    marks[phrase].append(f"{place}:{mark.name}")
        self._automaton = ahocorasick.Automaton()
        for phrase, names in marks.items():
            self._automaton.add_word(phrase, (phrase, names))
        self._automaton.make_automaton()

    def found(self, text: str) -> Iterator[tuple[str, str]]:
        """Give every phrase in `text` (in plain form) with its mark, once for each occurrence."""
        for last, (phrase, names) in self._automaton.iter(text):
            if _is_whole(phrase, text, last + 1 - len(phrase)):
                yield from ((phrase, name) for name in names)


def _is_whole(phrase: str, text: str, at: int) -> bool:
    """Say if an English phrase stands between word boundaries; other languages inflect."""
    end = at + len(phrase)
    return not phrase.isascii() or not (
        text[end : end + 1].isalnum() or (at and text[at - 1].isalnum())
    )


_PHRASES = _Phrases(["phrase", "hint"])
_HEADLINES = _Phrases(["headline"])
_LEGAL = _Phrases(["legal"])


def title_marks(title: str) -> dict[str, str]:
    """Give the marks of a page's title: of the whole, and of its parts between separators.

    A part beside a long one may be the subject of an article. Before a colon it does not count
    ("Access denied: the history of the Ness toll gate"); elsewhere it is a hint, as the long part
    may be the name of a site. Parts that `|` separates always count.
    """
    whole = plain(title[:300])
    found = {}
    for part in (*_BETWEEN.split(whole), whole):
        mark = headline_mark(part)
        if mark and part != whole and "|" not in whole and _is_subject(part, whole):
            mark = "" if f"{part}: " in whole else f"hint:{mark.partition(':')[2]}"
        if mark:
            found[part] = mark
    return found


def _is_subject(part: str, title: str) -> bool:
    others = (other for other in _BETWEEN.split(title) if other != part)
    return any(len(other.split()) >= _LONG_TITLE for other in others)


def headline_mark(text: str) -> str:
    """Give the mark of a title or heading (in plain form), "" if it has none.

    Of several headlines in the text, the longest counts.
    """
    text = _DOMAIN.sub("domain", text).strip(_PUNCTUATION)
    best = ("", "")
    for headline, mark in _HEADLINES.found(text):
        telling = _is_telling(headline)
        if text == headline:
            return mark if telling else mark.replace("headline:", "word:")
        fits = len(text) <= len(headline) + _AROUND_HEADLINE
        if telling and fits and len(headline) > len(best[0]):
            best = (headline, mark)
    return best[1]


def _is_telling(headline: str) -> bool:
    """Say if a headline is more than one common word ("blocked", "error", "login")."""
    return " " in headline and len(headline) > 8 if headline.isascii() else len(headline) > 3


def paragraph_marks(text: str) -> list[str]:
    """Give the marks of a paragraph (in plain form) that says little else, [] for any other."""
    length = words(text)
    found = dict(_PHRASES.found(text))
    if len(text) < 100 and (mark := headline_mark(text)):
        place, _, name = mark.partition(":")
        is_label = place == "word" and name in _LOGIN  # of a login box: "Sign in"
        found.setdefault(text, f"hint:{name}" if is_label else f"phrase:{name}")
    room = sum(
        (4 + 2 * words(phrase)) * (1 if mark.startswith("hint:") else 2)
        for phrase, mark in found.items()
    )
    marks = list(found.values()) if length <= room else []
    if _HARMLESS.isdisjoint(found.values()) and length <= _SHORT_SENTENCE:
        marks += [mark for mark in _pair_marks(text) if mark not in marks]
    return marks if _HARMLESS.isdisjoint(marks) else [*_HARMLESS]


def _pair_marks(text: str) -> list[str]:
    """Give the marks that have a word of both lists in one sentence without digits."""
    spaced = [f" {_NO_WORD.sub(' ', sentence)} " for sentence in _SENTENCE_END.split(text)]
    without_digits = [one for one in spaced if not any(sign.isdigit() for sign in one)]
    return [
        f"phrase:{mark.name}"
        for mark in MARKS
        if mark.pair
        and any(all(any(w in one for w in ws) for ws in mark.pair) for one in without_digits)
    ]


def fallback_marks(text: str) -> Iterator[str]:
    """Give the marks of the text that stands in for scripts and frames; they are hints only."""
    for _, mark in _PHRASES.found(plain(text)):
        yield mark.replace("phrase:", "hint:")


def cut_marks(marks: Iterable[str]) -> list[str]:
    """Give the marks of a paywall's request, in the form for a request that stops the text."""
    return [mark.replace("phrase:", "cut:") for mark in marks if mark in _PAYWALL]


def marks_within(place: Place, text: str) -> Iterator[str]:
    """Give the marks of which a text for `place` is anywhere in `text`."""
    for mark in MARKS:
        if any(needle in text for needle in mark.texts[place]):
            yield f"{place}:{mark.name}"


def is_legal(text: str) -> bool:
    """Say if a paragraph is a legal text: terms of use, privacy, copyright, liability."""
    return len({term for term, _ in _LEGAL.found(plain(text))}) >= _LEGAL_TERMS


def has_legal_term(title: str) -> bool:
    """Say if a title or heading has a term of the law."""
    return next(_LEGAL.found(plain(title)), None) is not None


def is_consent_box(name: str) -> bool:
    """Say if an element is the box of a consent tool, by its class and id in lower case."""
    return _CONSENT.search(name) is not None


def is_error_report(text: str) -> bool:
    """Say if a body is a JSON object that reports an error."""
    if text.lstrip()[:1] != "{" or len(text) > 4_000:
        return False
    try:
        keys = {key.casefold() for key in orjson.loads(text)}
    except ValueError:
        return False
    report = {"message", "detail", "status", "code", "title", "type", "success", "ok"}
    return bool(keys & {"error", "errors", "fault", "exception", "errorcode", "error_code"}) or (
        bool(keys & {"message", "detail"}) and keys <= report
    )
