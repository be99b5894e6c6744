"""A task with a gold table: its columns, key columns and rows (Ko-WideSearch, WideSearch)."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field
from pydantic import model_validator as validator

from grader.tasks.task import Model, Name, Task
from judges.values.cells import comparator_for
from judges.values.formats.cell import Comparator
from judges.values.formats.text import is_blank
from judges.values.formats.widesearch import WideSearchComparator
from judges.values.tables import column_form


class Column(Model):
    """A column: the format of its cells, or WideSearch's `preprocess` and `metric`."""

    name: Name
    format: str = ""
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    preprocess: tuple[str, ...] = ()
    metric: tuple[str, ...] = ()
    criterion: str | float | None = None
    """Text for a model; for `number_near` of WideSearch, the relative tolerance."""

    @validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.format) == bool(self.metric):
            raise ValueError("format: a column has either a format or a metric")
        try:
            _ = self.comparator
        except ValueError as fault:
            field = "" if self.metric else "format: "
            raise ValueError(f"{field}{fault}") from None
        return self

    @property
    def kind(self) -> str:
        """The name under which its figures are reported: the format without its parameters."""
        return self.format.partition(":")[0] or "+".join(self.metric)

    @property
    def counts_blanks(self) -> bool:
        """Whether a blank gold cell is scored, as in WideSearch."""
        return bool(self.metric)

    @cached_property
    def comparator(self) -> Comparator:
        """Compares the column's cells."""
        if not self.metric:
            return comparator_for(self.format, self.tolerance)
        tolerance = self.criterion if "number_near" in self.metric else None
        return WideSearchComparator(
            self.preprocess, self.metric, None if tolerance is None else float(tolerance)
        )


GoldRow = Mapping[str, str | None]


class TableTask(Task):
    """A closed set to enumerate, with a gold row for each member."""

    kind: Literal["table"]
    as_of: str | None = None
    columns: Annotated[tuple[Column, ...], Field(min_length=1)]
    key_columns: Annotated[tuple[Name, ...], Field(min_length=1)]
    rows: Annotated[tuple[GoldRow, ...], Field(min_length=1)]
    sentinels: tuple[str, ...] = ("N/A", "-", "—")
    """Gold cells with one of these values, blank cells and null are not scored."""

    @validator(mode="before")
    @classmethod
    def _texts(cls, data: Any) -> Any:
        """Turn cells that are numbers into text, and remove space around the names of columns."""
        rows = data.get("rows") if isinstance(data, Mapping) else None
        if not isinstance(rows, Sequence):
            return data
        return {**data, "rows": [_texts(row) for row in rows]}

    @validator(mode="after")
    def _consistent(self) -> Self:
        names = [column.name for column in self.columns]
        forms = Counter(map(column_form, names))
        if repeated := [name for name in names if forms[column_form(name)] > 1]:
            raise ValueError(
                f"columns: {', '.join(repeated)} have the same name, apart from its form"
            )
        if len(set(self.key_columns)) < len(self.key_columns):
            raise ValueError("key_columns: a name is there twice")
        if unknown := [key for key in self.key_columns if key not in names]:
            raise ValueError(f"key_columns: {unknown[0]!r} is not a column")
        for number, row in enumerate(self.rows):
            if unknown := [name for name in row if name not in names]:
                raise ValueError(f"rows: row {number}: {unknown[0]!r} is not a column")
            if all(is_blank(row.get(key) or "") for key in self.key_columns):
                raise ValueError(f"rows: row {number}: every key column is blank")
        return self


def _texts(row: Any) -> Any:
    if not isinstance(row, Mapping):
        return row
    return {
        str(name).strip(): str(cell)
        if isinstance(cell, int | float) and not isinstance(cell, bool)
        else cell
        for name, cell in row.items()
    }


def rows_from_csv(text: str) -> list[dict[str, str]]:
    """Read gold rows from CSV (`rows.csv` of a package). Cells are text. A column without a name,
    such as an index, is left out. Raises ValueError, which names the line."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        named = [name for name in header if name]
        if not named or len(set(named)) < len(named):
            raise ValueError("line 1: no header, or a name that is there twice")
        rows = []
        for cells in reader:
            if len(cells) != len(header):
                if not cells:
                    continue
                raise ValueError(
                    f"line {reader.line_num}: {len(cells)} cells under {len(header)} columns"
                )
            rows.append({name: cell for name, cell in zip(header, cells, strict=True) if name})
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    return rows
