"""SIGINT at every step of a call, from the first import to the last message."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from conftest import ROOT, Command

from grader.interrupts import SIGNALS, interrupts

EXAMPLES = ROOT / "examples"
GRADE = (
    "grade", EXAMPLES / "runs" / "explorer.jsonl", "--tasks", EXAMPLES / "tasks",
    "--pages", EXAMPLES / "pages.warc", "--offline",
)  # fmt: skip

# Python imports this at its start. It sends the process signals when a module is imported, or when
# a function is called in the main thread.
SITE = """
import os, signal, sys

kind, name, times, number = os.environ.pop("INTERRUPT_AT").split()
left = int(times)

def interrupt():
    global left
    while left:
        left -= 1
        os.kill(os.getpid(), int(number))

def on_import(event, args):
    if event == "import" and args[0] == name:
        interrupt()

def on_call(frame, event, arg):
    if event == "call" and frame.f_code.co_qualname == name:
        sys.setprofile(None)
        interrupt()

if kind == "import":
    sys.addaudithook(on_import)
else:
    sys.setprofile(on_call)
"""


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("import grader 1", signal.SIGINT),
        ("import click 1", signal.SIGTERM),
        ("import aiohttp 3", signal.SIGINT),
        ("call Runner.run 1", signal.SIGINT),
        ("call Grader.__aenter__ 1", signal.SIGTERM),
        ("call Grader.__aenter__ 2", signal.SIGINT),
        ("call Grader.grade 1", signal.SIGTERM),
        ("call Grader.grade 2", signal.SIGINT),
        ("call Grader.grade 3", signal.SIGINT),
        ("call Call.close 1", signal.SIGINT),
        ("call Call.close 3", signal.SIGINT),
        ("call Grader.__aexit__ 1", signal.SIGTERM),
        ("call Grader.__aexit__ 2", signal.SIGINT),
        ("call Runner.close 1", signal.SIGINT),
        ("call show_scores 1", signal.SIGINT),
        ("call tell_report 1", signal.SIGINT),
    ],
)
def test_a_call_that_is_interrupted_anywhere_says_so_and_leaves_whole_files(
    assay: Command, folder: Path, place: str, number: signal.Signals
) -> None:
    (folder / "sitecustomize.py").write_text(SITE)
    done = assay(*GRADE, env={"PYTHONPATH": str(folder), "INTERRUPT_AT": f"{place} {int(number)}"})
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    for path in (folder / "out").glob("*"):
        text = path.read_text("utf-8")
        for document in [text] if path.name == "summary.json" else text.splitlines():
            json.loads(document)


def test_signals_call_the_handlers_in_turn_and_then_the_one_from_before() -> None:
    heard: list[str] = []
    before = [signal.signal(number, lambda *_: heard.append("before")) for number in SIGNALS]

    async def work() -> None:
        with interrupts(lambda: heard.append("first"), lambda: heard.append("second")):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
                os.kill(os.getpid(), number)
                await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGTERM)

    try:
        asyncio.run(work())
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)
    assert heard == ["first", "second", "before", "before"]
