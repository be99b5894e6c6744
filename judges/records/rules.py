"""The judge `rules`: the verdict on a record and its page, without a model."""

from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import regex

from fetchers.page import State
from fetchers.urls import host_matches
from judges.records.excerpts import PageText, faithful
from judges.records.record import Record
from judges.records.spec import TEMPLATE, JudgeSpec, Rule
from judges.records.verdict import Shown, Verdict
from judges.text.dates import PartialDate, parse_date
from judges.text.forms import STYLES, kind, numbers, plain, tokens

RULES_VERSION = 6
"""Part of a verdict's cache key. Increase it with every change of results, here or in the
comparison of texts."""

REFLECTED_URL = "reflected_url"
"""The flag of a record whose page repeats its URL; the repetitions are no evidence."""

REGEX_SECONDS = 2.0
"""Time limit of one regex on one text. A page can be written to make a regex take years."""


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """A page as a judge gets it. `reason` says what is wrong if `state` is not `ok`."""

    state: State
    reason: str
    final_url: str
    text: PageText


class Undecided(Exception):
    """A rule gave no answer. This is not a fault of the record. The message says why."""


def judge(spec: JudgeSpec, record: Record, page: JudgedPage) -> Verdict:
    """The verdict on a well-formed record, by a spec in which every check has a rule.

    Raises ValueError if a rule is missing, and Undecided if a rule takes too long.
    """
    if spec.needs_model:
        raise ValueError(f"without a rule: {', '.join(spec.needs_model)}")
    if page.state != "ok":
        return nothing_shown(spec, unusable(page), judge="rules")
    page = without_reflections(record, page)
    unclear, unfaithful = unclear_answer(record), unfaithful_excerpt(record, page.text)
    found = decided(spec, record, page)
    return Verdict(
        page_content_usable=True,
        answer_intent_clear=not unclear,
        excerpts_faithful=not unfaithful,
        validity=found.validity,
        requirements=found.requirements,
        confidence=3,
        reason="; ".join(failures(unclear, unfaithful, found.validity, found.requirements)),
        judge="rules",
        flags=flags(page),
    )


def without_reflections(record: Record, page: JudgedPage) -> JudgedPage:
    """The page without the passages that only repeat its URL, the cited one or the final one."""
    return replace(page, text=page.text.without_reflections(record.url, page.final_url))


def flags(page: JudgedPage) -> tuple[str, ...]:
    """The flags of a verdict on a page that comes from `without_reflections`."""
    return (REFLECTED_URL,) if page.text.has_reflections else ()


@dataclass(frozen=True, slots=True)
class Decided:
    """The results of the rules of a spec, by the ids of the checks that have one."""

    validity: Mapping[str, bool]
    requirements: Mapping[str, Shown]


def decided(spec: JudgeSpec, record: Record, page: JudgedPage) -> Decided:
    """The result of every check that has a rule. If a validity check fails, no requirement is
    satisfied or supported.

    Raises Undecided if a rule takes too long.
    """
    seen = _Evidence(record, page.final_url, page.text)
    quoted = _Evidence(record, page.final_url, PageText(*record.excerpts))
    validity = {
        check.id: (seen if check.on == "page" else quoted).shows(check.rule)
        for check in spec.validity
        if check.rule
    }
    valid = all(validity.values())
    requirements = {
        requirement.id: Shown(
            satisfied=valid and seen.shows(requirement.rule),
            supported=valid and quoted.shows(requirement.rule),
        )
        for requirement in spec.requirements
        if requirement.rule
    }
    return Decided(validity, requirements)


def unusable(page: JudgedPage) -> str:
    """The reason why a page that is not `ok` cannot be used, in words for users."""
    return f"page not usable: {page.state} ({page.reason})"


