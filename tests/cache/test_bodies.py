import asyncio
import multiprocessing
import pickle
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import diskcache
import pytest

from cache.bodies import Bodies
from cache.digests import content_digest
from cache.errors import CacheError, MissingBody

BIG = bytes(range(256)) * 1000  # in a file of its own
SMALL = b"\x00\xff page"  # inside the database


@pytest.fixture
def bodies(tmp_path: Path) -> Iterator[Bodies]:
    bodies = Bodies(tmp_path)
    yield bodies
    bodies.close()


@pytest.mark.parametrize("body", [b"", SMALL, BIG], ids=["empty", "small", "big"])
def test_a_body_comes_back_under_its_digest(bodies: Bodies, body: bytes) -> None:
    digest = bodies.put(body)
    assert digest == content_digest(body) == bodies.put(body)
    assert digest in bodies
    assert bodies.get(digest) == body
    assert list(bodies) == [digest]
    assert len(bodies) == 1


async def test_a_coroutine_puts_a_body(bodies: Bodies) -> None:
    digests = await asyncio.gather(*(bodies.aput(b"%d" % number) for number in range(20)))
    assert bodies.get(digests[7]) == b"7"


def test_a_missing_body_is_reported(bodies: Bodies) -> None:
    digest = content_digest(b"never kept")
    assert digest not in bodies
    with pytest.raises(MissingBody, match=f"{digest} is missing"):
        bodies.get(digest)


def test_only_bytes_are_stored(bodies: Bodies, tmp_path: Path) -> None:
    for value in ("text", 7, None, bytearray(b"x")):
        with pytest.raises(TypeError):
            bodies.put(value)  # type: ignore[arg-type]
    assert len(bodies) == 0


class Trap:
    """Unpickling it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> object:
        return (Path.touch, (self.mark,))


@pytest.mark.parametrize("padding", [0, 100_000], ids=["inline", "file"])
def test_a_pickle_in_the_folder_is_never_loaded(tmp_path: Path, padding: int) -> None:
    mark = tmp_path / "executed"
    digest = content_digest(b"x")
    with diskcache.Cache(tmp_path / "bodies") as hostile:
        hostile[digest] = (Trap(mark), "x" * padding)
        hostile[(Trap(mark), 1)] = b"under a pickled key"
    assert not mark.exists() or mark.unlink() is None
    bodies = Bodies(tmp_path / "bodies")
    with pytest.raises(MissingBody, match="cannot be read"):
        bodies.get(digest)
    assert len(list(bodies)) == 2
    assert not mark.exists()
    assert bodies.put(b"x") == digest
    assert bodies.get(digest) == b"x"
    pickle.loads(pickle.dumps(Trap(mark)))
    assert mark.exists()  # the trap would have sprung


def test_no_file_outside_the_folder_is_read(bodies: Bodies, tmp_path: Path) -> None:
    digest = bodies.put(BIG)
    secret = tmp_path.parent / "secret"
    secret.write_bytes(BIG)
    with sqlite3.connect(tmp_path / "cache.db") as outside:
        outside.execute("UPDATE Cache SET filename = ?", (f"../{secret.name}",))
    with pytest.raises(MissingBody):
        bodies.get(digest)


@pytest.mark.parametrize("body", [SMALL, BIG], ids=["small", "big"])
def test_a_damaged_body_is_reported_and_replaced_by_the_next_put(
    bodies: Bodies, tmp_path: Path, body: bytes
) -> None:
    digest = bodies.put(body)
    changed = b"X" + body[1:]
    for file in tmp_path.rglob("*.val"):
        file.write_bytes(changed)
    with sqlite3.connect(tmp_path / "cache.db") as outside:
        outside.execute("UPDATE Cache SET value = ? WHERE value IS NOT NULL", (changed,))
    with pytest.raises(MissingBody, match="damaged"):
        bodies.get(digest)
    bodies.put(body)
    assert bodies.get(digest) == body


def test_nothing_is_evicted(tmp_path: Path) -> None:
    with diskcache.Cache(tmp_path, size_limit=1000, cull_limit=10):
        pass  # settings of an older hand do not count either
    bodies = Bodies(tmp_path)
    digests = [bodies.put(b"%d" % number * 1000) for number in range(50)]
    assert all(digest in bodies for digest in digests)


def _work(folder: Path) -> list[str]:
    bodies = Bodies(folder)
    return [bodies.put(b"%d" % number * 20_000) for number in range(20)]


def test_processes_share_a_store(tmp_path: Path, bodies: Bodies) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        one, two = pool.map(_work, [tmp_path, tmp_path])
    assert one == two == _work(tmp_path)
    assert len(bodies) == 20
    assert all(content_digest(bodies.get(digest)) == digest for digest in one)


def test_a_folder_that_is_not_a_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"no database" * 1000)
    with pytest.raises(CacheError, match="is not part of an Assay cache"):
        Bodies(tmp_path)
