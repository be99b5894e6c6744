"""Whether an excerpt stands on the page (scoring.md, section 2, "Faithful excerpts")."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

from fetchers.triage.markers import words as count_words
from judges.records.differences import Skeleton
from judges.records.reflection import LEFT_OUT, without_reflections
from judges.records.search import Place, Unhyphenated, Written, without_hyphens
from judges.records.sentences import Cut, cut_off
from judges.records.truncation import misleading
from judges.text.dates import PartialDate, find_dates
from judges.text.markup import plain, without_markup
from judges.text.numbers import numbers
from judges.text.tokens import kind, tokens

_GAP = LEFT_OUT  # between separate texts, so that no excerpt is found across two of them
_LINE_BREAK = re.compile(r"[-‐](?<=[^\W\d_].)\s+[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether an excerpt is faithful. If not, `reason` says why, in words for users. `final`: no
    model may overrule it, since a number or a negation differs (`number_or_negation`), or since the
    page only repeats its URL. `cut` is the rest of the sentence in which the excerpt stands, None
    for one that the page does not contain."""

    faithful: bool
    reason: str = ""
    final: bool = False
    cut: Cut | None = None
    number_or_negation: bool = False


class PageText:
    """The text of a page, or several separate texts. Each form that a comparison needs is computed
    once, when it is first used, for all excerpts and rules."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self._whole: PageText | None = None
        self._own: tuple[tuple[str, ...], PageText] | None = None

    def without_reflections(self, *urls: str) -> "PageText":
        """The text without the passages that only repeat one of the URLs of the page (see
        `reflection.without_reflections`); this object if there are none."""
        if self._own is None or self._own[0] != urls:
            own = without_reflections(self.raw, *urls)
            text = self
            if own != self.raw:
                text = PageText(own)
                text._whole = self
            self._own = urls, text
        return self._own[1]

    @property
    def has_reflections(self) -> bool:
        """Whether passages that repeat a URL of the page were left out of this text."""
        return self._whole is not None

    @property
    def raw(self) -> str:
        """The texts as they came."""
        return "\n\n".join(self._texts)

    def contains(self, text: str) -> bool:
        """Whether `text` stands on the page from the start of a word to the end of one, up to the
        differences that do not count. Text that is only markup stands nowhere."""
        return any(True for _ in self.places(text))

    def places(self, text: str) -> Iterator[Place]:
        """Each place where `text` stands (see `contains`), in the token string of `written`. A
        place may come twice."""
        readings = list(_readings(text))
        for found, numbered in readings:
            yield from self.written.places(found, numbered)
        if self._has_line_break or _LINE_BREAK.search(text):
            for found, numbered in readings:
                yield from self._unhyphenated.places(without_hyphens(found), numbered)

    def difference(self, text: str) -> Finding:
        """Why a text that the page does not contain is not faithful. If digits in the text can be
        one number or several ("45 120"), the reading that differs less counts."""
        mine = Written(without_markup(text))
        if self._whole is not None and self._whole.contains(text):
            return Finding(False, "stands on the page only as a repetition of its URL", final=True)
        finding = self._difference(mine.whole_numbers.split())
        if finding.final and mine.whole_numbers != mine.spaced:
            apart = self._difference(mine.tokens)
            return finding if apart.final else apart
        return finding

    def _difference(self, found: list[str]) -> Finding:
        mine, page = Skeleton(_trimmed(found)), self._skeleton
        if changed := page.change(mine):
            return Finding(False, changed, final=True, number_or_negation=True)
        if number := page.missing_number(mine):
            reason = f"a number is not on the page: {number}"
            return Finding(False, reason, final=True, number_or_negation=True)
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
        """The number of words, counted as for `Page.words` but without markup."""
        return sum(count_words(plain(text)) for text in self._texts)

    @cached_property
    def numbers(self) -> Sequence[float]:
        """Every number, in order of size."""
        plains = map(plain, self._texts)
        return sorted({value for text in plains for number in numbers(text) for value in number})

    @cached_property
    def dates(self) -> Sequence[PartialDate]:
        """Every date."""
        return tuple(chain.from_iterable(map(find_dates, self._texts)))

    @cached_property
    def written(self) -> Written:
        """The tokens of the texts, in the order of the texts."""
        return Written(f"\n{_GAP}\n".join(map(without_markup, self._texts)))

    @cached_property
    def _has_line_break(self) -> bool:
        return any(map(_LINE_BREAK.search, self._texts))

    @cached_property
    def _unhyphenated(self) -> Unhyphenated:
        return Unhyphenated(self.written)

    @cached_property
    def _skeleton(self) -> Skeleton:
        return Skeleton(self.written.whole_numbers.split())


def faithful(excerpt: str, page: PageText) -> Finding:
    """Whether the page contains the excerpt with its meaning, and if not why. An excerpt that
    stands at several places is faithful if one of them is not misleadingly cut. Linear time: on a
    text made to be slow, a bounded number of places is compared."""
    found = tokens(excerpt)
    if all(kind(token) == "mark" for token in found):
        return Finding(False, "empty")
    misled = None
    for place in islice(page.places(excerpt), _MOST_PLACES):
        cut = cut_off(page.written.source, page.written.in_source(place))
        reason = misleading(found, cut)
        if not reason:
            return Finding(True, cut=cut)
        misled = misled or Finding(False, f"misleading truncation: {reason}", cut=cut)
    return misled or page.difference(excerpt)


_MOST_PLACES = 100  # of one excerpt, whose sentences are read


# --------------------------------------------------------------------- the forms of an excerpt

_ENDS = frozenset("'…-+·")
_ELLIPSES = (["[", "…", "]"], ["(", "…", ")"])
_BULLET = re.compile(r"^[ \t>]*[-+·][ \t]+|^[ \t]*>+|^[ \t]*[-=:][-=: \t]+$", re.MULTILINE)
_LIST_NUMBER = re.compile(r"^[ \t]*\(?\d{1,3}[.)](?=\s)", re.MULTILINE)


def _readings(text: str) -> Iterator[tuple[list[str], bool]]:
    """The forms in which an excerpt is searched for: its tokens; those without the marks at the
    start of lines; those without list numbers too. The second value is True if a list number at
    the very start was removed."""
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