def nothing_shown(spec: JudgeSpec, reason: str, judge: str) -> Verdict:
    """The verdict on a record whose page is not usable (scoring.md, section 1)."""
    return Verdict(
        page_content_usable=False,
        answer_intent_clear=False,
        excerpts_faithful=False,
        validity={check.id: False for check in spec.validity},
        requirements={requirement.id: Shown(False, False) for requirement in spec.requirements},
        confidence=3,
        reason=reason,
        judge=judge,
    )


def failures(
    unclear: str,
    unfaithful: str,
    validity: Mapping[str, bool],
    requirements: Mapping[str, Shown],
) -> Iterator[str]:
    """The checks that a record fails, in words for users."""
    yield from filter(None, (unclear, unfaithful))
    if invalid := [name for name, holds in validity.items() if not holds]:
        yield f"not valid: {', '.join(invalid)}"
        return
    if missing := [name for name, shown in requirements.items() if not shown.satisfied]:
        yield f"not satisfied: {', '.join(missing)}"
    if missing := [name for name, shown in requirements.items() if not shown.supported]:
        yield f"not supported: {', '.join(missing)}"


# ------------------------------------------------------------------- checks common to all tasks


def unfaithful_excerpt(record: Record, page: PageText) -> str:
    """The first excerpt that is not faithful, and why. Empty if all are faithful."""
    if not record.excerpts:
        return "no excerpts"
    for number, excerpt in enumerate(dict.fromkeys(record.excerpts), 1):
        finding = faithful(excerpt, page)
        if not finding.faithful:
            return f"excerpt {number}: {finding.reason}"
    return ""


_OPENERS = (
    "thought process",
    "thinking process",
    "reasoning",
    "explanation",
    "solution",
    "the solution is",
    "answer",
    "the answer is",
    "final answer",
    "here is the answer",
    "response",
    "result",
    "let's solve this step by step",
    "let's solve this problem step by step",
    "let's think step by step",
    "step by step",
    "step 1",
    "okay",
    "sure",
    "n/a",
    "none",
    "null",
    "undefined",
    "정답",
    "답변",
    "답",
    "풀이",
    "答案",
    "解答",
)


def unclear_answer(record: Record) -> str:
    """Why a record makes no identifiable claim; empty if it may make one. No field of the item may
    be empty. One value of the answer must be more than punctuation or a stock opener (scoring.md,
    section 1)."""
    for name, value in record.item.items():
        if isinstance(value, str) and not value.strip():
            return f"the item's {name} is empty"
    return "" if any(map(_says_something, _values(record.answer))) else "the answer is empty"


def _values(answer: Any) -> Iterator[Any]:
    """The values at any depth that are neither lists nor objects."""
    todo = [answer]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
        else:
            yield value


def _says_something(value: Any) -> bool:
    if not isinstance(value, str):
        return value is not None
    words = _words(value[:_LONGEST_OPENER])
    return bool(words) and not _OPENING.fullmatch(words)


def _words(text: str) -> str:
    return "".join(f"{token} " for token in tokens(text) if kind(token) != "mark")


_OPENING = regex.compile("(?:" + "|".join(sorted(map(_words, _OPENERS), reverse=True)) + ")*+")
_LONGEST_OPENER = 200  # characters; a longer text is more than an opener


# ------------------------------------------------------------------------------------------- rules

# A hyphen is escaped in a pattern, since it may be inside brackets.
_PATTERN_STYLES = str.maketrans(
    {c: r"\-" if style == "-" else style for c, style in STYLES.items() if style in "'\"-"}
)


class _Missing(Exception):
    """A rule needs a value that the record does not have."""


@dataclass(frozen=True, slots=True)
class _Evidence:
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
        days = _first_day(begin), _last_day(end)
        return any(found.within(*days) for found in self.text.dates)

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


def _first_day(when: PartialDate) -> date:
    return date(when.year, when.month or 1, when.day or 1)


def _last_day(when: PartialDate) -> date:
    month = when.month or 12
    return date(when.year, month, when.day or monthrange(when.year, month)[1])


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
