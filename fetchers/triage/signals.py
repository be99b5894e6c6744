"""What triage needs to know of a page beyond its words, read once a body.

A page is walked in the order in which it is read, paragraph by paragraph. A paragraph that a mark
of markers.toml explains ("verify that you are human", "subscribe to continue") is no substance;
what is left is what a reader came for.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal

import orjson
from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetchers.page import State

Where = Literal["headline", "phrase", "hint", "script", "element", "url", "header"]

_MARKERS = (Path(__file__).parent / "markers.toml").read_bytes()
SIGNALS_VERSION = f"1.{sha256(_MARKERS).hexdigest()[:12]}"

# A page with this many words of running text is a page, whatever marks it carries: reading on
# would tell triage nothing more.
ENOUGH = 400
_READ = 8_000  # characters of paragraphs in which phrases are looked for
_SCRIPT = 4_000  # characters of a single script in which marks are looked for
_KEPT = 64_000  # characters of scripts, and of class names, that are kept to look for marks
_TERSE = 20  # words of a sentence that says one thing
_SLACK = 14  # characters that may stand around a headline: "Sorry, page not found"
_AROUND = " .!?:-–—|\"'()[]<>*#"
_STUB = 3  # words in an element that a script is still to fill ("Loading, please wait")
_HITS = 3  # of one mark at one place: more says nothing more


@dataclass(frozen=True, slots=True)
class Mark:
    """One kind of page that is no evidence, as markers.toml describes it."""

    name: str
    state: State | None
    room: int
    needles: dict[Where, tuple[str, ...]]
    pair: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Signals:
    """What a reader meets on a page, in numbers, and the marks that it carries.

    `prose` counts the words of running text outside links, site navigation, controls and
    paragraphs that a mark explains (to `ENOUGH`, where reading stops); `links` those of links in
    the content; `chrome` all other visible words. `marks` are "where:name" of markers.toml, as
    often as they were met, up to three times. `fields` are inputs other than passwords.
    """

    prose: int = 0
    links: int = 0
    chrome: int = 0
    marks: tuple[str, ...] = ()
    scripts: int = 0
    fields: int = 0
    passwords: int = 0
    empty_roots: int = 0
    skeletons: int = 0
    frames: int = 0
    redirects: bool = False


def plain(text: str) -> str:
    """The form in which marks are compared: NFKC, no case, straight quotes, single spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return " ".join(folded.split())


_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "„": '"', "…": "..."})


def _load() -> tuple[Mark, ...]:
    places: tuple[Where, ...] = (
        "headline", "phrase", "hint", "script", "element", "url", "header",
    )  # fmt: skip
    return tuple(
        Mark(
            name=mark["name"],
            state=mark.get("state"),
            room=mark.get("room", ENOUGH),
            needles={where: tuple(map(plain, mark.get(where, ()))) for where in places},
            pair=tuple(map(tuple, mark.get("pair", ()))),
        )
        for mark in tomllib.loads(_MARKERS.decode())["mark"]
    )


MARKS = _load()


class _Phrases:
    """Finds many fixed phrases in a text in one pass, by their first letters."""

    _STEM = 4

    def __init__(self, places: Iterable[Where]) -> None:
        self._by_stem: dict[str, list[tuple[str, str]]] = {}
        self._short: list[tuple[str, str]] = []
        for mark in MARKS:
            for where in places:
                for phrase in mark.needles[where]:
                    known = (phrase, f"{where}:{mark.name}")
                    if len(phrase) < self._STEM:
                        self._short.append(known)
                    else:
                        self._by_stem.setdefault(phrase[: self._STEM], []).append(known)

    def found(self, text: str) -> Iterator[tuple[str, str]]:
        """Every (phrase, mark) in `text`, a plain one, each once a place where it begins."""
        yield from (known for known in self._short if known[0] in text)
        stems = self._by_stem
        for at in range(len(text) - self._STEM + 1):
            for known in stems.get(text[at : at + self._STEM], ()):
                if text.startswith(known[0], at) and _is_whole(known[0], text, at):
                    yield known


def _is_whole(phrase: str, text: str, at: int) -> bool:
    """Whether an English phrase stands between the ends of words; others may be inflected."""
    end = at + len(phrase)
    return not phrase.isascii() or not (
        text[end : end + 1].isalnum() or (at and text[at - 1].isalnum())
    )


_PHRASES = _Phrases(["phrase", "hint"])
_HEADLINES = _Phrases(["headline"])

