"""When two table cells are the same, by the format of their column (Ko-WideSearch, "Scoring
Details": one comparator for grading and for checking a gold table against a second source).

    comparator = comparator_for("float:2", tolerance=0.01)
    comparator.compare(comparator.read("52.79"), comparator.read("52.8%"))
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Protocol
from urllib.parse import unquote

from fetchers.urls import canonical
from judges.text.amounts import NoAmountError, read_amount, round_to
from judges.text.dates import parse_date
from judges.text.forms import plain


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as its column's comparator reads it: `shown` is what is written, without what never
    counts, `form` the same in one case and without spaces, `value` what it says (None where it
    says nothing of the kind, for the reason in `fault`)."""

    shown: str
    form: str
    value: Hashable
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """Whether two cells are the same, and why."""

    match: bool
    why: str


class Comparator(Protocol):
    """Compares the cells of one column. Reading is most of the work: read a cell once."""

    def read(self, text: str) -> Cell:
        """What a cell says. Never raises; takes time in proportion to its length."""

    def compare(self, gold: Cell, pred: Cell) -> Match:
        """Whether a predicted cell is the gold one."""

    def exact(self, cell: Cell) -> Hashable:
        """A form that only cells that match one another share."""

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """A few forms, of which two cells that match share one at least."""


# What never counts


