"""Damaged records in archives, named in every call and looked for once."""

from collections.abc import Callable
from pathlib import Path

import orjson

from cache.digests import digest
from cache.ledger import Ledger
from fetchers.archives.archive import DAMAGE_VERSION, Archives
from grader.stages.stored import decoder

_MESSAGES: Callable[[bytes], list[str]] = decoder(list[str])


async def find_damage(archives: Archives, ledger: Ledger) -> None:
    """Name the damaged records in `archives`, also if all their pages are in the cache.

    The messages for a file are kept in the ledger by its digest, so that one call reads the file.
    Raises CacheError or ArchiveError.
    """
    keys = {
        path: digest(DAMAGE_VERSION, content.hex())
        for path, content in (await archives.digests()).items()
    }
    known = await ledger.get_many("damage", list(keys.values()))
    unread: dict[bytes, Path] = {}
    for path, key in keys.items():
        try:
            archives.recall_damage(path, _MESSAGES(known[key]))
        except (KeyError, ValueError):
            unread[key] = path
    if unread:
        await archives.index()
        rows = [(key, orjson.dumps(archives.damage(path))) for key, path in unread.items()]
        await ledger.append_many("damage", rows)
