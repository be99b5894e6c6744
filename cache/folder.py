"""The cache folder: a ledger and a store of bodies, side by side."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cache.bodies import Bodies
from cache.errors import CacheError, MissingBody, explained
from cache.ledger import Ledger, StageSize, StoredRow
from cache.threads import batches
from cache.visits import bodies_needed


@dataclass(frozen=True, slots=True)
class Stats:
    """What a cache holds: rows and bytes by stage, bodies and their bytes on disk."""

    stages: Mapping[str, StageSize]
    bodies: int
    body_bytes: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that cannot be read back as it was written."""

    where: str
    what: str


class Cache:
    """A folder that keeps what was worked out (`ledger`) and what it was worked out from
    (`bodies`). Use it as `async with Cache.open(folder) as cache`."""

    def __init__(self, folder: Path, ledger: Ledger, bodies: Bodies) -> None:
        self.folder = folder
        self.ledger = ledger
        self.bodies = bodies

    @classmethod
    @asynccontextmanager
    async def open(cls, folder: Path) -> AsyncIterator["Cache"]:
        """Open `folder`, made if it is not there. Raises `CacheError` at once if it cannot be
        written."""
        await asyncio.to_thread(_see_writable, folder)
        bodies = await asyncio.to_thread(Bodies, folder / "bodies")
        ledger = await Ledger.open(folder / "ledger.sqlite3")
        try:
            yield cls(folder, ledger, bodies)
        finally:
            await ledger.close()
            bodies.close()

    async def stats(self) -> Stats:
        """Count everything."""
        stages = await self.ledger.sizes()
        return Stats(stages, len(self.bodies), await asyncio.to_thread(self.bodies.size))

    async def verify(self) -> AsyncIterator[Damage]:
        """Read everything back and yield what is damaged: the ledger's file, its rows, bodies that
        rows need, bodies."""
        try:
            for fault in await self.ledger.faults():
                yield Damage("ledger", fault)
            async for page in self.ledger.pages():
                for damage in await asyncio.to_thread(self._damaged_rows, page):
                    yield damage
        except CacheError as error:  # the structure itself: nothing behind it can be reached
            yield Damage("ledger", str(error))
        try:
            async for digests in batches(self.bodies, 100):
                for damage in await asyncio.to_thread(self._damaged_bodies, digests):
                    yield damage
        except CacheError as error:
            yield Damage("bodies", str(error))

    def _damaged_rows(self, page: list[StoredRow]) -> list[Damage]:
        found = []
        for stored in page:
            where = f"ledger row {stored.id} ({stored.row.stage} {stored.row.key.hex()})"
            if not stored.intact:
                found.append(Damage(where, "its checksum does not hold"))
                continue
            found += [
                Damage(where, f"its body {digest} is missing")
                for digest in bodies_needed(stored.row.value)
                if digest not in self.bodies
            ]
        return found

    def _damaged_bodies(self, digests: list[str]) -> list[Damage]:
        found = []
        for digest in digests:
            try:
                self.bodies.get(digest)
            except MissingBody as error:
                found.append(Damage(f"body {digest}", str(error)))
        return found


def _see_writable(folder: Path) -> None:
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