_BLANK = re.compile(r"(?>(?:\s|&nbsp;|<br\s*+/?>|[\u200b\ufeff])*)", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_SIMPLE = re.compile(r"[0-9A-Za-z\uac00-\ud7a3\u4e00-\u9fff .,:/%()+-]*+")
_RAISED = re.compile("(?<=[0-9])(?=[⁰¹²³⁴-⁹])")
_FOOTNOTE = re.compile(r"[†‡]|\[(?:주|각주|註|[가-하])\s?\d{0,3}\]")
_DOTS = {ord(dot): "·" for dot in "ㆍ・･‧⋅"}
_STYLES = _DOTS | dict.fromkeys(map(ord, "《》〈〉"), '"') | dict.fromkeys(map(ord, "〜∼"), "~")
_HYPHENS = str.maketrans({"\u2012": "-", "\u2015": "-", "\ufe63": "-"})


def is_blank(text: str) -> bool:
    """Whether a cell says nothing at all."""
    return bool(_BLANK.fullmatch(text))


def _shown(text: str) -> str:
    """A cell without what counts in no format: NFKC, HTML entities, white space, Markdown and
    footnote marks, surrounding quotes, quote and dash styles, a final full stop. Of one that has
    nothing else, all of it."""
    text = bare = _one_line(text)
    if not _SIMPLE.fullmatch(text):
        # 10² is not 102, and a footnote's number no part of another.
        marked = _FOOTNOTE.sub("", _RAISED.sub("^", text)).translate(_STYLES)
        bare = " ".join(plain(marked).translate(_HYPHENS).split())
    while len(bare) > 1 and bare[0] in "\"'" and bare[0] == bare[-1]:
        bare = bare[1:-1].strip()
    return bare.removesuffix(".").removesuffix("。").rstrip() or text


def _one_line(text: str) -> str:
    return " ".join((_BREAK.sub(" ", text) if "<" in text else text).split())


_SPACES = re.compile(r"(?<!\d) | (?!\d)")


def _unspaced(text: str) -> str:
    """Without white space, but between two numbers."""
    return _SPACES.sub("", text) if " " in text else text


# The formats


class _Format:
    """What the formats have in common: cells of one form are the same, whatever they say."""

    kind = "text"

    def read(self, text: str) -> Cell:
        shown = _shown(text)
        lower = shown.casefold()
        form = _unspaced(lower)
        try:
            return Cell(shown, form, self._value(shown, lower))
        except ValueError as fault:
            return Cell(shown, form, None, str(fault))

    def compare(self, gold: Cell, pred: Cell) -> Match:
        if gold.form == pred.form:
            return Match(True, "the same text")
        for cell in (pred, gold):
            if cell.value is None:
                return Match(False, f"{_short(cell.shown)} is no {self.kind}: {cell.fault}")
        if self._same(gold.value, pred.value):
            return Match(True, f"the same {self.kind}")
        return Match(False, f"{self._written(gold)} is not {self._written(pred)}")

    def exact(self, cell: Cell) -> Hashable:
        return cell.form if cell.value is None else cell.value

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        return frozenset((cell.form, self.exact(cell)))

    def _value(self, shown: str, lower: str) -> Hashable:
        """What a cell says; raises ValueError with the reason where that is nothing."""
        return _unpunctuated(lower)

    def _same(self, gold: Hashable, pred: Hashable) -> bool:
        return gold == pred

    def _written(self, cell: Cell) -> str:
        return _short(cell.shown)


def _short(text: str) -> str:
    return f"'{text if len(text) <= 60 else text[:59] + '…'}'"


class _Int(_Format):
    kind = "whole number"

    def _value(self, shown: str, lower: str) -> Hashable:
        amount = read_amount(shown)
        if amount != amount.to_integral_value():
            raise NoAmountError(f"{amount:f} has a fraction")
        return amount

    def _written(self, cell: Cell) -> str:
        return f"{cell.value:.0f}"


_NARROWEST = Decimal("1e-9")


@dataclass(frozen=True)
class _Float(_Format):
    """Equal when rounded to `places`, or within `tolerance` of the gold (a share of it)."""

    places: int
    tolerance: Decimal
    kind = "number"

    def _value(self, shown: str, lower: str) -> Hashable:
        return read_amount(shown, decimal_comma=True)

    def exact(self, cell: Cell) -> Hashable:
        return round_to(cell.value, self.places) if isinstance(cell.value, Decimal) else cell.form

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """Buckets as wide as the tolerance, each overlapping the next."""
        found = super().aliases(cell)
        if self.tolerance and isinstance(cell.value, Decimal) and cell.value:
            if self.tolerance >= 1:
                return frozenset((*found, "any"))
            width = max(-(1 - self.tolerance).ln(), _NARROWEST)
            bucket = int(abs(cell.value).ln() / width // 1)
            found |= {(cell.value > 0, bucket), (cell.value > 0, bucket + 1)}
        return found

    def _same(self, gold: Hashable, pred: Hashable) -> bool:
        assert isinstance(gold, Decimal)
        assert isinstance(pred, Decimal)
        return (
            round_to(gold, self.places) == round_to(pred, self.places)
            or abs(gold - pred) <= abs(gold) * self.tolerance
        )

    def _written(self, cell: Cell) -> str:
        assert isinstance(cell.value, Decimal)
        return f"{round_to(cell.value, self.places):f}"


Day = tuple[int, ...]
"""A year, a year and month, or a day."""

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
class _Date(_Format):
    """Equal to `parts` of year, month and day. Of a year of two digits the century is open."""

    parts: int
    kind = "date"

    def _value(self, shown: str, lower: str) -> Hashable:
        days = _days(lower)
        if not days:
            raise ValueError("none is written there, or an impossible one, or several")
        if len(next(iter(days))) < self.parts:
            raise ValueError(f"it says less than {'YYYY-MM-DD'[: (4, 7, 10)[self.parts - 1]]}")
        return frozenset(day[: self.parts] for day in days)

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        return frozenset((cell.form, *(cell.value if isinstance(cell.value, frozenset) else ())))

    def _same(self, gold: Hashable, pred: Hashable) -> bool:
        assert isinstance(gold, frozenset)
        assert isinstance(pred, frozenset)
        return not gold.isdisjoint(pred)

    def _written(self, cell: Cell) -> str:
        assert isinstance(cell.value, frozenset)
        return "-".join(f"{part:02d}" for part in max(cell.value))


def _days(lower: str) -> frozenset[Day]:
    """The day that a cell writes, or its month or year, with 약 before it and a weekday, time or
    note after it; one for every century that it may mean."""
    if len(lower) > 200:
        return frozenset()
    text = lower
    while (shorter := _NOTES.sub(" ", text)) != text:
        text = shorter
    text = " ".join(text.split()) or lower.strip("()[] ")
    text = _ABOUT.sub("", text, count=1) if _ABOUT.match(text) else text
    if days := _whole_days(text):
        return days
    text = _CLOCK.sub("", text)
    if days := _whole_days(text):
        return days
    # What follows the last digit: the mark of its part, then perhaps a word.
    start = _AFTERWORD.search(text)
    if start is None or _RANGE.search(start[0]):
        return frozenset()
    head, word = text[: start.start()], start[0]
    mark = re.match(r"\s?[년월일年月日]|(?:st|nd|rd|th)\b|\.", word)
    return _whole_days(head + (mark[0] if mark else ""))


def _whole_days(text: str) -> frozenset[Day]:
    if found := parse_date(text):
        parts = (found.year, found.month, found.day)
        return frozenset((tuple(part for part in parts if part is not None),))
    text = text.removesuffix(".")
    if short := _SHORT_YEAR.fullmatch(text):
        year, *rest = (int(part) for part in short.groups() if part is not None)
        return _possible((century + year, *rest) for century in (1900, 2000))
    if early := _EARLY.fullmatch(text):
        year, *rest = (int(part) for part in early.groups() if part is not None)
        centuries = (0, 1900, 2000) if year < 100 and early[1] else (0,)
        return _possible((century + year, *rest) for century in centuries)
    return frozenset()


def _possible(days: Iterable[Day]) -> frozenset[Day]:
    found = set()
    for day in days:
        try:
            date(*(*day, 1, 1)[:3])
        except ValueError:
            continue
        found.add(day)
    return frozenset(found)


@dataclass(frozen=True)
class _Enum(_Format):
    """Equal where both name the same member, and no other."""

    members: tuple[str, ...]
    kind = "member"

    def _value(self, shown: str, lower: str) -> Hashable:
        names, pattern = _roster(self.members)
        if (whole := _unspaced(lower)) in names:
            return names[whole]
        found = {names[_unspaced(match[0])] for match in pattern.finditer(lower[:1000])}
        if len(found) != 1:
            raise ValueError(f"{'several' if found else 'none'} of {'|'.join(self.members)}")
        return found.pop()


@cache
def _roster(members: tuple[str, ...]) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """The members by their form, and a pattern for one of them among other words."""
    names = {_unspaced(_shown(member).casefold()): member for member in members}
    either = "|".join(
        r"\s?".join(map(re.escape, name)) for name in sorted(names, key=len, reverse=True)
    )
    return names, re.compile(rf"(?<!\w)(?:{either})(?!\w)")


_COMPANY = re.compile(r"\((?:주|株)\)|주식회사|株式会社")
_GLOSS = re.compile(r"\(([^()]*+)\)")
_OTHER_NAME = re.compile(r"\s*(?:or|not|또는|혹은|아니면)\s")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Names:
    """A name: all of it, the name without its glosses, the glosses and their numbers."""

    whole: str
    name: str
    glosses: tuple[str, ...]
    numbers: tuple[str, ...]


class _Name(_Format):
    """Equal where the names are, or one is the other's gloss in parentheses."""

    kind = "name"

    def _value(self, shown: str, lower: str) -> Hashable:
        bare = _COMPANY.sub("", lower).strip() or lower
        glosses = _GLOSS.findall(bare)[:4] if "(" in bare else []
        if any(map(_OTHER_NAME.match, glosses)):
            glosses = []  # another answer, not another name
        name = _unspaced(" ".join(_GLOSS.sub(" ", bare).split())) if glosses else ""
        numbers = tuple(number for gloss in glosses for number in _DIGITS.findall(gloss))
        whole = _unspaced(bare)
        return _Names(whole, name or whole, tuple(map(_unspaced, map(str.strip, glosses))), numbers)

    def exact(self, cell: Cell) -> Hashable:
        assert isinstance(cell.value, _Names)
        return cell.value.whole

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        assert isinstance(cell.value, _Names)
        return frozenset((cell.form, cell.value.whole, cell.value.name, *cell.value.glosses))

    def _same(self, gold: Hashable, pred: Hashable) -> bool:
        assert isinstance(gold, _Names)
        assert isinstance(pred, _Names)
        if gold.name == pred.name:
            # The year of a film tells it from another of that name.
            return gold.whole == pred.whole or not (
                gold.numbers and pred.numbers and gold.numbers != pred.numbers
            )
        # Of several glosses of other names none is what the cell says.
        return (len(pred.glosses) == 1 and gold.name in pred.glosses) or (
            len(gold.glosses) == 1 and pred.name in gold.glosses
        )


_LONGEST_ADDRESS = 4000
_LINK = re.compile(
    r"\[[^\[\]]*+\]\(\s*+<?([^\s<>()]*+(?>(?:\([^\s<>()]*+\)[^\s<>()]*+)*))>?\s*+(?:\"[^\"]*+\"\s*+)?\)"
)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"']+", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,20}:/{2}(?:www\.)?", re.IGNORECASE)


class _Url(_Format):
    """Equal without scheme, www., final slash, fragment, tracking parameters, percent-encoding
    and IDNA form."""

    kind = "address"

    def read(self, text: str) -> Cell:
        shown = _one_line(text)
        short = len(shown) <= _LONGEST_ADDRESS
        addresses = {_address(found) for found in _addresses(shown)} if short else set()
        value = addresses.pop() if len(addresses) == 1 else None
        form = shown.strip("\"'<>`* ")
        fault = "" if value else "several" if addresses else "none is written there"
        return Cell(shown, form, value, fault)


def _addresses(text: str) -> list[str]:
    """The addresses in a cell, of which a bare one may lack its scheme."""
    if found := [link for link in _LINK.findall(text) if "." in link]:
        return found
    if found := _ADDRESS.findall(text):
        return [address.rstrip(".,;)") if "(" not in address else address for address in found]
    bare = text.split("(")[0].strip("\"'<>`* ").removesuffix(".")
    return [f"http://{bare}"] if bare and "." in bare and " " not in bare else []


def _address(url: str) -> str:
    url = url if _SCHEME.match(url) else f"http://{url}"
    rest = canonical(url).partition("#")[0]
    rest = _SCHEME.sub("", rest, count=1)
    path, mark, query = rest.partition("?")
    return unquote(path.rstrip("/")) + mark + unquote(query)


_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?>(?:,\d{3})+)(?![\d,])")
# All punctuation but what says something: C++, C#, R&D, 5%, and what joins or signs numbers.
_PUNCTUATION = re.compile(
    r"""[^\w\s%#&@+=<>≤≥≦≧≠±≈×÷$€£¥₩°^~:/.,-]
      | (?<!\d)[.,:/-](?!\d) | (?<=\d)[.,:/-](?!\d) | (?<!\d)[,:/](?=\d) | (?<=[^\W\d])-(?=\d)""",
    re.VERBOSE,
)


