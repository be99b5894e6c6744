"""Dates as people write them: whole values (`parse_date`) and inside a text (`find_dates`).

A small grammar uses the month names of CLDR. General date parsers are not used, because they fill
in missing parts from today's date and find dates in ordinary words with numbers.

Only dates in full form are read, and nothing is added to them. In 03/04/2026 the order of day and
month is unknown, so only its year is read. If only one order gives a date (25/12/2026, 05/05/2026),
that order is used.
"""

import re
import unicodedata
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from typing import Literal

from babel import Locale

Format = Literal["YYYY", "YYYY-MM", "YYYY-MM-DD"]

_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "pl", "cs", "ru", "tr")
_LONGEST = 80  # characters of a value that is a date, weekday, time and zone included

# Normalising sorts a run of combining marks in quadratic time. Real text has no such run.
_FLOOD = re.compile(r"([^\w\s\x00-\x7f]{30})[^\w\s\x00-\x7f]+")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A day, a month or a year. A part that is not given is None."""

    year: int
    month: int | None = None
    day: int | None = None

    def format(self, form: Format) -> str | None:
        """The date in the precision of `form`, None if it is less precise."""
        parts = [f"{self.year:04d}"]
        parts += [f"{part:02d}" for part in (self.month, self.day) if part is not None]
        wanted = form.count("-") + 1
        return "-".join(parts[:wanted]) if len(parts) >= wanted else None

    def within(self, first: date, last: date) -> bool:
        """Whether the whole day, month or year lies between two days, both included."""
        return first <= self.first_day and self.last_day <= last

    @property
    def first_day(self) -> date:
        """The first day of the year, month or day."""
        return date(self.year, self.month or 1, self.day or 1)

    @property
    def last_day(self) -> date:
        """The last day of the year, month or day."""
        month = self.month or 12
        return date(self.year, month, self.day or monthrange(self.year, month)[1])


def parse_date(text: str) -> PartialDate | None:
    """The date that is the whole of `text`. None for another text, an impossible date, or several
    dates. A weekday and a time of day beside the date are ignored. A bare year is a date."""
    return _parse(text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=1 << 12)  # the records of a run have few different dates
def _parse(text: str) -> PartialDate | None:
    grammar = _grammar()
    match = grammar.value.fullmatch(_plain(text).strip())
    return _read(match, grammar.months) if match else None


def find_dates(text: str) -> Iterator[PartialDate]:
    """The dates in `text`, in order. Numbers that need not be dates (2026.03, 12/2026, a bare year)
    are left out. Linear time."""
    grammar = _grammar()
    for match in grammar.text.finditer(_plain(text)):
        if found := _read(match, grammar.months):
            yield found


@dataclass(frozen=True, slots=True)
class _Grammar:
    value: re.Pattern[str]
    text: re.Pattern[str]
    months: dict[str, int]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", _FLOOD.sub(r"\1", text)).casefold()


def _read(match: re.Match[str], months: dict[str, int]) -> PartialDate | None:
    """The date of a match. The first letter of a group's name says which part it has: y, m or d; n
    for the name of a month; a and b for a month and a day in unknown order. The rest of the name is
    the form."""
    parts = {name[0]: text for name, text in match.groupdict().items() if text}
    year = int(parts["y"])
    if "a" in parts:
        pair = int(parts["a"]), int(parts["b"])
        readings = {found for m, d in (pair, pair[::-1]) if (found := _possible(year, m, d))}
        return readings.pop() if len(readings) == 1 else PartialDate(year) if readings else None
    month = months[parts["n"]] if "n" in parts else int(parts["m"]) if "m" in parts else None
    return _possible(year, month, int(parts["d"]) if "d" in parts else None)


def _possible(year: int, month: int | None, day: int | None) -> PartialDate | None:
    try:
        date(year, 1 if month is None else month, 1 if day is None else day)
    except ValueError:
        return None
    return PartialDate(year, month, day)


@cache
def _grammar() -> _Grammar:
    locales = [Locale(language) for language in _LANGUAGES]
    every = _month_names(locales, ("wide", "abbreviated"))
    # "set 2026", "3 years ago 2026": short month names of other languages are English words. In a
    # text they count only with a day beside them.
    english = [Locale("en"), Locale("en", "GB")]
    alone = _month_names(locales, ("wide",)) | _month_names(english, ("abbreviated",))
    weekdays = {
        name
        for locale in locales
        for width in ("wide", "abbreviated")
        for day in locale.days["format"][width].values()
        for name in _spellings(day)
    }
    weekday = _any(weekdays - every.keys())  # "mar." is mardi and March

    year, month, day = "[12][0-9]{3}", "(?:1[0-2]|0?[1-9])", "(?:3[01]|[12][0-9]|0?[1-9])"
    name, gap, of = _any(every), r"[\s./-]{1,3}", r"(?:\s(?:of|de|del|di))?"
    full = rf"""
        (?P<y1>{year})-(?P<m1>{month})(?:-(?P<d1>{day}))?
      | (?P<y2>{year})(?P<sep>[./])\s?(?P<m2>{month})(?P=sep)\s?(?P<d2>{day})
      | (?P<y3>{year})\s?[年년](?:\s?(?P<m3>{month})\s?[月월](?:\s?(?P<d3>{day})\s?[日일])?)?
      | (?P<y4>{year})(?P<m4>[0-9]{{2}})(?P<d4>[0-9]{{2}})
      | (?P<d5>{day})\.\s?(?P<m5>{month})\.\s?(?P<y5>{year})
      | (?P<a6>{day})(?P<sep6>[/-])(?P<b6>{day})(?P=sep6)(?P<y6>{year})
      | (?P<d7>{day})(?:st|nd|rd|th|er|[oae])?{of}{gap}(?P<n7>{name})(?:,|{of}){gap}(?P<y7>{year})
      | (?P<n8>{name}){gap}(?P<d8>{day})(?:st|nd|rd|th)?[\s,.-]{{1,3}}(?P<y8>{year})
      | (?P<y9>{year})[\s-]{{1,2}}(?P<n9>{name}){gap}(?P<d9>{day})
    """
    named = r"(?P<n{form}>{name})(?:,|{of}){gap}(?P<y{form}>{year})"
    in_text = named.format(form=10, name=_any(alone), of=of, gap=gap, year=year)
    in_value = rf"""
        {named.format(form=10, name=name, of=of, gap=gap, year=year)}
      | (?P<y11>{year})(?:[./]\s?(?P<m11>{month})\.?)?
      | (?P<m12>{month})[./](?P<y12>{year})
    """
    time = r"""[t,\s]{1,2}(?:at\s)?\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?
               (?:\s?[ap]\.?m\.?)?(?:\s?(?:z|utc|gmt|[+-]\d{2}:?\d{2}))?"""
    cjk_weekday = "[월화수목금토일月火水木金土日](?:요일|曜日)?|星期[一二三四五六日天]"
    initials = "".join(sorted({name[0] for name in every}))
    return _Grammar(
        value=re.compile(
            rf"""(?:(?:{weekday})[,.\s]{{1,3}})?(?:{full}|{in_value})\.?
                 (?:\s?\(?(?:{weekday}|{cjk_weekday})\)?)?(?:{time})?""",
            re.VERBOSE | re.ASCII,
        ),
        text=re.compile(
            rf"""(?=[0-9{initials}])(?<![0-9a-z])(?<![0-9][-./])
                 (?:{full}|{in_text})(?![0-9]|[-./][0-9]|(?!t[0-9])[a-z])""",
            re.VERBOSE | re.ASCII,
        ),
        months=every,
    )


def _month_names(locales: list[Locale], widths: tuple[str, ...]) -> dict[str, int]:
    """The number of each month name, in the form of `_plain`. A name that means different months in
    two languages is left out."""
    numbers: dict[str, set[int]] = {}
    for locale in locales:
        for form in ("format", "stand-alone"):
            for width in widths:
                for number, month in locale.months[form][width].items():
                    for name in _spellings(month):
                        numbers.setdefault(name, set()).add(number)
    return {name: found.pop() for name, found in numbers.items() if len(found) == 1}


def _spellings(name: str) -> set[str]:
    """A name with and without its accents, without the dot of an abbreviation."""
    plain = _plain(name).rstrip(".")
    return {plain, re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", plain))}


def _any(names: Iterable[str]) -> str:
    """A pattern for any of `names`, the longer first. It groups them by first letter, so that most
    words of a text need one comparison."""
    tails: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        tails.setdefault(name[0], []).append(re.escape(name[1:]))
    return "(?:" + "|".join(f"{first}(?:{'|'.join(tails[first])})" for first in tails) + ")"
