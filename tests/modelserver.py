"""The server of a model, on loopback: a function answers each request."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Asked:
    """A request that the server got: its path without `/v1`, its headers and its body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def form(self) -> str:
        """The form of reply that the request asks for."""
        given = self.body.get("response_format") or self.body.get("text", {}).get("format", {})
        guided = given.get("type") == "json_object" and "schema" in given
        return "guided" if guided else given.get("type", "text")

    @property
    def system(self) -> str:
        return self.messages[0]["content"]

    @property
    def user(self) -> str:
        return self.messages[1]["content"]

    @property
    def messages(self) -> list[dict[str, str]]:
        return self.body.get("messages") or self.body["input"]

    @property
    def record(self) -> Any:
        """The record in a judge's request."""
        return json.loads(self.fenced("record"))

    def fenced(self, what: str) -> str:
        """The text between the only two lines that have a mark and this name."""
        ((_, content),) = re.findall(rf"^<{what} (\w+)>\n(.*)\n</{what} \1>$", self.user, _LINES)
        return str(content)

    @property
    def facts(self) -> Any:
        return json.loads(self.user.rpartition("\nFacts:\n")[2])

    @property
    def schema(self) -> Any:
        """The schema of the answer that the request asks for."""
        return self.body["response_format"]["json_schema"]["schema"]


_LINES = re.MULTILINE | re.DOTALL


Answer = Callable[[Asked], web.StreamResponse | Awaitable[web.StreamResponse]]


@dataclass
class ModelServer:
    """A running server: its base URL and the requests that it got."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def forms(self) -> list[str]:
        return [asked.form for asked in self.asked]


@asynccontextmanager
async def model_server(answer: Answer, port: int = 0) -> AsyncIterator[ModelServer]:
    """Run a server with both APIs under `/v1` on 127.0.0.1."""
    server = ModelServer()

    async def handle(request: web.Request) -> web.StreamResponse:
        server.at_once += 1
        server.most_at_once = max(server.most_at_once, server.at_once)
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(request.path.removeprefix("/v1"), headers, json.loads(await request.read()))
        server.asked.append(asked)
        try:
            given = answer(asked)
            return given if isinstance(given, web.StreamResponse) else await given
        finally:
            server.at_once -= 1

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()


@contextmanager
def model_behind(answer: Answer) -> Iterator[ModelServer]:
    """The same server in a thread, for tests without an event loop."""
    found: list[ModelServer] = []
    ready, over = Event(), Event()

    async def serve() -> None:
        async with model_server(answer) as server:
            found.append(server)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield found[0]
    finally:
        over.set()
        thread.join()


def agreement(schema: Any) -> Any:
    """A value that meets a schema and finds nothing wrong."""
    match schema:
        case {"enum": choices}:
            return choices[-1]
        case {"type": "object", "properties": properties}:
            return {name: agreement(part) for name, part in properties.items()}
        case {"type": "array"}:
            return []
        case {"type": "boolean"}:
            return True
        case _:
            return "So it stands there."


def agrees(asked: Asked, **said: Any) -> web.Response:
    """A reply that meets the schema. It finds nothing wrong, except in the given fields."""
    return says(json.dumps({**agreement(asked.schema), **said}))


class Dropped(web.Response):
    """Cuts the connection instead of sending a response."""

    async def prepare(self, request: web.BaseRequest) -> Any:
        assert request.transport
        request.transport.abort()
        return await super().prepare(request)


def says(text: str | None, finish: str = "stop", **message: Any) -> web.Response:
    """A chat completion."""
    return web.json_response(
        {
            "choices": [
                {"index": 0, "finish_reason": finish, "message": {"content": text, **message}}
            ],
            "usage": {
                "prompt_tokens": 100,
                "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens": 7,
            },
        }
    )


def responds(text: str, status: str = "completed", kind: str = "output_text") -> web.Response:
    """A reply in the responses API."""
    part = {"type": kind, "text": text, "refusal": text}
    return web.json_response(
        {
            "status": status,
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "message", "role": "assistant", "content": [part]},
            ],
            "usage": {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 60},
                "output_tokens": 7,
            },
        }
    )


def refuses(status: int, message: str, **fields: Any) -> web.Response:
    """An error response in the form that endpoints use."""
    return web.json_response({"error": {"message": message, **fields}}, status=status)
