"""The format `text`, and the steps that all formats share (tables.md, "Common to all formats")."""

import re
from collections.abc import Hashable
from typing import ClassVar

from judges.text.markup import plain
from judges.values.formats.cell import Cell, Match

_BLANK = re.compile(r"(?>(?:\s|&nbsp;|<br\s*+/?>|[\u200b\ufeff])*)", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_SIMPLE = re.compile(r"[0-9A-Za-z\uac00-\ud7a3\u4e00-\u9fff .,:/%()+-]*+")
_RAISED = re.compile("(?<=[0-9])(?=[⁰¹²³⁴-⁹])")
_FOOTNOTE = re.compile(r"[†‡]|\[(?:주|각주|註|[가-하])\s?\d{0,3}\]")
_DOTS = {ord(dot): "·" for dot in "ㆍ・･‧⋅"}
_STYLES = _DOTS | dict.fromkeys(map(ord, "《》〈〉"), '"') | dict.fromkeys(map(ord, "〜∼"), "~")
_HYPHENS = str.maketrans({"\u2012": "-", "\u2015": "-", "\ufe63": "-"})
_QUOTES = "\"'"


def is_blank(text: str) -> bool:
    """Whether a cell has no text: only white space, line breaks and invisible characters."""
    return bool(_BLANK.fullmatch(text))


def shown_text(text: str) -> str:
    """The cell without the marks that count in no format (tables.md, "Common to all formats").

    Removes Markdown, footnote marks, surrounding quotes and a final full stop. Normalises Unicode
    (NFKC), HTML entities, white space, and the styles of quotes and dashes. A cell that consists
    of such marks alone is returned whole.
    """
    text = bare = one_line(text)
    if not _SIMPLE.fullmatch(text):
        # 10² must not become 102; the number of a footnote must not join another number.
        marked = _FOOTNOTE.sub("", _RAISED.sub("^", text)).translate(_STYLES)
        bare = " ".join(plain(marked).translate(_HYPHENS).split())
    return _unquoted(bare).removesuffix(".").removesuffix("。").rstrip() or text


def _unquoted(text: str) -> str:
    """The text without the quotes around it, however deep. Takes linear time."""
    start, end = 0, len(text)
    while end - start > 1 and text[start] in _QUOTES and text[start] == text[end - 1]:
        start, end = start + 1, end - 1
        while start < end and text[start] == " ":
            start += 1
        while start < end and text[end - 1] == " ":
            end -= 1
    return text[start:end]


def one_line(text: str) -> str:
    """The text with single spaces for white space and `<br>`."""
    return " ".join((_BREAK.sub(" ", text) if "<" in text else text).split())


_SPACES = re.compile(r"(?<!\d) | (?!\d)")


def unspaced(text: str) -> str:
    """The text without spaces. A space between two digits stays."""
    return _SPACES.sub("", text) if " " in text else text


_LONGEST_QUOTE = 60


def shortened(text: str) -> str:
    """The text cut to the length at which reasons quote it."""
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"


class TextFormat:
    """The format `text`: equality of the normalised text, without punctuation and white space.

    Other formats inherit the common steps: two cells with the same form are equal, in any format.
    """

    kind: ClassVar[str] = "text"
    """What the column holds, for reasons: "not a {kind}"."""

    def read(self, text: str) -> Cell:
        """Read a cell as `Comparator.read` does."""
        shown = shown_text(text)
        lower = shown.casefold()
        form = unspaced(lower)
        try:
            return Cell(shown, form, self._value(shown, lower))
        except ValueError as fault:
            return Cell(shown, form, None, str(fault))

    def compare(self, gold: Cell, pred: Cell) -> Match:
        """Compare two cells as `Comparator.compare` does."""
        if gold.form == pred.form:
            return Match(True, "the same text")
        for whose, cell in (("", pred), ("the gold ", gold)):
            if cell.value is None:
                quoted = f"{whose}'{shortened(cell.shown)}'"
                return Match(False, f"{quoted} is not a {self.kind}: {shortened(cell.fault)}")
        if self._same(gold.value, pred.value):
            return Match(True, f"the same {self.kind}")
        return Match(False, f"{self._written(pred)} is not the gold {self._written(gold)}")

    def exact(self, cell: Cell) -> Hashable:
        """The key of a cell as `Comparator.exact` gives it."""
        return cell.form if cell.value is None else cell.value

    def aliases(self, cell: Cell) -> frozenset[Hashable]:
        """The keys of a cell as `Comparator.aliases` gives them."""
        return frozenset((cell.form, self.exact(cell)))

    def _value(self, shown: str, lower: str) -> Hashable:
        """The value of a cell. Raises ValueError with the reason if it has none."""
        return _unpunctuated(lower)

    def _same(self, gold: Hashable, pred: Hashable) -> bool:
        """Whether two values are equal."""
        return gold == pred

    def _written(self, cell: Cell) -> str:
        """The value of a cell, as a reason shows it."""
        return f"'{shortened(cell.shown)}'"


_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?>(?:,\d{3})+)(?![\d,])")
# The punctuation without meaning. These keep theirs: C++, C#, R&D, 5%, and the marks that sign
# numbers or stand between digits.
_PUNCTUATION = re.compile(
    r"""[^\w\s%#&@+=<>≤≥≦≧≠±≈×÷$€£¥₩°^~:/.,-]
      | (?<!\d)[.,:/-](?!\d) | (?<=\d)[.,:/-](?!\d) | (?<!\d)[,:/](?=\d) | (?<=[^\W\d])-(?=\d)""",
    re.VERBOSE,
)


def _unpunctuated(lower: str) -> str:
    """The text without punctuation and spaces, except those that separate or sign numbers. A text
    of punctuation alone is returned whole."""
    bare = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), lower)
    return unspaced(" ".join(_PUNCTUATION.sub(" ", bare).split())) or lower
