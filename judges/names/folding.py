"""The spelling in which names are compared: `normalise` for the policy `exact`, `fold` for names
that differ in form alone (scoring.md, section 3: "canonicalise first (..., form)")."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from judges.names.legal_forms import legal_forms

LONGEST = 500
"""The characters of a name. A longer text is compared without normalising: that takes quadratic
time on hostile text, and caches would keep the text."""


def normalise(value: str) -> str:
    """The value in NFKC, with single spaces and without invisible characters.

    A superscript, subscript, circled number or fraction next to a digit stays as it is, so that
    10² does not become 102.
    """
    if len(value) > LONGEST or (value.isascii() and value.isprintable()):
        return " ".join(value.split())
    tables = _tables()
    parts = tables.raised.split(value.translate(tables.invisible))
    parts[::2] = [unicodedata.normalize("NFKC", part) for part in parts[::2]]
    return " ".join("".join(parts).split())


def fold(value: str, company: bool = False) -> str:
    """The value without letter case, accents (Latin, Greek, stress in Cyrillic), punctuation,
    spaces and legal forms of companies. Two values fold to the same text only if they have the same
    words and numbers in the same order.

    `company` says that the value is a company's name: then ambiguous legal forms are dropped too.

    Signs that tell names apart stay: C, C++ and C#; A and A-; 5 and -5. Points, dashes and slashes
    between digits stay: 35 and 3.5. Commas that group thousands are removed. "&" becomes "and". A
    value that consists of such marks or forms alone ("!!!", "Limited") stays whole.
    """
    return normalise(value) if len(value) > LONGEST else _fold(value, company)


@lru_cache(maxsize=1 << 14)
def _fold(value: str, company: bool) -> str:
    forms = legal_forms()
    if _PLAIN.fullmatch(value):  # most names; they need no further steps
        words = value.lower().split(" ")
        company = company and not _PLACE_CODE.search(value)
    else:
        words, company = _words(value, company)
    return _JOIN.sub("", " ".join(forms.strip(words, company))) or normalise(value)


def _words(value: str, company: bool) -> tuple[list[str], bool]:
    """The words of a value, and whether ambiguous legal forms may be dropped from it."""
    tables, forms = _tables(), legal_forms()
    whole = normalise(_TRADE_MARKS.sub("", value))
    text = _without_attached(whole.casefold(), forms.attached)
    company = bool(_DOTTED_END.search(text)) or (company and not _PLACE_CODE.search(whole))
    if not text.isascii():
        text = _without_accents(text).translate(tables.punctuation)
        text = _MIXED.sub(lambda word: word[0].translate(_LOOKALIKES), text)
    text = text.translate(_ASCII_PUNCTUATION).replace("&", " and ")
    text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
    text = _INITIALS.sub("", _SLASHED_FORM.sub(r"\1\2", _APOSTROPHE.sub("", text)))
    return _TOKEN.findall(text), company


_PLAIN = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_TRADE_MARKS = re.compile("[™®©℠]")
_APOSTROPHE = re.compile(r"(?<![\d'])'+|'+(?![\d'])")  # except between digits
_ASCII_PUNCTUATION = {ord(mark): " " for mark in '"!();?[\\]_{}'} | {ord("`"): "'"}
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
# The dots and spaces between single letters: "J. P. Morgan", "S.p.A.".
_INITIALS = re.compile(r"(?<![^\W_][^\W_])(?<=[a-zа-яα-ω])\.\s?(?=[a-zа-яα-ω](?![^\W_]))")
_SLASHED_FORM = re.compile(r"\b([akpi])/(s)\b")
_PLACE_CODE = re.compile(r",\s*[A-Za-z]{2}$|(?<=[a-z]\s)CO$")
_DOTTED_END = re.compile(r"(?:\b[a-z]\.\s?){2,}$|\b(?:co|cie)\.$|\b[ak]/s$")
# A word or number with its sign, the marks between its digits, and signs at its end.
_TOKEN = re.compile(
    r"(?:(?<![\w.-])-?\.?(?=\d))?[^\s.,:/'-]+(?:(?<=\d)[.,:/'-](?=\d)[^\s.,:/'-]+)*"
    r"|(?<=[^\s-])-+(?![\w-])"
)
_CJK = "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
# The spaces that do not count: beside Hangul, Han and Kana; between a number and a letter or unit.
_JOIN = re.compile(
    rf"(?<=[{_CJK}]) (?=[^\W\d_])|(?<=[^\W\d_]) (?=[{_CJK}])"
    r"|(?<=\d) (?=[^\W\d_])|(?<=[^\W\d_]) (?=\d)"
    r"|(?<=\d) (?=[%‰°€])|(?<=[$€£¥₩]) (?=\d)"
)
_ACCENTS = re.compile("(?<=[a-z\u00df-\u02af\u0370-\u03ff])[\u0300-\u036f]+|(?<=[аеиоуыэюя])\u0301")
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ё": "е"}
)


# A word that mixes Latin letters with Cyrillic or Greek ones is written to look like another word.
# Those that look like Latin letters are replaced.
_MIXED = re.compile(r"(?=[а-яѐ-џԁһα-ω]*[a-z])[a-zа-яѐ-џԁһα-ω]*[а-яѐ-џԁһα-ω][a-zа-яѐ-џԁһα-ω]*")
_LOOKALIKES = str.maketrans("авеіјкмнорстухѕԁһαβεηικνορτυχ", "abeijkmhopctyxsdhabehikvoptyx")


def _without_accents(text: str) -> str:
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text.translate(_LETTERS)))
    return unicodedata.normalize("NFC", bare)


def _without_attached(text: str, attached: re.Pattern[str]) -> str:
    bare = attached.sub("", text).strip()
    return bare if any(map(str.isalnum, bare)) else text


@dataclass(frozen=True, slots=True)
class _Tables:
    """Tables for `str.translate`, and a pattern for the numbers that NFKC must not join."""

    invisible: Mapping[int, str | None]
    punctuation: Mapping[int, str]
    raised: re.Pattern[str]


@cache
def _tables() -> _Tables:
    """The classes of characters in the basic plane. Outside it only invisible characters matter,
    and the few that NFKC turns into digits, as it does ² and ½."""
    hidden = (0x034F, 0x115F, 0x1160, 0x3164, *range(0xFE00, 0xFE10), *range(0xE0000, 0xE01F0))
    invisible: dict[int, str | None] = dict.fromkeys(hidden)
    punctuation = {0x2212: "-", **dict.fromkeys(map(ord, "‘’ʼʹ′"), "'")}
    numbers = "⁺⁻₊₋"
    for code in (*range(0x10000), *range(0x1F100, 0x1F110)):
        char, category = chr(code), unicodedata.category(chr(code))
        if category in ("Cf", "Cc") and not char.isspace():
            invisible[code] = None
        elif category == "Cs":
            invisible[code] = f"\ufffd{code:x}"  # UTF-8 files cannot hold surrogates
        elif char.isascii():
            continue
        elif category[0] == "P" and char not in "‰‱″":
            punctuation.setdefault(code, "-" if category == "Pd" else " ")
        elif category != "Nd" and any(map(str.isdigit, unicodedata.normalize("NFKC", char))):
            numbers += char
    raised = re.compile(rf"((?<=[\d{numbers}])[{numbers}]|[{numbers}](?=[\d{numbers}]))")
    return _Tables(invisible, punctuation, raised)
