"""What is installed has all that the sources have and need."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

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
    """The packages from elsewhere that the command line leads to."""
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
