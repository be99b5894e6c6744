"""The judge `rules`: the verdict on a record and its page, without a model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import regex

from fetchers.page import State
from judges.records.conditions import Evidence
from judges.records.excerpts import PageText, faithful
from judges.records.record import Record
from judges.records.spec import JudgeSpec
from judges.records.verdict import Shown, Verdict
from judges.text.tokens import kind, tokens

RULES_VERSION = 6
"""Part of a verdict's cache key. Increase it with every change of results, here or in the
comparison of texts."""

REFLECTED_URL = "reflected_url"
"""The flag of a record whose page repeats its URL; the repetitions are no evidence."""


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """A page as a judge gets it. `reason` says what is wrong if `state` is not `ok`."""

    state: State
    reason: str
    final_url: str
    text: PageText


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
    seen = Evidence(record, page.final_url, page.text)
    quoted = Evidence(record, page.final_url, PageText(*record.excerpts))
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