_CJK = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
# What invites on healthy pages ("log in to comment"): a paragraph of it is no wall.
_NO_WALL = frozenset(f"phrase:{mark.name}" for mark in MARKS if mark.state is None)
_NO_WORD = re.compile(r"[^\w]+")
_SENTENCE_END = re.compile(r"[.!?]\s|[。!?]")
_DOMAIN = re.compile(r"\b[\w-]{1,63}(?:\.[a-z][\w-]{1,62}){1,3}\b")
_BETWEEN = re.compile(r"\s+[|·•»«–—:-]+\s+|\s*[|»«]\s*|[|_]|: ")
_REFRESH = re.compile(r"^\s*[\d.]{1,6}\s*[;,]\s*url|^\s*[0-5]\s*$", re.I)
_JUMP = re.compile(
    r"location(?:\.href)?\s{0,9}=(?!=)|location\.(?:replace|assign|reload)\s{0,9}\(", re.I
)
_ROOTS = {
    "root", "app", "__next", "__nuxt", "__layout", "___gatsby", "svelte", "react", "react-root",
    "react-app", "app-root", "app-mount", "app-container", "application", "mount", "main-app",
    "main-root", "page-root", "q-app", "ember-app", "vue-app", "ng-app",
}  # fmt: skip
_SKELETON = re.compile(r"skeleton|shimmer|placeholder-glow|ghost-line|loading-spinner|\bspinner\b")
_HIDDEN = re.compile(r"display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden", re.I)
_CONSENT = re.compile(
    "|".join(re.escape(e) for m in MARKS if m.name == "consent wall" for e in m.needles["element"])
)

_INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr", "img", "svg",
}  # fmt: skip
_UNREAD = {"script", "style", "template", "title", "svg", "datalist"}
_FALLBACK = {"noscript", "iframe", "noframes"}
_CHROME = {"nav", "footer", "aside", "dialog", "menu"}
_CONTROLS = {"button", "select", "label", "option", "legend", "textarea"}
_HEADINGS = {"h1", "h2", "h3"}
_DATA = {"application/json", "application/ld+json", "importmap", "speculationrules"}


