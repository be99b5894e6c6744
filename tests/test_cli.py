"""The commands as a user runs them."""

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT, Command, command_line, environment
from material import Gate, article, read_lines, serving, write_archive, write_lines

from grader.commands.front import main

EXAMPLES = ROOT / "examples"
GRADE = ("grade", EXAMPLES / "runs" / "explorer.jsonl", "--tasks", EXAMPLES / "tasks")
PAGES = ("--pages", EXAMPLES / "pages.warc", "--offline")

URL = {"name": "url", "volume": 1}
TASK = {
    "name": "facts",
    "kind": "collection",
    "keys": [{"name": "fact", "volume": 10, "identity": {"how": "exact"}}, URL],
    "judge": {"requirements": [{"id": "told", "rule": {"contains": "{item.fact}"}}]},
}
ASKING = {**TASK, "name": "opinions", "judge": {"requirements": [{"id": "wise", "text": "Is it?"}]}}


def record(url: str, fact: str = "Larch") -> dict[str, Any]:
    return {"item": {"fact": fact}, "url": url, "excerpts": [fact], "answer": {"fact": fact}}


def without_work(path: Path) -> Any:
    summary = json.loads(path.read_text("utf-8"))
    del summary["work"]
    return summary


# What good input gives


def test_grade_score_check_and_cache_on_the_examples(assay: Command, folder: Path) -> None:
    done = assay(*GRADE, *PAGES)
    assert done.returncode == 0, done.stderr
    assert "0.57" in done.stdout
    assert {path.name for path in (folder / "out").iterdir()} == {
        "records.jsonl", "scores.jsonl", "rejects.jsonl", "summary.json",
    }  # fmt: skip
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["runs"]["explorer"]["collection"]["completed"] == 1
    assert summary["work"]["judge"]["done"] > 0

    # What is known already is not worked again.
    again = assay(*GRADE, *PAGES, "--out", "again")
    assert again.returncode == 0
    work = json.loads((folder / "again" / "summary.json").read_text())["work"]
    assert [stage["done"] for stage in work.values()] == [0] * len(work)
    for name in ("records.jsonl", "scores.jsonl"):
        assert (folder / "again" / name).read_bytes() == (folder / "out" / name).read_bytes()
    assert without_work(folder / "again" / "summary.json") == without_work(
        folder / "out" / "summary.json"
    )

    scored = assay("score", "out/records.jsonl", "--tasks", EXAMPLES / "tasks", "--out", "scored")
    assert scored.returncode == 0, scored.stderr
    assert read_lines(folder / "scored" / "scores.jsonl") == read_lines(
        folder / "out" / "scores.jsonl"
    )

    stats = assay("cache", "stats")
    assert "judge: 26 rows" in stats.stdout
    assert assay("cache", "verify").stdout == "nothing is damaged\n"


def test_check_runs_the_fixtures(assay: Command, folder: Path) -> None:
    done = assay("check", EXAMPLES / "tasks", *PAGES)
    assert (done.returncode, done.stdout) == (0, "1 tasks, 9 fixtures, 0 disagree\n")


