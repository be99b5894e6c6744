"""WideSearch's own comparison of two cells, by the `preprocess` and `metric` of their column
(tables.md, "WideSearch data").

It differs from WideSearch's scorer on purpose: a numeric column without a criterion asks for
equality instead of an error; two unreadable dates are compared as text; a missing day or month is
the first, not today's; a blank cell equals only another blank cell.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from judges.text.dates import parse_date
from judges.values.formats.cell import Cell, Match
from judges.values.formats.text import shortened

# Preprocess

_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?:\d*\.\d+|\d+\.?\d*)%?")


def _norm_str(text: str) -> str:
    return "".join(text.lower().split()).replace("*", "")


def _extract_number(text: str) -> str:
    found = _NUMBER.search(text.replace(",", ""))
    return found[0] if found else "NULL"


def _norm_date(text: str) -> str:
    day = _day(text)
    return day.isoformat() if day else text


_PAIR = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})")


def _day(text: str) -> date | None:
    """The day of a cell. A missing day or month is the first. 03/04/2026 is in March, as in
    WideSearch."""
    text = text.replace("*", "").strip(" ,-–")
    if pair := _PAIR.fullmatch(text):
        first, second, year = map(int, pair.groups())
        year += 0 if year > 99 else 2000 if year < 69 else 1900
        for month, day in ((first, second), (second, first)):
            try:
                return date(year, month, day)
            except ValueError:
                continue
        return None
    found = parse_date(text)
    return found.first_day if found else None


PREPROCESS: Mapping[str, Callable[[str], str]] = {
    "norm_str": _norm_str,
    "extract_number": _extract_number,
    "norm_date": _norm_date,
}

# Metrics

_URL = re.compile(r"https?://[A-Za-z0-9$-_@&+!*\\(),]+")
_NEAR_DAYS = 31


def _exact(gold: str, pred: str, criterion: float | None) -> bool:
    return gold.lower() == pred.lower()


def _inside(gold: str, pred: str, criterion: float | None) -> bool:
    return pred in gold


def _number_near(gold: str, pred: str, criterion: float | None) -> bool:
    wanted, given = _float(gold), _float(pred)
    if wanted is None or given is None:
        return False  # two texts that are equal never come here
    return wanted == given or abs(given - wanted) <= abs(wanted) * (criterion or 0)


def _float(text: str) -> float | None:
    try:
        return float(text.replace("%", "")) / 100 if "%" in text else float(text)
    except ValueError:
        return None


def _date_near(gold: str, pred: str, criterion: float | None) -> bool:
    wanted, given = _day(gold), _day(pred)
    if wanted is None or given is None:
        return False
    return abs((given - wanted).days) <= _NEAR_DAYS


def _same_hosts(gold: str, pred: str, criterion: float | None) -> bool:
    """Two cells without a URL are equal, as in WideSearch."""
    return _hosts(gold) == _hosts(pred)


def _hosts(text: str) -> frozenset[str]:
    hosts = set()
    for url in _URL.findall(text):
        try:
            hosts.add(urlsplit(url).netloc)
        except ValueError:  # for example a bracket that is not closed
            hosts.add(url)
    return frozenset(hosts)


METRICS: Mapping[str, Callable[[str, str, float | None], bool]] = {
    "exact_match": _exact,
    "in_match": _inside,
    "number_near": _number_near,
    "date_near": _date_near,
    "url_match": _same_hosts,
    "llm_judge": _exact,  # for the strict figure; the judged one asks a model about the rest
}


@dataclass(frozen=True)
class WideSearchComparator:
    """Compares the cells of one WideSearch column. Two cells are equal if all metrics say so.

    Raises ValueError for an unknown `preprocess` or metric, and if there is no metric.
    """

    preprocess: Sequence[str]
    metrics: Sequence[str]
    criterion: float | None = None
    """The tolerance of `number_near`, a fraction of the gold number."""

    def __post_init__(self) -> None:
        """Check the names."""
        for field, names, known in (
            ("preprocess", self.preprocess, PREPROCESS),
            ("metric", self.metrics, METRICS),
        ):
            if unknown := [name for name in names if name not in known]:
                raise ValueError(f"{field}: unknown {unknown[0]!r} (known: {', '.join(known)})")
        if not self.metrics:
            raise ValueError("metric: at least one is required")

    def read(self, text: str) -> Cell:
        """The cell after preprocessing."""
        shown = " ".join(_BREAK.sub("\n", text).split())
        form = shown
        for name in self.preprocess:
            form = PREPROCESS[name](form)
        return Cell(shown, form, form)

    def compare(self, gold: Cell, pred: Cell) -> Match:
        """Compare a predicted cell with the gold cell by every metric."""
        if gold.form == pred.form:
            return Match(True, "the same text")
        blank = not gold.form or not pred.form
        for name in self.metrics:
            if blank or not METRICS[name](gold.form, pred.form, self.criterion):
                why = f"{name}: '{shortened(pred.form)}' is not the gold '{shortened(gold.form)}'"
                return Match(False, why)
        return Match(True, f"the same by {', '.join(self.metrics)}")

    def exact(self, cell: Cell) -> Hashable:
        """The key of a cell: keys are compared by equality after preprocessing."""
        return cell.form.lower()

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """Only the key of `exact`."""
        return frozenset((self.exact(cell),))
