"""Whether two short answers are equal up to surface form, and if not, whether a value in them
differs (answers.md, item 2; K-BrowseComp, section 4 and its grader's prompt).

These do not count: Markdown, quotes, white space, letter case, punctuation without value, and a
gloss in parentheses after an answer. These count: digits, signs, decimal points, `%`, units, and
colons, dashes and slashes between digits.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

import regex

from judges.names.folding import normalise
from judges.text.dates import PartialDate, parse_date

LONGEST = 500
"""The characters of a short answer. A longer text equals only a text that is the same."""

# ----------------------------------------------------------------------------------- normalisation

_LATEX = re.compile(r"\\(?:boxed|fbox|operatorname|text[a-z]*|math[a-z]+)\s*(?=\{)")
_DOLLARS = re.compile(r"\s*(\${1,2})([^$]+)\1[\s.]*")
_LINK = re.compile(
    r"!?\[([^\[\]]*)\]\((?:https?://|mailto:|[/#])[^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"
)
_TAG = re.compile(r"</?(?:b|br|code|em|i|mark|p|span|strong|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-*+•]\s+")
_STYLES = str.maketrans({"−": "-", "⁄": "/", "〜": "~", "∼": "~"})


def clean(text: str) -> str:
    """The text in NFKC and lower case, without the markup of Markdown, HTML and LaTeX around it."""
    if len(text) > LONGEST:
        return " ".join(text.split()).casefold()
    if wrapped := _DOLLARS.fullmatch(text):
        text = wrapped[2]
    text = html.unescape(_TAG.sub(" ", _LINK.sub(r"\1", _LATEX.sub("", text))))
    text = _BULLET.sub("", text, count=1) if _BULLET.match(text) else text
    return unicodedata.normalize("NFC", normalise(text).casefold()).translate(_STYLES)


# The characters that do not count. Those between two digits become a comma, so that the digits do
# not join.
_MARK = r"[\p{P}`|=<>--[.:/~%‰&#]--\p{Pd}]"
_LOST = regex.compile(
    rf"""
    (?P<parted>(?<=\d)(?:\s|{_MARK})+(?=\d))
    | \s+
    | [<>=](?!\s?-?\.?\d) | [{_MARK}--[<>=]]
    | (?<!\d)(?<!\d\s):|:(?!\s?\d)
    | (?<=[^\W\d])\. | \.(?!\s?\d)
    | \p{{Pd}}(?!\s?\p{{Sc}}?\.?\d)(?!(?<=\w\p{{Pd}})(?![\w\s]))
    | (?<!\w)\# | ~$""",
    regex.VERBOSE | regex.V1,
)
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")


def _bare(text: str) -> str:
    return _LOST.sub(lambda lost: "," if lost["parted"] else "", text)


def forms(text: str) -> frozenset[str]:
    """The readings of a `clean` text without the characters that do not count. `1,234` has two: the
    comma may group thousands or separate two numbers. A text of punctuation alone stays whole."""
    if len(text) > LONGEST:
        return frozenset({text})
    return frozenset(_bare(reading) or text for reading in (text, _ungrouped(text)))


def says(text: str) -> bool:
    """Whether a `clean` text has more than punctuation."""
    return bool(_bare(text[:LONGEST]))


def _ungrouped(text: str) -> str:
    return _GROUPED.sub(lambda number: number[0].replace(",", ""), text)


# ---------------------------------------------------------------------------------------- glosses

_TAIL = " .,!?;:*_`\"'”’»」』。…}$"
_GLOSSES = 3


def glosses(text: str) -> Iterator[tuple[str, str]]:
    """The glosses in parentheses at the end of a `clean` text, the last one first: pairs of the
    text before the gloss and the gloss. At most `_GLOSSES` pairs."""
    whole = text if len(text) <= LONGEST else ""
    for _ in range(_GLOSSES):
        whole = whole.rstrip(_TAIL)
        if not whole.endswith(")"):
            return
        depth = 0
        for start in range(len(whole) - 1, -1, -1):
            depth += (whole[start] == ")") - (whole[start] == "(")
            if not depth:
                break
        whole, gloss = whole[:start].rstrip(), whole[start + 1 : -1]
        if depth or not says(whole):
            return
        yield whole, gloss


_CITED = re.compile(r"(?:\s*(?:\[\^?\d{1,3}\]|【\d[^【】]{0,40}】))+$")
_EITHER = re.compile(
    r"(?:^|[\s,(])(?:or|또는|혹은|아니면)\s|\s/\s|または|あるいは|もしくは|或者|或是"
)


_HEDGE = re.compile(
    rf"{_EITHER.pattern}|\b(?:possibly|perhaps|maybe|probably|alternatively)\s\w|(?:아마|혹시)도?\s\w"
)


