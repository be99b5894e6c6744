"""A system's raw response to the rows of its table: JSON, Markdown or CSV (tables.md, 1).

A table is known by its header, or by the names in its JSON rows: it has all of the key columns.
So prose, fences and other tables around it need no reading. Of several the last counts; one
that is cut off keeps its whole rows.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from judges.text import plain

Row = tuple[str, ...]
"""The cells of a row, in the order of the task's columns; a missing one is empty."""

_LONGEST_NAME = 300


@lru_cache(maxsize=1 << 14)
def column_form(name: str) -> str:
    """A column's name without case, white space, Markdown and Unicode form."""
    if len(name) > _LONGEST_NAME:
        return name
    return "".join(plain(name).casefold().split())


class TableReader:
    """Finds the table with a task's columns in a response."""

    def __init__(self, columns: Sequence[str], keys: Iterable[str]) -> None:
        self._places = {column_form(name): place for place, name in enumerate(columns)}
        self._keys = {self._places[column_form(key)] for key in keys}
        self._width = len(columns)

    def read(self, response: str) -> list[Row] | None:
        """The rows of the last table with the key columns, None where there is none with rows.
        Never raises; takes time in proportion to the length of the response."""
        response = response.replace("\r\n", "\n")
        lines = _Lines(response)
        found = [*self._json_tables(response), *self._markdown_tables(lines)]
        found += self._csv_tables(lines)
        return max(found, key=lambda table: table.start).rows if found else None

    def _header(self, names: Iterable[str]) -> dict[int, int] | None:
        """The place in a line of each of the task's columns; None where a key column lacks."""
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

    def _markdown_tables(self, lines: "_Lines") -> Iterator["_Table"]:
        table: _Table | None = None
        header: dict[int, int] = {}
        bounded = False
        for number, raw in enumerate(lines.texts):
            line = _FENCE.sub("", raw.strip(), count=1).removesuffix("```").rstrip()
            if "|" not in line:
                if table and table.rows:
                    yield table
                table = None
                continue
            if _is_rule(line) and (table is None or not table.rows):
                continue
            below = lines.texts[number + 1].strip() if number + 1 < len(lines.texts) else ""
            if table is None or _is_rule(below):
                cells = _split(line)
                if new := self._header(cells):
                    if table and table.rows:
                        yield table
                    table, header = _Table(lines.starts[number], []), new
                    bounded = line.endswith("|")
                    continue
            if table is None:
                continue
            if number + 1 == len(lines.texts) and bounded and not line.endswith("|"):
                continue  # cut off
            table.rows.append(self._row(header, _split(line)))
        if table and table.rows:
            yield table

    # CSV

    def _csv_tables(self, lines: "_Lines") -> Iterator["_Table"]:
        fence = language = ""
        end = -1
        for start, line in zip(lines.starts, lines.texts, strict=False):
            if start < end:
                continue
            bare = line.lstrip()
            if mark := _FENCE.match(bare):
                fence, language = ("", "") if fence else (mark[1], mark[2].lower())
                continue
            if language in _NOT_CSV or bare.startswith(("|", "{", "[")):
                continue
            for delimiter in [mark for mark in ",\t;" if mark in line] or ("," if fence else ""):
                names, after = _record(lines.text, start, delimiter)
                header = self._header(names)
                if header is None or (not fence and 2 * len(header) < len(names)):
                    continue
                rows, end = self._csv_rows(lines.text, after, delimiter, fence, header, len(names))
                if rows:
                    yield _Table(start, rows)
                break

    def _csv_rows(
        self, text: str, at: int, delimiter: str, fence: str, header: Mapping[int, int], width: int
    ) -> tuple[list[Row], int]:
        """The rows from `at` to the fence, or to the end of what looks like rows; and its end."""
        rows: list[Row] = []
        while at < len(text):
            if fence and text.startswith(fence, at):
                break
            cells, after = _record(text, at, delimiter)
            if not any(cells):
                if not fence and not cells[1:]:
                    break
            elif len(cells) < width and (after > len(text) or (len(cells) == 1 and not fence)):
                break  # cut off, or words after the table
            else:
                rows.append(self._row(header, cells))
            at = after
        return rows, at

    # JSON

    def _json_tables(self, text: str) -> Iterator["_Table"]:
        for start, rows in _json_row_lists(text):
            names = dict.fromkeys(name for row in rows for name in row)
            places = {name: self._places.get(column_form(name)) for name in names}
            if set(places.values()) < self._keys or not self._keys <= set(places.values()):
                continue
            yield _Table(start, [self._json_row(row, places) for row in rows])

    def _json_row(self, row: Mapping[str, Any], places: Mapping[str, int | None]) -> Row:
        cells = [""] * self._width
        for name, value in row.items():
            place = places[name]
            if place is not None and not cells[place]:
                cells[place] = _text(value)
        return tuple(cells)


