"""Name the state of a page by the text and the marks that a reader would see.

Status codes mislead (most bot walls answer 200), and marks mislead (a healthy page behind a
firewall carries its script, an article may be about captchas). So prose comes first: a page that
gives a reader enough to read beside its marks is `ok`. If it does not, the marks name its state.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, cast
from urllib.parse import urlsplit

from fetchers.page import State
from fetchers.triage.markers import ENOUGH, MARKS, MARKS_BY_NAME, Mark, Place
from fetchers.triage.signals import Signals

_URLS = [
    (
        mark,
        tuple(f"{text}/" for text in texts if text[0] == "/"),
        tuple(f".{text}" for text in texts if text[0] != "/"),
    )
    for mark in MARKS
    if (texts := mark.texts["url"])
]
_PATH = re.compile("|".join(re.escape(part) for _, paths, _ in _URLS for part in paths))
_HOSTS = tuple(host for _, _, hosts in _URLS for host in hosts)
_HEADERS = [
    (mark, name, value)
    for mark in MARKS
    for text in mark.texts["header"]
    for name, _, value in [text.partition(": ")]
]
HEADERS_READ = tuple(sorted({name for _, name, _ in _HEADERS}))

# The weight of a mark, by the place where it was found.
_WEIGHT: Mapping[Place, int] = {
    "headline": 3, "header": 3, "phrase": 2, "word": 2, "cut": 2,
    "hint": 1, "script": 1, "element": 1, "url": 1,
}  # fmt: skip
# The most words of text beside marks of such a weight. If there are more, the marks do not decide.
# A press notice has some thirty words, the teaser before a paywall up to a hundred and fifty.
_ROOM = {1: 12, 2: 60, 3: 120}
_PAYWALL_ROOM = 160  # beside marks of a weight of 4 or more
_MAX_ROOM = max(*_ROOM.values(), _PAYWALL_ROOM)
_HEADED = ("headline", "word", "header")  # places at which a mark speaks of the whole page

_EMPTY = 6  # words below which a page with scripts is a shell
_SHELL = 40  # words around the empty root of an application, at most
_MENU = 150  # words of links around the empty root of an application, at most
_STUB = 25  # words on a page that sends its reader elsewhere, or is still loading, at most
_UNREAD = 150  # visible words that the signals miss; from here on they count as prose

_BY_STATUS: Mapping[int, State] = {
    401: "login", 402: "paywall", 403: "blocked", 406: "blocked", 407: "blocked", 418: "blocked",
    423: "blocked", 425: "blocked", 429: "blocked", 430: "blocked", 444: "blocked",
    451: "blocked", 999: "blocked",
}  # fmt: skip
_ORDER: tuple[State, ...] = ("blocked", "login", "paywall", "dead", "unrendered")


class Readable(Protocol):
    """What triage reads of an extracted body (fetchers/reading/extract.py)."""

    @property
    def words(self) -> int:
        """Words of the visible text."""

    @property
    def kind(self) -> str:
        """The form of the body: "html", "text", "pdf", ..."""

    @property
    def problem(self) -> str:
        """Why the body could not be read; "" if it could."""

    @property
    def signals(self) -> Signals:
        """The signals of the body."""


def worth_a_browser(state: State) -> bool:
    """Say if a browser may see more of a page in this state than plain HTTP did."""
    return state in ("blocked", "login", "paywall", "unrendered")


@dataclass(frozen=True, slots=True)
class _Evidence:
    """One thing that speaks for a state.

    `room` is the most words of prose beside which it counts. `headed` says that it speaks of the
    whole page, as a title does; `common`, that it is a title of one common word.
    """

    state: State
    weight: int
    room: int
    name: str
    headed: bool = False
    common: bool = False


def triage(
    status: int, headers: Mapping[str, str], final_url: str, page: Readable
) -> tuple[State, str]:
    """Name the state of a page (formats.md, section 3) and the reason, "" if the state is `ok`.

    `headers` has names in lower case; those in `HEADERS_READ` are read. Pure; takes microseconds.
    """
    if status in (404, 410):
        return "dead", f"status {status}"
    if headers.get("cf-mitigated", "").casefold() == "challenge":
        return "blocked", "Cloudflare challenge"
    signals = _as_seen(page)
    if status < 500 and signals.prose > _MAX_ROOM and not page.problem:
        return "ok", ""  # no mark decides beside so much to read
    evidence = [*_on_page(signals), *_in_headers(headers), *_in_url(final_url)]
    if 500 <= status < 600:
        wall = _decide(signals, evidence)
        return wall if wall and wall[0] == "blocked" else ("unreachable", f"status {status}")
    if status == 429 and not page.words and _decide(signals, evidence) is None:
        return "unreachable", "status 429"
    if status >= 400:
        state = _BY_STATUS.get(status, "dead")
        evidence.append(_Evidence(state, 3, ENOUGH, f"status {status}", headed=True))
    if verdict := _decide(signals, evidence):
        return verdict
    if page.problem:
        return "dead", page.problem
    return _without_marks(page.kind, page.words, signals)


def _as_seen(page: Readable) -> Signals:
    """Give the signals with no more prose than is visible, and with the prose that they miss.

    The signals are read from the tree of the page. The visible text is more exact: it leaves out
    what style sheets hide, and it has what stands in inner documents and in elements that a script
    opens.
    """
    signals = page.signals
    missed = page.words - signals.seen
    if page.kind != "html" or signals.prose >= ENOUGH:
        return signals
    if missed >= _UNREAD:
        return replace(signals, prose=signals.prose + missed)
    if signals.prose > page.words:
        return replace(signals, prose=page.words)
    return signals


def _decide(signals: Signals, evidence: Iterable[_Evidence]) -> tuple[State, str] | None:
    """Give the state that the heaviest evidence speaks for, if it outweighs the page's own text."""
    pieces: dict[State, list[_Evidence]] = {}
    for piece in evidence:
        if signals.prose <= piece.room:
            pieces.setdefault(piece.state, []).append(piece)
    ranked = sorted(pieces, key=lambda s: (-sum(p.weight for p in pieces[s]), _ORDER.index(s)))
    for state in ranked:
        heaviest = max(pieces[state], key=lambda piece: piece.weight)
        # A teaser has prose of its own, so the evidence for a paywall adds up. Other evidence adds
        # up only if one piece is telling: two hints, such as a login box at the side, are not.
        total = sum(piece.weight for piece in pieces[state])
        # A title of one common word ("Lost", "Forbidden") may be the name of a film.
        adds_up = state == "paywall" or heaviest.weight > 1
        telling = total if adds_up and any(not p.common for p in pieces[state]) else 1
        room = _ROOM[min(telling, 3)]
        if state == "paywall" and telling > 3:
            room = _PAYWALL_ROOM
        text = signals.prose
        if not any(piece.headed for piece in pieces[state]):
            text += signals.teasers  # on a list of articles they are what a reader came for
        if text <= room:
            return state, heaviest.name
    return None


