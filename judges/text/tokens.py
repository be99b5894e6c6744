"""Text as tokens: words, numbers and marks.

An excerpt must stand on a page "from the start of a word or number to the end of one" (scoring.md,
section 2). So texts are compared as whole tokens.
"""

import re
from functools import lru_cache
from typing import Literal

import regex

from judges.text.markup import one_style, without_markup

UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)
"""Pattern (module `regex`) for a character of a script without spaces between words."""
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
    f"{_SPACED} | {_MARKS} | {_OTHER}".replace("LETTER", rf"[\w--{UNSPACED}]"),
    regex.VERBOSE | regex.V1,
)
# The same for text in Latin, Greek and Cyrillic letters only. It is four times as fast.
_LATIN = re.compile(r"[\x00-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u1fff\u2010-\u205f€]*+")
_LATIN_TOKEN = re.compile(rf"{_SPACED} | {_MARKS} | \S".replace("LETTER", r"\w"), re.VERBOSE)
_RUN = re.compile(r"""['"]+|--+|\.\.+""")
_RUNS = {"'": "'", '"': "'", "-": "-", ".": "…"}
_LONGEST_WORD = 40


def _cut(piece: str) -> str:
    piece = one_style(piece).casefold()
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
