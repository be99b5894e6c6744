"""The cache folder: a ledger and a store of bodies, side by side."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cache.batches import batches
from cache.bodies import Bodies
from cache.errors import CacheError, MissingBody, cache_errors
from cache.ledger import Ledger, StageSize, StoredRow
from cache.responses import bodies_needed


@dataclass(frozen=True, slots=True)
class Stats:
    """The contents of a cache: rows and bytes by stage, bodies and their bytes on disk."""

    stages: Mapping[str, StageSize]
    bodies: int
    body_bytes: int


@dataclass(frozen=True, slots=True)
class DamagedEntry:
    """A part of the cache that cannot be read back as it was written."""

    where: str
    problem: str


class Cache:
    """A folder with the results of stages (`ledger`) and the bodies of pages (`bodies`).

    Use it as `async with Cache.open(folder) as cache`.
    """

    def __init__(self, folder: Path, ledger: Ledger, bodies: Bodies) -> None:
        self.folder = folder
        self.ledger = ledger
        self.bodies = bodies

    @classmethod
    @asynccontextmanager
    async def open(cls, folder: Path) -> AsyncIterator["Cache"]:
        """Open `folder`; create it if it is missing. Raises CacheError if it cannot be written."""
        await asyncio.to_thread(_check_writable, folder)
        bodies = await asyncio.to_thread(Bodies, folder / "bodies")
        ledger = await Ledger.open(folder / "ledger.sqlite3")
        try:
            yield cls(folder, ledger, bodies)
        finally:
            await ledger.close()
            bodies.close()

    async def stats(self) -> Stats:
        """Count the rows and bodies."""
        stages = await self.ledger.sizes()
        return Stats(stages, len(self.bodies), await asyncio.to_thread(self.bodies.size))

    async def verify(self) -> AsyncIterator[DamagedEntry]:
        """Read everything back and give each damaged entry: of the ledger's file, its rows, the
        bodies that rows need, and the other bodies."""
        try:
            for fault in await self.ledger.faults():
                yield DamagedEntry("ledger", fault)
            async for page in self.ledger.pages():
                for entry in await asyncio.to_thread(self._damaged_rows, page):
                    yield entry
        except CacheError as error:  # the file's structure is damaged: its rows cannot be read
            yield DamagedEntry("ledger", str(error))
        try:
            async for digests in batches(self.bodies, 100):
                for entry in await asyncio.to_thread(self._damaged_bodies, digests):
                    yield entry
        except CacheError as error:
            yield DamagedEntry("bodies", str(error))

    def _damaged_rows(self, page: list[StoredRow]) -> list[DamagedEntry]:
        found = []
        for stored in page:
            where = f"ledger row {stored.id} ({stored.row.stage} {stored.row.key.hex()})"
            if not stored.intact:
                found.append(DamagedEntry(where, "its checksum is wrong"))
                continue
            found += [
                DamagedEntry(where, f"its body {digest} is missing")
                for digest in bodies_needed(stored.row.value)
                if digest not in self.bodies
            ]
        return found

    def _damaged_bodies(self, digests: list[str]) -> list[DamagedEntry]:
        found = []
        for digest in digests:
            try:
                self.bodies.get(digest)
            except MissingBody as error:
                found.append(DamagedEntry(f"body {digest}", str(error)))
        return found


def _check_writable(folder: Path) -> None:
    with cache_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
