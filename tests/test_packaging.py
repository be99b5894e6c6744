"""An installation has every file of the sources, and declares every dependency."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from grader.commands.front import GROUPS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
OURS = {pattern.removesuffix("*") for pattern in SETUPTOOLS["packages"]["find"]["include"]}
COMMANDS = [place for group in GROUPS.values() for place, _ in group.values()]
FILES = [
    path
    for name in sorted(OURS)
    for path in (ROOT / name).rglob("*")
    if path.is_file() and path.suffix != ".pyc"
]


def imports(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def needed() -> set[str]:
    """The packages of other projects that the command line imports, directly or not."""
    found: set[str] = set()
    ahead = ["cli", *(place.partition(":")[0] for place in COMMANDS)]
    while ahead:
        name = ahead.pop()
        source = ROOT / f"{name.replace('.', '/')}.py"
        if name not in found and source.exists():
            ahead.extend(imports(source))
        found.add(name)
    return {name.partition(".")[0] for name in found} - sys.stdlib_module_names - OURS - {"cli"}


def distribution(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_folder_is_installed() -> None:
    assert [path for path in FILES if not (path.parent / "__init__.py").exists()] == []


def test_every_file_beside_the_code_is_installed() -> None:
    patterns = SETUPTOOLS["package-data"]["*"]
    beside = [path for path in FILES if path.suffix != ".py"]
    assert [path for path in beside if not any(map(path.match, patterns))] == []


def test_everything_imported_is_a_declared_dependency() -> None:
    declared = {
        distribution(re.split(r"[^\w.-]", d)[0]) for d in PROJECT["project"]["dependencies"]
    }
    installed = packages_distributions()
    missing = {
        name for name in needed() if not declared & set(map(distribution, installed.get(name, ())))
    }
    # Python 3.14 has the one (before it, what stands for it is declared); the other is pydantic's.
    assert missing <= {"compression", "pydantic_core"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment into which the project is installed, not as a link to its sources. The
    dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("installed")
    sources, environment = folder / "sources", folder / "environment"
    for name in OURS:
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("*.pyc"))
    for name in ("cli.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, sources / name)
    offline = ("--no-index", "--no-deps")
    pip(sys.executable, "wheel", *offline, "--no-build-isolation", "-w", folder, sources)
    venv.create(environment, with_pip=False)
    pip(environment / "bin" / "python", "install", *offline, *folder.glob("*.whl"))
    (packages,) = environment.glob("lib/*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return environment


def pip(python: Path | str, *arguments: Path | str) -> None:
    command = [sys.executable, "-m", "pip", "-q", "--python", python, *arguments]
    subprocess.run(command, check=True)


def run(environment: Path, folder: Path, *arguments: object) -> str:
    """Run the installed command in a folder, without the variables that lead to the sources."""
    done = subprocess.run(
        [environment / "bin" / "assay", *map(str, arguments)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_installed_command_works_outside_its_sources(installed: Path, tmp_path: Path) -> None:
    assert run(installed, tmp_path, "--version") == f"assay {PROJECT['project']['version']}\n"
    assert "Grade:" in run(installed, tmp_path, "--help")
    examples = ROOT / "examples"
    pages = ("--pages", examples / "pages.warc", "--offline")
    runs = ("grade", examples / "runs" / "explorer.jsonl", "--tasks", examples / "tasks", *pages)
    assert "0.57" in run(installed, tmp_path, *runs)
    assert "9 fixtures, 0 disagree" in run(installed, tmp_path, "check", examples / "tasks", *pages)


def test_an_installation_has_every_file(installed: Path) -> None:
    (packages,) = installed.glob("lib/*/site-packages")
    missing = [path for path in FILES if not (packages / path.relative_to(ROOT)).exists()]
    assert missing == []
    assert (packages / "cli.py").exists()
