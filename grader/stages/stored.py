"""Decoders for values of the ledger. An import may contain rows from an unknown source."""

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import TypeAdapter

from grader.lines import check_writable

T = TypeVar("T")


def decoder(kind: type[T] | Any) -> Callable[[bytes], T]:
    """Make the decoder of a stage: from JSON bytes to a `kind`, a dataclass.

    The decoder raises ValueError if any part of the value has another type, or if the value could
    not be encoded as JSON again.
    """
    adapter: TypeAdapter[T] = TypeAdapter(kind)

    def decode(row: bytes) -> T:
        value = adapter.validate_json(row, strict=True)
        check_writable(value)
        return value

    return decode