def _unpunctuated(lower: str) -> str:
    """Without punctuation and white space, so far as they do not part or sign numbers."""
    bare = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), lower)
    return _unspaced(" ".join(_PUNCTUATION.sub(" ", bare).split())) or lower


FORMATS = re.compile(
    r"(?P<kind>name|int|text|url)|float:(?P<places>\d{1,2})|date:(?P<date>YYYY(?:-MM(?:-DD)?)?)|enum:(?P<members>.+)",
    re.DOTALL,
)


def comparator_for(format: str, tolerance: float | None = None) -> Comparator:
    """The comparator of a column's format (formats.md, 1). Raises ValueError for an unknown one,
    and for a tolerance where it has no meaning."""
    match = FORMATS.fullmatch(format)
    if match is None:
        raise ValueError(
            f"{format!r} is none of name, int, float:N, date:YYYY[-MM[-DD]], enum:A|B, url, text"
        )
    if match["places"]:
        return _Float(int(match["places"]), Decimal(str(tolerance or 0)))
    if tolerance is not None:
        raise ValueError(f"a tolerance has no meaning for {format}")
    if match["date"]:
        return _Date(match["date"].count("-") + 1)
    if match["members"]:
        return _Enum(tuple(filter(None, map(str.strip, match["members"].split("|")))))
    return _SIMPLE_FORMATS[match["kind"]]


_SIMPLE_FORMATS: Mapping[str, Comparator] = {
    "name": _Name(),
    "int": _Int(),
    "text": _Format(),
    "url": _Url(),
}


def compare(format: str, gold: str, pred: str, tolerance: float | None = None) -> Match:
    """Whether two cells are the same under a column's format. A blank one is only another blank.
    Raises ValueError as `comparator_for` does."""
    if is_blank(gold) or is_blank(pred):
        same = is_blank(gold) and is_blank(pred)
        return Match(same, "both are blank" if same else "blank")
    comparator = comparator_for(format, tolerance)
    return comparator.compare(comparator.read(gold), comparator.read(pred))
