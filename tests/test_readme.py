"""The commands and the Python of README.md and docs/ run, and print what is printed there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    return (match.groups() for match in BLOCK.finditer(page.read_text("utf-8")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout that is set up: its own scripts and `.venv`, with what is installed here."""
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    for name in ("cli.py", "examples", "pyproject.toml", *packages):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    script(tmp_path / "scripts/test", "")  # these tests are what it would run
    python = tmp_path / ".venv/bin/python"
    script(python, f'exec {shlex.quote(sys.executable)} "$@"')
    script(tmp_path / ".venv/bin/assay", f'exec {shlex.join([str(python), "cli.py"])} "$@"')
    run(["sh", "-c", 'echo "$PWD $(cksum <pyproject.toml) " >.venv/prepared'], tmp_path)
    return tmp_path


def script(path: Path, body: str) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
    path.chmod(0o755)


def run(command: list[str], folder: Path) -> str:
    paths = f"{folder / '.venv/bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_runs_in_order(page: Path, folder: Path) -> None:
    shown = ""
    for language, text in blocks(page):
        if language == "sh":
            shown = run(["sh", "-eu", "-c", text], folder)
        elif language == "python":
            shown = run([sys.executable, "-c", text], folder)
        elif language == "text":
            assert words(text) == words(shown)
        elif language == "toml":
            place = folder / text.splitlines()[0].removeprefix("# ")
            place.parent.mkdir(exist_ok=True)
            place.write_text(text, "utf-8")


def test_the_demo_shows_the_worked_case() -> None:
    """WANDR, section 5: soft F1 0.57, hard F1 0.33. What stands here is what the demo prints."""
    _, printed = next(block for block in blocks(ROOT / "README.md") if block[0] == "text")
    table = words(printed)
    assert table[2][:6] == ["explorer", "full", "soft", "0.56", "0.58", "0.57"]
    assert table[3][:5] == ["full", "hard", "0.33", "0.33", "0.33"]


LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    missing = [
        target
        for target in LINK.findall(page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert missing == []
