"""The number in a table cell, with units and other text around it: 약 3만 5천 명, 제7회, $1.5M.

A cell has a number if all numbers in it are equal (tables.md, "The comparator").
"""

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Context, Decimal

_LONGEST = 200  # characters of a cell that is a number with its units and notes
_HIGHEST = 99  # power of ten
_EXACT = Context(prec=400)

_SMALL = {"십": 1, "十": 1, "백": 2, "百": 2, "천": 3, "千": 3}
_LARGE = {
    **dict.fromkeys("만万萬", 4),
    **dict.fromkeys("억億亿", 8),
    **dict.fromkeys("조兆", 12),
}
_ENGLISH = {
    "hundred": 2,
    **dict.fromkeys(("thousand", "k"), 3),
    **dict.fromkeys(("million", "mil", "mln", "mn", "m"), 6),
    **dict.fromkeys(("billion", "bln", "bn", "b"), 9),
    **dict.fromkeys(("trillion", "trn", "tn"), 12),
}
_UNITS = "".join((*_SMALL, *_LARGE))
# 조각 means "pieces"; in 千克, 千米 and 千瓦 the first character means "kilo".
_UNIT = rf"(?:(?!조각|千[克米瓦卡])[{_UNITS}])"
# A lower-case m means metres, a lower-case b bytes.
_WORD = rf"(?i:{'|'.join(word for word in _ENGLISH if word not in 'mb')})|[MB]"
# Atomic groups, because Python before 3.11.5 matches possessive groups wrongly.
_TOKEN = re.compile(
    rf"""(?P<attached>(?<=[A-Za-z])|(?<=\^))?
         (?P<sign>(?<![^\s(\[$€£¥₩])-\s?[$€£¥₩]?\s?(?=\.?\d))?
         (?P<digits>[1-9]\d{{0,2}}(?>(?:\ \d{{3}})+)(?![\d,])(?>(?:\.\d++)?)
                  |(?:(?<!\d)\.)?\d[\d.,]*+)
         (?:[eE](?P<power>[+-]?\d++)(?![\w.])
           |\s?(?P<units>(?>{_UNIT}+))|\s?(?P<word>{_WORD})(?![A-Za-z]))?""",
    re.VERBOSE | re.ASCII,
)
_PLAIN = re.compile(r"\d{1,18}(?:\.\d{1,18})?", re.ASCII)
_BOUND = re.compile("[<>≤≥≦≧]")
_DIGIT = re.compile(r"\d", re.ASCII)
_NOTE = re.compile(r"\([^()]*+\)|\[[^\[\]]*+\]")
_OPEN_NOTE = re.compile(r"[(\[][^()\[\]]*+\Z")
_WHOLE = re.compile(r"\d+(?:\.\d+)?|\.\d+|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_COMMA = re.compile(r"\d+,\d+|[1-9]\d{0,2}(?:\.\d{3})+,\d+", re.ASCII)


class NoAmountError(ValueError):
    """The text has no number, or several. The message says which."""


def read_amount(text: str, *, decimal_comma: bool = False) -> Decimal:
    """The exact number in `text`. Other text around it and a parenthesis after it are ignored. With
    `decimal_comma`, a comma that cannot be anything else is a decimal comma.

    Raises NoAmountError if there is no number or more than one, or if the text is too long.
    """
    if _PLAIN.fullmatch(text):
        return Decimal(text)
    if len(text) > _LONGEST:
        raise NoAmountError("too long for a number")
    if sign := _BOUND.search(text):
        raise NoAmountError(f"{sign[0]} gives only a bound")
    tokens = list(_TOKEN.finditer(_without_notes(text)))
    free = [token for token in tokens if token["attached"] is None]
    amounts = set(_amounts(free or tokens, decimal_comma))
    if len(amounts) != 1:
        raise NoAmountError("more than one number" if amounts else "no number")
    return amounts.pop()


def round_to(amount: Decimal, places: int) -> Decimal:
    """`amount` rounded to `places` decimal places, halves away from zero."""
    return amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT)


def _without_notes(text: str) -> str:
    """The text without the parentheses after its first digit, also nested ones."""
    if "(" not in text and "[" not in text:
        return text
    first = _DIGIT.search(text)
    if first is None:
        return text
    head, tail = text[: first.start()], text[first.start() :]
    while (shorter := _NOTE.sub(" ", tail)) != tail:
        tail = shorter
    return head + _OPEN_NOTE.sub(" ", tail)


def _amounts(tokens: list[re.Match[str]], decimal_comma: bool) -> Iterator[Decimal]:
    """The numbers in the tokens. Tokens with a unit and only a space between them are one number
    (1억 2천만)."""
    group: list[re.Match[str]] = []
    for token in tokens:
        if group and not (
            group[-1]["units"] and not token["sign"] and token.start() - group[-1].end() <= 1
        ):
            yield _sum(group, decimal_comma)
            group = []
        group.append(token)
    if group:
        yield _sum(group, decimal_comma)


def _sum(group: list[re.Match[str]], decimal_comma: bool) -> Decimal:
    """The sum of the parts of one number. Each part is smaller than the unit of the part before it.
    A large unit multiplies all small units before it (3천 5백만)."""
    total = section = Decimal(0)
    roof = room = Decimal("Infinity")
    for token in group:
        small, large = _powers(token)
        part = _EXACT.multiply(_number(token["digits"], decimal_comma), small)
        section = _EXACT.add(section, part)
        whole = _EXACT.multiply(section, large)
        if part >= room or whole >= roof:
            raise NoAmountError("more than one number")
        room = small
        if large > 1:
            total, section = _EXACT.add(total, whole), Decimal(0)
            roof = room = large
    total = _EXACT.add(total, section)
    return -total if group[0]["sign"] else total


def _powers(token: re.Match[str]) -> tuple[Decimal, Decimal]:
    """The factors of the units after a number: of the small units, and of the large units."""
    if word := token["word"]:
        return Decimal(10) ** _ENGLISH[word.casefold()], Decimal(1)
    if power := token["power"]:
        if abs(int(power)) > _HIGHEST:
            raise NoAmountError(f"the exponent {power} is out of range")
        return Decimal(10) ** int(power), Decimal(1)
    units = token["units"] or ""
    small = sum(_SMALL.get(unit, 0) for unit in units)
    large = sum(_LARGE.get(unit, 0) for unit in units)
    return Decimal(10) ** small, Decimal(10) ** large


def _number(digits: str, decimal_comma: bool) -> Decimal:
    digits = digits.rstrip(".,").replace(" ", "")
    if _WHOLE.fullmatch(digits):
        return Decimal(digits.replace(",", ""))
    if decimal_comma and _COMMA.fullmatch(digits):
        return Decimal(digits.replace(".", "").replace(",", "."))
    raise NoAmountError(f"{digits} is not a number")
