"""Lines that wait on disk for the others of their group."""

import pytest

from cache.errors import CacheError
from grader.runs.groups import BATCH, LineGroups


def test_groups_come_in_the_order_of_their_first_lines() -> None:
    with LineGroups[str]() as groups:
        for number in range(3 * BATCH):
            groups.add("ab"[number % 2], f"f:{number}", b"%d" % number)
        found = dict(groups)
    assert list(found) == ["a", "b"]
    assert found["b"] == [(f"f:{n}", b"%d" % n) for n in range(1, 3 * BATCH, 2)]


def test_a_full_disk_is_an_error() -> None:
    with LineGroups[str]() as groups:
        groups._base.execute("PRAGMA max_page_count = 20")
        for number in range(BATCH - 1):
            groups.add("a", f"f:{number}", b"x" * 1000)
        with pytest.raises(CacheError, match="the disk is full"):
            groups.add("a", "f", b"x")
