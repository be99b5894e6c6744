"""A small HTTP proxy on 127.0.0.1 through which the browser sends all requests.

A browser resolves names, follows redirects, opens sockets, prefetches and runs workers by itself.
The program that drives it cannot check these requests. So the browser may only use this proxy,
which connects only to addresses that the guard has checked. Every page has its own ticket (a user
and a password), so other programs on this machine cannot use the proxy.
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

from fetchers.guard import Guard, Target
from fetchers.page import Refused, Unreachable, Unvisitable

_HEAD = 256 * 1024  # bytes; the limit for the head of a request or reply
_CHUNK = 64 * 1024
_KNOWN_FAULTS = 1_000  # targets per page whose faults are stored
_ADDRESSES = 4  # addresses of a host that are tried


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of the proxy.

    `page` is the sum in bytes of all requests and replies of a page, before decoding. `connect` is
    for one connection and `idle` for the wait for the next bytes, in seconds. `connections` is the
    number of connections at once of one page, `all_connections` of all pages.
    """

    page: int = 60_000_000
    connect: float = 10
    idle: float = 30
    connections: int = 80
    all_connections: int = 800


@dataclass(slots=True, eq=False)
class Ticket:
    """The permission of one page to use the proxy.

    `spent` counts the bytes that the page has used. `faults` has, by host and port, why a target
    was not reached. `connections` are the tasks of the page's open connections.
    """

    user: str
    password: str
    spent: int = 0
    faults: dict[tuple[str, int], Unvisitable] = field(default_factory=dict)
    connections: set[asyncio.Task[None]] = field(default_factory=set)

    def note(self, target: Target, fault: Unvisitable | None) -> None:
        """Store why a target was not reached. `fault` is None if it was reached."""
        self.faults.pop((target.host, target.port), None)
        if fault is not None and len(self.faults) < _KNOWN_FAULTS:
            self.faults[target.host, target.port] = fault

    def charge(self, size: int, limit: int) -> None:
        """Count `size` bytes. Raises OSError if the page has used more than `limit` bytes."""
        self.spent += size
        if self.spent > limit:
            raise ConnectionAbortedError


class _Rejected(Exception):
    """The proxy rejects a request. The message is the status line of the reply."""

    def reply(self) -> bytes:
        return (
            f"HTTP/1.1 {self}\r\n"
            'Proxy-Authenticate: Basic realm="assay"\r\n'
            "Content-Length: 0\r\nConnection: close\r\n\r\n"
        ).encode()


