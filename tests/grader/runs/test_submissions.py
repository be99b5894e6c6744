"""Run files to submissions and records: both shapes, hostile lines, raw responses, rejects."""

import gzip
import json
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from grader.runs.submissions import Reader, Reject, Submission, read_submission
from grader.tasks.collection import CollectionTask

URL = {"name": "url", "volume": 1}
TASK = CollectionTask.model_validate(
    {
        "name": "t",
        "kind": "collection",
        "keys": [{"name": "company", "volume": 2}, {"name": "year", "volume": 1}, URL],
        "subtasks": [
            {
                "name": "listings",
                "parent": "company",
                "keys": [{"name": "exchange", "volume": 1}, URL],
                "subtasks": [{"name": "prices", "parent": "exchange", "keys": [URL]}],
            }
        ],
    }
)
OTHER = CollectionTask.model_validate({"name": "u", "kind": "collection", "keys": [URL]})


def record(company: Any = "Acme", **more: Any) -> dict[str, Any]:
    item = {"company": company, "year": "2025"}
    return {"item": item, "url": "https://a.example/", "excerpts": ["x"], "answer": 1, **more}


def whole(*records: Any, **more: Any) -> dict[str, Any]:
    return {"task": "t", "records": list(records), **more}


def single(one: Any, **more: Any) -> dict[str, Any]:
    return {"task": "t", "record": one, **more}


class Read:
    """What a Reader makes of some files."""

    def __init__(self, *paths: Path | str, limit: int | None = None) -> None:
        self.rejects: list[Reject] = []
        tasks = {"t": TASK, "u": OTHER}
        self.reader = Reader([*map(str, paths)], tasks, self.rejects.append, limit)
        self.submissions = list(self.reader)

    @property
    def names(self) -> list[tuple[str, str, str]]:
        return [(one.run, one.task.name, one.rollout) for one in self.submissions]

    @property
    def companies(self) -> list[list[Any]]:
        return [[r.item.get("company") for r in one.records] for one in self.submissions]

    @property
    def reasons(self) -> list[tuple[str, str]]:
        return [(Path(reject.where).name, reject.reason) for reject in self.rejects]


def write(path: Path, *lines: Any) -> Path:
    path.write_bytes(b"".join(raw(line) + b"\n" for line in lines))
    return path


def raw(line: Any) -> bytes:
    return line if isinstance(line, bytes) else json.dumps(line).encode()


# Shapes, files, names


def test_both_shapes_may_be_mixed_and_spread_over_files(tmp_path: Path) -> None:
    one = write(
        tmp_path / "one.jsonl",
        single(record("A"), run="x"),
        whole(record("B"), record("C"), run="y"),
        single(record("D"), run="x"),
    )
    two = write(
        tmp_path / "two.jsonl",
        single(record("E"), run="x"),
        single(record("F"), run="x", rollout=1),
    )
    read = Read(one, two)
    assert read.names == [("y", "t", "0"), ("x", "t", "0"), ("x", "t", "1")]
    assert read.companies == [["B", "C"], ["A", "D", "E"], ["F"]]
    assert [r.index for r in read.submissions[1].records] == [0, 1, 2]
    assert [one.where for one in read.submissions] == [f"{one}:2", f"{one}:1", f"{two}:2"]
    assert not read.rejects


def test_a_complete_submission_is_yielded_before_the_next_line_is_read(tmp_path: Path) -> None:
    rejects: list[Reject] = []
    path = write(tmp_path / "r.jsonl", single(record()), whole(record(), rollout=1), b"{")
    submissions = iter(Reader([str(path)], {"t": TASK}, rejects.append))
    assert next(submissions).rollout == "1"
    assert not rejects
    assert next(submissions).rollout == "0"
    assert rejects


