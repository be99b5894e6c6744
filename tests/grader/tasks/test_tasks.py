"""Task packages and task files: what a task is, and every fault named with its place."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.tasks.packages import CollectionTask, Fault, TaskError, load, load_tasks, needing_model

URL = {"name": "url", "volume": 1}
Fields = dict[str, Any]


def key(name: str = "company", volume: Any = 2, **more: Any) -> Fields:
    return {"name": name, "volume": volume, **more}


def subtask(name: str = "listings", parent: str = "company", **more: Any) -> Fields:
    return {"name": name, "parent": parent, "keys": [URL], **more}


def collection(**more: Any) -> Fields:
    return {"name": "t", "kind": "collection", "keys": [key(), URL], **more}


def closed(*members: Any, **more: Any) -> Fields:
    return key(identity={"how": "closed", "members": list(members), **more})


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    def write(*tasks: Any) -> Path:
        path = tmp_path / "tasks.jsonl"
        path.write_text("".join(json.dumps(task) + "\n" for task in tasks), "utf-8")
        return path

    return write


def package(folder: Path, fields: str, prompt: str | None = None) -> Path:
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(fields, "utf-8")
    if prompt is not None:
        (folder / "task.md").write_text(prompt, "utf-8")
    return folder


def faults(*paths: Path) -> Sequence[Fault]:
    with pytest.raises(TaskError) as raised:
        load(paths)
    return raised.value.faults


def task(path: Path) -> CollectionTask:
    (package,) = load([path])
    return package.task


TOML = """
name = "appointments"
kind = "collection"
title = "Who was appointed"
labels = { tier = "hard", verticals = ["law", "finance"] }

[[keys]]
name = "company"
volume = 70
identity = { how = "semantic", scope = "a company" }

[[keys]]
name = "company_appointee"
fields = ["company", "appointee"]
volume = 1

[[keys]]
name = "month"
volume = 2
identity = { how = "date", format = "YYYY-MM" }

[[keys]]
name = "url"
volume = 1

[judge]
instructions = "Read the whole page."
[[judge.validity]]
id = "recent"
rule = { date_between = [2026-03-01, 2026-04-30] }
[[judge.requirements]]
id = "names_both"
text = "The page names both."

[[subtasks]]
name = "listings"
parent = "company"
keys = [{ name = "exchange", volume = 2, shared = true }, { name = "url", volume = 1 }]
[[subtasks.judge.requirements]]
id = "named"
rule = { contains = ["{item.company}", "{item.exchange}"] }

