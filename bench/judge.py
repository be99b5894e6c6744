"""The overhead of a model call. Run: `python bench/judge.py`.

With a stub that answers at once: requests a second through Adaptive, Endpoint and the checks of a
reply, compared with a bare loop over the same client. With a stub that takes 500 ms: the time for
2,000 records and 64 workers, compared with the smallest possible number of rounds. Last shown (2
cores, busy, Python 3.11):

bare loop                   731 requests a second
stage and endpoint          861 requests a second, 118%
500 ms, 64 workers        16.72 s, 1.045 of the fewest rounds
"""

import asyncio
import json
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import httpx2
import openai
from aiohttp import web

from cache.digests import digest
from judges.endpoint.endpoint import Endpoint
from judges.endpoint.questions import RateLimited, Reply, Request, Trouble
from judges.records.by_model import prompt
from judges.records.by_rules import JudgedPage
from judges.records.excerpts import PageText
from judges.records.facts import Facts, find_facts
from judges.records.record import Record
from judges.records.spec import JudgeSpec
from queues.adaptive import Adaptive
from queues.retry import Retry

WORKERS = 64
SPEC = JudgeSpec.model_validate(
    {"requirements": [{"id": name, "text": f"The page shows {name}."} for name in "abcd"]}
)
SHOWN = {"satisfied": True, "supported": True}
SAID = json.dumps(
    {
        "reason": "as the page says",
        "page_content_usable": True,
        "answer_intent_clear": True,
        "excerpts_faithful": True,
        "validity": {},
        "requirements": dict.fromkeys("abcd", SHOWN),
        "confidence": 3,
    }
)
ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "stub",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
}


def serve(port: int, latency: float) -> None:
    async def answer(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(latency)
        return web.json_response(ANSWER)

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/chat/completions", answer)
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None)


@contextmanager
def stub(latency: float) -> Iterator[None]:
    """A server in a process of its own; the environment has its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = f"http://127.0.0.1:{port}/v1", "k"
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(port, latency))
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


def requests(count: int) -> list[Request]:
    """Requests in their usual order: page by page, for 100 pages of 8,000 characters."""
    made = []
    known: Facts | None = None
    for number in range(count):
        page = f"Page {number * 100 // count}. " + "The river rose and fell with the season. " * 200
        record = Record(number, None, {"n": str(number)}, "https://a.example/", ("rose",), "yes")
        seen = JudgedPage("ok", "", "https://a.example/", PageText(page))
        known = find_facts(SPEC, record, seen)
        made.append(prompt(SPEC, known, "stub", "medium"))
    return made


async def spread(ask: Callable[[Request], Awaitable[object]], asked: list[Request]) -> float:
    """Seconds for all requests, WORKERS of them in flight."""
    left = iter(asked)

    async def worker() -> None:
        for request in left:
            await ask(request)

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(WORKERS):
            tasks.create_task(worker())
    return time.perf_counter() - begun


async def bare(asked: list[Request]) -> float:
    """Seconds for the same requests through the client alone."""
    limits = httpx2.Limits(max_connections=WORKERS, max_keepalive_connections=WORKERS)
    client = openai.AsyncOpenAI(
        max_retries=0, http_client=openai.DefaultAioHttpClient(limits=limits)
    )

    async def ask(request: Request) -> object:
        return await client.chat.completions.create(
            model=request.model,
            messages=[
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            reasoning_effort=request.effort,
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": request.role,
                    "strict": True,
                    "schema": json.loads(request.schema),
                },
            },
        )

    async with client:
        return await spread(ask, asked)


async def whole(asked: list[Request]) -> float:
    """Seconds for the same requests through stage and endpoint; the stage gets all at once."""
    async with Endpoint(WORKERS) as endpoint:
        node: Adaptive[Request, Reply] = Adaptive(
            "ask",
            endpoint.ask,
            key=lambda r: digest(r.model, r.effort, r.system, r.user, r.schema),
            most=WORKERS,
            limited=RateLimited,
            retry=Retry((Trouble,), attempts=8),
            deadline=120,
        )
        begun = time.perf_counter()
        ends = await node.many(asked)
        seconds = time.perf_counter() - begun
        await node.stop()
    assert all(isinstance(end, Reply) for end in ends)
    return seconds


async def main() -> None:
    asked = requests(2000)
    with stub(latency=0.0):
        await bare(asked[:200])
        # In turn, since other work on the machine comes and goes.
        times = [(await bare(asked), await whole(asked)) for _ in range(3)]
    alone, ours = (min(column) for column in zip(*times, strict=True))
    print(f"bare loop               {len(asked) / alone:7.0f} requests a second")
    print(f"stage and endpoint      {len(asked) / ours:7.0f} requests a second, {alone / ours:.0%}")
    with stub(latency=0.5):
        seconds = await whole(asked)
    fewest = -(-len(asked) // WORKERS) * 0.5
    print(f"500 ms, 64 workers      {seconds:7.2f} s, {seconds / fewest:.3f} of the fewest rounds")


if __name__ == "__main__":
    asyncio.run(main())
