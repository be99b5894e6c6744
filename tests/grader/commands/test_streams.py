"""What commands print, on streams that are full, closed or not read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Command, command_line, environment

from grader.commands import messages, streams

EXAMPLES = ROOT / "examples"
GRADE = (
    "grade", EXAMPLES / "runs" / "explorer.jsonl", "--tasks", EXAMPLES / "tasks",
    "--pages", EXAMPLES / "pages.warc", "--offline",
)  # fmt: skip
FULL = "cannot write to standard output: No space left on device"


def shell(folder: Path, arguments: tuple[object, ...], rest: str) -> tuple[int, str]:
    """Run a command with a shell's redirections; its exit status and everything it printed."""
    script = f'"$@" {rest}\necho "status ${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *command_line(*arguments)],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    printed, _, status = done.stdout.rpartition("status ")
    assert "Traceback" not in printed + done.stderr
    assert "Exception ignored" not in done.stderr
    return int(status), printed + done.stderr


@pytest.mark.parametrize(
    ("arguments", "rest", "status", "told"),
    [
        (("--help",), ">/dev/full", 2, "No space left on device"),
        (("--help",), "| head -n 0", 1, ""),
        (("--help",), ">&-", 0, ""),
        (("--version",), ">/dev/full", 2, FULL),
        (("--version",), "2>/dev/full", 0, "assay"),
        (("polish",), "2>/dev/full", 2, ""),
        (("polish",), "2>&-", 2, ""),
        (GRADE, ">/dev/full", 2, FULL),
        (GRADE, ">/dev/null 2>/dev/full", 0, ""),
        (GRADE, "| head -n 0", 0, ""),
        (GRADE, ">&- 2>&- <&-", 0, ""),
        (("fetch", *("https://a.example/",) * 2_000, "--offline"), "| head -n 1", 1, "unreachable"),
    ],
    ids=str,
)
def test_a_stream_that_cannot_be_written_ends_in_no_traceback(
    folder: Path, arguments: tuple[object, ...], rest: str, status: int, told: str
) -> None:
    found, printed = shell(folder, arguments, rest)
    assert found == status, printed
    assert told in printed
    assert told or not printed


def test_files_are_not_written_to_in_place_of_closed_streams(assay: Command, folder: Path) -> None:
    assert shell(folder, ("grade", "gone.jsonl"), ">&- 2>&- <&-")[0] == 2
    assert shell(folder, GRADE, ">&- 2>&- <&-")[0] == 0
    assert assay("cache", "verify").stdout == "nothing is damaged\n"


def test_names_are_printed_in_any_encoding(assay: Command, folder: Path) -> None:
    done = assay("fetch", "https://서울.example/", "--offline", env={"PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 1
    assert r"\uc11c\uc6b8" in done.stdout


def test_names_from_outside_cannot_command_the_terminal(assay: Command, folder: Path) -> None:
    name = "\x1b[2J\u202e\n\x9bm.jsonl"
    (folder / name).write_text("{\n")
    (folder / "tasks.jsonl").write_text('{"name": "a", "kind": "answer", "answer": "b"}\n')
    for arguments in (
        ("grade", name, "--tasks", "tasks.jsonl", "--offline"),
        ("grade", name + "x", "--tasks", "tasks.jsonl"),
        ("grade", "tasks.jsonl", "--tasks", name),
        ("grade", "tasks.jsonl", "--tasks", "tasks.jsonl", "--out", f"{name}/out"),
        ("score", name, "--tasks", "tasks.jsonl", "--out", "out\x1b[2J"),
        ("check", name),
        ("import", "kbrowsecomp", name),
        ("cache", "import", name),
        ("cache", "stats", "--cache", name),
        (name,),
        ("grade", f"--{name}"),
    ):
        done = assay(*arguments)
        assert done.returncode == 2
        assert set("\x1b\u202e\x9b").isdisjoint(done.stdout + done.stderr), arguments
        assert len(done.stderr.splitlines()) <= 4


def test_messages_that_cannot_be_written_are_discarded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        monkeypatch.setattr(sys, "stderr", full)
        streams.tell("one")
        streams.tell("two")
        assert Path(f"/proc/self/fd/{full.fileno()}").readlink() == Path(os.devnull)
    assert messages.MOST_REASONS > 0
