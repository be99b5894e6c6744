"""The conditions of a rule (formats.md, section 1), read against a text, a record and a URL."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from fetchers.urls import host_matches
from judges.records.excerpts import PageText
from judges.records.record import Record
from judges.records.spec import TEMPLATE, Rule
from judges.text.dates import parse_date
from judges.text.markup import STYLES, plain
from judges.text.numbers import numbers

REGEX_SECONDS = 2.0
"""Time limit of one regex on one text. A page can be written to make a regex take years."""


class Undecided(Exception):
    """A rule gave no answer. This is not a fault of the record. The message says why."""


# A hyphen is escaped in a pattern, since it may be inside brackets.
_PATTERN_STYLES = str.maketrans(
    {c: r"\-" if style == "-" else style for c, style in STYLES.items() if style in "'\"-"}
)


class _Missing(Exception):
    """A rule needs a value that the record does not have."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The text that a rule is read against (the page or all excerpts), the record and the URL."""

    record: Record
    final_url: str
    text: PageText

    def shows(self, rule: Rule) -> bool:
        """Whether each operator of a rule holds. A missing or empty value makes the rule false."""
        try:
            return all(self._results(rule))
        except _Missing:
            return False

    def _results(self, rule: Rule) -> Iterator[bool]:
        text, url = self.text, self.final_url
        yield all(map(text.contains, self._every(rule.contains)))
        yield not any(map(text.contains, self._every(rule.not_contains)))
        if rule.contains_any:
            yield any(map(text.contains, self._every(rule.contains_any)))
        for pattern in rule.regex or ():
            pattern = pattern.translate(_PATTERN_STYLES)
            yield self._matches(pattern, text.line, regex.IGNORECASE)
        if rule.min_words is not None:
            yield text.words >= rule.min_words
        if rule.date_between:
            yield self._dated(*self._every(rule.date_between))
        if rule.number_near:
            value, within = rule.number_near.value, rule.number_near.within
            yield self._near(self._filled(value) if isinstance(value, str) else repr(value), within)
        yield all(host_matches(url, domain) for domain in self._every(rule.domain))
        yield not any(host_matches(url, domain) for domain in self._every(rule.not_domain))
        if rule.item_matches:
            value = _scalar(self.record.item.get(rule.item_matches.field))
            yield self._matches(rule.item_matches.regex, value)

    def _every(self, parts: Sequence[str] | None) -> list[str]:
        return [self._filled(part) for part in parts or ()]

    def _filled(self, text: str, escaped: bool = False) -> str:
        """A rule's value with its templates replaced by values of the record. Raises _Missing."""

        def value(template: "regex.Match[str]") -> str:
            found = self._value(template["role"], template["name"])
            return regex.escape(_line(found)) if escaped else found

        return TEMPLATE.sub(value, text)

    def _value(self, role: str, name: str) -> str:
        match role:
            case "url":
                return _scalar(self.record.url)
            case "item":
                return _scalar(self.record.item.get(name))
            case _:
                return _scalar(_at(self.record.answer, name))

    def _matches(self, pattern: str, text: str, flags: int = 0) -> bool:
        try:
            found = regex.search(
                self._filled(pattern, escaped=True), text, flags, timeout=REGEX_SECONDS
            )
        except TimeoutError:
            raise Undecided(f"the regex {pattern!r} takes too long") from None
        return found is not None

    def _dated(self, first: str, last: str) -> bool:
        begin, end = parse_date(first), parse_date(last)
        if begin is None or end is None:
            return False
        return any(found.within(begin.first_day, end.last_day) for found in self.text.dates)

    def _near(self, value: str, within: float) -> bool:
        """Whether a number of the text differs from `value` by at most the share `within`."""
        written = list(numbers(_line(value)))
        if len(written) != 1:  # "RTX 4090 at 120 fps" has no single value
            return False
        for wanted in written[0]:
            room = abs(wanted) * (within + _ROUNDING)
            nearest = bisect_left(self.text.numbers, wanted - room)
            if nearest < len(self.text.numbers) and self.text.numbers[nearest] <= wanted + room:
                return True
        return False


_ROUNDING = 1e-9  # of floats


def _line(text: str) -> str:
    """A value in the form in which texts are compared. Raises _Missing if nothing is left."""
    line = " ".join(plain(text).split())
    if not line:
        raise _Missing
    return line


def _scalar(value: Any) -> str:
    """A text, number or boolean as text. Raises _Missing for any other or empty value."""
    match value:
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case str() if value.strip():
            return value
        case _:
            raise _Missing


def _at(answer: Any, name: str) -> Any:
    """The value under a name or a dotted path of names; None if there is none."""
    while isinstance(answer, dict) and name not in answer:
        head, _, name = name.partition(".")
        answer = answer.get(head)
        if not name:
            return answer
    return answer.get(name) if isinstance(answer, dict) else None
