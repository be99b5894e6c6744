"""WideSearch's own comparison of two cells: what a column prepares, then what it measures (its
`preprocess` and `metric`).

Deliberate differences: a numeric column without a criterion asks for equality instead of failing;
two unreadable dates are compared as text; a missing day or month is the first, not today's; a
blank cell is only another blank.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from judges.text.dates import parse_date
from judges.values.formats.cell import Cell, Match

# Preparing

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
    """The day of a cell, the first of its month or year where it names no more. 03/04/2026 is in
    March, as in WideSearch."""
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
    return date(found.year, found.month or 1, found.day or 1) if found else None


PREPROCESS: Mapping[str, Callable[[str], str]] = {
    "norm_str": _norm_str,
    "extract_number": _extract_number,
    "norm_date": _norm_date,
}

# Measuring

_URL = re.compile(r"https?://[A-Za-z0-9$-_@&+!*\\(),]+")
_NEAR_DAYS = 31


def _exact(gold: str, pred: str, criterion: float | None) -> bool:
    return gold.lower() == pred.lower()


def _inside(gold: str, pred: str, criterion: float | None) -> bool:
    return pred in gold


def _number_near(gold: str, pred: str, criterion: float | None) -> bool:
    wanted, given = _float(gold), _float(pred)
    if wanted is None or given is None:
        return gold == pred
    return wanted == given or abs(given - wanted) <= abs(wanted) * (criterion or 0)


def _float(text: str) -> float | None:
    try:
        return float(text.replace("%", "")) / 100 if "%" in text else float(text)
    except ValueError:
        return None


def _date_near(gold: str, pred: str, criterion: float | None) -> bool:
    wanted, given = _day(gold), _day(pred)
    if wanted is None or given is None:
        return wanted is given and gold == pred
    return abs((given - wanted).days) <= _NEAR_DAYS


def _same_hosts(gold: str, pred: str, criterion: float | None) -> bool:
    """Cells without an address are alike, as in WideSearch."""
    return _hosts(gold) == _hosts(pred)


def _hosts(text: str) -> frozenset[str]:
    hosts = set()
    for url in _URL.findall(text):
        try:
            hosts.add(urlsplit(url).netloc)
        except ValueError:  # a bracket that opens no address
            hosts.add(url)
    return frozenset(hosts)


METRICS: Mapping[str, Callable[[str, str, float | None], bool]] = {
    "exact_match": _exact,
    "in_match": _inside,
    "number_near": _number_near,
    "date_near": _date_near,
    "url_match": _same_hosts,
    "llm_judge": _exact,  # the strict figure; a judged variant asks a model about the rest
}


@dataclass(frozen=True)
class WideSearchComparator:
    """Compares the cells of one WideSearch column; all of its metrics must agree."""

    preprocess: Sequence[str]
    metrics: Sequence[str]
    criterion: float | None = None
    """For `number_near`: the share of the gold that a number may be off."""

    def __post_init__(self) -> None:
        """Raises ValueError for a name that WideSearch does not have."""
        for field, names, known in (
            ("preprocess", self.preprocess, PREPROCESS),
            ("metric", self.metrics, METRICS),
        ):
            if unknown := [name for name in names if name not in known]:
                raise ValueError(f"{field}: {unknown[0]!r} is none of {', '.join(known)}")
        if not self.metrics:
            raise ValueError("metric: a column needs one")

    def read(self, text: str) -> Cell:
        """The cell as the column's metrics see it."""
        shown = " ".join(_BREAK.sub("\n", text).split())
        form = shown
        for name in self.preprocess:
            form = PREPROCESS[name](form)
        return Cell(shown, form, form)

    def compare(self, gold: Cell, pred: Cell) -> Match:
        """Whether the predicted cell is the gold one by every metric."""
        if gold.form == pred.form:
            return Match(True, "the same")
        blank = not gold.form or not pred.form
        for name in self.metrics:
            if blank or not METRICS[name](gold.form, pred.form, self.criterion):
                return Match(False, f"{name}: {gold.form[:60]!r} is not {pred.form[:60]!r}")
        return Match(True, ", ".join(self.metrics))

    def exact(self, cell: Cell) -> Hashable:
        """Keys are compared by equality after preprocessing."""
        return cell.form.lower()

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """As `exact`: keys that differ do not match."""
        return frozenset((self.exact(cell),))
