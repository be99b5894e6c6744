"""The command line counts an address that never answers as dead."""

import json
from pathlib import Path

import pytest
from conftest import Command
from material import Answer, article, read_lines, serving, write_lines

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


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "soon", ""])
def test_a_number_of_calls_is_positive_or_never(assay: Command, value: str) -> None:
    done = assay("fetch", "http://a.example/", "--offline", "--give-up-after", value)
    assert done.returncode == 2
    assert "--give-up-after" in done.stderr
