"""The files of a call: they grow while it goes on, and end in the order of the input."""

import json
import random
import resource
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from grader.kinds.result import Result
from grader.lines import OutputError
from grader.results.files import WRITE_SIZE, Output
from grader.runs.submissions import Reject


def result(ordinal: int, rows: Sequence[Any] = (), **score: Any) -> Result:
    return Result(ordinal, "r", "t", "0", "collection", 0, "", {}, {"n": ordinal, **score}, rows)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_order_of_the_input_is_restored(tmp_path: Path) -> None:
    order = list(range(300))
    random.Random(7).shuffle(order)
    output = Output(tmp_path)
    for n in order:
        output.add(result(n, [{"n": n, "row": row, "é": "é" * n * 10} for row in range(n % 4)]))
    output.close()
    assert [row["n"] for row in lines(tmp_path / "scores.jsonl")] == list(range(300))
    rows = [(row["n"], row["row"]) for row in lines(tmp_path / "records.jsonl")]
    assert rows == [(n, row) for n in range(300) for row in range(n % 4)]
    assert {path.name for path in tmp_path.iterdir()} == {
        "records.jsonl", "scores.jsonl", "rejects.jsonl",
    }  # fmt: skip


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_submissions_of_any_length_are_sorted_whole(tmp_path: Path, extra: int) -> None:
    around = len('{"x":""}\n')
    output = Output(tmp_path)
    for n in (1, 0):
        output.add(result(n, [{"x": str(n) * (WRITE_SIZE - around + extra)}]))
    output.close()
    assert (tmp_path / "records.jsonl").stat().st_size == 2 * (WRITE_SIZE + extra)
    assert [row["x"][0] for row in lines(tmp_path / "records.jsonl")] == ["0", "1"]


def test_ordinals_may_have_gaps(tmp_path: Path) -> None:
    output = Output(tmp_path)
    for n in (9, 2, 5):
        output.add(result(n))
    output.close()
    assert [row["n"] for row in lines(tmp_path / "scores.jsonl")] == [2, 5, 9]


