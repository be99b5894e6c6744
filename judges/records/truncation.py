"""Misleading truncation: an excerpt leaves out the part of its sentence that reverses its meaning
(WANDR, appendix E.1; scoring.md, section 2).

The words that do so are data (truncation.toml). They count only if they govern the excerpt:

- a denial directly before it ("never"), or before it in the same clause ("no evidence that"), or
  directly after it (", which is false"; in Korean and Japanese the negation ends the sentence);
- a condition directly before it ("if"), or as the start of a clause that ends with a comma directly
  before it ("If approved, "), or directly after it ("unless");
- somebody who claims or says it, together with a contradiction in the part that is cut off.

An excerpt that merely begins or ends inside a sentence is faithful.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from judges.records.sentences import Cut, markers
from judges.text.tokens import kind, tokens

_BETWEEN = 6  # words between a denial and the excerpt; characters in Chinese, Japanese, Korean
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CLAUSE_ENDS = frozenset((",", "、", ";", ":", "-", "(", ")", '"', "…"))
_CONNECTIVES = frozenset(("and", "but", "so", "that", "because", "und", "aber", "dass", "et",
                          "mais", "que", "qu", "y", "pero"))  # fmt: skip
_FEWEST_WORDS = 2


def misleading(excerpt: Sequence[str], cut: Cut) -> str:
    """Why the parts that were cut off reverse the meaning of an excerpt (its tokens), in words for
    users. Empty if they do not. Only words of truncation.toml are named, no words of the page."""
    if not (cut.before or cut.after) or not _says_something(excerpt):
        return ""
    before, after = _Part(cut.before, excerpt[0]), _Part(cut.after)
    if denial := before.ends_with("denies", _BETWEEN) or before.ends_with("denies_next"):
        return f"“{denial}” before it is left out"
    if denial := after.starts_with("denied_by"):
        return f"“{denial}” after it is left out"
    if condition := before.ends_with("supposes_next") or before.opens_clause("supposes"):
        return f"the condition “{condition}” before it is left out"
    if condition := after.starts_with("supposed_by"):
        return f"the condition “{condition}” after it is left out"
    for source, answers in (("claims", ("contrasts", "contradicts")), ("says", ("contradicts",))):
        if claim := before.ends_with(source, _BETWEEN):
            found = (part.has(answer) for part in (after, before) for answer in answers)
            if answer := next(filter(None, found), ""):
                return f"“{claim}” before it and “{answer}” are left out"
    return ""


def _says_something(excerpt: Sequence[str]) -> bool:
    return sum(kind(token) != "mark" for token in excerpt) >= _FEWEST_WORDS


@dataclass(frozen=True, slots=True)
class _Markers:
    """The markers of one list, for all languages, in the form of a text to the marker as listed."""

    spaced: dict[str, str]
    glued: dict[str, str]  # Chinese, Japanese and Korean

    def of(self, text: str) -> dict[str, str]:
        """Those for a text in one of the two forms."""
        return self.spaced if text.startswith(" ") else self.glued


@cache
def _listed(name: str) -> _Markers:
    words = [word for data in markers().values() for word in data.get(name, ())]
    return _Markers(
        {_spaced(tokens(word)): word for word in words if not _UNSPACED.search(word)},
        {"".join(tokens(word)): word for word in words if _UNSPACED.search(word)},
    )


@cache
def _forms(name: str, spaced: bool) -> tuple[str, ...]:
    listed = _listed(name)
    return tuple(listed.spaced if spaced else listed.glued)


def _spaced(found: Sequence[str]) -> str:
    return f" {' '.join(found)} "


class _Part:
    """A part of a sentence that was cut off; `then` is the first token of the excerpt after it.
    Each method returns the marker that it finds, or an empty string."""

    def __init__(self, text: str, then: str = "") -> None:
        self._tokens = tokens(text)
        self._has_unspaced = _UNSPACED.search(text) is not None
        self._then = then

    def ends_with(self, name: str, between: int = 0) -> str:
        """A marker at the end, up to `between` words (in unspaced scripts: characters)."""
        for text in self._joined(self._tokens):
            if _endswith(text + self._then + " " * text.startswith(" "), "harmless"):
                continue
            for _ in range(between + 1):
                if found := _endswith(text, name):
                    return "" if _endswith(text, "harmless") else found
                text, last = _without_last(text)
                if not last or kind(last) == "mark":
                    break
        return ""

    def starts_with(self, name: str) -> str:
        """A marker at the start, or after marks that stand there."""
        words = (n for n, token in enumerate(self._tokens) if kind(token) != "mark")
        return self._starts_at(next(words, len(self._tokens)), name)

    def opens_clause(self, name: str) -> str:
        """A marker that begins a clause, if the clause ends with a comma at the end of the part.
        In Korean an ending (면) can replace the comma."""
        if not self._tokens or not self._tokens[-1].endswith((",", "、", "면")):
            return ""
        last = len(self._tokens) - 1
        marks = (n for n in range(last, 0, -1) if self._tokens[n - 1] in _CLAUSE_ENDS)
        first = next(marks, 0)
        connected = (n for n in range(first + 1, last) if self._tokens[n - 1] in _CONNECTIVES)
        starts = (self._starts_at(n, name) for n in (first, *connected))
        return next(filter(None, starts), "")

    def has(self, name: str) -> str:
        """A marker anywhere."""
        for text in self._joined(self._tokens):
            for form, marker in _listed(name).of(text).items():
                if form in text:
                    return marker
        return ""

    def _starts_at(self, first: int, name: str) -> str:
        for text in self._joined(self._tokens[first:]):
            if (found := _startswith(text, name)) and not _startswith(text, "harmless"):
                return found
        return ""

    def _joined(self, found: Sequence[str]) -> Iterator[str]:
        """The text in the forms in which markers are compared: with spaces, and without."""
        yield _spaced(found)
        if self._has_unspaced and found:
            yield "".join(found)


def _startswith(text: str, name: str) -> str:
    if not text.startswith(_forms(name, text.startswith(" "))):
        return ""
    listed = _listed(name).of(text)
    return listed[max((form for form in listed if text.startswith(form)), key=len)]


def _endswith(text: str, name: str) -> str:
    if not text.endswith(_forms(name, text.startswith(" "))):
        return ""
    listed = _listed(name).of(text)
    return listed[max((form for form in listed if text.endswith(form)), key=len)]


def _without_last(text: str) -> tuple[str, str]:
    """Text without its last token (without spaces: its last character), and that token."""
    if not text.startswith(" "):
        return text[:-1], text[-1:]
    head, _, last = text[:-1].rpartition(" ")
    return f"{head} ", last
