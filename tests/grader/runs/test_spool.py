"""Lines that wait on disk for others of their group."""

import pytest

from cache.errors import CacheError
from grader.runs.spool import BATCH, Spool


def test_groups_come_in_the_order_of_their_first_lines() -> None:
    with Spool[str]() as spool:
        for number in range(3 * BATCH):
            spool.add("ab"[number % 2], f"f:{number}", b"%d" % number)
        groups = dict(spool)
    assert list(groups) == ["a", "b"]
    assert groups["b"] == [(f"f:{n}", b"%d" % n) for n in range(1, 3 * BATCH, 2)]


def test_a_full_disk_is_said() -> None:
    with Spool[str]() as spool:
        spool._base.execute("PRAGMA max_page_count = 20")
        for number in range(BATCH - 1):
            spool.add("a", f"f:{number}", b"x" * 1000)
        with pytest.raises(CacheError, match="the disk is full"):
            spool.add("a", "f", b"x")