def test_an_archive_of_the_cache_answers_elsewhere(assay: Command, folder: Path) -> None:
    assert assay(*GRADE, *PAGES, "--cache", "a", "--out", "one").returncode == 0
    done = assay("cache", "export", "moved.warc.gz", "--cache", "a")
    assert "0 damaged" in done.stdout
    done = assay(*GRADE, "--pages", "moved.warc.gz", "--offline", "--cache", "b", "--out", "two")
    assert done.returncode == 0, done.stderr
    one, two = (folder / out / "records.jsonl" for out in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_folders_of_a_call_may_have_the_names_of_our_packages(assay: Command, folder: Path) -> None:
    for name in ("cache", "grader", "judges", "fetchers", "queues"):
        (folder / name).mkdir()
    done = assay(*GRADE, *PAGES, "--cache", "cache", "--out", "grader")
    assert done.returncode == 0, done.stderr


def test_bad_lines_are_reported_and_the_rest_is_graded(assay: Command, folder: Path) -> None:
    write_archive(folder / "pages.warc", {"https://a.example/": article("A", "Larch")})
    write_lines(folder / "tasks.jsonl", TASK)
    hostile, name = "[/red]\u202e[bold]", os.fsdecode(b"[b]\xffrun.jsonl")
    write_lines(
        folder / name,
        {"task": "facts", "run": hostile, "records": [record("https://a.example/"), None]},
        b"{",
        {"task": "none", "records": []},
    )
    done = assay(
        "grade", name, "-", "--tasks", "tasks.jsonl",
        "--pages", "pages.warc", "--offline", "--out", "[x]/[/b]",
        input=json.dumps({"task": "facts", "run": "piped", "record": record("https://a.example/")}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 rejected" in done.stderr
    assert "run.jsonl:2: unreadable JSON" in done.stderr
    assert hostile.replace("\u202e", "\\u202e") in done.stdout
    out = folder / "[x]" / "[/b]"
    assert [row["state"] for row in read_lines(out / "records.jsonl")] == [
        "graded", "invalid", "graded",
    ]  # fmt: skip
    assert len(read_lines(out / "rejects.jsonl")) == 2
    assert json.loads((out / "summary.json").read_text())["rejects"]["count"] == 2


def test_ungraded_records_are_counted_with_their_reason(assay: Command, folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", TASK)
    run = write_lines(
        folder / "run.jsonl",
        {"task": "facts", "records": [record(f"https://a.example/{n}") for n in range(3)]},
    )
    done = assay("grade", run, "--tasks", "tasks.jsonl", "--offline", "--limit", 2)
    assert done.returncode == 1
    assert "2 records are ungraded" in done.stderr
    assert "2 x page unreachable: offline" in done.stderr
    (score,) = read_lines(folder / "out" / "scores.jsonl")
    assert score["complete"] is False
    scored = assay("score", "out/records.jsonl", "--tasks", "tasks.jsonl", "--out", "scored")
    assert scored.returncode == 1


# What bad usage gives


@pytest.fixture
def refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs a command in this process. It must end with status 2; returns its output."""
    monkeypatch.chdir(folder)
    write_lines(folder / "tasks.jsonl", TASK)
    write_lines(folder / "asking.jsonl", ASKING)
    write_lines(folder / "run.jsonl", {"task": "facts", "records": []})
    (folder / "file").touch()

    def run(*arguments: object) -> str:
        done: Result = CliRunner().invoke(main, [str(one) for one in arguments])
        assert isinstance(done.exception, SystemExit), done.exception
        assert done.exit_code == 2, done.output
        return done.output

    return run


GOOD = ("grade", "run.jsonl", "--tasks", "tasks.jsonl", "--offline")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("grade",), "RUNS"),
        (("grade", "gone.jsonl", "--tasks", "tasks.jsonl"), "gone.jsonl"),
        (("grade", ".", "--tasks", "tasks.jsonl"), "no such run file: ."),
        (("grade", "run.jsonl"), "'tasks' does not exist"),
        (("grade", "run.jsonl", "--tasks", "gone"), "'gone' does not exist"),
        (("grade", "run.jsonl", "--tasks", "run.jsonl"), "run.jsonl:1: kind"),
        (("grade", "run.jsonl", "--tasks", "file"), "not a folder"),
        ((*GOOD, "--workers", 0), "--workers"),
        ((*GOOD, "--workers", "many"), "--workers"),
        ((*GOOD, "--limit", -1), "--limit"),
        ((*GOOD, "--max-age", "soon"), "is not an age"),
        ((*GOOD, "--allow-host", "http://a b/"), "not a host"),
        ((*GOOD, "--pages", "gone.warc"), "gone.warc"),
        ((*GOOD, "--pages", "file"), "file"),
        ((*GOOD, "--pages", "run.jsonl"), "run.jsonl"),
        ((*GOOD, "--cache", "file"), "file"),
        ((*GOOD, "--cache", "file/cache"), "file/cache"),
        ((*GOOD, "--cache", "/proc/none/cache"), "/proc/none/cache"),
        ((*GOOD, "--out", "file"), "file"),
        ((*GOOD, "--out", "file/out"), "file/out"),
        ((*GOOD, "--out", "/proc/none/out"), "cannot write /proc/none"),
        ((*GOOD, "--colour"), "--colour"),
        (("score", "gone.jsonl", "--tasks", "tasks.jsonl"), "gone.jsonl"),
        (("score", "run.jsonl", "--tasks", "gone"), "gone"),
        (("fetch",), "URLS"),
        (("check",), "TASKS"),
        (("check", "gone"), "gone"),
        (("cache", "import", "gone.warc.gz"), "gone.warc.gz"),
        (("cache", "import", "file"), "file"),
        (("cache", "export", "plain.txt"), "plain.txt"),
        (("cache", "export", "none/x.warc.gz"), "none/x.warc.gz"),
        (("cache", "stats", "--cache", "file"), "file"),
        (("cache", "verify", "--cache", "file"), "file"),
        (("polish",), "polish"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_bad_usage_ends_with_one_message(
    refused: Callable[..., str], arguments: tuple[object, ...], told: str
) -> None:
    assert told in refused(*arguments)


@pytest.mark.parametrize("command", ["grade", "check"])
def test_a_task_that_needs_a_model_is_refused_before_any_work(
    refused: Callable[..., str], folder: Path, command: str
) -> None:
    tasks = ("run.jsonl", "--tasks", "asking.jsonl") if command == "grade" else ("asking.jsonl",)
    told = refused(command, *tasks, "--offline")
    for part in ("'opinions'", "wise", "--judge"):
        assert part in told
    assert not (folder / "out").exists()
    assert not (folder / ".assay").exists()


def test_the_inputs_are_not_overwritten(refused: Callable[..., str], folder: Path) -> None:
    run = write_lines(folder / "out" / "records.jsonl", {"task": "facts", "records": []})
    before = run.read_bytes()
    told = refused("grade", run, "--tasks", "tasks.jsonl", "--offline")
    assert "is an input of this call" in told
    refused("score", run, "--tasks", "tasks.jsonl")
    refused("grade", "run.jsonl", "--tasks", "tasks.jsonl", "--pages", run)
    assert run.read_bytes() == before


def test_a_run_without_a_submission_is_unusable(refused: Callable[..., str], folder: Path) -> None:
    run = write_lines(folder / "bad.jsonl", b"{", b"[]")
    assert "2 rejected" in refused("grade", run, "--tasks", "tasks.jsonl", "--offline")
    assert len(read_lines(folder / "out" / "rejects.jsonl")) == 2


def test_a_damaged_ledger_is_reported(refused: Callable[..., str], folder: Path) -> None:
    (folder / ".assay").mkdir()
    (folder / ".assay" / "ledger.sqlite3").write_bytes(b"not a database" * 1_000)
    assert "ledger.sqlite3" in refused(*GOOD)


# grader.toml


def test_the_configuration_sets_what_flags_set_and_flags_win(assay: Command, folder: Path) -> None:
    (folder / "grader.toml").write_text(
        f"tasks = ['{EXAMPLES / 'tasks'}']\n"
        f"pages = ['{EXAMPLES / 'pages.warc'}']\n"
        "offline = true\nout = 'results'\nworkers = 3\nmax-age = '7d'\nfetch-workers = 2\n"
    )
    done = assay("grade", EXAMPLES / "runs" / "explorer.jsonl", "--out", "mine")
    assert done.returncode == 0, done.stderr
    assert (folder / "mine").exists()
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("colour = 'red'", "--colour"),
        ("workers = ", "grader.toml"),
        ("workers = 'many'", "workers"),
        ("workers = 0", "workers"),
        ("max-age = 'soon'", "is not an age"),
        ("tasks = 'gone'", "'gone'"),
        ("pages = 'gone.warc'", "'gone.warc'"),
        ("pages = 3", "pages"),
        ("cache = ['a']", "cache"),
        ("offline = 'perhaps'", "offline"),
        ("[grade]\nworkers = 3", "--grade"),
        ("name = '\udcff'", "grader.toml"),
    ],
)
def test_a_bad_configuration_is_reported(
    refused: Callable[..., str], folder: Path, text: str, told: str
) -> None:
    (folder / "grader.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    tasks = () if text.startswith("tasks") else ("--tasks", "tasks.jsonl")
    assert told in refused("grade", "run.jsonl", *tasks)


# Interrupted, killed, twice at once


@pytest.fixture
def many(folder: Path) -> list[object]:
    """The arguments of a call with 400 records on 200 pages."""
    urls = [f"https://a.example/{n}" for n in range(200)]
    pages = {url: article(f"Larch {n}", f"Fact {n} stands here.") for n, url in enumerate(urls)}
    write_archive(folder / "pages.warc", pages)
    write_lines(folder / "tasks.jsonl", TASK)
    lines = [
        {"task": "facts", "run": f"r{n % 20}", "record": record(url, fact)}
        for n, url in enumerate(urls)
        for fact in (f"Fact {n}", f"Fact {n + 1}")
    ]
    write_lines(folder / "run.jsonl", *lines)
    return ["grade", "run.jsonl", "--tasks", "tasks.jsonl", "--pages", "pages.warc", "--offline"]


def start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command_line(*arguments),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def rows(ledger: Path) -> int:
    """The number of rows in a ledger so far."""
    try:
        with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as base:
            (name,) = base.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1"
            ).fetchone()
            return int(base.execute(f"SELECT count(*) FROM {name}").fetchone()[0])
    except (sqlite3.Error, TypeError):
        return 0


def results(out: Path) -> list[Any]:
    return [
        (out / "records.jsonl").read_bytes(),
        (out / "scores.jsonl").read_bytes(),
        without_work(out / "summary.json"),
    ]


def test_a_killed_call_continues_where_it_stopped(
    assay: Command, folder: Path, many: list[object]
) -> None:
    assert assay(*many, "--out", "whole", "--cache", "other").returncode == 0
    for number in (1, 250, 600):
        call = start(folder, *many)
        while call.poll() is None and rows(folder / ".assay" / "ledger.sqlite3") < number:
            pass
        call.kill()
        call.communicate()
    done = assay(*many)
    assert done.returncode == 0, done.stderr
    assert results(folder / "out") == results(folder / "whole")
    assert assay("cache", "verify").stdout == "nothing is damaged\n"


def test_two_calls_may_share_a_cache(folder: Path, many: list[object]) -> None:
    calls = [start(folder, *many, "--out", out) for out in ("one", "two")]
    for call in calls:
        _, told = call.communicate(timeout=60)
        assert call.returncode == 0, told
        assert "Traceback" not in told
    assert results(folder / "one") == results(folder / "two")


def test_an_interrupted_call_says_so_and_continues_later(assay: Command, folder: Path) -> None:
    pages = {f"/{n}": article("Larch", "Larch") for n in range(8)}
    quick = Gate()
    quick.open()
    slow = Gate()
    with serving(pages, gate=quick) as fast_port, serving(pages, gate=slow) as slow_port:
        hosts = [f"127.0.0.1:{port}" for port in (fast_port, slow_port)]
        write_lines(folder / "tasks.jsonl", TASK)
        write_lines(
            folder / "run.jsonl",
            *(
                {"task": "facts", "run": host, "record": record(f"http://{host}/{n}")}
                for host in hosts
                for n in range(3)
            ),
        )
        arguments = ["grade", "run.jsonl", "--tasks", "tasks.jsonl"]
        arguments += [part for host in hosts for part in ("--allow-host", host)]
        call = start(folder, *arguments)
        quick.see(3)
        slow.see(3)
        while rows(folder / ".assay" / "ledger.sqlite3") < 3 + 3 + 1:  # fetched, read, judged
            assert call.poll() is None
        call.send_signal(signal.SIGINT)
        call.send_signal(signal.SIGINT)
        _, told = call.communicate(timeout=30)
        assert call.returncode == 130, told
        assert "interrupted" in told
        assert "Traceback" not in told
        graded = read_lines(folder / "out" / "records.jsonl")
        assert {row["run"] for row in graded} <= {hosts[0]}

        slow.open()
        done = assay(*arguments)
        assert done.returncode == 0, done.stderr
        graded = read_lines(folder / "out" / "records.jsonl")
        assert [row["run"] for row in graded] == [host for host in hosts for _ in range(3)]
        assert all(row["verdict_full"] for row in graded)


def test_a_call_that_waits_for_input_can_be_interrupted(folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", TASK)
    with subprocess.Popen(
        command_line("grade", "-", "--tasks", "tasks.jsonl", "--offline"),
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,  # to which nothing is written
        stderr=subprocess.PIPE,
        text=True,
    ) as call:
        while not (folder / "out" / "rejects.jsonl").exists():
            assert call.poll() is None
        call.send_signal(signal.SIGINT)
        assert call.wait(timeout=30) == 130
        assert call.stderr
        told = call.stderr.read()
    assert "interrupted" in told
    assert "Traceback" not in told


def test_an_interrupted_fetch_ends_with_130(folder: Path) -> None:
    slow = Gate()
    with serving({}, gate=slow) as port:
        call = start(folder, "fetch", f"http://127.0.0.1:{port}/", "--allow-host", "127.0.0.1")
        slow.see(1)
        call.send_signal(signal.SIGINT)
        _, told = call.communicate(timeout=30)
    assert call.returncode == 130
    assert "Traceback" not in told