def _on_page(signals: Signals) -> Iterator[_Evidence]:
    for met in signals.marks:
        place, _, name = met.partition(":")
        if name != "captcha widget":
            yield from _of(MARKS_BY_NAME.get(name), cast(Place, place))
        elif not signals.fields and place == "element":
            yield _Evidence("blocked", 2, ENOUGH, "captcha")
        elif signals.fields < 2:  # a form with more fields is a contact form
            yield _Evidence("blocked", 1, ENOUGH, "captcha")
    if signals.passwords:
        yield _Evidence("login", 1, ENOUGH, "asks for a password")


def _in_headers(headers: Mapping[str, str]) -> Iterator[_Evidence]:
    for mark, name, value in _HEADERS:
        if name in headers and value in headers[name].casefold():
            yield from _of(mark, "header")


def _in_url(url: str) -> Iterator[_Evidence]:
    try:
        parts = urlsplit(url.casefold())
        host, path = parts.hostname or "", f"{parts.path}/"
    except ValueError:
        return
    if _PATH.search(path) or f".{host}".endswith(_HOSTS):
        for mark, paths, hosts in _URLS:
            if f".{host}".endswith(hosts) or any(part in path for part in paths):
                yield from _of(mark, "url")


def _of(mark: Mark | None, place: Place) -> Iterator[_Evidence]:
    if mark is not None and mark.state is not None:
        yield _Evidence(
            mark.state,
            _WEIGHT[place],
            mark.room,
            mark.name,
            headed=place in _HEADED,
            common=place == "word",
        )


def _without_marks(kind: str, words: int, signals: Signals) -> tuple[State, str]:
    """Name the state of a page on which no mark decides: does it show anything to read?"""
    if kind != "html":
        return ("ok", "") if words else ("dead", "nothing to read")
    text = signals.prose + signals.legal + signals.teasers
    if signals.empty_roots and text < _SHELL and signals.links < _MENU:
        return "unrendered", "the empty shell of an application"
    if signals.redirects and text < _STUB:
        return "unrendered", "a stub that leads elsewhere by a script or a refresh"
    if signals.skeletons and text < _STUB:
        return "unrendered", "placeholders in place of the content"
    content = text + signals.links
    if signals.frames and content < _EMPTY:
        return "unrendered", "the content is in frames"
    if signals.scripts and content < _EMPTY:
        return "unrendered", "scripts, and almost nothing to read"
    if content + signals.chrome == 0:
        return "dead", "an empty body"
    return "ok", ""