@pytest.mark.parametrize("name", ["sysA.jsonl", "sysA.jsonl.gz"])
def test_the_run_is_the_files_stem_and_the_rollout_0(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    data = raw(whole(record()))
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert Read(path).names == [("sysA", "t", "0")]


def test_names_may_be_numbers_and_nothing_else(tmp_path: Path) -> None:
    path = write(
        tmp_path / "r.jsonl",
        whole(run=7, rollout=3),
        whole(run=None, rollout=None),
        whole(run="", rollout=""),
        whole(rollout=True),
        whole(rollout=[1]),
        whole(run={}),
    )
    read = Read(path)
    assert read.names == [("7", "t", "3"), ("r", "t", "0")]
    assert read.reasons == [
        ("r.jsonl:3", "a second copy of a submission"),
        ("r.jsonl:4", "rollout is not a text or a whole number"),
        ("r.jsonl:5", "rollout is not a text or a whole number"),
        ("r.jsonl:6", "run is not a text or a whole number"),
    ]


def test_two_files_with_one_stem_need_the_run_in_their_lines(tmp_path: Path) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
    paths = [
        write(tmp_path / "a" / "r.jsonl", whole(record()), whole(record(), run="x")),
        write(tmp_path / "b" / "r.jsonl", whole(record(), run="y")),
    ]
    read = Read(*paths)
    assert read.names == [("x", "t", "0"), ("y", "t", "0")]
    assert [reject.where for reject in read.rejects] == [f"{paths[0]}:1"]
    assert "names no run" in read.rejects[0].reason


def test_a_second_copy_is_rejected_with_its_name(tmp_path: Path) -> None:
    path = write(
        tmp_path / "r.jsonl",
        whole(record("A")),
        whole(record("B")),
        single(record("C")),
        single(record("D"), rollout="1"),
        whole(record("E"), rollout="1"),
        whole(record("F"), rollout="2"),
    )
    read = Read(path)
    assert read.companies == [["A"], ["F"], ["D"]]
    copies = [(Path(r.where).name, r.run, r.task, r.rollout) for r in read.rejects]
    assert copies == [
        ("r.jsonl:2", "r", "t", "0"),
        ("r.jsonl:3", "r", "t", "0"),
        ("r.jsonl:5", "r", "t", "1"),
    ]
    assert {r.reason for r in read.rejects} == {"a second copy of a submission"}


def test_a_line_cannot_be_both_shapes(tmp_path: Path) -> None:
    read = Read(write(tmp_path / "r.jsonl", {**whole(record()), "record": record()}))
    assert read.reasons == [("r.jsonl:1", "has both records and a record")]


def test_unknown_fields_are_no_error(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", whole(record(note="x"), trajectory=[], search_calls=3))
    assert Read(path).companies == [["Acme"]]


@pytest.mark.parametrize(
    ("limit", "companies"),
    [
        (1, [["A"]]),
        (2, [["A", "B"]]),
        (3, [["A", "B"], ["C"]]),
        (5, [["A", "B"], ["C", "D"], ["E"]]),
        (99, [["A", "B"], ["C", "D"], ["E"]]),
    ],
)
def test_a_limit_counts_records(tmp_path: Path, limit: int, companies: list[list[str]]) -> None:
    path = write(
        tmp_path / "r.jsonl",
        single(record("E"), run="late"),
        whole(record("A"), record("B")),
        whole(record("C"), record("D"), rollout=1),
    )
    assert Read(path, limit=limit).companies == companies


def test_how_much_was_read_is_known(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", *(whole(record(), rollout=n) for n in range(4)))
    reader = Reader([str(path)], {"t": TASK}, lambda reject: None)
    shares = [reader.share_read for _ in reader]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert reader.rejects == 0


def test_the_share_of_standard_input_is_unknown() -> None:
    assert Reader(["-"], {"t": TASK}, lambda reject: None)._sizes == [0]


def test_rejects_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", b"{", whole(record()), whole(record()))
    read = Read(path)
    assert read.reader.rejects == len(read.rejects) == 2


# Errors


def test_a_failed_attempt_has_no_records(tmp_path: Path) -> None:
    path = write(
        tmp_path / "r.jsonl",
        {"task": "t", "error": "out of time"},
        whole(record(), rollout=1, error="crashed"),
        whole(record(), rollout=2, error=""),
        whole(record(), rollout=3, error=None),
        single(record(), rollout=4, error={"code": 1}),
    )
    read = Read(path)
    assert [(one.error, len(one.records)) for one in read.submissions] == [
        ("out of time", 0),
        ("crashed", 0),
        ("", 1),
        ("", 1),
        ("{'code': 1}", 0),
    ]


# What is rejected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "unreadable JSON"),
        (b"[1]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'{"task": "t", "records": [}', "unreadable JSON"),
        (b'{"task": "\xff"}', "unreadable JSON"),
        (b"\x00\x00\x00", "unreadable JSON"),
        (b"[" * 100_000, "unreadable JSON"),
        (b'{"a":' * 100_000, "unreadable JSON"),
        (b"\xff\xfe{\x00}\x00", "unreadable JSON"),
        ({"records": []}, "names no task"),
        ({"task": "T", "records": []}, "unknown task 'T'"),
        ({"task": ["t"], "records": []}, "unknown task ['t']"),
        ({"task": "t"}, "has no records"),
        ({"task": "t", "records": {}}, "records is not a list"),
        ({"task": "t", "records": None}, "records is not a list"),
        ({"task": "t", "response": 7}, "has no records"),
    ],
)
def test_a_bad_line_is_rejected_and_the_others_count(
    tmp_path: Path, line: Any, reason: str
) -> None:
    path = write(
        tmp_path / "r.jsonl", whole(record("A"), run="a"), b"", line, whole(record("B"), run="b")
    )
    read = Read(path)
    assert read.companies == [["A"], ["B"]]
    ((where, told),) = read.reasons
    assert where == "r.jsonl:3"
    assert reason in told


@pytest.mark.parametrize("shape", [whole, single])
def test_a_record_of_an_unknown_subtask_is_rejected_alone(tmp_path: Path, shape: Any) -> None:
    read = Read(
        write(tmp_path / "r.jsonl", shape(record(subtask="prices")), single(record("B"), rollout=1))
    )
    assert read.companies == [[], ["B"]]
    ((where, told),) = read.reasons
    assert (where, told) == ("r.jsonl:1", "record 0: unknown subtask 'prices'")
    assert (read.rejects[0].run, read.rejects[0].task) == ("r", "t")


def test_indices_count_rejected_records_too(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", whole(record("A"), record(subtask="?"), record("B")))
    assert [r.index for r in Read(path).submissions[0].records] == [0, 2]


def test_missing_and_unreadable_files_are_rejects(tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", whole(record()))
    notgz = write(tmp_path / "not.jsonl.gz", whole(record()))
    read = Read(tmp_path / "gone.jsonl", tmp_path, notgz, good)
    assert read.names == [("good", "t", "0")]
    assert [Path(r.where).name for r in read.rejects] == [
        "gone.jsonl:1",
        f"{tmp_path.name}:1",
        "not.jsonl.gz:1",
    ]
    assert all("unreadable" in r.reason for r in read.rejects)


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_lines_before_damage_in_a_gzip_file_count(tmp_path: Path, damage: str) -> None:
    lines = [raw(whole(record(f"{n}-{'x' * 50}"), rollout=n)) + b"\n" for n in range(2_000)]
    packed = bytearray(gzip.compress(b"".join(lines)))
    if damage == "cut":
        del packed[len(packed) // 2 :]
    else:
        packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "r.jsonl.gz").write_bytes(packed)
    read = Read(tmp_path / "r.jsonl.gz")
    read_well = [name for name in read.names if name[0] == "r"]
    assert 0 < len(read_well) < 2_000
    assert (
        read.rejects[-1].where == f"{tmp_path / 'r.jsonl.gz'}:{len(read.names) + len(read.rejects)}"
    )
    assert "unreadable from here on" in read.rejects[-1].reason


def test_marks_and_line_ends_of_other_systems_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + raw(whole(record("A"))) + b"\r\n\r\n" + raw(whole(record("B"), rollout=1))
    )
    assert Read(path).companies == [["A"], ["B"]]


def test_a_line_of_50_mb_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", whole(record(excerpts=["x" * 50_000_000])), b"{")
    read = Read(path)
    assert len(read.submissions[0].records[0].excerpts[0]) == 50_000_000
    assert [where for where, _ in read.reasons] == ["r.jsonl:2"]


def test_values_that_json_does_not_have_are_replaced(tmp_path: Path) -> None:
    line = rb'{"task":"t","record":{"item":{"company":"A\ud800","year":"\u0000"},"url":"u",'
    line += rb'"excerpts":[],"answer":[NaN,-Infinity,1e999,1e3,1' + b"0" * 40
    line += b",12345678901234567,-" + b"9" * 5000 + b"]}}"
    (one,) = Read(write(tmp_path / "r.jsonl", line)).submissions
    assert one.records[0].item == {"company": "A?", "year": "\0"}
    assert one.records[0].answer == [None, None, None, 1000.0, 1e40, 12345678901234567, None]


def test_a_closed_standard_input_is_a_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)  # as Python has it where it was closed
    assert Read("-").reasons == [("-:1", "unreadable from here on: standard input is closed")]


# Malformed records are submitted failures


@pytest.mark.parametrize(
    ("malformed", "fault"),
    [
        (None, "not an object"),
        ([], "not an object"),
        ("x", "not an object"),
        (record(url=None), "no url"),
        (record(url=" "), "no url"),
        (record(url=["https://a.example/"]), "no url"),
        (record(item=None), "no item; no company in item; no year in item"),
        (record(item=["Acme"]), "no item; no company in item; no year in item"),
        (record(item={"company": "A"}), "no year in item"),
        (record(""), "no company in item"),
        (record(" \t"), "company is not a text"),
        (record(None), "no company in item"),
        (record(True), "company is not a text"),
        (record(["A"]), "company is not a text"),
        (record({"name": "A"}), "company is not a text"),
        (record(excerpts="x"), "excerpts is not a list of texts"),
        (record(excerpts=["x", 1]), "excerpts is not a list of texts"),
        (record(excerpts={"x": 1}), "excerpts is not a list of texts"),
        (record(subtask=7), "subtask is not a text"),
        (record(subtask="listings"), "no exchange in item"),
    ],
)
def test_a_malformed_record_is_submitted_and_fails(
    tmp_path: Path, malformed: Any, fault: str
) -> None:
    read = Read(write(tmp_path / "r.jsonl", whole(record(), malformed, record())))
    (one,) = read.submissions
    assert [r.index for r in one.records] == [0, 1, 2]
    assert [r.fault for r in one.records] == ["", fault, ""]
    assert not read.rejects


def test_a_record_that_nests_too_deep_fails_alone(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    read = Read(
        write(
            tmp_path / "r.jsonl", whole(record(answer=deep)), single(record(answer=deep), run="s")
        )
    )
    for one in read.submissions:
        assert "cannot be written" in one.records[0].fault
    assert len(read.submissions) == 2


def test_numbers_count_as_texts_in_key_fields_alone(tmp_path: Path) -> None:
    item = {"company": 374, "year": 2025.5, "other": 7}
    (one,) = Read(write(tmp_path / "r.jsonl", whole(record(item=item)))).submissions
    assert one.records[0].item == {"company": "374", "year": "2025.5", "other": 7}
    assert not one.records[0].fault


def test_a_record_without_excerpts_or_answer_is_well_formed(tmp_path: Path) -> None:
    bare = {"item": {"company": "A", "year": "1"}, "url": "u"}
    (one,) = Read(write(tmp_path / "r.jsonl", whole(bare))).submissions
    assert (one.records[0].excerpts, one.records[0].answer, one.records[0].fault) == ((), None, "")


def test_a_subtasks_record_carries_its_own_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path / "r.jsonl",
        whole(
            {"item": {"company": "A", "exchange": "X"}, "url": "u", "subtask": "listings"},
            {"item": {"exchange": "X"}, "url": "u", "subtask": "listings.prices"},
            {"item": {"company": "A", "year": "1"}, "url": "u", "subtask": None},
        ),
    )
    (one,) = Read(path).submissions
    assert [r.subtask for r in one.records] == ["listings", "listings.prices", None]
    assert not any(r.fault for r in one.records)


def test_a_record_of_100_000_excerpts_is_read(tmp_path: Path) -> None:
    (one,) = Read(write(tmp_path / "r.jsonl", whole(record(excerpts=["e"] * 100_000)))).submissions
    assert len(one.records[0].excerpts) == 100_000


def test_a_record_that_nests_too_deep_in_a_response_does_not_stop_the_others() -> None:
    deep = '{"item": {"company": "A", "year": "1"}, "url": "u", "answer": ' + "[" * 600 + "]" * 600
    found = read_submission(TASK, {"response": f"[{deep}}}, {json.dumps(record('B'))}]"}).records
    assert [bool(r.fault) for r in found] == [True, False]


# From memory


def test_a_submission_is_made_of_an_object_in_memory() -> None:
    one = read_submission(
        TASK, {"run": "s", "rollout": 2, "records": [record(excerpts=("x",)), None]}
    )
    assert isinstance(one, Submission)
    assert (one.run, one.rollout, one.where, one.error) == ("s", "2", "", "")
    assert one.task is TASK
    assert [r.fault for r in one.records] == ["", "not an object"]
    assert (
        read_submission(TASK, {"response": json.dumps([record("A")])}).records[0].item["company"]
        == "A"
    )
    assert read_submission(TASK, {"error": "late"}).error == "late"


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"records": 3},
        {"records": [record(subtask="none")]},
        {"records": [], "rollout": []},
        {"response": None},
    ],
)
def test_an_object_that_is_not_a_submission_is_an_error(data: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_submission(TASK, data)


@pytest.mark.parametrize("value", ["\ud800", {1, 2}, object(), 2**70])
def test_a_value_that_json_cannot_hold_makes_a_record_malformed(value: Any) -> None:
    (one,) = read_submission(TASK, {"records": [record(answer=value)]}).records
    assert one.fault


# Memory and time


def test_memory_does_not_grow_with_the_input(tmp_path: Path) -> None:
    def lines() -> Iterable[bytes]:
        for n in range(6_000):
            yield raw(single(record(excerpts=["x" * 2_000]), rollout=n % 200)) + b"\n"

    path = tmp_path / "r.jsonl"
    with path.open("wb") as file:
        file.writelines(lines())
    reader = Reader([str(path)], {"t": TASK}, lambda reject: None)
    tracemalloc.start()
    sizes = [len(one.records) for one in reader]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes == [30] * 200
    assert peak < path.stat().st_size / 5


def test_groups_come_in_the_order_of_their_first_lines(tmp_path: Path) -> None:
    order = ["c", "a", "b", "a", "c", "b", "b"]
    path = write(
        tmp_path / "r.jsonl", *(single(record(f"{n}"), run=run) for n, run in enumerate(order))
    )
    read = Read(path)
    assert [name[0] for name in read.names] == ["c", "a", "b"]
    assert read.companies == [["0", "4"], ["1", "3"], ["2", "5", "6"]]