class Proxy:
    """An HTTP proxy on 127.0.0.1 for CONNECT and plain http requests. An async context manager.

    `port` is the port that it listens on. It replies 407 to a request without a valid ticket, 403
    if the guard refuses the target, 502 if the target cannot be reached, and 503 if the page is
    over its limits.
    """

    def __init__(self, guard: Guard, bounds: Bounds | None = None) -> None:
        self._guard = guard
        self._bounds = bounds or Bounds()
        self._tickets: dict[str, Ticket] = {}
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
    def admit(self) -> Iterator[Ticket]:
        """Create a ticket for one page. At the end, the ticket and its connections end."""
        ticket = Ticket(secrets.token_hex(8), secrets.token_hex(16))
        self._tickets[ticket.user] = ticket
        try:
            yield ticket
        finally:
            del self._tickets[ticket.user]
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
        """Serve one request or one tunnel of a client, then close the connection."""
        try:
            async with asyncio.timeout(self._bounds.idle):
                request = _Request.read(await reader.readuntil(b"\r\n\r\n"))
            with self._admitted(request) as ticket:
                await self._forward(request, ticket, reader, writer)
        except _Rejected as rejected:
            writer.write(rejected.reply())
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # one side has disconnected, was too slow or sent too much
        finally:
            writer.close()

    @contextmanager
    def _admitted(self, request: "_Request") -> Iterator[Ticket]:
        """The ticket of a request. The current task counts as one of its connections meanwhile.

        Raises _Rejected if the ticket is not valid or the page is over its limits.
        """
        ticket = self._tickets.get(request.user)
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
        ticket: Ticket,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        target, from_server, server = await self._connect(request.url, ticket)
        try:
            if request.is_tunnel:
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                sending = self._pump(reader, server, ticket)
                receiving = self._pump(from_server, writer, ticket)
            else:
                server.write(request.for_server(target))
                sending = self._send_body(request.length, reader, server, ticket)
                receiving = self._send_reply(from_server, writer, ticket)
            await _until_one_ends(sending, receiving)
        finally:
            server.transport.abort()

    async def _connect(
        self, url: str, ticket: Ticket
    ) -> tuple[Target, asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to one of the addresses that the guard has checked. Raises _Rejected."""
        try:
            target = self._guard.target(url)
        except Refused:
            raise _Rejected("403 Refused") from None
        try:
            addresses = await self._guard.addresses(target.host, target.port)
            streams = await self._open_first(addresses, target.port)
        except Unvisitable as fault:
            ticket.note(target, fault)
            refused = isinstance(fault, Refused)
            raise _Rejected("403 Refused" if refused else "502 Unreachable") from None
        ticket.note(target, None)
        return target, *streams

    async def _open_first(
        self, addresses: Sequence[str], port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the first address that accepts. Raises Unreachable with the last reason."""
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
        self,
        length: int,
        reader: asyncio.StreamReader,
        server: asyncio.StreamWriter,
        ticket: Ticket,
    ) -> None:
        """Forward the body of a request, then wait until the client disconnects.

        Later bytes are not forwarded: they may be a request for another target.
        """
        await self._pump(reader, server, ticket, length)
        while await reader.read(_CHUNK):
            pass

    async def _send_reply(
        self, server: asyncio.StreamReader, writer: asyncio.StreamWriter, ticket: Ticket
    ) -> None:
        """Forward the head of the reply, without headers of the connection, then its body."""
        head = b""
        while not head or head[9:10] == b"1":  # 1xx: an interim reply; the final one follows
            async with asyncio.timeout(self._bounds.idle):
                head = await server.readuntil(b"\r\n\r\n")
            ticket.charge(len(head), self._bounds.page)
            writer.write(_CONNECTION_HEADERS.sub(b"", head)[:-2] + b"Connection: close\r\n\r\n")
        await self._pump(server, writer, ticket)

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ticket: Ticket,
        length: float = math.inf,
    ) -> None:
        """Forward `length` bytes, or fewer if the source ends. Raises OSError if it is idle."""
        while length > 0:
            async with asyncio.timeout(self._bounds.idle):
                data = await reader.read(int(min(_CHUNK, length)))
                if not data:
                    return
                ticket.charge(len(data), self._bounds.page)
                writer.write(data)
                await writer.drain()
            length -= len(data)


async def _until_one_ends(*directions: Coroutine[Any, Any, None]) -> None:
    """Run both directions until the first ends, then cancel the other. Raises its error."""
    tasks = [asyncio.create_task(direction) for direction in directions]
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
    """The head of a request to the proxy.

    `fields` are its header lines without headers of the connection. `user` and `password` are the
    ticket. `length` is the length of the body in bytes.
    """

    method: str
    url: str
    fields: str
    user: str = ""
    password: str = ""
    length: int = 0

    @classmethod
    def read(cls, head: bytes) -> Self:
        """Parse a head. Raises _Rejected if a browser would not send it."""
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
        kept = _CONNECTION_HEADERS.sub(b"", head).decode("latin-1").partition("\r\n")[2]
        return cls(method, url, kept, user, password, length)

    @property
    def is_tunnel(self) -> bool:
        """Whether this is a CONNECT request: bytes are forwarded both ways, unread."""
        return self.method == "CONNECT"

    def for_server(self, target: Target) -> bytes:
        """The head that the server gets: without the ticket, for one request per connection."""
        path = target.url.split("/", 3)[3]
        fields = self.fields.removesuffix("\r\n")
        return f"{self.method} /{path} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n".encode(
            "latin-1"
        )


_CONNECTION_HEADERS = re.compile(
    rb"^(?:connection|keep-alive|proxy-[a-z]+|te|upgrade)[ \t]*:[^\n]*\n", re.I | re.M
)
_NUMBER = re.compile(r"[0-9]{1,15}")


def _credentials(value: str) -> tuple[str, str]:
    """User and password of a Basic authorization; ("", "") if the header has another form."""
    scheme, _, coded = value.partition(" ")
    try:
        user, _, password = base64.b64decode(coded).decode("ascii").partition(":")
    except ValueError:
        return "", ""
    return (user, password) if scheme.lower() == "basic" else ("", "")
