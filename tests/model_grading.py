"""Input, usual replies and fixtures for tests of `grade` with the model `m` on loopback."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner, Result
from material import article, read_lines, write_archive, write_lines
from modelserver import Asked, ModelServer, agrees, model_behind

from grader.commands.front import main
from grader.stages import judging
from queues import adaptive
from queues.retry import Retry

TASK = {
    "name": "opinions",
    "kind": "collection",
    "keys": [
        {"name": "larch", "volume": 12, "identity": {"how": "exact"}},
        {"name": "url", "volume": 1},
    ],
    "judge": {
        "validity": [{"id": "tree", "text": "It is a tree."}],
        "requirements": [
            {"id": "wise", "text": "The page is wise."},
            {"id": "told", "rule": {"contains": "{item.larch}"}},
        ],
    },
}
PAGES, A_PAGE = 4, 3
RECORDS = PAGES * A_PAGE
GRADE = ("grade", "run.jsonl", "--tasks", "tasks.jsonl", "--pages", "pages.warc", "--offline")
PRICES = '[prices."m"]\ntokens_in = 0\ncached_in = 0\ntokens_out = 1000\n'


def record(number: int) -> dict[str, Any]:
    name = f"Larch {number}"
    return {
        "item": {"larch": name},
        "url": f"https://trees.example/{number // A_PAGE}",
        "excerpts": [f"{name} is old."],
        "answer": {"why": f"{name} is old"},
    }


def number(asked: Asked) -> int:
    """The number of the record in a request."""
    return int(asked.record["item"]["larch"].rpartition(" ")[2])


def opinion(asked: Asked) -> web.Response:
    """The model's usual reply: every second record is wise."""
    wise = number(asked) % 2 == 0
    return agrees(
        asked,
        requirements={"wise": {"satisfied": wise, "supported": wise}},
        confidence=1 + number(asked) % 3,
        reason=f"Larch {number(asked)} was looked at.",
    )


def expected(row: Mapping[str, Any]) -> bool:
    wise = row["index"] % 2 == 0
    return (
        row["state"] == "graded"
        and row["judge"] == "m"
        and row["verdict_full"] is wise
        and row["verdict_retrieval"] is wise
        and row["confidence"] == 1 + row["index"] % 3
        and row["reason"] == f"Larch {row['index']} was looked at."
    )


@pytest.fixture(autouse=True)
def input_files(folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", TASK)
    write_lines(
        folder / "run.jsonl", {"task": "opinions", "records": [*map(record, range(RECORDS))]}
    )
    pages = {}
    for page in range(PAGES):
        told = (f"Larch {page * A_PAGE + n} is old." for n in range(A_PAGE))
        pages[f"https://trees.example/{page}"] = article(f"Larches {page}", *told)
    write_archive(folder / "pages.warc", pages)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without pauses."""
    monkeypatch.setattr(judging, "Retry", partial(Retry, first=0.001, longest=0.02))
    monkeypatch.setattr(adaptive, "_QUIET", 0.001)


class Grading:
    """`grade` with the model `m`, in this process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(folder)
        self._monkeypatch = monkeypatch
        self._folder = folder

    def point_at(self, server: ModelServer) -> None:
        self._monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        self._monkeypatch.setenv("OPENAI_API_KEY", "k")

    def __call__(self, *arguments: object, status: int = 0) -> Result:
        given = [str(one) for one in (*GRADE, "--judge", "m", *arguments)]
        done: Result = CliRunner().invoke(main, given)
        assert isinstance(done.exception, SystemExit | None), done.exception
        assert "Traceback" not in done.output
        assert "never retrieved" not in done.output
        assert done.exit_code == status, done.output
        return done

    @property
    def rows(self) -> list[Any]:
        return read_lines(self._folder / "out" / "records.jsonl")

    @property
    def work(self) -> Any:
        return json.loads((self._folder / "out" / "summary.json").read_text("utf-8"))["work"]


@pytest.fixture
def grading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Grading:
    return Grading(folder, monkeypatch)


@pytest.fixture
def model(grading: Grading) -> Iterator[ModelServer]:
    """A model that gives its usual replies."""
    with model_behind(opinion) as server:
        grading.point_at(server)
        yield server
