"""Are two short answers one, up to harmless surface form; and if not, does a value in them differ
(K-BrowseComp, section 4 and its grader's prompt).

Markdown, quotes, white space, case, punctuation that carries no value and a gloss in parentheses
after an answer do not count. Digits, signs, decimal points, colons, dashes and slashes between
digits, `%` and units do.
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
"""Characters. A longer text is no short answer: it equals only what it equals as it stands."""

# --------------------------------------------------------------------------------------- one form

_LATEX = re.compile(r"\\(?:boxed|fbox|operatorname|text[a-z]*|math[a-z]+)\s*(?=\{)")
_DOLLARS = re.compile(r"\s*(\${1,2})([^$]+)\1[\s.]*")
_LINK = re.compile(
    r"!?\[([^\[\]]*)\]\((?:https?://|mailto:|[/#])[^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"
)
_TAG = re.compile(r"</?(?:b|br|code|em|i|mark|p|span|strong|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-*+•]\s+")
_STYLES = str.maketrans({"−": "-", "⁄": "/", "〜": "~", "∼": "~"})


def clean(text: str) -> str:
    """A short text in NFKC and one case, without what Markdown, HTML and LaTeX put around it."""
    if len(text) > LONGEST:
        return " ".join(text.split()).casefold()
    if wrapped := _DOLLARS.fullmatch(text):
        text = wrapped[2]
    text = html.unescape(_TAG.sub(" ", _LINK.sub(r"\1", _LATEX.sub("", text))))
    text = _BULLET.sub("", text, count=1) if _BULLET.match(text) else text
    return unicodedata.normalize("NFC", normalise(text).casefold()).translate(_STYLES)


# What a text may lose. Between two digits a comma is left in its place: they never join.
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
    """What a `clean` text says, in every way in which it may be read: in `1,234` the comma may
    group thousands or part two numbers. Of mere punctuation all stays."""
    if len(text) > LONGEST:
        return frozenset({text})
    return frozenset(_bare(reading) or text for reading in (text, _ungrouped(text)))


def says(text: str) -> bool:
    """Whether there is more to a `clean` text than punctuation."""
    return bool(_bare(text[:LONGEST]))


def _ungrouped(text: str) -> str:
    return _GROUPED.sub(lambda number: number[0].replace(",", ""), text)


# ---------------------------------------------------------------------------------------- glosses

_TAIL = " .,!?;:*_`\"'”’»」』。…}$"
_GLOSSES = 3


def glosses(text: str) -> Iterator[tuple[str, str]]:
    """A `clean` text without its last gloss in parentheses, and that gloss; then without the last
    two, and so on."""
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
    """The answers that a `clean` text offers as alternatives: more than one where it hedges."""
    return [part for part in _EITHER.split(text) if says(part)]


def same(answer: str, gold: str) -> bool:
    """Whether two `clean` texts are one answer, up to harmless surface form.

    A gloss after the answer does not count, unless it offers another answer. Where the gold has a
    gloss, the part before it is enough, but another gloss in its place may say something else.
    Nor do marks of citations count after the answer.
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
    """Whether two `clean` texts state values that can be put side by side, and one differs: whole
    dates; whole quantities, of one unit or with one's unit left out; or the same words around
    numbers. A number that is the other's rounding does not differ for certain, nor do numbers in
    another order."""
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
    """The number and the unit of a text that is one quantity, None where it is none."""
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
    """Equal, or one the other's rounding; as dates such as 03.09 are, equal part by part."""
    if one.lstrip("+-")[:1] == "0" or other.lstrip("+-")[:1] == "0":
        parts = [tuple(map(int, number.split("."))) for number in (one, other)]
        if parts[0] == parts[1]:
            return True
    a, b = Decimal(one), Decimal(other)
    places = sorted(len(number.partition(".")[2]) for number in (one, other))
    margin = Decimal("0.5").scaleb(-places[0]) if places[0] < places[1] else 0
    return abs(a - b) <= margin
