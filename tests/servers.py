"""Real servers on loopback for tests: raw bytes in, raw bytes out, over http or https."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trustme

Handler = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    """A request line and its headers, names in lower case."""

    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Server:
    """A server under way: its `port`, the requests it got, the most connections it had at once."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    most_connections: int = 0

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]


def answer(body: bytes = b"", status: int = 200, *headers: str) -> bytes:
    """The bytes of a whole response; `headers` are lines such as `Location: /x`."""
    lines = [f"HTTP/1.1 {status} Reason", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


@asynccontextmanager
async def serving(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """Serves with `handler` on 127.0.0.1: it is called for each request and writes the answer;
    the connection is closed after that."""
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
            pass  # the client has gone, which is its right
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
    """A certificate authority of our own: what servers present and what clients trust."""

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
