"""The judge that asks a model: the question about a record, and the verdict from the reply.

A model cannot overrule the facts where scoring.md (sections 1 and 2) says so: an unusable page, an
unclear answer, a changed number or negation, a rule of the task.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from string import Template
from typing import Any

from fetchers.urls import hostname, registrable_domain
from judges.endpoint.prompting import REASON, as_json, closed, fenced, read_prompt
from judges.endpoint.questions import Ask, Effort, Request, TooLong
from judges.records.facts import MOST_KEPT, ROOM, Facts, verdict_without_model
from judges.records.spec import JudgeSpec, Requirement, ValidityCheck
from judges.records.verdict import Shown, Verdict

_LAYOUT = 2
_PROMPT, PROMPT_VERSION = read_prompt(__file__, "judge", _LAYOUT)

ROOMS_TRIED = 3
"""The most requests about one record that is too long for the model. Each has a quarter of the
room of the one before."""

# -------------------------------------------------------------------------------- the question


def prompt(spec: JudgeSpec, facts: Facts, model: str, effort: Effort) -> Request:
    """The question about a record. Records of one task have the same system message, and records
    of one page begin the user message alike, so that a provider's prefix cache works."""
    page, page_mark = fenced("page", f"{facts.final_url}\n\n{facts.page}")
    # The author of the record may know the page, and so its mark.
    record, _ = fenced("record", facts.record.replace(page_mark, ""))
    return Request(
        role="judge",
        model=model,
        effort=effort,
        system=_system(spec),
        user=f"{page}\n\n{record}\n\nFacts:\n{as_json(_stated(facts))}",
        schema=_schema(spec),
        ids=_ids(spec),
    )


def _stated(facts: Facts) -> dict[str, Any]:
    """The facts that a request states. They contain no text of the page or the record, except the
    page's domain."""
    return {
        "page": {
            "registrable_domain": registrable_domain(hostname(facts.final_url)),
            "words": facts.words,
            "given": "in passages" if facts.in_passages else "whole",
        },
        "answer_is_empty": bool(facts.unclear),
        "excerpts": {str(number): found for number, found in enumerate(facts.findings, 1)},
        "decided_by_rule": {
            "validity": facts.decided.validity,
            "requirements": {
                name: {"satisfied": shown.satisfied, "supported": shown.supported}
                for name, shown in facts.decided.requirements.items()
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


def verdict(spec: JudgeSpec, facts: Facts, reply: Mapping[str, Any], model: str) -> Verdict:
    """The verdict from a model's reply (an object of the request's schema) and the facts that it
    cannot overrule (scoring.md, sections 1 and 2)."""
    usable = reply["page_content_usable"]
    faithful = reply["excerpts_faithful"] and not facts.unfaithful_is_final
    validity = {
        check.id: facts.decided.validity[check.id] if check.rule else reply["validity"][check.id]
        for check in spec.validity
    }
    shows = usable and all(validity.values())
    requirements = {}
    for requirement in spec.requirements:
        if requirement.rule:
            shown = facts.decided.requirements[requirement.id]
        else:
            shown = Shown(**reply["requirements"][requirement.id])
        requirements[requirement.id] = Shown(
            satisfied=shows and shown.satisfied,
            supported=shows and shown.supported and bool(facts.findings),
        )
    return Verdict(
        page_content_usable=usable,
        answer_intent_clear=reply["answer_intent_clear"] and not facts.unclear,
        excerpts_faithful=faithful,
        validity=validity,
        requirements=requirements,
        confidence=int(reply["confidence"]),
        reason="; ".join(
            filter(
                None,
                (
                    facts.unclear,
                    "" if faithful else facts.unfaithful,
                    "the page was judged in passages" if facts.in_passages else "",
                    reply["reason"][:MOST_KEPT].strip(),
                ),
            )
        ),
        judge=model,
        flags=facts.flags,
    )


async def judge(
    spec: JudgeSpec,
    find: Callable[[int], Awaitable[Facts]],
    ask: Ask,
    model: str,
    effort: Effort,
    room: int = ROOM,
) -> Verdict:
    """The verdict on a record.

    `find(room)` gives its facts, with at most `room` characters of page and record. `ask` sends a
    request. A request that is too long for the model is repeated in less room. Raises the errors of
    `find` and `ask`.
    """
    for _ in range(ROOMS_TRIED):
        facts = await find(room)
        if early := verdict_without_model(spec, facts):
            return early
        try:
            reply = await ask(prompt(spec, facts, model, effort))
        except TooLong as error:
            too_long = error
            room //= 4
        else:
            return verdict(spec, facts, reply.value, model)
    raise too_long
