"""What runs in processes of its own: reading bodies and judging records, on hostile input.

Bodies and texts do not travel between processes: a worker has the store open, and gets digests.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cache.bodies import Bodies
from fetchers.page import Page
from fetchers.reading.extract import extract
from fetchers.triage.signals import Signals
from judges.records import model, rules
from judges.records.excerpts import PageText
from judges.records.record import Record
from judges.records.spec import JudgeSpec
from judges.records.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read in a body: the digest of its text, and what triage needs to know of it."""

    text: str
    words: int
    kind: str
    problem: str
    signals: Signals


_store: Bodies


def open_store(folder: Path) -> None:
    """Begin a worker: open the store of bodies."""
    global _store  # a process has one, for all of its calls
    _store = Bodies(folder)


def ready() -> None:
    """Nothing: a call that has the processes started."""


def read_body(sha256: str, content_type: str) -> Reading:
    """Read a body of the store, and keep its text there."""
    found = extract(_store.get(sha256), content_type)
    text = _store.put(found.text.encode())
    return Reading(text, found.words, found.kind, found.problem, found.signals)


def judge_by_rules(spec: JudgeSpec, record: Record, page: Page) -> Verdict:
    """The verdict of the judge `rules`. Raises Undecided where a rule gives no answer."""
    return rules.judge(spec, record, _seen(page))


def facts(spec: JudgeSpec, record: Record, page: Page, room: int) -> model.Facts:
    """What a model is told of a record, in `room` characters. Raises Undecided."""
    return model.facts(spec, record, _seen(page), room)


def _seen(page: Page) -> rules.PageSeen:
    return rules.PageSeen(page.state, page.reason, page.final_url, _text(page.text))


@lru_cache(maxsize=4)  # records of one page follow one another
def _text(digest: str) -> PageText:
    return PageText(_store.get(digest).decode() if digest else "")  # none: no body came
