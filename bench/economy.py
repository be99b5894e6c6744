"""What unusable replies cost. Run: `python bench/economy.py [SORT ...]`.

1,552 records on 160 pages are judged by a fake endpoint. One reply in five is unusable, or in an
unusual form, of one sort. `at random`: each reply is drawn alone, as with a model that samples.
`the same`: one record in five gets such replies in every attempt, as at temperature 0. `always`:
every reply is of this sort. Columns: calls, tokens in and out (thousands), seconds, and records
that are left ungraded. The endpoint takes 50 ms a reply, and 64 requests are in flight.
The output of the last run is in bench/README.md.
"""

import asyncio
import hashlib
import json
import multiprocessing
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from aiohttp import web

from cache.folder import Cache
from fetchers.page import Page
from grader.stages.judging import ByModel, Case
from grader.stages.spending import Spending
from judges.endpoint.endpoint import Endpoint
from judges.endpoint.questions import ModelUnusable
from judges.records.by_rules import JudgedPage
from judges.records.excerpts import PageText
from judges.records.facts import find_facts
from judges.records.record import Record
from judges.records.spec import JudgeSpec
from judges.records.verdict import Verdict
from queues.graph import Graph

RECORDS, PAGES, WORKERS, LATENCY, SHARE = 1_552, 160, 64, 0.05, 0.2
SPEC = JudgeSpec.model_validate(
    {"requirements": [{"id": name, "text": f"The page shows {name}."} for name in "abcd"]}
)
GOOD: dict[str, Any] = {
    "reason": "The page says so.",
    "page_content_usable": True,
    "answer_intent_clear": True,
    "excerpts_faithful": True,
    "validity": {},
    "requirements": {name: {"satisfied": True, "supported": True} for name in "abcd"},
    "confidence": 3,
}
TEXT = json.dumps(GOOD)
TEXTUAL = json.dumps(GOOD).replace("true", '"true"').replace(": 3", ': "3"')


def chat(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    tokens = round(len(text or json.dumps(message)) / 3.5)
    choice = {"index": 0, "finish_reason": finish, "message": {"content": text, **message}}
    return {"choices": [choice], "usage": {"completion_tokens": tokens}}


UNUSABLE: dict[str, Callable[[], dict[str, Any]]] = {
    "prose": lambda: chat("The record looks fine to me. " * 5),
    "empty": lambda: chat(""),
    "broken off": lambda: chat(TEXT[: len(TEXT) // 2]),
    "cut off by length": lambda: chat(TEXT[: len(TEXT) // 2], "length"),
    "wrong shape": lambda: chat('{"verdict": "yes"}'),
    "a missing id": lambda: chat(json.dumps({**GOOD, "requirements": {}})),
    "out of range": lambda: chat(json.dumps({**GOOD, "confidence": 7})),
    "two verdicts": lambda: chat(TEXT + json.dumps({**GOOD, "confidence": 1})),
    "refusal": lambda: chat(None, refusal="I cannot help with that."),
    "content filter": lambda: chat("", "content_filter"),
    "no message": lambda: {"usage": {}},
}
UNUSUAL: dict[str, Callable[[], dict[str, Any]]] = {
    "Python dict": lambda: chat(repr(GOOD)),
    "wrapped": lambda: chat(json.dumps([{"verdict": GOOD}])),
    "strings for values": lambda: chat(TEXTUAL),
    "raw line breaks": lambda: chat(TEXT.replace("page says", "page\nsays")),
    "extra fields": lambda: chat(json.dumps({**GOOD, "notes": ["none"]})),
    "a list of parts": lambda: chat(None, content=[{"type": "text", "text": TEXT}]),
    "in the reasoning": lambda: chat("", reasoning_content=TEXT),
    "a tool call": lambda: chat(None, tool_calls=[{"function": {"arguments": TEXT}}]),
}
FORMS = {**UNUSABLE, **UNUSUAL}
MODES = ("at random", "the same", "always")


def serve(port: int, sort: str, mode: str) -> None:
    """Answer with GOOD, or with a reply of this sort."""
    rng = random.Random(11)

    def is_bad(messages: list[Any]) -> bool:
        if mode == "the same":
            first = json.dumps(messages[:2]).encode()
            return hashlib.sha256(first).digest()[0] < SHARE * 256
        return mode == "always" or rng.random() < SHARE

    async def answer(request: web.Request) -> web.Response:
        messages = json.loads(await request.read())["messages"]
        await asyncio.sleep(LATENCY)
        bad = sort != "faultless" and is_bad(messages)
        name = rng.choice([*UNUSABLE]) if sort == "a mix of the unusable" else sort
        body = FORMS[name]() if bad else chat(TEXT)
        body["usage"]["prompt_tokens"] = round(sum(len(m["content"]) for m in messages) / 3.5)
        return web.json_response(body)

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/chat/completions", answer)
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None)


@contextmanager
def endpoint(sort: str, mode: str) -> Iterator[None]:
    """The fake endpoint in a process of its own; the environment names it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = f"http://127.0.0.1:{port}/v1", "k"
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(port, sort, mode))
    process.start()
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.join()


def cases() -> list[Case]:
    made = []
    for number in range(RECORDS):
        url = f"https://pages.example/{number * PAGES // RECORDS}"
        text = f"{url}. " + "The river rose and fell with the season. " * 50
        page = Page("ok", "", "http", 200, url, "b" * 64, "2026", 400, text, "text/html")
        record = Record(number, None, {"n": str(number)}, url, ("The river rose",), "yes")
        made.append(Case(SPEC, record, page))
    return made


async def on_page(function: Callable[..., Any], case: Case, *args: Any) -> Any:
    page = case.page
    seen = JudgedPage(page.state, page.reason, page.final_url, PageText(page.text))
    return find_facts(case.spec, case.record, seen, *args)


async def judge_all(asked: list[Case]) -> str:
    """Judge the cases once, and return a row of figures."""
    with tempfile.TemporaryDirectory() as folder:
        async with Cache.open(Path(folder)) as cache, Endpoint(WORKERS) as client:
            spending = Spending(client.spent, {})
            by = ByModel(cache.ledger, on_page, client.ask, "m", "id m", spending, WORKERS, 120)
            async with Graph(by.nodes):
                begun = time.perf_counter()
                ends = await by.judge(asked)
                seconds = time.perf_counter() - begun
            used = client.spent["judge", "m"]
    ungraded = sum(not isinstance(end, Verdict) for end in ends)
    stopped = " stopped early" if any(isinstance(end, ModelUnusable) for end in ends) else ""
    return (
        f"{used.calls:6,} {used.tokens_in / 1000:7,.0f} {used.tokens_out / 1000:5,.0f} "
        f"{seconds:6.2f} {ungraded:6,}{stopped}"
    )


def main() -> None:
    asked = cases()
    sorts = sys.argv[1:] or ["faultless", *FORMS, "a mix of the unusable", "always"]
    print(f"{'sort':22} {'mode':10}  calls  tokens in, out seconds ungraded")
    for sort in sorts:
        for mode in MODES:
            if sort == "always":
                name, runs = "prose", mode == "always"
            else:
                name, runs = sort, mode == "at random" or (mode == "the same" and sort in UNUSABLE)
            if runs:
                with endpoint(name, mode):
                    print(f"{name:22} {mode:10} {asyncio.run(judge_all(asked))}", flush=True)


if __name__ == "__main__":
    main()
