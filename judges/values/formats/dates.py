"""The format `date:YYYY[-MM[-DD]]` (tables.md, "The comparator")."""

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from judges.text.dates import parse_date
from judges.values.formats.cell import Cell
from judges.values.formats.text import TextFormat

Day = tuple[int, ...]
"""Year; year and month; or year, month and day."""

_LONGEST = 200
"""The characters of a cell that may be a date with notes."""
_PRECISIONS = ("YYYY", "YYYY-MM", "YYYY-MM-DD")
_CENTURIES = (1900, 2000)
"""The centuries that a year of two digits may be in."""
_ABOUT = re.compile(r"(?:약|대략|about|around|approx(?:imately)?\b|circa|ca?\.)[.\s]*+")
_NOTES = re.compile(r"\([^()]*+\)|\[[^\[\]]*+\]")
_CLOCK = re.compile(
    r"""\s*(?:오전|오후|午前|午後|上午|下午)?\s*
        (?:\d{1,2}\s?[시時时点](?:\s?\d{1,2}\s?[분分])?(?:\s?\d{1,2}\s?[초秒])?|\d{1,2}(?::\d{2}){1,2})\Z""",
    re.VERBOSE,
)
_AFTERWORD = re.compile(r"\D*+\Z")
_RANGE = re.compile(
    r"""[~/<>&+-]|부터|까지|이후|이전|이래|[전후]\Z|또는|혹은|내지|및|以[前后後来來]|前\Z|[后後]\Z|至|から|まで
        |\b(?:or|to|until|till|since|from|before|after|between|and|present|bc|bce|b\.c)\b""",
    re.VERBOSE,
)
_SHORT_YEAR = re.compile(
    r"'?(\d\d)\.\s?(\d{1,2})\.\s?(\d{1,2})|'?(\d\d)[년年]\s?(\d{1,2})[월月]\s?(\d{1,2})[일日]"
)
_EARLY = re.compile(
    r"(\d{1,3})[년年](?:\s?(\d{1,2})[월月](?:\s?(\d{1,2})[일日])?)?|(0?\d{3})(?:-(\d\d)(?:-(\d\d))?)?"
)


@dataclass(frozen=True)
class DateFormat(TextFormat):
    """The format `date:...`: equal up to the first `parts` of year, month and day.

    A year of two digits stands for each century that it may be in: "24.03.01" equals both
    2024-03-01 and 1924-03-01.
    """

    parts: int
    kind: ClassVar[str] = "date"

    def _value(self, shown: str, lower: str) -> Hashable:
        days = _days(lower)
        if not days:
            raise ValueError("no date, an impossible date, or more than one date")
        if len(next(iter(days))) < self.parts:
            raise ValueError(f"less precise than {_PRECISIONS[self.parts - 1]}")
        return frozenset(day[: self.parts] for day in days)

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """The form, and the day for each century."""
        return frozenset((cell.form, *(cell.value if isinstance(cell.value, frozenset) else ())))

    def _same(self, gold: Hashable, pred: Hashable) -> bool:
        assert isinstance(gold, frozenset)
        assert isinstance(pred, frozenset)
        return not gold.isdisjoint(pred)

    def _written(self, cell: Cell) -> str:
        assert isinstance(cell.value, frozenset)
        return "-".join(f"{part:02d}" for part in max(cell.value))


def _days(lower: str) -> frozenset[Day]:
    """The date that a cell writes, once for each century that it may be in; empty if there is none
    or more than one. "약" before the date, and a weekday, time or note after it, do not count."""
    if len(lower) > _LONGEST:
        return frozenset()
    text = lower
    while (shorter := _NOTES.sub(" ", text)) != text:
        text = shorter
    text = " ".join(text.split()) or lower.strip("()[] ")
    if about := _ABOUT.match(text):
        text = text[about.end() :]
    if days := _whole_days(text):
        return days
    text = _CLOCK.sub("", text)
    # After the last digit comes the mark of that part (일, "th"), then perhaps a word (개봉). A
    # word that makes the date a range or a bound (이후, "until") rules it out.
    start = _AFTERWORD.search(text)
    if start is None or _RANGE.search(start[0]):
        return frozenset()
    head, word = text[: start.start()], start[0]
    mark = re.match(r"\s?[년월일年月日]|(?:st|nd|rd|th)\b|\.", word)
    return _whole_days(head + (mark[0] if mark else ""))


def _whole_days(text: str) -> frozenset[Day]:
    """The date that the whole text writes, once for each century that it may be in."""
    if found := parse_date(text):
        parts = (found.year, found.month, found.day)
        return frozenset((tuple(part for part in parts if part is not None),))
    text = text.removesuffix(".")
    if short := _SHORT_YEAR.fullmatch(text):
        year, *rest = (int(part) for part in short.groups() if part is not None)
        return _possible((century + year, *rest) for century in _CENTURIES)
    if early := _EARLY.fullmatch(text):
        year, *rest = (int(part) for part in early.groups() if part is not None)
        centuries = (0, *_CENTURIES) if year < 100 and early[1] else (0,)
        return _possible((century + year, *rest) for century in centuries)
    return frozenset()


def _possible(days: Iterable[Day]) -> frozenset[Day]:
    """The dates that the calendar has."""
    found = set()
    for day in days:
        try:
            date(*(*day, 1, 1)[:3])
        except ValueError:
            continue
        found.add(day)
    return frozenset(found)
