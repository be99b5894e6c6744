"""The rows of the table in a raw response: JSON, Markdown or CSV (tables.md, item 1).

A table is recognised by its header, or by the names in its JSON rows: all key columns must be
there. So the text around it, fences and other tables need not be understood. Of several tables the
last counts. A table that is cut off keeps its complete rows.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

from judges.text.markup import plain

Row = tuple[str, ...]
"""The cells of a row, in the order of the task's columns. A missing cell is empty."""

_LONGEST_NAME = 300


@lru_cache(maxsize=1 << 14)
def column_form(name: str) -> str:
    """The name of a column in one Unicode form, without letter case, white space and Markdown."""
    if len(name) > _LONGEST_NAME:
        return name
    return "".join((plain(name).strip() or name).casefold().split())


class TableReader:
    """Finds the table of a task in a response. `columns` are the task's columns, `keys` its key
    columns."""

    def __init__(self, columns: Sequence[str], keys: Iterable[str]) -> None:
        self._places = {column_form(name): place for place, name in enumerate(columns)}
        self._keys = {self._places[column_form(key)] for key in keys}
        self._width = len(columns)

    def read(self, response: str) -> list[Row] | None:
        """The rows of the last table that has the key columns and at least one row, else None.
        Never raises. Takes time in proportion to the length of the response."""
        response = response.replace("\r\n", "\n").replace("\r", "\n")
        tables = chain(
            self._json_tables(response),
            self._markdown_tables(response) if "|" in response else (),
            self._csv_tables(response) if _MAYBE_CSV.search(response) else (),
        )
        last = max(tables, key=lambda table: table.start, default=None)
        return None if last is None else last.rows

    def _header(self, names: Iterable[str]) -> dict[int, int] | None:
        """The position in a line of each column of the task. None if a key column is missing."""
        header: dict[int, int] = {}
        for at, name in enumerate(names):
            place = self._places.get(column_form(name))
            if place is not None:
                header.setdefault(place, at)
        return header if header.keys() >= self._keys else None

    def _row(self, header: Mapping[int, int], cells: Sequence[str]) -> Row:
        places = (header.get(place, len(cells)) for place in range(self._width))
        return tuple(cells[at] if at < len(cells) else "" for at in places)

    # Markdown

    def _markdown_tables(self, text: str) -> Iterator["_Table"]:
        table = _Table(-1, [])
        header: dict[int, int] | None = None
        bounded = ruled = False
        for (start, raw), (_, below) in pairwise(chain(_lines(text), ((len(text), ""),))):
            line = _markdown_line(raw)
            if "|" not in line:
                header = None
                continue
            if header is not None and not ruled and _is_rule(line):
                ruled = True
                continue
            if header is None or _is_rule(below):
                cells = _split(line)
                if new := self._header(cells):
                    yield from table.whole()
                    table, header = _Table(start, []), new
                    bounded, ruled = line.endswith("|"), False
                    continue
            if header is None or (
                bounded and not line.endswith("|") and start + len(raw) == len(text)
            ):
                continue  # the last line of the response may be cut off
            ruled = True
            table.rows.append(self._row(header, _split(line)))
        yield from table.whole()

    # CSV

    def _csv_tables(self, text: str) -> Iterator["_Table"]:
        fence = language = ""
        end = -1
        for start, line in _lines(text):
            if start < end:
                continue
            bare = line.lstrip()
            if mark := _FENCE.match(bare):
                fence, language = ("", "") if fence else (mark[1], mark[2].lower())
                continue
            if language in _NOT_CSV or bare.startswith(("|", "{", "[")):
                continue
            for delimiter in [mark for mark in ",\t;" if mark in line] or ("," if fence else ""):
                names, after = _record(text, start, delimiter)
                header = self._header(names)
                if header is None or (not fence and 2 * len(header) < len(names)):
                    continue
                rows, end = self._csv_rows(text, after, delimiter, fence, header, len(names))
                yield from _Table(start, rows).whole()
                break

    def _csv_rows(
        self, text: str, at: int, delimiter: str, fence: str, header: Mapping[int, int], width: int
    ) -> tuple[list[Row], int]:
        """The rows from `at` to the closing fence, or to the first line that is not a row; and the
        position after them."""
        rows: list[Row] = []
        while at < len(text):
            if fence and text.startswith(fence, at):
                break
            cells, after = _record(text, at, delimiter)
            if not fence and len(cells) == 1 < width:
                break  # a line of text, or a blank line
            if len(cells) < width and after > len(text):
                break  # cut off
            rows.append(self._row(header, cells))
            at = after
        return rows, at

    # JSON

    def _json_tables(self, text: str) -> Iterator["_Table"]:
        for start, rows in _row_lists(text):
            names = dict.fromkeys(name for row in rows for name in row)
            places = {name: self._places.get(column_form(name)) for name in names}
            if self._keys <= set(places.values()):
                yield from _Table(start, [self._json_row(row, places) for row in rows]).whole()

    def _json_row(self, row: Mapping[str, Any], places: Mapping[str, int | None]) -> Row:
        cells = [""] * self._width
        for name, value in row.items():
            place = places[name]
            if place is not None and not cells[place]:
                cells[place] = _text(value)
        return tuple(cells)


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a table, and its position in the response."""

    start: int
    rows: list[Row]

    def whole(self) -> Iterator["_Table"]:
        """The table without its blank rows; nothing if all rows are blank."""
        if rows := [row for row in self.rows if any(map(str.strip, row))]:
            yield _Table(self.start, rows)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their positions."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start:end]
        start = end + 1


_FENCE = re.compile(r"(`{3,}+|~{3,}+)([\w+-]*+)")
_MAYBE_CSV = re.compile("[,\t;]|```|~~~")
_NOT_CSV = frozenset(("json", "jsonl", "json5", "markdown", "md"))
_QUOTED = re.compile(r"^>[> \t]*+(?=\|)")
_PIPE = re.compile(r"(?<!\\)\|")
_RULE = frozenset("|-: \t")


def _markdown_line(raw: str) -> str:
    """A line without a code fence and without the marks of a quotation (`>`)."""
    line = _QUOTED.sub("", raw.strip())
    if opening := _FENCE.match(line):
        line = line[opening.end() :]
    return line if line.endswith("|") else line.removesuffix("```").rstrip()


def _is_rule(line: str) -> bool:
    """Whether a line is the rule below the header of a Markdown table (`|---|:-:|`)."""
    return "-" in line and _RULE.issuperset(line)


def _split(line: str) -> list[str]:
    """The cells of a line of a Markdown table. An escaped pipe is part of its cell."""
    cells = _PIPE.split(line.removeprefix("|"))
    if len(cells) > 1 and not cells[-1]:
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


_FIELD = {
    mark: re.compile(
        rf"""[ \t]*+"(?P<quoted>(?>(?:[^"]|"")*))"[ \t]*+(?=[{mark}\n]|\Z)"""
        rf"""|(?P<bare>[^{mark}\n]*+)"""
    )
    for mark in ",\t;"
}


