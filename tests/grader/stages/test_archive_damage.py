"""Damaged records in archives are named in every call, and looked for once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from material import article, write_archive
from page_steps import opened_pages, visit

from cache.folder import Cache
from grader.stages.archive_damage import find_damage


async def test_damage_in_an_archive_is_named_in_each_call(tmp_path: Path) -> None:
    url = "https://a.example/"
    archive = write_archive(tmp_path / "pages.warc", {url: article("Larch", "The larch is old.")})
    with archive.open("ab") as file:
        place = file.tell()
        file.write(b"garbage" * 20)
    for name in ("pages.warc", "pages.warc", "moved.warc"):
        archive = archive.rename(tmp_path / name)
        # The second call reads the cache only.
        async with opened_pages(tmp_path / "cache", 1, pages=(archive,)) as pages:
            assert (await visit(pages, url)).state == "ok"
            (problem,) = pages.problems
        assert problem.startswith(f"{archive}: at byte {place}: no record can be read")


async def test_an_archive_is_read_for_damage_once(tmp_path: Path) -> None:
    told: dict[Path, list[str]] = {}
    read = []

    async def digests() -> dict[Path, bytes]:
        return {Path("a.warc"): b"1", Path("b.warc"): b"2"}

    async def index() -> None:
        read.append("all")

    archives: Any = SimpleNamespace(
        digests=digests,
        index=index,
        damage=lambda path: [f"{path}: cut"],
        recall_damage=told.__setitem__,
    )
    async with Cache.open(tmp_path) as cache:
        await find_damage(archives, cache.ledger)
        assert (read, told) == (["all"], {})
        await find_damage(archives, cache.ledger)
    assert read == ["all"]
    assert told == {Path("a.warc"): ["a.warc: cut"], Path("b.warc"): ["b.warc: cut"]}
