"""Runs `cli.py` as a user does."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

ROOT = Path(__file__).parent.parent


class Command(Protocol):
    def __call__(
        self, *arguments: object, input: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


def command_line(*arguments: object) -> list[str]:
    return [sys.executable, str(ROOT / "cli.py"), *map(str, arguments)]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", **(more or {})}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder in which commands run."""
    path = tmp_path / "folder"
    path.mkdir()
    return path


@pytest.fixture
def assay(folder: Path) -> Command:
    """Runs `cli.py` in the folder; no call may end in a traceback."""

    def run(
        *arguments: object, input: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command_line(*arguments),
            cwd=folder,
            env=environment(env),
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    return run
