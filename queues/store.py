"""Where a stage keeps its results between runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Out = TypeVar("Out")


class Store(Protocol):
    """An append-only ledger of rows by stage and key. A newer row of a key replaces older ones."""

    async def get_many(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The newest row of each key. Keys without a row are left out."""

    async def append_many(self, stage: str, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Commit `rows` (pairs of key and value). They are on disk when this returns."""


@dataclass(frozen=True, slots=True)
class Memory(Generic[Out]):
    """How a stage stores its results.

    `encode` and `decode` turn a result into a row and back. A row for which `decode` raises counts
    as a miss. Results for which `keep` is false are not stored. A stored result for which `fresh`
    is false is computed again, and its new row is appended.
    """

    store: Store
    encode: Callable[[Out], bytes]
    decode: Callable[[bytes], Out]
    keep: Callable[[Out], bool] = lambda out: True
    fresh: Callable[[Out], bool] = lambda out: True
