"""The names that `from grader import …` gives."""

import subprocess
import sys
from pathlib import Path

import pytest

import grader
from grader import Settings, grade, load_tasks

TASK = '{"name": "t", "kind": "answer", "prompt": "Which?", "answer": "Oslo"}\n'


@pytest.fixture
def tasks_file(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text(TASK)
    return path


def test_every_public_name_is_there() -> None:
    for name in grader.__all__:
        assert getattr(grader, name).__name__ == name
    with pytest.raises(AttributeError, match="unheard_of"):
        _ = grader.unheard_of


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys, grader; print({'aiohttp', 'openai', 'pydantic'} & set(sys.modules))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


async def test_a_batch_is_graded_in_one_call(tasks_file: Path, tmp_path: Path) -> None:
    lines = [{"task": "t", "response": "Exact Answer: Oslo"}, {"task": "t", "response": "No idea"}]
    settings = Settings(cache=tmp_path / "cache", offline=True)
    correct = {}
    async for result in grade(lines, load_tasks(tasks_file), settings):
        correct[result.ordinal] = result.score["correct"]
    assert correct == {0: True, 1: False}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"task": "u", "response": "Oslo"}, "submission 1: unknown task 'u'"),
        ({"response": "Oslo"}, "submission 1: unknown task None"),
        ({"task": "t"}, "submission 1: has no response and no error"),
    ],
)
async def test_a_batch_that_cannot_be_read_is_refused(
    tasks_file: Path, tmp_path: Path, line: dict[str, str], told: str
) -> None:
    lines = [{"task": "t", "response": "Oslo"}, line]
    with pytest.raises(ValueError, match=told):
        async for _ in grade(lines, load_tasks(str(tasks_file)), Settings(cache=tmp_path / "c")):
            pass
    assert not (tmp_path / "c").exists()