def _record(text: str, at: int, delimiter: str) -> tuple[list[str], int]:
    """The cells of the CSV record at `at`, and the position of the next record. That is past the
    end of the text if the text ends before this record does."""
    cells = []
    field = _FIELD[delimiter]
    while True:
        match = field.match(text, at)
        assert match is not None  # the pattern matches an empty field
        quoted = match["quoted"]
        cells.append(match["bare"].strip() if quoted is None else quoted.replace('""', '"'))
        at = match.end() + 1
        if not text.startswith(delimiter, match.end()):
            return cells, at


# JSON

# The beginning of an object, or of a list of objects or lists.
_OPENING = re.compile(r"\{(?=\s*+[\"}])|\[(?=\s*+[\[{])")
_DECODER = json.JSONDecoder(
    strict=False, parse_int=str, parse_float=str, parse_constant=lambda _: None
)


def _row_lists(text: str) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The lists of objects in the JSON values of a text, with their positions.

    Objects that follow each other are a list too: JSON lines, or the rest of a list that is cut
    off. Decoding stops when failed attempts have read twenty times the length of the text.
    """
    budget = 20 * len(text) + 100_000
    group: list[dict[str, Any]] = []
    start = end = 0
    opening = _OPENING.search(text)
    while opening and budget > 0:
        at = opening.start()
        try:
            value, after = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            budget -= _cost(error, len(text) - at) + at // 64  # the error counts the lines before
            opening = _OPENING.search(text, at + 1)
            continue
        if isinstance(value, dict):
            if text[end:at].strip(" \t\n\r,"):
                yield start, group
                group, start = [], at
            group.append(_flat(value))
            end = after
        yield from ((at, rows) for rows in _lists_in(value))
        opening = _OPENING.search(text, after)
    yield start, group


def _cost(error: Exception, length: int) -> int:
    """The number of characters that a failed attempt has read, of the `length` that were left."""
    if isinstance(error, json.JSONDecodeError) and "Unterminated" not in error.msg:
        return length - len(error.doc) + error.pos
    return length


def _lists_in(value: Any) -> Iterator[list[dict[str, Any]]]:
    """The lists of objects in a JSON value, in order. Lists inside of rows are left out."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            if rows := [_flat(row) for row in value if isinstance(row, dict)]:
                yield rows
            stack.extend(item for item in reversed(value) if isinstance(item, list))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the fields of nested objects (`"attrs": {...}`) as its own fields."""
    flat = {name: value for name, value in row.items() if not isinstance(value, dict)}
    for value in row.values():
        if isinstance(value, dict):
            flat = {**value, **flat}
    return flat


def _text(value: Any, depth: int = 0) -> str:
    """A JSON value as the text of a cell. Numbers stay as written; lists are joined with commas."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:  # a lone surrogate, which UTF-8 files cannot hold
            return value.encode("utf-8", "replace").decode()
        return value
    if value is None or depth > 4:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    parts = value.values() if isinstance(value, dict) else value
    return ", ".join(_text(part, depth + 1) for part in parts)
