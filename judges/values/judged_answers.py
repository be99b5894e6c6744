"""Questions to a model about short answers (answers.md, items 2 and 4; K-BrowseComp, section 4 and
table 1): whether an undecided answer is right, and why a wrong attempt failed."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from string import Template
from typing import Any

from judges.endpoint.prompting import REASON, as_json, closed, fenced, read_prompt, reason
from judges.endpoint.questions import Ask, Effort, Reply, Request, TooLong, UnusableReply, Usage
from judges.endpoint.until_usable import AGAIN, ATTEMPTS, corrected
from judges.text.markup import plain
from judges.values.answers import Outcome, Reading, decide, read

_LAYOUT = 1
ROOM = 60_000
"""The characters of an attempt that a request shows."""
ROOMS_TRIED = 3
"""The most requests for one attempt that is too long for the model. Each has a quarter of the room
of the one before."""


async def _fitting(ask: Ask, request: Callable[[int], Request]) -> Reply:
    """The reply to the first request that fits the model. `request` makes one with that many
    characters. Raises TooLong if none fits."""
    room = ROOM
    for _ in range(ROOMS_TRIED):
        try:
            return await ask(request(room))
        except TooLong as error:
            too_long = error
            room //= 4
    raise too_long


# ------------------------------------------------------------------------------------------ answers


@dataclass(frozen=True, slots=True)
class Doubt:
    """An undecided answer. `golds` has the gold answer and its aliases. If the response marks no
    answer, `marked` is false and `answer` is the whole response, in which a model may find one.
    `beside` is the text around the answer."""

    question: str
    golds: tuple[str, ...]
    answer: str
    beside: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """The outcome, the reason, and the usage of the requests. `extracted` is the final answer that
    a model found in a response without a marked answer."""

    outcome: Outcome
    extracted: str | None
    reason: str
    usage: Usage


_CONFIDENCE = re.compile(
    r"^\W{0,12}(?:confidence|신뢰도|확신도)\b.{0,60}$", re.IGNORECASE | re.MULTILINE
)


def doubt(question: str, golds: Sequence[str], response: str) -> Doubt:
    """The question about an undecided response. CPU work on hostile text."""
    reading = read(response)
    beside = _CONFIDENCE.sub("", _ends(reading.beside, ROOM)).strip()
    return Doubt(question, tuple(golds), _ends(reading.answer, ROOM), beside, reading.marked)


async def judge(doubt: Doubt, ask: Ask, model: str, effort: Effort) -> Decided:
    """Ask whether an answer is right. An answer with a value that differs is wrong, whatever the
    model says.

    A reply that extracts an answer which is not in the response is an unusable reply: the request
    is repeated with this fault, in at most ATTEMPTS attempts. Raises what `ask` raises, and
    UnusableReply after the last attempt.
    """
    used = Usage()
    said: Mapping[str, Any] = {}

    def request(room: int) -> Request:
        first = _question(doubt, room, model, effort)
        if not used.calls:
            return first
        again = replace(first, attempt=used.calls + 1)
        return corrected(again, as_json(said), f"{_NOT_IN_RESPONSE} {AGAIN}")

    while used.calls < ATTEMPTS:
        reply = await _fitting(ask, request)
        used += reply.usage
        said = reply.value
        found = None if doubt.marked else said["answer"]
        if found is None or _stands(found, doubt.answer):
            outcome = _outcome(doubt, found, said["correct"])
            return Decided(outcome, found, reason(said), used)
    raise UnusableReply("the extracted answer is not in the response", usage=used)


_NOT_IN_RESPONSE = (
    'Your reply cannot be used: the field "answer" must be copied word for word from the response, '
    "or be null."
)


def _question(doubt: Doubt, room: int, model: str, effort: Effort) -> Request:
    if doubt.marked:
        attempt = {"final answer": _ends(doubt.answer, room // 2)}
        if doubt.beside:
            attempt["what is said beside it"] = _ends(doubt.beside, room // 2)
    else:
        attempt = {"response": _ends(doubt.answer, room)}
    system = Template(_ANSWER).substitute(
        question=as_json(doubt.question), golds=as_json(doubt.golds)
    )
    return Request("answer", model, effort, system, _attempt(attempt), _answer_schema(doubt.marked))


_ANSWER, ANSWER_VERSION = read_prompt(__file__, "answer", _LAYOUT)


@lru_cache(maxsize=2)
def _answer_schema(marked: bool) -> str:
    found = {} if marked else {"answer": {"type": ["string", "null"]}}
    return json.dumps(closed(reason=REASON, **found, correct={"type": "boolean"}))


def _outcome(doubt: Doubt, found: str | None, correct: bool) -> Outcome:
    if not doubt.marked:
        strict = "no_answer" if found is None else decide(Reading(found), *doubt.golds)
        if strict in ("wrong", "no_answer"):
            return strict
    return "correct" if correct else "wrong"


def _stands(answer: str, text: str) -> bool:
    """Whether a text contains an answer, apart from white space, letter case and Markdown."""
    answer, text = ("".join(plain(part).casefold().split()) for part in (answer, text))
    return answer in text


# ----------------------------------------------------------------------------------------- failures

MODES: Mapping[str, str] = {
    "F0": "the attempt is incomplete or its output malformed",
    "F1": "the first query could not be narrowed: the search never found where to begin",
    "F2": "a page could not be entered: dynamic, framed, behind a form or a viewer",
    "F3": "hopping across sources: what one source gave was not carried on to the next",
    "F4": "parsing semi-structured content: a table, list or record was read wrongly",
    "F5": "selection among search results: the right one was there and was passed over",
    "F6": "a rare entity or the spelling of its name was missed or confused",
    "F7": "tracking constraints: a condition of the question was dropped or not checked",
    "F8": "a calculation or procedure on the way went wrong",
}
"""The failure modes (answers.md, item 4; K-BrowseComp, table 1)."""
_FAILURE, FAILURE_VERSION = read_prompt(__file__, "failure", _LAYOUT, MODES)


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed attempt: its answer (empty if there is none), and its steps, from `steps`."""

    question: str
    golds: tuple[str, ...]
    answer: str
    steps: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """The failure mode, the reason, and the usage of the request."""

    mode: str
    reason: str
    usage: Usage


