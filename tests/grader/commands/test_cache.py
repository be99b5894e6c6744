"""The commands that inspect the cache, and move it."""

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from cache.folder import Cache
from grader.commands.cache import cache


def run(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(cache, list(arguments), catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done.output


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two rows and a body, in the current folder."""
    monkeypatch.chdir(tmp_path)

    async def fill() -> None:
        async with Cache.open(Path(".assay")) as opened:
            await opened.ledger.append_many("judge", [(b"a", b"{}"), (b"b", b"{}")])
            await opened.bodies.aput(b"page")

    asyncio.run(fill())
    return tmp_path


def test_stats_count_rows_and_bodies(filled: Path) -> None:
    assert re.fullmatch(r"judge: 2 rows, \d+ bytes\nbodies: 1, \d+ bytes\n", run("stats"))


def test_verify_names_damage_and_ends_with_1(filled: Path) -> None:
    assert run("verify") == "nothing is damaged\n"
    with closing(sqlite3.connect(".assay/ledger.sqlite3")) as base, base:
        base.execute("UPDATE rows SET value = x'5b5d' WHERE key = x'61'")
    told = run("verify", status=1)
    assert told == "ledger row 1 (judge 61): its checksum is wrong\n"


def test_an_export_can_be_imported_elsewhere(filled: Path) -> None:
    assert run("export", "moved.warc.gz").startswith("2 rows, ")
    told = run("import", "moved.warc.gz", "--cache", "elsewhere")
    assert told.startswith("2 rows, 2 of them new, ")
    again = run("import", "moved.warc.gz", "--cache", "elsewhere")
    assert again.startswith("2 rows, 0 of them new, ")
    assert "judge: 2 rows" in run("stats", "--cache", "elsewhere")
