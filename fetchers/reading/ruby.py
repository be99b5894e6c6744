"""Ruby: readings that are set over characters, such as とうきょう over 東京.

The text of a page has each line without its readings. A line that has readings is repeated with
them at the end of the text, in the forms in which people and tools copy it. So an excerpt is found
with readings or without.
"""

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser

# Characters that no text may contain (Unicode, section 23.7).
_RUBY, _END_RUBY, _READING, _END_READING = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_MARKS = re.compile("[\ufdd0-\ufdd3]")
_ANY_READING = re.compile(f"{_READING}[^{_READING}{_END_READING}]*{_END_READING}")
_READINGS = re.compile(f"(?:{_ANY_READING.pattern}\\s*)+")
_ANY_RUBY = re.compile(f"{_RUBY}([^{_RUBY}{_END_RUBY}]*){_END_RUBY}")


def mark_readings(tree: LexborHTMLParser) -> None:
    """Set marks around each `ruby` of a tree and its readings (`rt`, or `rtc` without `rt`)."""
    rubies = tree.css("ruby")
    if not rubies:
        return
    for node in rubies:
        node.insert_before(_RUBY)
        node.insert_after(_END_RUBY)
    for node in tree.css("ruby :is(rt, rtc:not(:has(rt)))"):
        node.insert_before(_READING)
        node.insert_after(_END_READING)


def without_readings(line: str) -> str:
    """A line without readings and marks."""
    return _clean(_ANY_READING.sub("", line)) if _RUBY in line else line


def with_readings(line: str) -> Iterator[str]:
    """The forms of a line with its readings, each once; none if it has no readings.

    For 漢字 with か over 漢 and じ over 字: 漢か字じ, 漢(か)字(じ), 漢字(かじ) and 漢字かじ.
    """
    if not _ANY_READING.search(line):
        return
    forms = (
        line,
        _READINGS.sub(lambda found: f"({_clean(found[0])})", line),
        _ANY_RUBY.sub(_grouped("({})"), line),
        _ANY_RUBY.sub(_grouped("{}"), line),
    )
    yield from dict.fromkeys(map(_clean, forms))


def _grouped(form: str) -> Callable[[re.Match[str]], str]:
    """A replacement of a ruby by its characters and, after them, all of its readings."""

    def replacement(found: re.Match[str]) -> str:
        readings = "".join(map(_clean, _ANY_READING.findall(found[1])))
        base = _ANY_READING.sub("", found[1])
        return base.rstrip() + form.replace("{}", readings) if readings else base

    return replacement


def _clean(text: str) -> str:
    """Text without marks, and with single spaces; tabs stay."""
    return re.sub(" {2,}", " ", _MARKS.sub("", text)).strip()