_STEP = 3_000  # characters of a step that are shown
_MOST_STEPS = 1_000


def steps(trajectory: Any) -> str:
    """A trajectory (any JSON) as a request shows it: one line of JSON for each step. Long steps are
    cut; of many steps those in the middle are left out. CPU work."""
    every = trajectory if isinstance(trajectory, list) else [trajectory]
    if len(every) > _MOST_STEPS:
        head = _MOST_STEPS // 4
        left = f"[… {len(every) - _MOST_STEPS} steps]"
        every = [*every[:head], left, *every[head - _MOST_STEPS :]]
    return _ends("\n".join(_ends(as_json(step), _STEP) for step in every), ROOM)


async def label(failed: Failed, ask: Ask, model: str, effort: Effort) -> Labelled:
    """Ask why an attempt failed. Raises the exceptions of `ask`."""
    reply = await _fitting(ask, lambda room: _why(failed, room, model, effort))
    return Labelled(reply.value["mode"], reason(reply.value), reply.usage)


def _why(failed: Failed, room: int, model: str, effort: Effort) -> Request:
    attempt = {
        "final answer": _ends(failed.answer, _STEP),
        "steps": _ends(failed.steps, room),
    }
    system = Template(_FAILURE).substitute(
        question=as_json(failed.question),
        golds=as_json(failed.golds),
        modes="\n".join(f"  {mode}: {what}" for mode, what in MODES.items()),
    )
    return Request("failure", model, effort, system, _attempt(attempt), _MODE)


_MODE = json.dumps(closed(reason=REASON, mode={"type": "string", "enum": list(MODES)}))


# ------------------------------------------------------------------------------------------- shared


def _attempt(parts: Mapping[str, str]) -> str:
    return fenced("attempt", "\n\n".join(f"{name}:\n{text}" for name, text in parts.items()))[0]


def _ends(text: str, room: int) -> str:
    """The text, cut to `room` characters: a quarter from its beginning, the rest from its end."""
    if len(text) <= room:
        return text
    head = room // 4
    return f"{text[:head]} [… {len(text) - room} characters] {text[head - room :]}"
