"""Extracts the text, the title and the signals for triage from a body."""

import re
from dataclasses import dataclass, field
from typing import Literal

import orjson
import selectolax
from lxml import etree

from fetchers.reading import html, pdf
from fetchers.reading.charset import decode
from fetchers.triage.markers import words
from fetchers.triage.reader import read_signals
from fetchers.triage.signals import SIGNALS_VERSION, Signals, without_hidden_text

Kind = Literal["html", "text", "json", "xml", "csv", "pdf", "other"]

# Part of the cache key of every extracted text.
EXTRACTOR_VERSION = f"4.{selectolax.__version__}.{pdf.READER}.{SIGNALS_VERSION}"

_HIDDEN = 50  # words; if a page hides more, the signals are read again without hidden text


@dataclass(frozen=True, slots=True)
class Extracted:
    """The content of a body.

    `text` is the text that a reader sees or can open. `words` counts its words; lines that are
    repeated with their readings do not count. `problem` says why there is no text ("empty",
    "encrypted pdf", "scanned pdf", "unreadable pdf", "not a text: image/png"), else it is "".
    """

    kind: Kind
    text: str = ""
    title: str = ""
    words: int = 0
    problem: str = ""
    signals: Signals = field(default_factory=Signals)


def extract(body: bytes, content_type: str) -> Extracted:
    """Extract the content of a body.

    `body` has no content encoding any more; `content_type` is the Content-Type header, "" if
    missing. This is CPU work for a worker process. It is pure and takes linear time in the size of
    the body. Raises nothing but MemoryError.
    """
    media = content_type.partition(";")[0].strip().lower()
    kind = _kind(body, media)
    if not body.strip(b"\0\t\n\f\r "):
        return Extracted("other" if kind == "pdf" else kind, problem="empty")
    if kind == "other":
        return Extracted(kind, problem=f"not a text: {_sniffed(body) or media or 'binary data'}")
    if kind == "pdf":
        text, title, problem = pdf.read_pdf(body)
        return _read(kind, text, title, problem)
    text = decode(body, content_type).replace("\r\n", "\n")
    if kind == "html":
        return _page(text)
    if kind == "json":
        return _read(kind, _json(text))
    if kind == "xml":
        return _xml(text)
    return _read(kind, text)


def _read(kind: Kind, text: str, title: str = "", problem: str = "") -> Extracted:
    signals = read_signals(None, text, title)
    return Extracted(kind, text, title, words(text), problem, signals)


def _page(source: str) -> Extracted:
    tree = html.parse(source)
    title = html.title(tree)
    signals = read_signals(tree, "", title)  # before `visible_text`, which changes the tree
    visible = html.visible_text(tree)
    count = words(visible.text)
    if signals.seen > count + _HIDDEN:  # now the tree has only the visible elements
        signals = without_hidden_text(signals, read_signals(tree, "", title))
    return Extracted("html", visible.whole, title, count, "", signals)


# ------------------------------------------------------------------------------ the kind of a body

_BY_MEDIA: dict[str, Kind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/xml": "xml",
    "application/xml": "xml",
    "application/json": "json",
    "text/json": "json",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/csv": "csv",
    "application/javascript": "text",
    "application/x-ndjson": "text",
    "application/jsonlines": "text",
    "application/yaml": "text",
    "application/x-yaml": "text",
    "application/toml": "text",
    "application/rtf": "other",
    "text/rtf": "other",
}
# Media types that say nothing. The body itself decides.
_ANYTHING = ("", "application/octet-stream", "binary/octet-stream", "application/unknown", "*/*")

# Atomic groups, since Python before 3.11.5 matches possessive ones wrongly.
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?>(?:<!--.{0,2000}?-->\s*)*)"
    rb"(?:<\?xml[^>]{0,200}>\s*)?(?>(?:<!--.{0,2000}?-->\s*)*)"
    rb"<(?:!doctype\s+html|html|head|body)\b",
    re.I | re.S,
)
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|rss|feed)\b")
_MAGIC = (
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
    (b"PK\x03\x04", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!", "application/vnd.rar"),
    (b"\x00\x00\x00\x18ftyp", "video/mp4"),
    (b"\x00\x00\x00\x20ftyp", "video/mp4"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"{\\rtf", "application/rtf"),
)
_OFFICE = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
)


def _kind(body: bytes, media: str) -> Kind:
    """The kind that the header declares, unless the body is clearly something else."""
    head = body[:1024]
    if b"%PDF-" in head and not _HTML.match(body):
        return "pdf"
    if media == "application/pdf" or media in _ANYTHING:
        return _guessed(body)
    if _sniffed(body):
        return "other"
    kind = _BY_MEDIA.get(media)
    if kind is None and media.endswith("+json"):
        kind = "json"
    if kind is None and media.endswith("+xml"):
        kind = "xml"
    if kind is None and media.startswith("text/"):
        kind = "text"
    if kind in ("xml", "text") and _HTML.match(body):
        return "html"
    if kind == "html" and _XML.match(body) and not _HTML.match(body):
        return "xml"
    return kind or "other"


def _guessed(body: bytes) -> Kind:
    if _sniffed(body):
        return "other"
    if _HTML.match(body):
        return "html"
    if _XML.match(body):
        return "xml"
    head = body[:1024]
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")) and _BINARY.search(head):
        return "other"
    if head.lstrip()[:1] in (b"{", b"["):
        return "json"
    return "html" if _TAGS.search(head) else "text"


_TAGS = re.compile(rb"</?(?:p|div|a|h1|table|title|meta|script)\b", re.I)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def _sniffed(body: bytes) -> str:
    """The media type of a body that begins with the magic bytes of a binary format, else ""."""
    found = next((media for magic, media in _MAGIC if body.startswith(magic)), "")
    if found == "application/zip":
        found = next((media for part, media in _OFFICE if part in body[:4096]), found)
    return found if found == "application/rtf" or _BINARY.search(body, 0, 1024) else ""


# --------------------------------------------------------------------------------- JSON and XML


def _json(source: str) -> str:
    """The source text and, if it has escapes, its strings again without escapes."""
    if "\\" not in source:
        return source
    try:
        todo = [orjson.loads(source)]
    except ValueError:
        return source
    strings = []
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(reversed([part for pair in value.items() for part in pair]))
        elif isinstance(value, list):
            todo.extend(reversed(value))
        elif isinstance(value, str):
            strings.append(value)
    return "\n".join((source, *strings))


def _xml(source: str) -> Extracted:
    """Read the text of every element, a line each. Feeds have HTML in elements: it is read too."""
    # The text is decoded already, so its declared encoding is wrong. No entity is expanded.
    parser = etree.XMLParser(
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(source.encode(), parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        return _read("xml", source)
    lines = []
    for part in map(str, root.itertext()):
        line = part.strip()
        if "<" in line and ">" in line:
            line = html.visible_text(html.parse(line)).whole
        if line:
            lines.append(line)
    title = root.find(".//{*}title")
    name = "" if title is None else " ".join("".join(map(str, title.itertext())).split())
    return _read("xml", "\n".join(lines), name)
