"""Imports point one way: a file imports only files of its own unit and of the units below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEVELS = (
    ("cli",),
    ("grader.commands",),
    ("grader.fixtures", "grader.rescore"),
    ("grader.call",),
    ("grader.results",),
    ("grader.grader",),
    ("grader.kinds",),
    ("grader.runs", "grader.stages"),
    ("grader.tasks",),
    ("grader.settings", "grader.lines", "grader.interrupts"),
    ("grader.printing",),
    ("judges",),
    ("fetchers", "queues"),
    ("cache",),
)
"""The units from top to bottom. Units of one level do not import each other."""
LEVEL = {unit: number for number, units in enumerate(LEVELS) for unit in units}
PACKAGES = ("cli", "grader", "judges", "fetchers", "queues", "cache")
FILES = [
    path
    for path in [ROOT / "cli.py", *(p for name in PACKAGES for p in (ROOT / name).rglob("*.py"))]
    if path != ROOT / "grader/__init__.py"  # it only lists the public names
]


def unit_of(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "grader" else parts[0]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [alias.name for alias in node.names]
            yield from ([f"grader.{name}" for name in names] if module == "grader" else [module])


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    own = unit_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    others = {unit_of(name) for name in imported(path) if name.split(".")[0] in PACKAGES} - {own}
    assert {other for other in others if LEVEL[other] <= LEVEL[own]} == set()
