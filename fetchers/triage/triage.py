"""The state of a page, named from what a reader would see.

Status codes lie (most bot walls answer 200) and marks lie (a healthy page behind a firewall carries
its script, an article may be about captchas). So substance comes first: a page that gives a reader
enough to read beside the marks it carries is ok. Marks only name what is wrong where it does not.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, cast
from urllib.parse import urlsplit

from fetchers.page import State
from fetchers.triage.signals import ENOUGH, MARKS, Mark, Signals, Where

_NAMED = {mark.name: mark for mark in MARKS}
_URLS = [
    (
        mark,
        tuple(f"{needle}/" for needle in needles if needle[0] == "/"),
        tuple(f".{needle}" for needle in needles if needle[0] != "/"),
    )
    for mark in MARKS
    if (needles := mark.needles["url"])
]
_PATH = re.compile("|".join(re.escape(part) for _, paths, _ in _URLS for part in paths))
_HOSTS = tuple(host for _, _, hosts in _URLS for host in hosts)
_HEADERS = [
    (mark, name, value)
    for mark in MARKS
    for needle in mark.needles["header"]
    for name, _, value in [needle.partition(": ")]
]
HEADERS_READ = tuple(sorted({name for _, name, _ in _HEADERS}))

# What a mark weighs by where it is met.
_WEIGHT: Mapping[Where, int] = {
    "headline": 3, "header": 3, "phrase": 2, "hint": 1, "script": 1, "element": 1, "url": 1,
}  # fmt: skip
# The most words of other prose beside marks of such a weight: more, and they do not decide.
# A press notice has some thirty words, the teaser before a paywall up to a hundred.
_ROOM = {1: 12, 2: 60, 3: 120}
_MOST_ROOM = max(_ROOM.values())
_LEAST = 6  # words below which a page with scripts is taken for a shell
_SHELL = 40  # words around an application's empty root, at most
_STUB = 25  # words on a page that sends its reader elsewhere, or is still loading

_BY_STATUS: Mapping[int, State] = {
    401: "login", 402: "paywall", 403: "blocked", 406: "blocked", 407: "blocked", 418: "blocked",
    423: "blocked", 425: "blocked", 429: "blocked", 430: "blocked", 444: "blocked",
    451: "blocked", 999: "blocked",
}  # fmt: skip
_ORDER: tuple[State, ...] = ("blocked", "login", "paywall", "dead", "unrendered")


class Readable(Protocol):
    """What triage reads of an extracted body (fetchers/extract.py)."""

    @property
    def words(self) -> int:
        """Words of the visible text."""

    @property
    def kind(self) -> str:
        """What the body was read as: "html", "text", "pdf" …"""

    @property
    def problem(self) -> str:
        """Why nothing could be read, or nothing."""

    @property
    def signals(self) -> Signals:
        """What a reader meets on the page."""


def worth_a_browser(state: State) -> bool:
    """Whether a browser may see more than plain http did."""
    return state in ("blocked", "login", "paywall", "unrendered")


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What speaks for a state: its weight, and the most other prose beside which it counts."""

    state: State
    weight: int
    room: int
    name: str


def triage(
    status: int, headers: Mapping[str, str], final_url: str, page: Readable
) -> tuple[State, str]:
    """The state of a page and the reason, empty where it is ok.

    `headers` has names in lower case; of them, `HEADERS_READ` are read. Pure; takes microseconds.
    """
    if status in (404, 410):
        return "dead", f"status {status}"
    if headers.get("cf-mitigated", "").casefold() == "challenge":
        return "blocked", "Cloudflare challenge"
    signals = page.signals
    prose = signals.prose
    if status < 500 and prose > _MOST_ROOM and not page.problem:
        return "ok", ""  # no mark decides beside so much to read
    evidence = [*_on_page(signals), *_in_headers(headers), *_in_url(final_url)]
    if 500 <= status < 600:
        wall = _decide(prose, evidence)
        return wall if wall and wall[0] == "blocked" else ("unreachable", f"status {status}")
    if status == 429 and not page.words and _decide(prose, evidence) is None:
        return "unreachable", "status 429"
    if status >= 400:
        evidence.append(_Evidence(_BY_STATUS.get(status, "dead"), 3, ENOUGH, f"status {status}"))
    if verdict := _decide(prose, evidence):
        return verdict
    if page.problem:
        return "dead", page.problem
    return _without_marks(page)


def _decide(prose: int, evidence: Iterable[_Evidence]) -> tuple[State, str] | None:
    """The state that most speaks for, if what speaks for it outweighs the page's own prose."""
    pieces: dict[State, list[_Evidence]] = {}
    for piece in evidence:
        if prose <= piece.room:
            pieces.setdefault(piece.state, []).append(piece)
    ranked = sorted(pieces, key=lambda s: (-sum(p.weight for p in pieces[s]), _ORDER.index(s)))
    for state in ranked:
        heaviest = max(pieces[state], key=lambda piece: piece.weight)
        # A teaser has prose of its own, so what points to a paywall adds up; hints of others,
        # such as a login box at the side, do not unless something telling stands beside them.
        total = sum(piece.weight for piece in pieces[state])
        telling = total if state == "paywall" or heaviest.weight > 1 else 1
        if prose <= _ROOM[min(telling, 3)]:
            return state, heaviest.name
    return None


def _on_page(signals: Signals) -> Iterator[_Evidence]:
    for met in signals.marks:
        where, _, name = met.partition(":")
        if name != "captcha widget":
            yield from _of(_NAMED.get(name), cast(Where, where))
        elif not signals.fields and where == "element":
            yield _Evidence("blocked", 2, ENOUGH, "captcha")
        elif signals.fields < 2:  # one in a form that asks for more is a contact form's
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


def _of(mark: Mark | None, where: Where) -> Iterator[_Evidence]:
    if mark is not None and mark.state is not None:
        yield _Evidence(mark.state, _WEIGHT[where], mark.room, mark.name)


def _without_marks(page: Readable) -> tuple[State, str]:
    """The state of a page on which no mark decides: whether there is anything to read at all."""
    if page.kind != "html":
        return ("ok", "") if page.words else ("dead", "nothing to read")
    signals, prose = page.signals, page.signals.prose
    if signals.empty_roots and prose < _SHELL:
        return "unrendered", "an application's empty shell"
    if signals.redirects and prose < _STUB:
        return "unrendered", "a stub that sends its reader elsewhere by script or refresh"
    if signals.skeletons and prose < _STUB:
        return "unrendered", "placeholders where the content is to come"
    content = prose + signals.links
    if signals.frames and content < _LEAST:
        return "unrendered", "the content is in frames"
    if signals.scripts and content < _LEAST:
        return "unrendered", "scripts, and next to nothing to read"
    if content + signals.chrome == 0:
        return "dead", "an empty body"
    return "ok", ""
