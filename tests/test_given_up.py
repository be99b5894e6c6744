"""The command line counts an address that never answers as dead."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import Command
from material import Answer, article, read_lines, serving, write_lines

from grader.commands.front import main
from grader.commands.options import Calls
from grader.settings import Settings

FACT = "Larch needles fall in autumn."
SITE = {"/facts": article("Facts", FACT), "/busy": Answer("<p>Later</p>", 503)}
TASK = {
    "name": "facts",
    "kind": "collection",
    "keys": [
        {"name": "fact", "volume": 10, "identity": {"how": "exact"}},
        {"name": "url", "volume": 1},
    ],
    "judge": {"requirements": [{"id": "told", "rule": {"contains": "{item.fact}"}}]},
}


def test_an_address_that_never_answers_does_not_keep_a_submission_open(
    assay: Command, folder: Path
) -> None:
    with serving(SITE) as port:
        hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        urls = [f"http://{hosts[0]}/facts", *[f"http://{hosts[1]}/busy"] * 2]
        records = [
            {"item": {"fact": FACT}, "url": url, "excerpts": [FACT], "answer": {"fact": FACT}}
            for url in urls
        ]
        write_lines(folder / "run.jsonl", {"task": "facts", "records": records})
        write_lines(folder / "tasks.jsonl", TASK)
        flags = [part for host in hosts for part in ("--allow-host", host)]
        command = ["grade", "run.jsonl", "--tasks", "tasks.jsonl", *flags]
        done = assay(*command, "--give-up-after", "never")
        assert done.returncode == 1, done.stderr
        (score,) = read_lines(folder / "out" / "scores.jsonl")
        assert (score["complete"], score["counts"]["gave_up"]) == (False, 0)
        done = assay(*command, "--give-up-after", "1")
    assert done.returncode == 0, done.stderr
    assert "1 address never answered in several calls: counts as dead" in done.stderr
    (score,) = read_lines(folder / "out" / "scores.jsonl")
    assert (score["complete"], score["counts"]["gave_up"]) == (True, 2)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["runs"]["run"]["collection"]["gave_up"] == 2
    rows = read_lines(folder / "out" / "records.jsonl")
    assert [row["page"]["state"] for row in rows] == ["ok", "dead", "dead"]
    assert [row["state"] for row in rows] == ["graded"] * 3


@pytest.mark.parametrize(("value", "calls"), [("1", 1), ("12", 12), ("never", None), (4, 4)])
def test_the_flag_takes_a_positive_number_or_never(value: Any, calls: int | None) -> None:
    assert Calls().convert(value, None, None) == calls


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "soon", "Never", ""])
def test_the_flag_takes_nothing_else(value: str) -> None:
    with pytest.raises(click.BadParameter):
        Calls().convert(value, None, None)


@pytest.mark.parametrize("command", ["grade", "check", "fetch"])
def test_the_commands_that_fetch_pages_have_the_flag(command: str) -> None:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    assert {param.name: param.default for param in found.params}["give_up_after"] == 3


@pytest.mark.parametrize("calls", [0, -1])
def test_settings_take_no_number_below_one(calls: int) -> None:
    with pytest.raises(ValueError, match="give_up_after"):
        Settings(give_up_after=calls)
