"""Decodes a body: by its byte order mark, else by a declaration, else by detection."""

import codecs
import re
from collections.abc import Iterator

import webencodings  # type: ignore[import-untyped]
from charset_normalizer import from_bytes

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}  # a "<" in two bytes

# The encodings that the web used. With more candidates, the detection picks rare ones.
_DETECTABLE = [
    "cp1252", "cp949", "cp932", "gb18030", "big5", "euc_jp", "cp1251", "koi8_r", "cp1250",
    "iso8859_2", "cp1253", "cp1254", "cp1255", "cp1256", "cp874",
]  # fmt: skip
# Bytes can be invalid in these encodings. If they are valid, a declaration is credible.
_FALSIFIABLE = {
    "cp949", "cp932", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16-be"
}  # fmt: skip

_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.I)
_DECLARED = re.compile(
    rb"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})"""
    rb"""|<meta\s[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""",
    re.I,
)
_HEAD = 8_192  # bytes in which a declaration is looked for (browsers: 1024)
_SAMPLE = 4_096  # bytes that the detection gets; its time grows with them
_NOISE = 0.02  # share of non-ASCII characters that may be broken


def decode(body: bytes, content_type: str = "") -> str:
    """Decode a body. The text has no byte order mark and no lone surrogates. Never raises.

    The first of these that fits decides: the byte order mark; UTF-8, which no other encoding
    resembles by chance, whatever a server or a page declares; the encoding that the header or the
    page declares, read as in the Encoding Standard; the encoding that the bytes look like.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    if (name := _UNMARKED.get(body[:2], "")) and (text := _strict(body, name)) is not None:
        return text
    declared = sorted(_declared(body, content_type), key=lambda name: name not in _FALSIFIABLE)
    for name in (*declared, "ascii") if body.isascii() else ("utf-8", *declared):
        if (text := _strict(body, name)) is not None:
            return text
    return _repaired(body, declared)


def _declared(body: bytes, content_type: str) -> Iterator[str]:
    """Yield the codecs that the header and the page declare, in this order."""
    labels = [match[1] for match in [_HEADER.search(content_type)] if match]
    if match := _DECLARED.search(body, 0, _HEAD):
        labels.append((match[1] or match[2]).decode("ascii", "replace"))
    for label in labels:
        encoding = webencodings.lookup(label)
        if encoding is None or encoding.name in ("replacement", "x-user-defined"):
            continue
        name = encoding.codec_info.name
        if name.startswith("utf-16") and b"\0" not in body[:_HEAD]:
            continue  # the page was UTF-16 before somebody converted it
        yield "gb18030" if name == "gbk" else name


def _strict(body: bytes, name: str) -> str | None:
    """Decode the bytes, or return None if they are invalid. The last character may be cut off."""
    try:
        return codecs.getincrementaldecoder(name)().decode(body)
    except UnicodeDecodeError:
        return None


def _repaired(body: bytes, declared: list[str]) -> str:
    """Decode bytes that are not completely valid in any declared encoding."""
    for name in ("utf-8", *declared):
        text = body.decode(name, "replace")
        foreign = sum(map(len, re.findall(r"[^\x00-\x7f]+", text)))
        if text.count("\ufffd") <= _NOISE * foreign:
            return text
    first = next(re.finditer(rb"[\x80-\xff]", body)).start()
    start = max(first - 64, 0)
    found = min(
        from_bytes(body[start : start + _SAMPLE], cp_isolation=_DETECTABLE),
        key=lambda match: (match.chaos, -match.coherence, match.encoding != "cp1252"),
        default=None,
    )
    return body.decode(found.encoding if found else "cp1252", "replace")
