"""Whether two table cells are equal, by the format of their column (Ko-WideSearch, "Scoring
Details"; tables.md, "The comparator").

One comparator serves every use: grading, and checking a gold table against a second source.

    comparator = comparator_for("float:2", tolerance=0.01)
    comparator.compare(comparator.read("52.79"), comparator.read("52.8%"))
"""

import re
from collections.abc import Mapping
from decimal import Decimal

from judges.values.formats.cell import Comparator, Match
from judges.values.formats.dates import DateFormat
from judges.values.formats.names import EnumFormat, NameFormat
from judges.values.formats.numbers import FloatFormat, IntFormat
from judges.values.formats.text import TextFormat, is_blank
from judges.values.formats.urls import UrlFormat

_FORMAT = re.compile(
    r"(?P<kind>name|int|text|url)|float:(?P<places>\d{1,2})|date:(?P<date>YYYY(?:-MM(?:-DD)?)?)|enum:(?P<members>.+)",
    re.DOTALL,
)


def comparator_for(format: str, tolerance: float | None = None) -> Comparator:
    """The comparator for a column's `format` (formats.md, section 1). `tolerance` is a fraction of
    the gold number, for `float:N` only.

    Raises ValueError if the format is unknown, or if a format other than `float:N` has a tolerance.
    """
    match = _FORMAT.fullmatch(format)
    if match is None:
        raise ValueError(
            f"unknown format {format!r} (known: name, int, float:N, date:YYYY[-MM[-DD]], enum:A|B, "
            "url, text)"
        )
    if match["places"]:
        return FloatFormat(int(match["places"]), Decimal(str(tolerance or 0)))
    if tolerance is not None:
        raise ValueError(f"tolerance is for float:N only, not for {format}")
    if match["date"]:
        return DateFormat(match["date"].count("-") + 1)
    if match["members"]:
        return EnumFormat(tuple(filter(None, map(str.strip, match["members"].split("|")))))
    return _SIMPLE_FORMATS[match["kind"]]


_SIMPLE_FORMATS: Mapping[str, Comparator] = {
    "name": NameFormat(),
    "int": IntFormat(),
    "text": TextFormat(),
    "url": UrlFormat(),
}


def compare(format: str, gold: str, pred: str, tolerance: float | None = None) -> Match:
    """Compare a predicted cell with the gold cell, by the format of their column. A blank cell
    equals only another blank cell. Raises ValueError as `comparator_for` does."""
    if is_blank(gold) or is_blank(pred):
        same = is_blank(gold) and is_blank(pred)
        return Match(same, "both are blank" if same else "blank")
    comparator = comparator_for(format, tolerance)
    return comparator.compare(comparator.read(gold), comparator.read(pred))
