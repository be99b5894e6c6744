"""Differences between texts that do not count: markup, Unicode forms, and styles of quotes and
dashes (scoring.md, section 2)."""

import html
import re
import unicodedata

import regex

# html.unescape reads numbers of any length, and raises at 4300 digits.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Tags without an equivalent in Markdown. Other tags are the subject of a page about HTML.
_INLINE_TAG = re.compile(
    r"</?(?:a|b|big|em|font|i|ins|kbd|mark|small|span|strong|sub|sup|u|wbr)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_BREAK_TAG = re.compile(
    r"</?(?:br|div|hr|p|table|tbody|td|th|thead|tr)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+)>")
_QUOTED_LINE = re.compile(r">(?!\s*+[\d=.$€£¥-])")  # "p > 0.05" is not a quotation
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~]|\r?\n)")  # at the end of a line it is a line break
_TARGET = r"""\((?:<[^<>\n]*>|[^\s()<>]*+(?>(?:\([^\s()]*+\)[^\s()]*+)*))(?:\s++"[^"\n]*")?\s*+\)"""
_IMAGE = re.compile(r"!\[[^\[\]]*\]" + _TARGET)
_LINK = re.compile(r"\[([^\[\]]*)\]" + _TARGET)
# If a link spans several lines, one line has only a part of it.
_LINK_REST = re.compile(r"\]\(<?https?://[^\s()<>]*+(?>(?:\([^\s()]*+\)[^\s()]*+)*)>?(?:\)|\Z)")
_CITATION_LINK = re.compile(r"\[\^?\w{1,3}\]\([^\s()]*#[^\s()]*(?:note|ref|fn)[^\s()]*\)")
_FOOTNOTE = re.compile(r"\[(?:\^?\d{1,3}|\^\w{1,20}|[a-z]|(?:note|nb) \d{1,3})\](?!\()")
_CODE_MARK = re.compile(r"`(?:(?<![^\W\d_]`)|(?![^\W\d_]))")


def without_markup(text: str) -> str:
    """`text` without Markdown links and images, inline HTML tags, escapes and footnote marks.
    Entities are decoded. Line breaks and emphasis are kept. Linear time."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    if "<" in text:
        text = _INLINE_TAG.sub("", _BREAK_TAG.sub(" ", _AUTOLINK.sub(r"\1", text)))
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    if "[" in text:
        text = _FOOTNOTE.sub(" ", _CITATION_LINK.sub(" ", _IMAGE.sub(" ", text)))
        text = _LINK.sub(r"\1", text)
    if "](" in text:
        text = _LINK_REST.sub(" ", text)
    if ">" in text:
        text = _QUOTED_LINE.sub(" ", text)
    if "`" in text:
        text = _CODE_MARK.sub(" ", text).replace("`", "'")
    return text


ZERO_WIDTH = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
_UNSEEN = re.compile(f"[{ZERO_WIDTH}\U000e0000-\U000e01ef]")
STYLES = {
    **dict.fromkeys("‘’‚‛′‵´ʻʼʽ‹›", "'"),
    **dict.fromkeys("“”„‟″‶«»「」『』", '"'),
    **dict.fromkeys("‐‑‒–−", "-"),
    **dict.fromkeys("—―", " - "),  # these part what a hyphen joins
    **dict.fromkeys("•●▪■◦‣⁃∙", " "),
    **{c: " " + unicodedata.normalize("NFKC", c).replace("⁄", "/") for c in "¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"},
    "⁄": "/",
    "İ": "i",
    "ﷺ": " صلى ",  # NFKC would make 18 characters of it
}
_STYLED = re.compile(f"[{''.join(STYLES)}]")
# Normalising takes quadratic time in a run of combining marks (UAX 15, stream-safe text format).
_MARK_RUN = regex.compile(r"(\p{M}{30})\p{M}+")
_EMPHASIS = re.compile(
    r"[*|~#_](?:(?<=[*|])|(?<=~)~|(?<=#)(?<!\S#)#{0,5}(?!\S)|(?<=_)(?:(?<!\w_)_*+|_*+(?!\w)))"
)


def one_style(text: str) -> str:
    """`text` in one Unicode form (NFKC) and one style of quotes and dashes, without invisible
    characters and the marks of emphasis."""
    if not text.isascii():
        text = _STYLED.sub(lambda match: STYLES[match[0]], _UNSEEN.sub("", text))
        text = unicodedata.normalize("NFKC", _MARK_RUN.sub(r"\1", text))
    return _EMPHASIS.sub(" ", text)


def folded(text: str) -> str:
    """`text` in one case and Unicode form (NFKC), without invisible characters. It keeps its line
    breaks. Linear time."""
    if text.isascii():
        return text.lower()
    visible = _MARK_RUN.sub(r"\1", _UNSEEN.sub("", text.replace("ﷺ", " صلى ")))
    return unicodedata.normalize("NFKC", visible).casefold()


def plain(text: str) -> str:
    """`text` in one Unicode form (NFKC) and one style of quotes and dashes, without invisible
    characters, entities, footnote marks, Markdown and inline tags. Case, white space and the marks
    at the start of a line are kept. Linear time."""
    return one_style(without_markup(text))
