"""The browser's only way out: a small proxy on loopback that asks the guard about every target.

A browser resolves names itself, follows redirects, opens sockets, prefetches and runs workers, out
of reach of whoever drives it. So it is given no other way than this proxy, which connects to the
very addresses that the guard has checked. Others on this machine are shown the door: every page
that is rendered has a pass of its own.
"""

import asyncio
import base64
import errno
import hmac
import math
import os
import re
import secrets
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from fetchers.address import Guard, Target
from fetchers.page import Refused, Unreachable, Unvisitable

_HEAD = 256 * 1024  # bytes of a request's or an answer's head, at most
_CHUNK = 64 * 1024
_KNOWN_FAULTS = 1_000  # targets a page, of which it is remembered why they were not reached
_ADDRESSES = 4  # of a host that are tried


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the proxy lets through. `page` is in bytes, both ways, of all that a page loads, as they
    come over the wire; times are in seconds; `connections` holds for a page, `all_connections` for
    all of them."""

    page: int = 60_000_000
    connect: float = 10
    idle: float = 30
    connections: int = 80
    all_connections: int = 800


@dataclass(slots=True, eq=False)
class Pass:
    """A page's right to use the proxy, and what became of it: `spent` are bytes; `faults` says of a
    target, a host with its port, why it was not reached."""

    user: str
    password: str
    spent: int = 0
    faults: dict[tuple[str, int], Unvisitable] = field(default_factory=dict)
    connections: set[asyncio.Task[None]] = field(default_factory=set)

    def note(self, target: Target, fault: Unvisitable | None) -> None:
        """Remembers why a target was not reached, or that it was."""
        self.faults.pop((target.host, target.port), None)
        if fault is not None and len(self.faults) < _KNOWN_FAULTS:
            self.faults[target.host, target.port] = fault

    def charge(self, size: int, limit: int) -> None:
        """Counts what passes; raises OSError where it is too much for one page."""
        self.spent += size
        if self.spent > limit:
            raise ConnectionAbortedError


class _Rejected(Exception):
    """What a client asks for is not done; the message is the status of the answer."""

    def answer(self) -> bytes:
        return (
            f"HTTP/1.1 {self}\r\n"
            'Proxy-Authenticate: Basic realm="a page of ours"\r\n'
            "Content-Length: 0\r\nConnection: close\r\n\r\n"
        ).encode()


class Proxy:
    """An HTTP proxy on 127.0.0.1 (CONNECT, and plain requests); an async context manager.

    `port` is where it listens. What it is asked for without a pass it answers with 407, what the
    guard refuses with 403, what cannot be reached with 502.
    """

    def __init__(self, guard: Guard, bounds: Bounds | None = None) -> None:
        self._guard = guard
        self._bounds = bounds or Bounds()
        self._passes: dict[str, Pass] = {}
        self._clients: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    @contextmanager
    def admit(self) -> Iterator[Pass]:
        """A pass for one page; its connections end with it."""
        ticket = Pass(secrets.token_hex(8), secrets.token_hex(16))
        self._passes[ticket.user] = ticket
        try:
            yield ticket
        finally:
            del self._passes[ticket.user]
            for task in ticket.connections:
                task.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._clients) >= self._bounds.all_connections:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request of a client, or one tunnel; then the connection is closed."""
        try:
            async with asyncio.timeout(self._bounds.idle):
                request = _Request.read(await reader.readuntil(b"\r\n\r\n"))
            with self._admitted(request) as ticket:
                await self._forward(request, ticket, reader, writer)
        except _Rejected as rejected:
            writer.write(rejected.answer())
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # either side has gone, or was too slow or too long
        finally:
            writer.close()

    @contextmanager
    def _admitted(self, request: "_Request") -> Iterator[Pass]:
        """The pass that a request shows, the running task being counted among its connections."""
        ticket = self._passes.get(request.user)
        if ticket is None or not hmac.compare_digest(ticket.password, request.password):
            raise _Rejected("407 Proxy Authentication Required")
        if ticket.spent >= self._bounds.page or len(ticket.connections) >= self._bounds.connections:
            raise _Rejected("503 Too Much")
        task = asyncio.current_task()
        assert task is not None
        ticket.connections.add(task)
        try:
            yield ticket
        finally:
            ticket.connections.discard(task)

    async def _forward(
        self,
        request: "_Request",
        ticket: Pass,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        target, from_server, server = await self._connect(request.url, ticket)
        try:
            if request.is_tunnel:
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                sending = self._pump(reader, server, ticket)
                answering = self._pump(from_server, writer, ticket)
            else:
                server.write(request.for_server(target))
                sending = self._send_body(request.length, reader, server, ticket)
                answering = self._send_answer(from_server, writer, ticket)
            await _until_one_ends(sending, answering)
        finally:
            server.transport.abort()

    async def _connect(
        self, url: str, ticket: Pass
    ) -> tuple[Target, asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to one of the addresses that the guard has checked, and to no other."""
        try:
            target = self._guard.target(url)
        except Refused:
            raise _Rejected("403 Refused") from None
        try:
            addresses = await self._guard.addresses(target.host, target.port)
            streams = await self._first_that_answers(addresses, target.port)
        except Unvisitable as fault:
            ticket.note(target, fault)
            refused = isinstance(fault, Refused)
            raise _Rejected("403 Refused" if refused else "502 Unreachable") from None
        ticket.note(target, None)
        return target, *streams

    async def _first_that_answers(
        self, addresses: Sequence[str], port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        fault = ""
        for address in addresses[:_ADDRESSES]:
            try:
                async with asyncio.timeout(self._bounds.connect):
                    return await asyncio.open_connection(address, port, limit=_HEAD)
            except TimeoutError:
                fault = "timed out"
            except OSError as error:
                fault = f"no connection: {os.strerror(error.errno or errno.EIO)}"
        raise Unreachable(fault)

    async def _send_body(
        self, length: int, reader: asyncio.StreamReader, server: asyncio.StreamWriter, ticket: Pass
    ) -> None:
        """Passes a request's body on, and no byte beyond it: what may follow on this connection
        could be meant for another target. Ends when the client goes."""
        await self._pump(reader, server, ticket, length)
        while await reader.read(_CHUNK):
            pass

    async def _send_answer(
        self, server: asyncio.StreamReader, writer: asyncio.StreamWriter, ticket: Pass
    ) -> None:
        head = b""
        while not head or head[9:10] == b"1":  # an interim answer: the real one is to come
            async with asyncio.timeout(self._bounds.idle):
                head = await server.readuntil(b"\r\n\r\n")
            ticket.charge(len(head), self._bounds.page)
            writer.write(_OF_THE_HOP.sub(b"", head)[:-2] + b"Connection: close\r\n\r\n")
        await self._pump(server, writer, ticket)

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ticket: Pass,
        length: float = math.inf,
    ) -> None:
        """Passes on `length` bytes, or all that come; ends with the source."""
        while length > 0:
            async with asyncio.timeout(self._bounds.idle):
                data = await reader.read(int(min(_CHUNK, length)))
                if not data:
                    return
                ticket.charge(len(data), self._bounds.page)
                writer.write(data)
                await writer.drain()
            length -= len(data)


async def _until_one_ends(*works: Coroutine[Any, Any, None]) -> None:
    """Runs both until the first ends; raises what it raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _Request:
    """The head of a request to a proxy: what it is for, who asks, how long its body is."""

    method: str
    url: str
    fields: str
    user: str = ""
    password: str = ""
    length: int = 0

    @classmethod
    def read(cls, head: bytes) -> Self:
        """Raises _Rejected for what a browser would not send."""
        first, *fields = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        line = re.fullmatch(r"([A-Z]{1,20}) (\S+) HTTP/1\.[01]", first)
        if line is None:
            raise _Rejected("400 Bad Request")
        method, url = line.groups()
        user, password, length = "", "", 0
        for entry in fields:
            name, _, value = entry.partition(":")
            name, value = name.lower(), value.strip()
            if name == "proxy-authorization":
                user, password = _credentials(value)
            elif name == "content-length" and _NUMBER.fullmatch(value):
                length = int(value)
            elif name in ("content-length", "transfer-encoding"):
                raise _Rejected("501 Not Implemented")
        if method == "CONNECT":
            url = f"https://{url}/"
        elif not url.lower().startswith("http://"):
            raise _Rejected("400 Bad Request")
        kept = _OF_THE_HOP.sub(b"", head).decode("latin-1").partition("\r\n")[2]
        return cls(method, url, kept, user, password, length)

    @property
    def is_tunnel(self) -> bool:
        """Whether bytes are to be passed both ways, unread."""
        return self.method == "CONNECT"

    def for_server(self, target: Target) -> bytes:
        """The head as the server is to have it: on a connection of its own, without the pass."""
        path = target.url.split("/", 3)[3]
        fields = self.fields.removesuffix("\r\n")
        return f"{self.method} /{path} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n".encode(
            "latin-1"
        )


_OF_THE_HOP = re.compile(
    rb"^(?:connection|keep-alive|proxy-[a-z]+|te|upgrade)[ \t]*:[^\n]*\n", re.I | re.M
)
_NUMBER = re.compile(r"[0-9]{1,15}")


def _credentials(value: str) -> tuple[str, str]:
    """User and password of a header of the scheme Basic; empty where it is none."""
    scheme, _, coded = value.partition(" ")
    try:
        user, _, password = base64.b64decode(coded).decode("ascii").partition(":")
    except ValueError:
        return "", ""
    return (user, password) if scheme.lower() == "basic" else ("", "")
