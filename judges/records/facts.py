"""The facts about one record for a model judge: computed facts, and the parts of the page and of
the record that a request shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from judges.endpoint.prompting import as_json
from judges.records import by_rules
from judges.records.by_rules import Decided, JudgedPage
from judges.records.excerpts import Finding, faithful
from judges.records.passages import passages
from judges.records.record import Record
from judges.records.sentences import Cut
from judges.records.spec import JudgeSpec
from judges.records.verdict import Shown, Verdict

ROOM = 120_000
"""Characters of page and record that a model is shown."""
MOST_KEPT = 2_000
"""Characters that are kept of a value of the item, of the URL, and of a model's reason."""

_RECORD_SHARE = 3  # the record gets at most a third of the room
_ITEM_SHARE = 3  # the item and the answer get at most a third of the record's room each
_MOST_UNFAITHFUL = 50
_MOST_WANTED = 100  # values of the item that passages are chosen by


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a record and its page, and the texts that a model is shown.

    `unusable`, `unclear` and `unfaithful` say what is wrong with the page, the answer and the
    excerpts; each is empty if nothing is wrong. If `unfaithful_is_final`, no model may overrule it.
    `findings` says for each excerpt that is shown how it was found. `decided` has the results of
    the task's rules. `page` is the text of the page, or parts of it if `in_passages`. `record` is
    JSON. `flags` are those of the verdict.
    """

    unusable: str
    unclear: str
    unfaithful: str
    unfaithful_is_final: bool
    findings: tuple[str, ...]
    decided: Decided
    final_url: str
    words: int
    page: str
    in_passages: bool
    record: str
    flags: tuple[str, ...] = ()


def find_facts(spec: JudgeSpec, record: Record, page: JudgedPage, room: int = ROOM) -> Facts:
    """The facts about a record, and at most `room` characters of page and record for a model.

    CPU work on hostile text. Raises Undecided if a rule takes too long.
    """
    if page.state != "ok":
        return Facts(
            unusable=by_rules.unusable(page),
            unclear="",
            unfaithful="",
            unfaithful_is_final=True,
            findings=(),
            decided=Decided({}, {}),
            final_url=page.final_url,
            words=0,
            page="",
            in_passages=False,
            record="",
        )
    page = by_rules.without_reflections(record, page)
    text = page.text.raw
    quoted = list(dict.fromkeys(record.excerpts))
    checked = _Checked(quoted, page)
    shown, excerpts_shown = _record(record, quoted, checked.cuts, room // _RECORD_SHARE)
    passed = passages(text, room - len(shown), quoted, _wanted(spec, record))
    return Facts(
        unusable="",
        unclear=by_rules.unclear_answer(record),
        unfaithful=checked.unfaithful,
        unfaithful_is_final=checked.is_final,
        findings=tuple(checked.findings[:excerpts_shown]),
        decided=by_rules.decided(spec, record, page),
        final_url=page.final_url,
        words=page.text.words,
        page=passed,
        in_passages=len(passed) < len(text),
        record=shown,
        flags=by_rules.flags(page),
    )


def verdict_without_model(spec: JudgeSpec, facts: Facts) -> Verdict | None:
    """The verdict if no model is needed: the page is not usable, or a rule finds the record
    invalid (then the rest is false: WANDR, appendix E.1). Otherwise None."""
    if facts.unusable:
        return by_rules.nothing_shown(spec, facts.unusable, judge="rules")
    if all(facts.decided.validity.values()):
        return None
    return Verdict(
        page_content_usable=True,
        answer_intent_clear=not facts.unclear,
        excerpts_faithful=not facts.unfaithful,
        validity={check.id: facts.decided.validity.get(check.id, False) for check in spec.validity},
        requirements={requirement.id: Shown(False, False) for requirement in spec.requirements},
        confidence=3,
        reason="; ".join(
            by_rules.failures(facts.unclear, facts.unfaithful, facts.decided.validity, {})
        ),
        judge="rules",
        flags=facts.flags,
    )


# ------------------------------------------------------------------------------------ excerpts

_FOUND = "found word for word"
_CUT = "found word for word; it is cut inside a sentence, see cut_sentences"
_CHANGED = "not found: a number or a negation differs from the page; this is final"


class _Checked:
    """The check of a record's excerpts. `findings` says for a model how each excerpt was found,
    without any text of the record or the page. `cuts` has the sentences around the excerpts that
    the page contains, by number."""

    def __init__(self, quoted: Sequence[str], page: JudgedPage) -> None:
        self.unfaithful = "" if quoted else "no excerpts"
        self.is_final = not quoted
        self.findings: list[str] = []
        self.cuts: dict[int, Cut] = {}
        missed = 0
        for number, excerpt in enumerate(quoted, 1):
            found = faithful(excerpt, page.text)
            self.findings.append(_in_words(found))
            if found.cut and found.cut.has_words:
                self.cuts[number] = found.cut
            if found.faithful:
                continue
            if not self.unfaithful or (found.final and not self.is_final):
                self.unfaithful = f"excerpt {number}: {found.reason}"
            self.is_final |= found.final
            missed += 1
            if missed == _MOST_UNFAITHFUL:  # nobody quotes so badly by accident
                self.is_final = True
                break


def _in_words(found: Finding) -> str:
    if found.cut is None:
        if found.number_or_negation:
            return _CHANGED
        return f"not found: {found.reason}" + ("; this is final" if found.final else "")
    if not found.faithful:
        return f"{_CUT}; perhaps {found.reason}"
    return _CUT if found.cut.has_words else _FOUND


# --------------------------------------------------------------------------- the record as shown


def _wanted(spec: JudgeSpec, record: Record) -> list[str]:
    """The texts by which passages of a long page are chosen."""
    values = (_as_text(value) for value in islice(record.item.values(), _MOST_WANTED))
    checks = (check.text for check in (*spec.validity, *spec.requirements))
    return [*values, as_json(record.answer), *checks]


def _record(
    record: Record, quoted: Sequence[str], cuts: Mapping[int, Cut], room: int
) -> tuple[str, int]:
    """The record as JSON in about `room` characters, with the sentences around cut excerpts, and
    the number of excerpts in it."""
    shown: dict[str, Any] = {
        "item": _item(record.item, room // _ITEM_SHARE),
        "url": _cut(record.url, min(MOST_KEPT, room // _ITEM_SHARE)),
        "answer": _cut(record.answer, room // _ITEM_SHARE),
    }
    left = room - len(as_json(shown))
    excerpts: list[str] = []
    sentences: dict[str, dict[str, str]] = {}
    for number, excerpt in enumerate(quoted, 1):
        left -= len(as_json(excerpt)) + 2
        if left < 0:
            break
        excerpts.append(excerpt)
        if cut := cuts.get(number):
            sentence = {"before": cut.before, "after": cut.after}
            left -= len(as_json({str(number): sentence}))
            if left >= 0:
                sentences[str(number)] = sentence
    shown["excerpts"] = excerpts
    if sentences:
        shown["cut_sentences"] = sentences
    return as_json(shown), len(excerpts)


def _item(item: Mapping[str, Any], room: int) -> dict[str, Any]:
    """The fields of an item that fit into `room` characters of JSON, at least the first, and how
    many do not."""
    longest = min(MOST_KEPT, room // 2)
    shown: dict[str, Any] = {}
    left = room
    for name, value in item.items():
        field = {name[:longest]: _cut(value, longest)}
        left -= len(as_json(field))
        if left < 0 and shown:
            shown["[…]"] = f"{len(item) - len(shown)} more fields are left out here"
            break
        shown |= field
    return shown


def _cut(value: Any, room: int) -> Any:
    """A value, or the beginning of its JSON if that is longer than `room` characters."""
    written = _as_text(value)
    kept = written[:room]
    while kept and (size := len(as_json(kept)) - 2) > room:  # a character may take six
        kept = kept[: min(len(kept) - 1, len(kept) * room // size)]
    if kept == written:
        return value
    return f"{kept} […] ({len(written) - len(kept):,} more characters are left out here)"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)