def words(text: str) -> int:
    """Words as a reader counts them: by white space, two signs a word where there is none."""
    return len(text.split()) + (0 if text.isascii() else len(_CJK.findall(text)) // 2)


def read_signals(tree: LexborHTMLParser | None, text: str, title: str) -> Signals:
    """The signals of one body: of its tree as parsed, or of its text where it has none.

    `text` is only read where `tree` is None: where the body is not HTML.
    """
    reader = _Reader()
    root = tree.root if tree is not None else None
    if root is not None:
        reader.walk(root)
    else:
        reader.read(text)
    return reader.signals(title)


@dataclass(frozen=True, slots=True)
class _Entered:
    """An element under way: the role that it gives to what is in it ("skip": is not read),
    whether a script is to fill it, and the visible words before it."""

    tag: str
    role: str
    is_root: bool
    seen: int


@dataclass(slots=True)
class _Reader:
    """What has been read of one page so far."""

    prose: int = 0
    links: int = 0
    chrome: int = 0
    scripts: int = 0
    fields: int = 0
    passwords: int = 0
    empty_roots: int = 0
    skeletons: int = 0
    frames: int = 0
    redirects: bool = False
    headings: list[str] = field(default_factory=list)
    paragraphs: list[tuple[str, int, int]] = field(default_factory=list)  # words: prose, links
    fallback: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)
    _here: list[str] = field(default_factory=list)  # the paragraph under way
    _here_prose: int = 0
    _here_links: int = 0
    _kept: Counter[str] = field(default_factory=Counter)

    def walk(self, root: LexborNode) -> None:
        """Reads in document order, until there is enough; without recursion, in linear time."""
        inside: Counter[str] = Counter()
        path: list[tuple[LexborNode, _Entered]] = []
        node: LexborNode | None = root
        while node is not None and self.prose < ENOUGH:
            child = None
            if node.is_text_node:
                self._say(node.text_content or "", inside)
            elif node.is_element_node:
                entered = self._enter(node, inside)
                child = node.first_child if entered.role != "skip" else None
                if child is None:
                    self._leave(entered)
                else:
                    inside[entered.role] += 1
                    path.append((node, entered))
            if child is not None:
                node = child
                continue
            while node.next is None and path:
                node, entered = path.pop()
                inside[entered.role] -= 1
                self._leave(entered)
            node = node.next if path else None
        self._end()

    def _leave(self, entered: _Entered) -> None:
        """Notes what only an element's end can tell."""
        if entered.tag not in _INLINE:
            self._end()
        if entered.is_root and self._seen() - entered.seen <= _STUB:
            self.empty_roots += 1

    def _seen(self) -> int:
        return self.prose + self._here_prose + self.links + self._here_links + self.chrome

    def read(self, text: str) -> None:
        """Reads a body that is no HTML, line by line."""
        if _is_error(text):
            self.headings.append("error")
        for line in text[: _READ * 4].splitlines():
            self._here, self._here_prose = [line], words(line)
            self.headings += [line] if len(self.headings) < 2 and len(line) < 100 else []
            self._end()

    def _enter(self, node: LexborNode, inside: Counter[str]) -> _Entered:
        """Notes an element and the role that it gives to what is in it."""
        tag = node.tag or ""
        attributes = {key: value or "" for key, value in node.attributes.items()}
        name = f"{attributes.get('class', '')} {attributes.get('id', '')}".casefold()
        if tag not in _INLINE:
            self._end()
        if len(name) > 1:
            self._keep_classes(name)
            self.skeletons += bool(_SKELETON.search(name[:500]))
        self._note(node, tag, attributes)
        return _Entered(
            tag=tag,
            role=self._role(tag, name, attributes, inside),
            is_root=tag == "app-root" or attributes.get("id", "").casefold() in _ROOTS,
            seen=self._seen(),
        )

    def _role(self, tag: str, name: str, attributes: dict[str, str], inside: Counter[str]) -> str:
        if tag in _UNREAD:
            return "skip"
        if tag in _FALLBACK:
            return "fallback"
        if tag not in ("html", "body") and (
            "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")[:500])
        ):
            return "skip"
        if tag in _HEADINGS:
            return "heading"
        if tag == "a":
            return "link"
        if tag in _CONTROLS:
            return "control"
        if tag in _CHROME or attributes.get("role") in ("navigation", "banner", "contentinfo"):
            return "site" if tag in ("nav", "footer") or "role" in attributes else "aside"
        if tag == "header" and not inside["article"]:
            return "site"
        if tag in ("article", "main"):
            return "article"
        return "aside" if tag in ("div", "section") and _CONSENT.search(name[:500]) else "read"

    def _note(self, node: LexborNode, tag: str, attributes: dict[str, str]) -> None:
        if tag == "script":
            self._script(node, attributes)
        elif tag == "meta" and attributes.get("http-equiv", "").casefold() == "refresh":
            target = attributes.get("content", "")
            self.redirects |= bool(_REFRESH.match(target[:200]))
            self._keep(target)
        elif tag == "input":
            kind = attributes.get("type", "text").casefold()
            self.passwords += kind == "password"
            self.fields += kind in ("text", "email", "search", "tel", "number", "date", "url")
        elif tag in ("textarea", "select"):
            self.fields += 1
        elif tag in ("iframe", "frame", "form"):
            self.frames += tag != "form"
            self._keep(attributes.get("src") or attributes.get("action") or "")

    def _script(self, node: LexborNode, attributes: dict[str, str]) -> None:
        inner = node.first_child
        code = (inner.text_content or "")[:_SCRIPT] if inner is not None else ""
        if attributes.get("type", "").casefold() not in _DATA:
            self.scripts += 1
            self.redirects |= bool(_JUMP.search(code))
        self._keep(attributes.get("src", ""))
        self._keep(code)

    def _keep(self, source: str) -> None:
        if source and self._kept["sources"] < _KEPT:
            self._kept["sources"] += len(source)
            self.sources.append(source[:_SCRIPT].casefold())

    def _keep_classes(self, name: str) -> None:
        if self._kept["classes"] < _KEPT and name not in self.classes:
            self._kept["classes"] += len(name)
            self.classes.add(name[:500])

    def _say(self, text: str, inside: Counter[str]) -> None:
        if inside["fallback"]:
            self.fallback.append(text[:_SCRIPT])
            return
        if not text or text.isspace():
            return
        count = words(text)
        if inside["heading"] and len(self.headings) < 4:
            self.headings.append(text[:300])
        if inside["site"] or inside["control"]:
            self.chrome += count
            return
        self._here.append(text)
        if inside["aside"]:
            self.chrome += count
        elif inside["link"]:
            self._here_links += count
        else:
            self._here_prose += count

    def _end(self) -> None:
        """Ends the paragraph under way."""
        if not self._here:
            return
        if self._kept["text"] < _READ:
            paragraph = "".join(self._here)[:_READ]
            self._kept["text"] += len(paragraph)
            self.paragraphs.append((paragraph, self._here_prose, self._here_links))
        self.prose += self._here_prose
        self.links += self._here_links
        self._here, self._here_prose, self._here_links = [], 0, 0

    def signals(self, title: str) -> Signals:
        """What has been read, as it is kept."""
        marks: Counter[str] = Counter()
        prose = self.prose
        if prose < ENOUGH:
            headlines = [plain(h) for h in self.headings]
            parts = [*_BETWEEN.split(plain(title[:300])), plain(title[:300]), *headlines]
            headed = {part: mark for part in parts if (mark := _headline(part))}
            marks.update(headed.values())
            prose -= self._explained(marks, headed)
            for _, mark in _PHRASES.found(plain(" ".join(self.fallback)[:_SCRIPT])):
                marks[mark.replace("phrase:", "hint:")] += 1
            marks.update(_within("script", "\n".join(self.sources)))
            marks.update(_within("element", "\n".join(self.classes)))
        return Signals(
            prose=prose,
            links=self.links,
            chrome=self.chrome,
            marks=tuple(sorted(m for m, n in marks.items() for _ in range(min(n, _HITS)))),
            scripts=self.scripts,
            fields=self.fields,
            passwords=self.passwords,
            empty_roots=self.empty_roots,
            skeletons=self.skeletons,
            frames=self.frames,
            redirects=self.redirects,
        )

    def _explained(self, marks: Counter[str], headed: Container[str]) -> int:
        """Adds the marks of the paragraphs; the words of those that say little else."""
        explained = 0
        for paragraph, prose, links in self.paragraphs:
            text = plain(paragraph)
            said = _said(text)
            if not said:
                continue
            explained += prose
            if text in headed:  # has been counted
                continue
            # An invitation that is nothing but a link stands on healthy pages too.
            only_links = links > 0 and links >= words(text)
            marks.update(m.replace("phrase:", "hint:") if only_links else m for m in said)
        return explained


