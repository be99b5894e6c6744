"""Numbers in a text, and the spaces that group their digits."""

import re
from collections.abc import Iterator

from judges.text.markup import ZERO_WIDTH

_IN_NUMBER_OR_WORD = "0-9A-Za-zÀ-ɏͰ-ϿЀ-ӿ_.,"  # directly before a digit; other scripts need no space
_SPACE = " \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
# The group before the first space has one to three digits and is not the end of a number or a word
# ("2024 250", "1.5 250", "10:30 250", "A4 250", "2019-12 250"). Tabs and line breaks part cells.
_GROUPED = re.compile(
    rf"""[1-9１-９](?<![{_IN_NUMBER_OR_WORD}:/'’].)(?<!\d{{4}}[-‐‑‒–−].)\d{{0,2}}
         (?:[{ZERO_WIDTH}]{{0,3}}[{_SPACE}][{ZERO_WIDTH}]{{0,3}}\d{{3}})+(?!\d)""",
    re.VERBOSE,
)
_GROUP = re.compile(f"[{_SPACE}]")


def number_gaps(source: str) -> list[int]:
    """The offset after each space inside a number: where "250" begins in "1 250", and where "345"
    and "678" begin in "12 345 678". The space may be of any width (scoring.md, section 2).
    `source` comes from `without_markup`. Linear time."""
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