[[subtasks.subtasks]]
name = "prices"
parent = "exchange"
keys = [{ name = "url", volume = 1 }]
[[subtasks.subtasks]]
name = "filings"
parent = "company"
keys = [{ name = "url", volume = 3 }]
"""


def test_a_package_holds_a_task(tmp_path: Path) -> None:
    folder = package(tmp_path / "appointments", TOML, "Find them all.\n")
    (found,) = load([folder])
    assert found.folder == folder
    assert found.place == str(folder / "task.toml")
    assert found.task.name == "appointments"
    assert found.task.prompt == "Find them all.\n"
    assert found.task.labels == {"tier": "hard", "verticals": ["law", "finance"]}
    assert found.task.member == "company"
    assert [k.volume for k in found.task.keys] == [70, 1, 2, 1]
    assert found.task.keys[2].identity.how == "date"


TABLE = """
name = "cities"
kind = "table"
columns = [{ name = "city", format = "name" }]
key_columns = ["city"]
"""


def test_the_rows_of_a_table_may_be_in_a_file(tmp_path: Path) -> None:
    folder = package(tmp_path / "cities", TABLE)
    (folder / "rows.csv").write_text("city\nParis\nRome\n", "utf-8")
    (found,) = load([folder])
    assert found.task.rows == ({"city": "Paris"}, {"city": "Rome"})


def test_rows_in_the_fields_win_over_the_file(tmp_path: Path) -> None:
    folder = package(tmp_path / "cities", TABLE + 'rows = [{ city = "Oslo" }]\n')
    (folder / "rows.csv").write_text("city\nParis\n", "utf-8")
    assert load([folder])[0].task.rows == ({"city": "Oslo"},)


def test_an_unreadable_file_of_rows_is_a_fault(tmp_path: Path) -> None:
    folder = package(tmp_path / "cities", TABLE)
    (folder / "rows.csv").write_text("city\nParis,Rome\n", "utf-8")
    (fault,) = faults(folder)
    assert fault.place == str(folder / "rows.csv")
    assert "line 2" in fault.reason


def test_hierarchies_are_named_by_dots_and_begin_with_their_parent_key(tmp_path: Path) -> None:
    hierarchies = task(package(tmp_path / "t", TOML)).hierarchies
    levels = {name: [k.name for k in found.levels] for name, found in hierarchies.items()}
    assert levels == {
        None: ["company", "company_appointee", "month", "url"],
        "listings": ["company", "exchange", "url"],
        "listings.prices": ["exchange", "url"],
        "listings.filings": ["company", "url"],
    }
    assert {name: found.fields for name, found in hierarchies.items()} == {
        None: ("company", "appointee", "month"),
        "listings": ("company", "exchange"),
        "listings.prices": ("exchange",),
        "listings.filings": ("company",),
    }


def test_a_field_that_is_a_key_of_other_fields_asks_for_those(lines: Callable[..., Path]) -> None:
    keys = [key("pair", fields=["maker", "model"]), key("maker", fields=["firm"]), URL]
    assert task(lines(collection(keys=keys))).hierarchies[None].fields == ("firm", "model")


def test_checks_that_need_a_model_are_named_with_their_hierarchy(tmp_path: Path) -> None:
    assert needing_model(task(package(tmp_path / "t", TOML))) == ("names_both",)
    fields = collection(
        subtasks=[subtask(judge={"requirements": [{"id": "listed", "text": "It is listed."}]})]
    )
    assert needing_model(CollectionTask.model_validate(fields)) == ("listings.listed",)


def test_a_task_that_is_not_a_collection_needs_no_model(lines: Callable[..., Path]) -> None:
    (package,) = load([lines({"name": "a", "kind": "answer", "answer": "x"})])
    assert needing_model(package.task) == ()


def test_folders_packages_and_files_are_read_together(
    tmp_path: Path, lines: Callable[..., Path]
) -> None:
    for name in ("b", "a"):
        package(tmp_path / "tasks" / name, TOML.replace("appointments", name))
    file = lines(collection(name="c", prompt="Find."), collection(name="d"))
    found = load([tmp_path / "tasks", file])
    assert [one.task.name for one in found] == ["a", "b", "c", "d"]
    assert [one.place for one in found[2:]] == [f"{file}:1", f"{file}:2"]
    assert found[2].folder is None
    assert found[2].task.prompt == "Find."


def test_a_package_named_beside_its_folder_is_one_task(tmp_path: Path) -> None:
    folder = package(tmp_path / "tasks" / "a", TOML)
    assert len(load([tmp_path / "tasks", folder, folder])) == 1


def test_tasks_are_loaded_from_paths_and_names(lines: Callable[..., Path]) -> None:
    path = lines(collection())
    assert [task.name for task in load_tasks(path, str(path))] == ["t"]


def test_unknown_fields_are_no_error(lines: Callable[..., Path]) -> None:
    fields = collection(since=2026, keys=[key(hint="…"), {**URL, "x": 1}])
    assert task(lines(fields)).name == "t"


def test_the_prompt_field_wins_over_the_file(tmp_path: Path) -> None:
    assert task(package(tmp_path / "t", 'prompt = "In."\n' + TOML, "Beside.")).prompt == "In."


def test_url_is_the_member_of_a_hierarchy_with_only_urls(lines: Callable[..., Path]) -> None:
    assert task(lines(collection(keys=[URL]))).member == "url"


def test_dispatch_levels_and_aliases(lines: Callable[..., Path]) -> None:
    roster = closed("France", "Türkiye", aliases={"Türkiye": ["Turkey"]})
    assert task(lines(collection(keys=[roster, URL]))).keys[0].volume == 2


CASES: dict[str, tuple[Fields, str, str]] = {
    "no keys": ({"name": "t", "kind": "collection"}, "keys", "required"),
    "empty keys": (collection(keys=[]), "keys", "at least 1"),
    "keys no list": (collection(keys="company"), "keys", "valid tuple"),
    "key no object": (collection(keys=["company", URL]), "keys[0]", ""),
    "no name": ({"kind": "collection", "keys": [key(), URL]}, "name", "required"),
    "blank name": (collection(name=" "), "name", "at least 1"),
    "no url": (collection(keys=[key()]), "keys", "must be url"),
    "url not last": (collection(keys=[key(), URL, key("b")]), "keys", "must be url"),
    "url twice": (collection(keys=[URL, key(), URL]), "keys[2].name", "'url' is the name"),
    "key twice": (collection(keys=[key(), key(), URL]), "keys[1].name", "of another key"),
    "no volume": (collection(keys=[{"name": "a"}, URL]), "keys[0].volume", "required"),
    "volume 0": (collection(keys=[key(volume=0), URL]), "keys[0].volume", "greater"),
    "volume -1": (collection(keys=[key(volume=-1), URL]), "keys[0].volume", "greater"),
    "volume true": (collection(keys=[key(volume=True), URL]), "keys[0].volume", "integer"),
    "volume text": (collection(keys=[key(volume="3"), URL]), "keys[0].volume", "integer"),
    "volume 1e9": (collection(keys=[key(volume=1e9), URL]), "keys[0].volume", "integer"),
    "too many": (collection(keys=[key(volume=10**6), key("b", 10**6), URL]), "keys", "more than"),
    "shared": (collection(keys=[key(shared="yes"), URL]), "keys[0].shared", "boolean"),
    "no fields": (collection(keys=[key(fields=[]), URL]), "keys[0].fields", "at least 1"),
    "field twice": (
        collection(keys=[key(fields=["a", "b", "a"]), URL]), "keys[0].fields[2]", "twice"),
    "fields of url": (
        collection(keys=[key(), {**URL, "fields": ["link"]}]), "keys[1].fields", "url"),
    "url as field": (
        collection(keys=[key(fields=["company", "url"]), URL]), "keys[0].fields", "url"),
    "cycle": (
        collection(keys=[key("a", fields=["a", "b"]), key("b", fields=["b", "a"]), URL]),
        "keys", "lead back"),
    "fields that double": (
        collection(keys=[
            *(key(f"a{n}", 1, fields=[f"a{n + 1}", f"b{n + 1}"]) for n in range(40)),
            *(key(f"b{n}", 1, fields=[f"a{n + 1}", f"b{n + 1}"]) for n in range(1, 40)), URL]),
        "keys", "more than 200 fields"),
    "fields in fields": (
        collection(keys=[*(key(f"a{n}", 1, fields=[f"a{n + 1}"]) for n in range(5_000)), URL]),
        "keys", "more than 200 fields"),
    "member": (collection(member="city"), "member", "'city' is not a key"),
    "how": (collection(keys=[key(identity={"how": "close"}), URL]), "keys[0].identity", "one of"),
    "no members": (
        collection(keys=[key(identity={"how": "closed"}), URL]),
        "keys[0].identity.members", "required"),
    "no member": (collection(keys=[closed(), URL]), "keys[0].identity.members", "at least 1"),
    "member a number": (
        collection(keys=[closed("a", 7), URL]), "keys[0].identity.members[1]", "string"),
    "alias of nobody": (
        collection(keys=[closed("a", "b", aliases={"c": ["d"]}), URL]),
        "keys[0].identity.aliases", "'c' is not a member"),
    "alias of two": (
        collection(keys=[closed("a", "b", aliases={"a": ["B"]}), URL]),
        "keys[0].identity.aliases", "'b'"),
    "volume over roster": (
        collection(keys=[{**closed("a", "b"), "volume": 3}, URL]), "keys[0].volume", "2 members"),
    "date format": (
        collection(keys=[key(identity={"how": "date", "format": "MM/DD"}), URL]),
        "keys[0].identity.format", "YYYY-MM"),
    "no such parent": (
        collection(subtasks=[subtask(parent="city")]), "subtasks[0].parent", "'city' is not a key"),
    "url as parent": (
        collection(subtasks=[subtask(parent="url")]), "subtasks[0].parent", "'url' is not a key"),
    "no parent": (
        collection(subtasks=[{"name": "s", "keys": [URL]}]), "subtasks[0].parent", "required"),
    "parent key again": (
        collection(subtasks=[subtask(keys=[key(), URL])]), "subtasks[0].keys", "'company'"),
    "subtask twice": (
        collection(subtasks=[subtask(), subtask()]), "subtasks[1].name", "of another subtask"),
    "dotted name": (collection(subtasks=[subtask("a.b")]), "subtasks[0].name", "dot"),
    "subtask without url": (
        collection(subtasks=[subtask(keys=[key("b")])]), "subtasks[0].keys", "must be url"),
    "no such key of the subtask": (
        collection(subtasks=[subtask(subtasks=[subtask(parent="month")])]),
        "subtasks[0].subtasks[0].parent", "'month'"),
    "two identities": (
        collection(subtasks=[
            subtask("s", keys=[key("b", identity={"how": "exact"}), URL]),
            subtask("u", keys=[key("b"), URL]),
        ]),
        "subtasks[1].keys[0].identity", "'b'"),
    "unknown rule": (
        collection(judge={"requirements": [{"id": "x", "rule": {"contans": "y"}}]}),
        "judge.requirements[0].rule", "contains"),
    "bad regex": (
        collection(judge={"requirements": [{"id": "x", "rule": {"regex": "("}}]}),
        "judge.requirements[0].rule.regex[0]", "regular expression"),
    "bad share": (
        collection(judge={"validity": [
            {"id": "x", "rule": {"number_near": {"value": 1, "within": -1}}}]}),
        "judge.validity[0].rule.number_near.within", "greater"),
    "labels": (collection(labels=["hard"]), "labels", "dictionary"),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "where", "reason"), CASES.values(), ids=CASES)
def test_a_fault_is_named_by_file_field_and_reason(
    lines: Callable[..., Path], fields: Fields, where: str, reason: str
) -> None:
    path = lines(fields)
    (fault,) = faults(path)
    assert (fault.place, fault.field) == (f"{path}:1", where)
    assert reason.lower() in fault.reason.lower()
    assert str(fault) == f"{path}:1: {where}: {fault.reason}"


@pytest.mark.parametrize("kind", [None, "colection", ["collection"], {}])
def test_an_unknown_kind_is_a_fault(lines: Callable[..., Path], kind: Any) -> None:
    (fault,) = faults(lines(collection(kind=kind)))
    assert fault.field == "kind"
    assert "collection" in fault.reason


def test_a_union_names_the_field_and_not_its_kinds(lines: Callable[..., Path]) -> None:
    rule = {"number_near": {"value": []}}
    found = faults(lines(collection(judge={"requirements": [{"id": "x", "rule": rule}]})))
    assert {fault.field for fault in found} == {"judge.requirements[0].rule.number_near.value"}


def test_all_faults_of_all_files_come_at_once(tmp_path: Path, lines: Callable[..., Path]) -> None:
    folder = package(tmp_path / "a", TOML.replace("volume = 70", "volume = 0"))
    path = lines(
        collection(keys=[key(volume=0), key("b", "x"), URL], labels=3),
        collection(member="city", subtasks=[subtask(parent="x"), subtask(parent="url")]),
        collection(name="fine"),
        collection(name="fine"),
    )
    assert [(fault.place, fault.field) for fault in faults(folder, path)] == [
        (str(folder / "task.toml"), "keys[0].volume"),
        (f"{path}:1", "labels"),
        (f"{path}:1", "keys[0].volume"),
        (f"{path}:1", "keys[1].volume"),
        (f"{path}:2", "member"),
        (f"{path}:2", "subtasks[1].name"),
        (f"{path}:2", "subtasks[0].parent"),
        (f"{path}:2", "subtasks[1].parent"),
        (f"{path}:4", "name"),
    ]


def test_a_message_lists_a_limited_number_of_faults(lines: Callable[..., Path]) -> None:
    with pytest.raises(TaskError) as raised:
        load([lines(*[collection(keys=[])] * 5_000)])
    assert len(raised.value.faults) == 5_000
    assert len(str(raised.value).splitlines()) == 101
    assert str(raised.value).endswith("and 4,900 more")


def test_a_name_that_is_taken_is_a_fault(tmp_path: Path, lines: Callable[..., Path]) -> None:
    folder = package(tmp_path / "a", TOML)
    path = lines(collection(name="appointments"))
    (fault,) = faults(folder, path)
    assert fault.place == f"{path}:1"
    assert str(folder / "task.toml") in fault.reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"name = \n", "line 1"),
        (b'name = "\xff"', "utf-8"),
        (b"x = " + b"[" * 100_000, "recursion"),
        (b"", "None is not one of"),
    ],
)
def test_unreadable_toml_is_a_fault(tmp_path: Path, data: bytes, reason: str) -> None:
    folder = package(tmp_path / "a", "")
    (folder / "task.toml").write_bytes(data)
    (fault,) = faults(folder)
    assert fault.place == str(folder / "task.toml")
    assert reason in fault.reason


def test_an_unreadable_prompt_is_a_fault_of_its_file(tmp_path: Path) -> None:
    folder = package(tmp_path / "a", TOML)
    (folder / "task.md").write_bytes(b"\xff")
    assert faults(folder)[0].place == str(folder / "task.md")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "unreadable JSON"),
        (b"[]", "not a JSON object"),
        (b"\xff", "unreadable JSON"),
        (b"[" * 100_000, "unreadable JSON"),
    ],
)
def test_an_unreadable_line_is_a_fault(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(json.dumps(collection()).encode() + b"\n\n" + line + b"\n")
    (fault,) = faults(path)
    assert fault.place == f"{path}:3"
    assert reason in fault.reason


def test_a_path_without_a_task_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "notes.txt").touch()
    for name, reason in {
        "empty": "no task.toml",
        "empty.jsonl": "has no task",
        "notes.txt": "not a folder",
        "gone": "no such",
    }.items():
        (fault,) = faults(tmp_path / name)
        assert fault.place == str(tmp_path / name)
        assert reason in fault.reason


def test_subtasks_may_be_nested_deeply_but_not_endlessly(lines: Callable[..., Path]) -> None:
    def nested(depth: int) -> Fields:
        fields = subtask()
        for _ in range(depth):
            fields = subtask(subtasks=[fields])
        return collection(subtasks=[fields])

    assert len(task(lines(nested(100))).hierarchies) == 102
    (fault,) = faults(lines(nested(300)))
    assert (fault.field, fault.reason) == ("subtasks", "nested too deep")


def test_large_tasks_load_fast(lines: Callable[..., Path]) -> None:
    roster = closed(*(f"Member {number}" for number in range(100_000)))
    path = lines(
        collection(name="roster", keys=[{**roster, "volume": 100_000}, URL]),
        collection(name="subtasks", subtasks=[subtask(f"s{number}") for number in range(10_000)]),
    )
    began = time.perf_counter()
    assert len(load([path])) == 2
    assert time.perf_counter() - began < 10
