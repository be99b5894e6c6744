"""Reads the signals of a page.

The reader walks through a page in the order of the document, paragraph by paragraph, and counts
words by what they are: running text, links, site navigation, controls, legal text, teasers of other
pages. A paragraph that only says what a mark says ("verify that you are human", "subscribe to
continue") does not count as text.
"""

import re
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Literal

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetchers.triage.elements import INLINE, MAX_NAME, is_root, is_skeleton, role_of
from fetchers.triage.markers import (
    ENOUGH,
    cut_marks,
    fallback_marks,
    has_legal_term,
    headline_mark,
    is_error_report,
    is_legal,
    marks_within,
    paragraph_marks,
    plain,
    title_marks,
    words,
)
from fetchers.triage.signals import Signals

_MAX_TEXT = 8_000  # characters of paragraphs that are searched for phrases
_MAX_SCRIPT = 4_000  # characters of one script that are searched for marks
_MAX_KEPT = 64_000  # characters of scripts, and of class names, that are kept for the search
_MAX_HEADINGS = 4
_MAX_SAME = 3  # of one mark at one place: more of them add nothing
_FILLED_BY_SCRIPT = 3  # words in an element that a script fills later ("Loading, please wait")

# Site navigation, asides, controls and links seldom hold running text. If one of them does, the
# page uses the wrong element, or forgets to close it, and the text counts.
_RUNNING = 20  # words of a paragraph that is running text
_MISPLACED = {"site": 150, "aside": 150, "control": 150, "footer": 400}  # words, by role
_ONE_LINK = 150  # words of the links to one address

_SENTENCE = 8  # words of a paragraph that can be a legal text, at least
_TEASER = 40  # words after a linked title, at most
_TEASERS = 3  # linked titles with a text that make a list of other pages
_BYLINE = 6  # words between a linked title and its text (a date, an author), at most
_AFTER_CUT = 40  # words of text after a paragraph that stops the text, at most

_Kind = Literal["prose", "legal", "teasers"]


_REFRESH = re.compile(r"^\s*[\d.]{1,6}\s*[;,]\s*url|^\s*[0-5]\s*$", re.I)
_JUMP = re.compile(
    r"location(?:\.href)?\s{0,9}=(?!=)|location\.(?:replace|assign|reload)\s{0,9}\(", re.I
)
_NOWHERE = re.compile(r"#|javascript:|$", re.I)  # addresses of links that lead nowhere
_BADGE = "grecaptcha-badge"  # of a captcha that nobody sees and that walls off nothing
_DATA = {"application/json", "application/ld+json", "importmap", "speculationrules"}


def read_signals(tree: LexborHTMLParser | None, text: str, title: str) -> Signals:
    """Read the signals of one body: from its tree, or from its text if it has none.

    `text` is read only if `tree` is None: if the body is not HTML. Linear in the size of the body.
    """
    reader = _Reader()
    root = tree.root if tree is not None else None
    if root is not None:
        reader.walk(root)
    else:
        reader.read(text)
    return reader.signals(title)