def candidates(text: str) -> list[str]:
    """The alternatives that a `clean` text offers: one if it does not hedge ("A or B")."""
    return [part for part in _EITHER.split(text) if says(part)]


def same(answer: str, gold: str) -> bool:
    """Whether two `clean` texts are equal up to surface form (answers.md, item 2).

    A gloss after the answer does not count, unless it offers another answer. If the gold has a
    gloss, an answer equal to the part before it is enough; an answer with another gloss is not.
    Citation marks after the answer do not count.
    """
    alone = _CITED.sub("", answer) if len(answer) <= LONGEST else answer
    whole, said = forms(gold), forms(answer) | forms(alone)
    before = next((forms(main) for main, _ in glosses(gold)), frozenset[str]())
    if said & (whole | before):
        return True
    return any(
        forms(main) & whole and not _HEDGE.search(gloss) and not differ(main, gloss)
        for main, gloss in glosses(alone)
    )


# ----------------------------------------------------------------------------------------- values

_NUMBER = re.compile(r"(?:(?<![\w.])[+-])?(?<![\d.])\d+(?:\.\d+)?(?![.\d])")
_SCALES = {"십": 10, "백": 100, "천": 1000, "만": 10**4, "억": 10**8, "조": 10**12}
_SCALES |= {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_SCALES |= {"thousand": 1000, "million": 10**6, "billion": 10**9}
_DIGITS = r"\d++(?:\.\d++)?"
_SCALE = re.compile("|".join(_SCALES))
_QUANTITY = re.compile(
    rf"(?P<before>[+-]?[$€£¥₩]?[+-]?)(?P<value>(?:{_DIGITS}(?:{_SCALE.pattern})+)*(?:{_DIGITS})?)"
    r"(?P<after>[^\d.,:/~+²³¹-]*)"
)
_PARTS = re.compile(rf"({_DIGITS})((?:{_SCALE.pattern})*)")


def differ(one: str, other: str) -> bool:
    """Whether two `clean` texts state comparable values that differ. It is then wrong, without a
    judge.

    Comparable are: two whole dates; two quantities with the same unit, or one of them without unit;
    two texts with the same words around numbers. A number that may be the rounding of the other
    does not differ. Nor do the same numbers in another order.
    """
    if max(len(one), len(other)) > LONGEST:
        return False
    dates = parse_date(one), parse_date(other)
    if dates[0] and dates[1]:
        return _apart(dates[0], dates[1])
    one, other = _bare(_ungrouped(one)), _bare(_ungrouped(other))
    if _NUMBER.sub("#", one) == _NUMBER.sub("#", other):
        pairs = _NUMBER.findall(one), _NUMBER.findall(other)
        unlike = any(not _close(a, b) for a, b in zip(*pairs, strict=True))
        return unlike and sorted(pairs[0]) != sorted(pairs[1])
    a, b = _quantity(one), _quantity(other)
    if a is None or b is None:
        return False
    return (a[1] == b[1] or not a[1] or not b[1]) and not _close(a[0], b[0])


def _apart(one: PartialDate, other: PartialDate) -> bool:
    parts = zip((one.year, one.month, one.day), (other.year, other.month, other.day), strict=True)
    return any(a != b for a, b in parts if a is not None and b is not None)


def _quantity(text: str) -> tuple[str, str] | None:
    """The number and the unit of a text that is one quantity, otherwise None."""
    match = _QUANTITY.fullmatch(text)
    if match is None or not match["value"]:
        return None
    sign = "-" if "-" in match["before"] else ""
    unit = match["before"].strip("+-") + match["after"]
    parts = _PARTS.findall(match["value"])
    if len(parts) == 1 and not parts[0][1]:
        return sign + match["value"], unit
    total = Decimal(0)
    for number, scales in parts:
        value = Decimal(number)
        for scale in _SCALE.findall(scales):
            value *= _SCALES[scale]
        total += value
    return f"{sign}{total.normalize():f}", unit


def _close(one: str, other: str) -> bool:
    """Whether two numbers are equal, or one may be the rounding of the other. Numbers with a
    leading zero may be dates (03.09 and 3.9): they are also compared part by part."""
    if one.lstrip("+-")[:1] == "0" or other.lstrip("+-")[:1] == "0":
        parts = [tuple(map(int, number.split("."))) for number in (one, other)]
        if parts[0] == parts[1]:
            return True
    a, b = Decimal(one), Decimal(other)
    places = sorted(len(number.partition(".")[2]) for number in (one, other))
    margin = Decimal("0.5").scaleb(-places[0]) if places[0] < places[1] else 0
    return abs(a - b) <= margin