def test_files_grow_with_the_results(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.add(result(1, [{"x": "x" * WRITE_SIZE}]))
    assert (tmp_path / "records.jsonl").stat().st_size > WRITE_SIZE
    output.add(result(0, [{"x": 1}]))
    output.reject(Reject("f:1", "why"))
    output.summarise({"runs": {}})
    assert len(lines(tmp_path / "records.jsonl")) == 2
    assert [row["n"] for row in lines(tmp_path / "scores.jsonl")] == [1, 0]
    assert lines(tmp_path / "rejects.jsonl")[0]["where"] == "f:1"
    output.close()


def test_a_call_begins_its_files_anew(tmp_path: Path) -> None:
    for n in (0, 1):
        output = Output(tmp_path / "deep" / "out")
        output.add(result(n, [{}]))
        output.summarise({"n": n})
        output.close()
    assert [row["n"] for row in lines(tmp_path / "deep" / "out" / "scores.jsonl")] == [1]
    assert json.loads((tmp_path / "deep" / "out" / "summary.json").read_text()) == {"n": 1}


def test_rejects_keep_their_order_and_their_fields(tmp_path: Path) -> None:
    output = Output(tmp_path)
    for n in range(3):
        output.reject(Reject(f"f:{n}", "why", "r", "t", "0"))
    output.close()
    assert lines(tmp_path / "rejects.jsonl") == [
        {"where": f"f:{n}", "reason": "why", "run": "r", "task": "t", "rollout": "0"}
        for n in range(3)
    ]


def test_rejects_may_come_from_another_thread(tmp_path: Path) -> None:
    output = Output(tmp_path)

    def reject(n: int) -> None:
        output.reject(Reject(f"f:{n}", "x" * 1_000))

    with ThreadPoolExecutor(2) as threads:
        done = threads.map(reject, range(3_000))
        for n in range(300):
            output.summarise({"n": n})
        list(done)
    output.close()
    assert len({row["where"] for row in lines(tmp_path / "rejects.jsonl")}) == 3_000


@pytest.mark.parametrize("name", ["records.jsonl", "scores.jsonl", "rejects.jsonl", "summary.json"])
def test_no_input_is_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    run = tmp_path / "out" / name
    run.write_text("precious")
    (tmp_path / "link").symlink_to(run)
    for path in (run, tmp_path / "link", tmp_path / "out" / ".." / "out" / name):
        with pytest.raises(OutputError, match="is an input"):
            Output(tmp_path / "out", [path])
    assert run.read_text() == "precious"
    assert len(list((tmp_path / "out").iterdir())) == 1


@pytest.mark.parametrize("name", ["records.jsonl.new", "summary.json.new"])
def test_no_input_is_overwritten_by_a_file_that_is_written_first(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious")
    with pytest.raises(OutputError, match="is an input"):
        Output(tmp_path, [tmp_path / name])
    assert (tmp_path / name).read_text() == "precious"


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_link_to_an_input_is_not_written_through(tmp_path: Path, link: Any) -> None:
    (tmp_path / "run.jsonl").write_text("precious")
    (tmp_path / "out").mkdir()
    link(tmp_path / "out" / "records.jsonl", tmp_path / "run.jsonl")
    with pytest.raises(OutputError, match="is an input"):
        Output(tmp_path / "out", [tmp_path / "run.jsonl"])
    assert (tmp_path / "run.jsonl").read_text() == "precious"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = ("scores.jsonl", "summary.json")
    for name in places:
        (tmp_path / name / name).mkdir(parents=True)
    taken = [(name, f"{name}/{name}") for name in places]
    for folder, place in (("file", "file"), ("file/x", "file/x"), *taken):
        with pytest.raises(OutputError, match=str(tmp_path / place)):
            Output(tmp_path / folder)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").symlink_to("/dev/full")
    output = Output(tmp_path)
    output.add(result(0, [{}]))
    with pytest.raises(OutputError, match="No space left"):
        output.summarise({})


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """As on a full disk, no file may grow further than to `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_the_whole_submissions_are_kept(tmp_path: Path) -> None:
    output = Output(tmp_path)
    with largest_file(10_000):
        for n in range(20):
            output.add(result(n, [{"n": n, "x": "x" * 1_000} for _ in range(2)]))
        with pytest.raises(OutputError, match="cannot write"):
            output.close()
    rows = [row["n"] for row in lines(tmp_path / "records.jsonl")]
    assert rows == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [row["n"] for row in lines(tmp_path / "scores.jsonl")] == list(range(20))


def test_lines_that_a_full_disk_refused_are_written_when_there_is_room(tmp_path: Path) -> None:
    output = Output(tmp_path)
    with largest_file(10_000):
        for n in range(20):
            output.add(result(n, [{"n": n, "x": "x" * 1_000}]))
        with pytest.raises(OutputError, match="cannot write"):
            output.summarise({})
    output.summarise({})
    output.close()
    assert [row["n"] for row in lines(tmp_path / "records.jsonl")] == list(range(20))


def test_a_file_that_cannot_be_sorted_stays_as_it_is(tmp_path: Path) -> None:
    output = Output(tmp_path)
    for n in (1, 0):
        output.add(result(n, [{"n": n, "x": "x" * 1_000}]))
    output.summarise({"n": 1})
    with largest_file(500), pytest.raises(OutputError, match="cannot write"):
        output.close()
    assert [row["n"] for row in lines(tmp_path / "records.jsonl")] == [1, 0]
    assert [row["n"] for row in lines(tmp_path / "scores.jsonl")] == [0, 1]
    with largest_file(500), pytest.raises(OutputError, match="cannot write"):
        output.summarise({"n": "x" * 1_000})
    assert json.loads((tmp_path / "summary.json").read_text()) == {"n": 1}
    assert not list(tmp_path.glob("*.new"))
