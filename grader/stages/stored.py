"""Values of the ledger, read back. An import may bring rows of anybody's making."""

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import TypeAdapter

from grader.lines import check_writable

T = TypeVar("T")


def kept(kind: type[T] | Any) -> Callable[[bytes], T]:
    """Reads the JSON of a stage's value as `kind`, a dataclass. What it gives raises ValueError
    where the value is of another kind in any of its parts, or could not be written again."""
    adapter: TypeAdapter[T] = TypeAdapter(kind)

    def read(row: bytes) -> T:
        value = adapter.validate_json(row, strict=True)
        check_writable(value)
        return value

    return read