@dataclass(frozen=True, slots=True)
class _Open:
    """An element that is open while its content is read.

    `role` is what the element makes of the text in it ("skip": it is not read). `is_root` says that
    an application fills the element; `seen` then counts the visible words before it.
    """

    tag: str
    role: str
    is_root: bool
    seen: int


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A finished paragraph. `prose` and `links` count its words; `kind` is what its prose is."""

    text: str
    prose: int
    links: int
    kind: _Kind


@dataclass(slots=True)
class _Reader:
    """What has been read of one page so far."""

    kinds: Counter[str] = field(default_factory=Counter)  # words of paragraphs, by kind
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
    paragraphs: list[_Paragraph] = field(default_factory=list)
    fallback: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)
    teasers: int = 0  # linked titles with a text
    misplaced: Counter[str] = field(default_factory=Counter)  # words of running text, by role
    link_words: Counter[str] = field(default_factory=Counter)  # by address
    _text: list[str] = field(default_factory=list)  # of the open paragraph, to look for marks
    _chrome_text: list[str] = field(default_factory=list)
    _words: Counter[str] = field(default_factory=Counter)  # of the open paragraph, by role
    _begins_with_link: bool = False  # the open paragraph does
    _after_linked_title: bool = False
    _address: str = ""  # of the last link that was opened
    _kept: Counter[str] = field(default_factory=Counter)

    # ------------------------------------------------------------------------------ the walk

    def walk(self, root: LexborNode) -> None:
        """Read in document order until there is enough prose; no recursion, linear time."""
        inside: Counter[str] = Counter()
        path: list[tuple[LexborNode, _Open]] = []
        node: LexborNode | None = root
        while node is not None and self.kinds["prose"] < ENOUGH:
            child = None
            if node.is_text_node:
                self._add_text(node.text_content or "", inside)
            elif node.is_element_node:
                element = self._enter(node, inside)
                child = node.first_child if element.role != "skip" else None
                if child is None:
                    self._leave(element)
                else:
                    inside[element.role] += 1
                    path.append((node, element))
            if child is not None:
                node = child
                continue
            while node.next is None and path:
                node, element = path.pop()
                inside[element.role] -= 1
                self._leave(element)
            node = node.next if path else None
        self._end_paragraph()

    def read(self, text: str) -> None:
        """Read a body that is not HTML, line by line."""
        if is_error_report(text):
            self.headings.append("error")
        for line in text[: _MAX_TEXT * 4].splitlines():
            self._text, self._words["prose"] = [line], words(line)
            self.headings += [line] if len(self.headings) < 2 and len(line) < 100 else []
            self._end_paragraph()

    def _enter(self, node: LexborNode, inside: Counter[str]) -> _Open:
        """Note an element, and the role that it gives to its content."""
        tag = node.tag or ""
        attributes = {key: value or "" for key, value in node.attributes.items()}
        name = f"{attributes.get('class', '')} {attributes.get('id', '')}".casefold()[:MAX_NAME]
        if tag not in INLINE:
            self._end_paragraph()
        if len(name) > 1 and _BADGE not in name:
            self._keep_name(name)
            self.skeletons += is_skeleton(name)
        self._note(node, tag, attributes)
        root = is_root(tag, attributes)
        return _Open(
            tag=tag,
            role=role_of(tag, name, attributes, inside),
            is_root=root,
            seen=self._seen() if root else 0,
        )

    def _leave(self, element: _Open) -> None:
        """Note what only the end of an element shows."""
        if element.tag not in INLINE:
            self._end_paragraph()
        if element.is_root and self._seen() - element.seen <= _FILLED_BY_SCRIPT:
            self.empty_roots += 1

    def _seen(self) -> int:
        return self.kinds.total() + self.links + self.chrome + self._words.total()

    def _note(self, node: LexborNode, tag: str, attributes: dict[str, str]) -> None:
        if tag == "script":
            self._note_script(node, attributes)
        elif tag == "meta" and attributes.get("http-equiv", "").casefold() == "refresh":
            target = attributes.get("content", "")
            self.redirects |= bool(_REFRESH.match(target[:200]))
            self._keep_source(target)
        elif tag == "a":
            self._address = attributes.get("href", "")[:MAX_NAME]
        elif tag == "input":
            kind = attributes.get("type", "text").casefold()
            self.passwords += kind == "password"
            self.fields += kind in ("text", "email", "search", "tel", "number", "date", "url")
        elif tag in ("textarea", "select"):
            self.fields += 1
        elif tag in ("iframe", "frame", "form"):
            self.frames += tag != "form"
            self._keep_source(attributes.get("src") or attributes.get("action") or "")

    def _note_script(self, node: LexborNode, attributes: dict[str, str]) -> None:
        inner = node.first_child
        code = (inner.text_content or "")[:_MAX_SCRIPT] if inner is not None else ""
        if attributes.get("type", "").casefold() not in _DATA:
            self.scripts += 1
            self.redirects |= bool(_JUMP.search(code))
        self._keep_source(attributes.get("src", ""))
        self._keep_source(code)

    def _keep_source(self, source: str) -> None:
        if source and self._kept["sources"] < _MAX_KEPT:
            self._kept["sources"] += len(source)
            self.sources.append(source[:_MAX_SCRIPT].casefold())

    def _keep_name(self, name: str) -> None:
        if self._kept["names"] < _MAX_KEPT and name not in self.classes:
            self._kept["names"] += len(name)
            self.classes.add(name)

    # ------------------------------------------------------------------------------ paragraphs

    def _add_text(self, text: str, inside: Counter[str]) -> None:
        """Add a text to the open paragraph, as the elements around it say."""
        if inside["fallback"]:
            self.fallback.append(text[:_MAX_SCRIPT])
            return
        if not text or text.isspace():
            return
        # The title of another page says nothing about this one.
        if inside["heading"] and not inside["link"] and len(self.headings) < _MAX_HEADINGS:
            self.headings.append(text[:300])
        roles = ("footer", "site", "control", "aside", "link")
        role = next((role for role in roles if inside[role]), "prose")
        count = words(text)
        self._begins_with_link |= role == "link" and not self._words
        self._words[role] += count
        if role in ("footer", "site", "control"):
            self._chrome_text.append(text)
        else:
            self._text.append(text)
        if role == "link" and not _NOWHERE.match(self._address):
            self.link_words[self._address] += count

    def _end_paragraph(self) -> None:
        """Finish the open paragraph."""
        if not self._words:
            return
        text, prose, links = "".join(self._text), self._words["prose"], self._words["link"]
        for role in _MISPLACED:
            count = self._words[role]
            self.chrome += count
            if count >= _RUNNING and not is_legal(_head(text + "".join(self._chrome_text))):
                self.misplaced[role] += count
        kind = self._kind(text, prose, links)
        self.kinds[kind] += prose
        self.links += links
        if text and self._kept["text"] < _MAX_TEXT:
            self._kept["text"] += len(text[:_MAX_TEXT])
            self.paragraphs.append(_Paragraph(text[:_MAX_TEXT], prose, links, kind))
        self._text, self._chrome_text, self._begins_with_link = [], [], False
        self._words.clear()

    def _kind(self, text: str, prose: int, links: int) -> _Kind:
        """Say what the prose of the open paragraph is."""
        has_title = self._begins_with_link and links > 1
        is_teaser = (has_title or self._after_linked_title) and 0 < prose <= _TEASER
        is_byline = self._after_linked_title and prose + links <= _BYLINE
        self.teasers += is_teaser and not is_byline
        self._after_linked_title = (has_title and prose == 0) or is_byline
        if is_teaser:
            return "teasers"
        return "legal" if prose >= _SENTENCE and is_legal(_head(text)) else "prose"

    # ------------------------------------------------------------------------------ the result

    def signals(self, title: str) -> Signals:
        """Sum up what has been read."""
        marks: Counter[str] = Counter()
        seen = self._seen()
        self._count_misplaced_text()
        if has_legal_term(" ".join([title, *self.headings[:1]])):  # a page about its own terms
            self.kinds["prose"] += self.kinds.pop("legal", 0)
        if self.kinds["prose"] < ENOUGH:
            headlines = title_marks(title)
            for heading in map(plain, self.headings):
                if mark := headline_mark(heading):
                    headlines[heading] = mark
            marks.update(headlines.values())
            self._search_paragraphs(marks, headlines)
            marks.update(fallback_marks(" ".join(self.fallback)[:_MAX_SCRIPT]))
            marks.update(marks_within("script", "\n".join(self.sources)))
            marks.update(marks_within("element", "\n".join(self.classes)))
        return Signals(
            prose=self.kinds["prose"],
            legal=self.kinds["legal"],
            teasers=self.kinds["teasers"],
            links=self.links,
            chrome=self.chrome,
            seen=seen,
            marks=tuple(sorted(m for m, n in marks.items() for _ in range(min(n, _MAX_SAME)))),
            scripts=self.scripts,
            fields=self.fields,
            passwords=self.passwords,
            empty_roots=self.empty_roots,
            skeletons=self.skeletons,
            frames=self.frames,
            redirects=self.redirects,
        )

    def _count_misplaced_text(self) -> None:
        """Count as prose the running text in elements that seldom hold any."""
        for role, least in _MISPLACED.items():
            if self.misplaced[role] >= least:
                self.kinds["prose"] += self.misplaced[role]
                self.chrome -= self.misplaced[role]
        in_one_link = sum(count for count in self.link_words.values() if count >= _ONE_LINK)
        self.kinds["prose"] += in_one_link
        self.links -= in_one_link

    def _search_paragraphs(self, marks: Counter[str], headlines: Container[str]) -> None:
        """Add the marks of the paragraphs, and take the words of those paragraphs off the prose."""
        if self.teasers < _TEASERS:
            self.kinds["prose"] += self.kinds.pop("teasers", 0)
        after = self.kinds["prose"]  # words of prose that follow
        for paragraph in self.paragraphs:
            kind = paragraph.kind if self.kinds[paragraph.kind] else "prose"
            after -= paragraph.prose if kind == "prose" else 0
            if kind == "teasers":
                continue
            text = plain(paragraph.text)
            found = paragraph_marks(text)
            if not found:
                continue
            self.kinds[kind] -= paragraph.prose
            if after < _AFTER_CUT:
                marks.update(cut_marks(found))
            if text in headlines:  # has been counted
                continue
            # An invitation that is only a link stands on healthy pages too.
            is_link = paragraph.links > 0 and paragraph.links >= words(text)
            marks.update(m.replace("phrase:", "hint:") if is_link else m for m in found)


def _head(text: str) -> str:
    return text[:2_000]
