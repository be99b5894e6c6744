"""`grade`, `score`, `check`, `fetch` and `import`: what they read, and what they tell of it."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from conftest import Command, command_line, environment
from material import article, read_lines, write_archive, write_lines

ANSWER = {"name": "capital", "kind": "answer", "answer": "Paris", "prompt": "Which city?"}
LINE = {"task": "capital", "run": "r", "response": "Paris"}
URL = "https://a.example/"


def in_bash(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in which `assay` is the command."""
    assay = " ".join(command_line())
    return subprocess.run(
        ["bash", "-c", f'assay() {{ {assay} "$@"; }}\n{script}'],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip


# Pipes


def test_runs_and_tasks_may_come_from_pipes(folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", ANSWER)
    write_lines(folder / "run.jsonl", LINE)
    done = in_bash(
        folder,
        "assay grade <(cat run.jsonl) --tasks <(cat tasks.jsonl) --offline && "
        "assay check <(cat tasks.jsonl) --offline",
    )
    assert done.returncode == 0, done.stderr
    (score,) = read_lines(folder / "out" / "scores.jsonl")
    assert (score["run"], score["outcome"]) == ("r", "correct")
    assert "1 tasks, 0 fixtures" in done.stdout


def test_the_number_of_a_pipe_names_no_run(folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", ANSWER)
    write_lines(folder / "run.jsonl", {"task": "capital", "response": "Paris"})
    done = in_bash(folder, "assay grade <(cat run.jsonl) --tasks tasks.jsonl --offline")
    assert done.returncode == 2
    assert 'names no run, and the name of the file cannot stand for one; add "run"' in done.stderr


def test_a_named_pipe_names_its_run(assay: Command, folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", ANSWER)
    os.mkfifo(folder / "mine.jsonl")
    line = json.dumps({"task": "capital", "response": "Paris"}) + "\n"
    writer = Thread(target=(folder / "mine.jsonl").write_text, args=(line,))
    writer.start()
    done = assay("grade", "mine.jsonl", "--tasks", "tasks.jsonl", "--offline")
    writer.join()
    assert done.returncode == 0, done.stderr
    assert [score["run"] for score in read_lines(folder / "out" / "scores.jsonl")] == ["mine"]


@contextmanager
def started(folder: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command_line(*arguments), cwd=folder, env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as call:  # fmt: skip
        try:
            yield call
        finally:
            call.kill()


def test_a_call_that_waits_for_a_pipe_can_be_interrupted(folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", ANSWER)
    os.mkfifo(folder / "run.jsonl")
    with started(folder, "grade", "run.jsonl", "--tasks", "tasks.jsonl", "--offline") as call:
        while not (folder / "out" / "rejects.jsonl").exists():
            assert call.poll() is None
        call.send_signal(signal.SIGINT)
        _, told = call.communicate(timeout=30)
        assert call.returncode == 130, told
    assert "interrupted" in told
    assert "Traceback" not in told


def test_a_call_that_waits_for_tasks_can_be_interrupted(folder: Path) -> None:
    os.mkfifo(folder / "tasks")
    write_lines(folder / "run.jsonl", LINE)
    with started(folder, "grade", "run.jsonl", "--tasks", "tasks", "--offline") as call:
        with (folder / "tasks").open("w"):  # opens when the call reads
            call.send_signal(signal.SIGTERM)
            _, told = call.communicate(timeout=30)
        assert call.returncode == 130, told
    assert told == "interrupted\n"


@pytest.mark.parametrize("name", ["/dev/null", "/proc/self/mem"])
def test_devices_are_read_as_files(assay: Command, folder: Path, name: str) -> None:
    write_lines(folder / "tasks.jsonl", ANSWER)
    done = assay("grade", name, "--tasks", "tasks.jsonl", "--offline")
    assert done.returncode == 2
    assert "no submission" in done.stderr or "/proc/self/mem:1: unreadable" in done.stderr


# Inputs that stand where results go


def test_tasks_pages_and_standard_input_are_not_overwritten(assay: Command, folder: Path) -> None:
    tasks = write_lines(folder / "out" / "records.jsonl", ANSWER)
    run = write_lines(folder / "out" / "scores.jsonl", LINE)
    pages = write_archive(folder / "out" / "rejects.jsonl", {URL: article("A")})
    kept = {path: path.read_bytes() for path in (tasks, run, pages)}
    elsewhere = write_lines(folder / "tasks.jsonl", ANSWER)
    other = write_lines(folder / "run.jsonl", LINE)
    for arguments in (
        ("grade", other, "--tasks", tasks),
        ("grade", run, "--tasks", elsewhere),
        ("grade", other, "--tasks", elsewhere, "--pages", pages),
        ("score", other, "--tasks", tasks),
    ):
        done = assay(*arguments)
        assert done.returncode == 2
        assert "is an input of this call; choose another --out" in done.stderr
    done = in_bash(folder, "assay grade - --tasks tasks.jsonl --offline < out/scores.jsonl")
    assert done.returncode == 2
    assert "is an input" in done.stderr
    assert {path: path.read_bytes() for path in kept} == kept


def test_configuration_packages_and_the_ledger_are_not_overwritten(
    assay: Command, folder: Path
) -> None:
    write_lines(folder / "run.jsonl", LINE)
    package = folder / "capital"
    package.mkdir()
    (package / "task.toml").write_text('name = "capital"\nkind = "answer"\nanswer = "Paris"\n')
    (folder / "grader.toml").write_text("offline = true\n")
    grading = ("grade", "run.jsonl", "--tasks", "capital")
    assert assay(*grading, "--out", "first").returncode == 0
    for number, path in enumerate(
        (package / "task.toml", folder / "grader.toml", folder / ".assay" / "ledger.sqlite3")
    ):
        before = path.read_bytes()[:20]  # more of the ledger changes, as it is opened
        out = folder / f"out{number}"
        out.mkdir()
        (out / "summary.json").symlink_to(path)
        done = assay(*grading, "--out", out)
        assert done.returncode == 2
        assert "is an input" in done.stderr
        assert path.read_bytes()[:20] == before


def test_an_import_does_not_overwrite_its_source(assay: Command, folder: Path) -> None:
    source = write_lines(folder / "q.jsonl", {"id": "a", "problem": "p", "answer": "x"})
    before = source.read_bytes()
    done = assay("import", "kbrowsecomp", "q.jsonl", "--out", "q.jsonl")
    assert done.returncode == 2
    assert "is an input" in done.stderr
    assert source.read_bytes() == before
    assert assay("import", "kbrowsecomp", "q.jsonl").stdout == "1 tasks in tasks.jsonl\n"


# Problems


def test_damaged_archives_are_named_by_every_command_that_reads_them(
    assay: Command, folder: Path
) -> None:
    whole = write_archive(folder / "pages.warc", {URL: article("A"), f"{URL}b": article("B")})
    whole.write_bytes(whole.read_bytes()[:-100])
    pages = ("--pages", "pages.warc", "--offline")
    fetched = assay("fetch", URL, *pages, "--cache", "first")
    assert json.loads(fetched.stdout)["state"] == "ok"
    task = {
        "name": "t", "kind": "collection", "keys": [{"name": "url", "volume": 1}],
        "judge": {"requirements": [{"id": "a", "rule": {"min_words": 1}}]},
    }  # fmt: skip
    write_lines(folder / "collection.jsonl", task)
    write_lines(folder / "records.jsonl", {"task": "t", "records": [{"item": {}, "url": URL}]})
    graded = assay(
        "grade", "records.jsonl", "--tasks", "collection.jsonl", *pages, "--cache", "second"
    )
    package = folder / "package"
    package.mkdir()
    (package / "task.toml").write_text(
        'name = "t"\nkind = "collection"\nkeys = [{name = "url", volume = 1}]\n'
        '[[judge.requirements]]\nid = "a"\nrule = {min_words = 1}\n'
    )
    write_lines(package / "fixtures.jsonl", {"item": {}, "url": URL, "expect": {"state": "graded"}})
    checked = assay("check", "package", *pages)
    for done in (fetched, graded, checked):
        assert done.returncode == 0, done.stderr
        assert "pages.warc" in done.stderr


def test_warnings_of_unknown_fields_change_no_status(assay: Command, folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", {**ANSWER, "alias": ["Lutetia"]})
    write_lines(folder / "run.jsonl", LINE)
    for arguments in (("grade", "run.jsonl", "--tasks", "tasks.jsonl"), ("check", "tasks.jsonl")):
        done = assay(*arguments, "--offline")
        assert done.returncode == 0
        warning = "Warning: tasks.jsonl:1: alias: unknown field; did you mean aliases?\n"
        assert done.stderr.startswith(warning)
