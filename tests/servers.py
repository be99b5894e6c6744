"""Servers on 127.0.0.1 that send raw bytes over http or https; a resolver with fixed answers."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trustme

Handler = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    """A request line and its headers. Header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Server:
    """A running server: its port, its requests, and its connections now and at most at once."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    most_connections: int = 0

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]


def answer(body: bytes = b"", status: int = 200, *headers: str) -> bytes:
    """The bytes of a response with Content-Length. `headers` are lines such as `Location: /x`."""
    lines = [f"HTTP/1.1 {status} Reason", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


@asynccontextmanager
async def serving(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """Run a server on 127.0.0.1. It uses https if `context` is given.

    `handler` is called for each request and writes the reply. Then the connection is closed.
    """
    server = Server()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        server.most_connections = max(server.connections, server.most_connections)
        try:
            request = await _read(reader)
            server.requests.append(request)
            await handler(request, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client may disconnect at any time
        finally:
            server.connections -= 1
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    pairs = (line.split(":", 1) for line in lines)
    return Request(method, path, {name.lower(): value.strip() for name, value in pairs})


class Authority:
    """A certificate authority for tests: TLS contexts for servers and for clients that trust it."""

    def __init__(self) -> None:
        self._authority = trustme.CA()

    def server(self, *hosts: str) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._authority.issue_cert(*hosts).configure_cert(context)
        return context

    def client(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self._authority.configure_trust(context)
        return context


PUBLIC = "93.184.215.14"
NO_SUCH_NAME = socket.gaierror(socket.EAI_NONAME, "Name or service not known")


class Names:
    """A resolver with prepared answers, by name with "_" for "."; the last answer is repeated."""

    def __init__(self, **answers: Sequence[str] | OSError) -> None:
        self.answers = {name.replace("_", "."): [answer] for name, answer in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self.answers.get(host, [NO_SUCH_NAME])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, OSError):
            raise answer
        return answer