def _said(text: str) -> list[str]:
    """The marks of a paragraph that says little else; none of any other."""
    length = words(text)
    found = dict(_PHRASES.found(text))
    if len(text) < 100 and (mark := _headline(text)):
        found[text] = mark.replace("headline:", "phrase:")
    room = sum(
        (4 + 2 * words(phrase)) * (1 if mark.startswith("hint:") else 2)
        for phrase, mark in found.items()
    )
    marks = list(found.values()) if length <= room else []
    if _NO_WALL.isdisjoint(found.values()) and length <= _TERSE:
        marks += [mark for mark in _pairs(text) if mark not in marks]
    return marks if _NO_WALL.isdisjoint(marks) else [*_NO_WALL]


def _pairs(text: str) -> list[str]:
    """The marks of which both lists have a word in one sentence without figures."""
    spaced = [f" {_NO_WORD.sub(' ', sentence)} " for sentence in _SENTENCE_END.split(text)]
    plain_ones = [one for one in spaced if not any(sign.isdigit() for sign in one)]
    return [
        f"phrase:{mark.name}"
        for mark in MARKS
        if mark.pair
        and any(all(any(w in one for w in words) for words in mark.pair) for one in plain_ones)
    ]


def _headline(text: str) -> str:
    """The mark of a title, a part of one, or a heading: of the longest text that it says."""
    text = _DOMAIN.sub("domain", text).strip(_AROUND)
    best = ("", "")
    for said, mark in _HEADLINES.found(text):
        if text == said:
            return mark if _is_telling(said) else mark.replace("headline:", "phrase:")
        if _is_telling(said) and len(text) <= len(said) + _SLACK and len(said) > len(best[0]):
            best = (said, mark)
    return best[1]


def _is_telling(said: str) -> bool:
    """Whether a text is more than a word that is anywhere ("blocked", "error", "login")."""
    return " " in said and len(said) > 8 if said.isascii() else len(said) > 3


def _within(where: Where, text: str) -> Iterator[str]:
    for mark in MARKS:
        if any(needle in text for needle in mark.needles[where]):
            yield f"{where}:{mark.name}"


def _is_error(text: str) -> bool:
    """Whether a body is a JSON object that reports an error."""
    if text.lstrip()[:1] != "{" or len(text) > 4_000:
        return False
    try:
        keys = {key.casefold() for key in orjson.loads(text)}
    except ValueError:
        return False
    report = {"message", "detail", "status", "code", "title", "type", "success", "ok"}
    return bool(keys & {"error", "errors", "fault", "exception", "errorcode", "error_code"}) or (
        bool(keys & {"message", "detail"}) and keys <= report
    )
