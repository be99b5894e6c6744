"""Functions of the worker processes: they extract text from bodies and judge records. The input is
hostile.

Bodies and texts are not sent between processes. A worker gets digests and reads the store itself.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cache.bodies import Bodies
from fetchers.page import Page
from fetchers.reading.extract import extract
from fetchers.triage.signals import Signals
from judges.records import by_rules
from judges.records.excerpts import PageText
from judges.records.facts import Facts, find_facts
from judges.records.record import Record
from judges.records.spec import JudgeSpec
from judges.records.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Reading:
    """A row of the stage `extract`. `text` is the digest of the extracted text; the rest is the
    input of triage."""

    text: str
    words: int
    kind: str
    problem: str
    signals: Signals


_store: Bodies


def open_store(folder: Path) -> None:
    """Open the store of bodies, when a worker process starts."""
    global _store  # one store for all calls in this process
    _store = Bodies(folder)


def ready() -> None:
    """Do nothing. The call starts the processes."""


def read_body(sha256: str, content_type: str) -> Reading:
    """Extract the text of a body in the store, and put the text into the store.

    Raises MissingBody.
    """
    found = extract(_store.get(sha256), content_type)
    text = _store.put(found.text.encode())
    return Reading(text, found.words, found.kind, found.problem, found.signals)


def judge_by_rules(spec: JudgeSpec, record: Record, page: Page) -> Verdict:
    """The verdict of the judge `rules`.

    Raises MissingBody, and Undecided if a rule gives no answer.
    """
    return by_rules.judge(spec, record, _seen(page))


def facts(spec: JudgeSpec, record: Record, page: Page, room: int) -> Facts:
    """The facts about a record that a request to a model contains, in at most `room` characters.

    Raises Undecided and MissingBody.
    """
    return find_facts(spec, record, _seen(page), room)


def _seen(page: Page) -> by_rules.JudgedPage:
    return by_rules.JudgedPage(page.state, page.reason, page.final_url, _text(page.text))


@lru_cache(maxsize=4)  # the records of one page are judged one after another
def _text(digest: str) -> PageText:
    return PageText(
        _store.get(digest).decode() if digest else ""
    )  # without a body, the digest is empty
