"""The form in which texts are compared: excerpts with pages, rules with either.

`plain` removes the differences that do not count (scoring.md, section 2). The text stays readable.
`tokens` cuts a text into words, numbers and marks. An excerpt must stand on a page "from the start
of a word or number to the end of one". So the comparison is a search for whole tokens.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import regex

# ------------------------------------------------------------------ differences that do not count

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


_ZERO_WIDTH = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
_UNSEEN = re.compile(f"[{_ZERO_WIDTH}\U000e0000-\U000e01ef]")
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


def _one_style(text: str) -> str:
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
    return _one_style(without_markup(text))


# ------------------------------------------------------------------------- words, numbers and marks

_UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)
_TIMES = "십백천만억조十百千万萬億亿兆"
# A token cannot be quoted in part. "21.5", "1,000", "10:30", "-5" and "5만" are one number each.
# "covid-19", "non-profit" and "can't" are one word each. In scripts without spaces, each character
# is a token; a numeral or a negation is one token ("二十五", "不同", "できない"). Groups
# are atomic: the standard library before 3.11.5 matches possessive groups wrongly.
_SPACED = rf"""
    (?:(?<!\w)-(?=\.?\d))? (?:(?<![\w.])\.(?=\d))?
    LETTER++
    (?>(?: (?<=\d)[.,:/'](?=\d)LETTER++ | 't(?!\w)
         | (?:(?<=\d)-|-(?=\d)|(?<=\bnon)-|(?<=\bnicht)-|(?<=\banti)-)LETTER++
         | (?<=\d)[{_TIMES}]++(?:\d++)?
    )*)"""
_OTHER = r"""
    \p{Hangul}++ | [\p{Katakana}ー]++
    | [\p{Hiragana}\p{Han}](?:ない|なかった|なく|ません)
    | [不没沒未无無非別别勿莫]++\p{Han}?
    | [一二三四五六七八九十百千万萬億亿兆零〇两兩]++
    | \S\p{M}*+"""
_MARKS = r"""['"]++ | -++ | \.{2,}+"""
_TOKEN = regex.compile(
    f"{_SPACED} | {_MARKS} | {_OTHER}".replace("LETTER", rf"[\w--{_UNSPACED}]"),
    regex.VERBOSE | regex.V1,
)
# The same for text in Latin, Greek and Cyrillic letters only. It is four times as fast.
_LATIN = re.compile(r"[\x00-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u1fff\u2010-\u205f€]*+")
_LATIN_TOKEN = re.compile(rf"{_SPACED} | {_MARKS} | \S".replace("LETTER", r"\w"), re.VERBOSE)
_RUN = re.compile(r"""['"]+|--+|\.\.+""")
_RUNS = {"'": "'", '"': "'", "-": "-", ".": "…"}
_LONGEST_WORD = 40


def _cut(piece: str) -> str:
    piece = _one_style(piece).casefold()
    found = (_LATIN_TOKEN if _LATIN.fullmatch(piece) else _TOKEN).findall(piece)
    if not _RUN.search(piece):
        return " ".join(found)
    return " ".join(_RUNS[t[0]] if _RUN.fullmatch(t) else t for t in found)


_cut_word = lru_cache(maxsize=1 << 17)(_cut)  # most words of a page were on the page before


def tokens_of_pieces(source: str) -> list[str]:
    """The tokens of each piece of `source` between white space, joined by spaces. `source` comes
    from `without_markup`. The string of a piece without a token is empty."""
    return [_cut_word(p) if len(p) <= _LONGEST_WORD else _cut(p) for p in source.split()]


def tokens(text: str) -> list[str]:
    """The words, numbers and marks of a text, in one case and style, without markup. No token
    has white space in it: the groups of "1 250" are two tokens (see `number_gaps`)."""
    return " ".join(tokens_of_pieces(without_markup(text))).split()


_NEGATION = regex.compile(
    r"""not|no|never|none|nor|neither|nothing|nobody|nowhere|noone|cannot|without|\p{L}+n't
    |nicht|nichts|nie|niemals|niemand|nirgends|weder|ohne|nein|kein(?:e[mnrs]?)?
    |ne?|pas|jamais|aucune?|rien|sans|ni|non|nunca|nada|ning[uú]n[oa]?|sin|jamás
    |não|nem|sem|nenhuma?|mai|niente|nulla|nessun[oa]?|senza|né
    |niet|geen|nooit|niets|zonder|inte|ikke|aldrig|aldri|ingen|nigdy|bez
    |не|нет|ни|никогда|без|안|못|않\p{L}*|아니\p{L}*|없\p{L}*
    |[不没沒未无無非别別勿莫].*|.?(?:ない|なかった|なく|ません)""",
    regex.VERBOSE,
)


Kind = Literal["word", "number", "negation", "mark"]


def kind(token: str) -> Kind:
    """The kind of a token. A word with a digit in it is a number. Negations are known for the
    languages of `_NEGATION`."""
    return _kind_of_word(token) if len(token) <= _LONGEST_WORD else _kind(token)


def _kind(token: str) -> Kind:
    if any(map(str.isdigit, token)):
        return "number"
    if _NEGATION.fullmatch(token):
        return "negation"
    return "word" if any(map(str.isalnum, token)) else "mark"


_kind_of_word = lru_cache(maxsize=1 << 17)(_kind)


# ------------------------------------------------------------------------------------------ numbers

_IN_NUMBER_OR_WORD = "0-9A-Za-zÀ-ɏͰ-ϿЀ-ӿ_.,"  # directly before a digit; other scripts need no space
_SPACE = " \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
# The group before the first space has one to three digits and is not the end of a number or a word
# ("2024 250", "1.5 250", "10:30 250", "A4 250", "2019-12 250"). Tabs and line breaks part cells.
_GROUPED = re.compile(
    rf"""[1-9１-９](?<![{_IN_NUMBER_OR_WORD}:/'’].)(?<!\d{{4}}[-‐‑‒–−].)\d{{0,2}}
         (?:[{_ZERO_WIDTH}]{{0,3}}[{_SPACE}][{_ZERO_WIDTH}]{{0,3}}\d{{3}})+(?!\d)""",
    re.VERBOSE,
)
_GROUP = re.compile(f"[{_SPACE}]")


def number_gaps(source: str) -> list[int]:
    """The offsets after each space inside a number: that of "250" in "1 250", those of "345" and
    "678" in "12 345 678". The space may be of any width (scoring.md, section 2). `source` comes
    from `without_markup`. Linear time."""
    return [
        gap.end()
        for number in _GROUPED.finditer(source)
        for gap in _GROUP.finditer(source, *number.span())
    ]


_NUMBER = re.compile(
    rf"""(?<![{_IN_NUMBER_OR_WORD}])-?
         (?:(?<![:/'])(?<!\d{{4}}-)[1-9][0-9]{{0,2}}(?:\ [0-9]{{3}})+(?![0-9])(?:[.,][0-9]+)?
           |[0-9][0-9.,']*)""",
    re.VERBOSE,
)
_NUMBER_FORMS = (
    (re.compile(r"-?[0-9]+(?:\.[0-9]+)?"), "", "."),
    (re.compile(r"-?[0-9]+,[0-9]+"), "", ","),
    (re.compile(r"-?[0-9]{1,3}(?:[,' ][0-9]{3})+(?:\.[0-9]+)?"), ",' ", "."),
    (re.compile(r"-?[0-9]{1,3}(?:[.' ][0-9]{3})+(?:,[0-9]+)?"), ".' ", ","),
)


def numbers(text: str) -> Iterator[tuple[float, ...]]:
    """Each number in a text that comes from `plain`, with every value that it can have: "1,234" is
    1234 or 1.234. Digits grouped by single spaces are one number; a tab or a line break ends a
    number. A number directly after a Latin, Greek or Cyrillic letter is part of a name and is left
    out."""
    for match in _NUMBER.finditer(text):
        written = match[0].rstrip(".,'")
        yield tuple(
            float(written.translate(dict.fromkeys(map(ord, groups))).replace(point, "."))
            for form, groups, point in _NUMBER_FORMS
            if form.fullmatch(written)
        )