@dataclass(frozen=True, slots=True)
class _Table:
    start: int
    rows: list[Row]


class _Lines:
    """A text's lines, and where each starts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.texts = text.split("\n")
        lengths = (len(line) + 1 for line in self.texts)
        self.starts = [0, *accumulate(lengths)]


_FENCE = re.compile(r"(`{3,}+|~{3,}+)([\w+-]*+)")
_NOT_CSV = frozenset(("json", "jsonl", "json5", "markdown", "md"))
_PIPE = re.compile(r"(?<!\\)\|")
_RULE = frozenset("|-: \t")


def _is_rule(line: str) -> bool:
    """Whether a line of a Markdown table only says how its columns are aligned."""
    return "-" in line and _RULE.issuperset(line)


def _split(line: str) -> list[str]:
    """The cells of a line of a Markdown table; an escaped pipe belongs to its cell."""
    cells = _PIPE.split(line.removeprefix("|"))
    if len(cells) > 1 and not cells[-1]:
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


_FIELD = {
    mark: re.compile(
        rf"""[ \t]*+"(?P<quoted>(?:[^"]|"")*+)"[ \t]*+(?=[{mark}\n]|\Z)|(?P<bare>[^{mark}\n]*+)"""
    )
    for mark in ",\t;"
}


def _record(text: str, at: int, delimiter: str) -> tuple[list[str], int]:
    """The cells of the CSV record at `at`, and where the next begins: past the end of the text
    where nothing ends this one."""
    cells = []
    field = _FIELD[delimiter]
    while True:
        match = field.match(text, at)
        assert match is not None  # a bare field may be empty
        quoted = match["quoted"]
        cells.append(match["bare"].strip() if quoted is None else quoted.replace('""', '"'))
        at = match.end() + 1
        if not text.startswith(delimiter, match.end()):
            return cells, at


# JSON

_OPENING = re.compile(r"[\[{]")
_BETWEEN = re.compile(r"[\s,]*+")
_DECODER = json.JSONDecoder(
    strict=False, parse_int=str, parse_float=str, parse_constant=lambda _: None
)


def _json_row_lists(text: str) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The lists of objects in the JSON that stands anywhere in a text, with their places.

    Objects that follow one another are a list, too: what is left of one that is cut off, and JSON
    lines. Decoding that fails over and over is given up once it has cost twenty times the text.
    """
    budget = 20 * len(text) + 100_000
    group: list[dict[str, Any]] = []
    start = end = -1
    opening = _OPENING.search(text)
    while opening and budget > 0:
        at = opening.start()
        try:
            value, after = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            failed = getattr(error, "pos", len(text))
            budget -= (len(text) if "Unterminated" in str(error) else failed) - at
            opening = _OPENING.search(text, at + 1)
            continue
        lists = list(_row_lists(value))
        if lists or not isinstance(value, dict) or _BETWEEN.match(text, max(end, 0)).end() < at:  # type: ignore[union-attr]
            if group:
                yield start, group
            group, start = [], at
        yield from ((at, rows) for rows in lists)
        if isinstance(value, dict) and not lists:
            group.append(_flat(value))
        end = after
        opening = _OPENING.search(text, after)
    if group:
        yield start, group


def _row_lists(value: Any) -> Iterator[list[dict[str, Any]]]:
    """The lists of objects in a JSON value, in their order."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            rows = [_flat(row) for row in value if isinstance(row, dict)]
            if rows:
                yield rows
            stack.extend(item for item in reversed(value) if isinstance(item, list))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the attributes that stand in an object beside its key."""
    flat = {name: value for name, value in row.items() if not isinstance(value, dict)}
    for value in row.values():
        if isinstance(value, dict):
            flat = {**value, **flat}
    return flat


def _text(value: Any, depth: int = 0) -> str:
    """A JSON value as a cell: numbers as they were written, lists with commas."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:  # half of a pair, which no file can hold
            return value.encode("utf-8", "replace").decode()
        return value
    if value is None or depth > 4:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    parts = value.values() if isinstance(value, dict) else value
    return ", ".join(_text(part, depth + 1) for part in parts)
