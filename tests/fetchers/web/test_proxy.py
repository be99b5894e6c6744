import asyncio
import base64
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
from servers import Request, answer, serving

from fetchers.guard import Guard
from fetchers.page import Dead, Refused, Unreachable
from fetchers.web.proxy import Bounds, Proxy, Ticket


async def local(host: str) -> Sequence[str]:
    return ["127.0.0.1"]


def guard(port: int) -> Guard:
    return Guard([f"site.example:{port}"], lookup=local)


async def say(proxy: Proxy, request: bytes) -> bytes:
    """Send bytes to the proxy and return its reply, until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    try:
        writer.write(request)
        with suppress(ConnectionError):
            return await reader.read(-1)
        return b""
    finally:
        writer.close()


def head(line: str, ticket: Ticket | None, *fields: str) -> bytes:
    if ticket is not None:
        shown = base64.b64encode(f"{ticket.user}:{ticket.password}".encode()).decode()
        fields = (*fields, f"Proxy-Authorization: Basic {shown}")
    return "\r\n".join((f"{line} HTTP/1.1", *fields, "", "")).encode()


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


async def echo(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(answer(repr(request).encode(), 200, "Connection: keep-alive", "Keep-Alive: 9"))


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 (no event reports it)
        await asyncio.sleep(0)


async def test_a_request_reaches_its_server_without_the_headers_for_the_proxy() -> None:
    async with serving(echo) as server, Proxy(guard(server.port)) as proxy:
        with proxy.admit() as ticket:
            reply = await say(
                proxy,
                head(
                    f"GET http://site.example:{server.port}/a?b", ticket,
                    "Host: site.example", "Accept: x", "Proxy-Connection: keep-alive",
                ),
            )  # fmt: skip
        assert status(reply) == 200
        assert reply.count(b"Connection: close\r\n") == 1
        assert b"eep-" not in reply.partition(b"\r\n\r\n")[0]
        assert server.requests == [
            Request("GET", "/a?b", {"host": "site.example", "accept": "x", "connection": "close"})
        ]


async def test_a_tunnel_forwards_bytes_both_ways() -> None:
    async with serving(echo) as server, Proxy(guard(server.port)) as proxy:
        with proxy.admit() as ticket:
            line = f"CONNECT site.example:{server.port}"
            reply = await say(proxy, head(line, ticket) + b"GET /in HTTP/1.1\r\n\r\n")
            assert ticket.spent > 100
    assert status(reply) == 200
    assert b"path='/in'" in reply


async def test_a_request_without_a_valid_ticket_gets_407() -> None:
    async with serving(echo) as server, Proxy(guard(server.port)) as proxy:
        where = f"site.example:{server.port}"
        with proxy.admit() as ended:
            pass
        with proxy.admit() as ticket:
            shown = [head(f"CONNECT {where}", it) for it in (None, ended, Ticket(ticket.user, "?"))]
            for value in ("", "%%%", base64.b64encode(b"\xff:\xff").decode(), ticket.password):
                field = f"Proxy-Authorization: Basic {value}"
                shown.append(head(f"GET http://{where}/", None, field))
            assert [status(await say(proxy, request)) for request in shown] == [407] * len(shown)
        assert server.requests == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:7f00:1]", "inside.example",
     "169.254.169.254", "site.example@127.0.0.1", "0"],
)  # fmt: skip
async def test_a_target_that_the_guard_refuses_gets_403(host: str) -> None:
    async with serving(echo) as server, Proxy(guard(server.port)) as proxy:
        with proxy.admit() as ticket:
            for line in (f"GET http://{host}:{server.port}/", f"CONNECT {host}:{server.port}"):
                assert status(await say(proxy, head(line, ticket))) == 403
        assert server.most_connections == 0


async def test_a_ticket_stores_why_a_target_was_not_reached() -> None:
    async def lookup(host: str) -> Sequence[str]:
        if host == "nowhere.example":
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return ["10.0.0.1"] if host == "inside.example" else ["127.0.0.1"]

    async with serving(echo) as server:
        closed = server.port
    async with Proxy(Guard(["site.example"], lookup=lookup)) as proxy:
        with proxy.admit() as ticket:
            for host in ("inside.example", "nowhere.example", "site.example"):
                await say(proxy, head(f"CONNECT {host}:{closed}", ticket))
    kinds = {host: type(fault) for (host, _), fault in ticket.faults.items()}
    assert kinds == {
        "inside.example": Refused, "nowhere.example": Dead, "site.example": Unreachable,
    }  # fmt: skip
    assert str(ticket.faults["site.example", closed]).startswith("no connection")


async def test_bytes_after_a_request_are_not_sent_to_its_server() -> None:
    got = bytearray()
    done = asyncio.Event()

    async def listens(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.extend(await reader.readuntil(b"body"))
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfine")
        writer.write_eof()
        got.extend(await reader.read(-1))
        writer.close()
        done.set()

    listener = await asyncio.start_server(listens, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener, Proxy(guard(port)) as proxy:
        with proxy.admit() as ticket:
            first = head(f"POST http://site.example:{port}/", ticket, "Content-Length: 4")
            second = head("GET http://elsewhere.example/", ticket)
            reply = await say(proxy, first + b"body" + second)
        await done.wait()
    assert reply.startswith(b"HTTP/1.1 100 Continue\r\n")
    assert reply.endswith(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfine")
    assert got.endswith(b"\r\n\r\nbody")
    assert ticket.password.encode() not in got


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET https://site.example/ HTTP/1.1\r\n\r\n", 400),
        (b"GET file:///etc/passwd HTTP/1.1\r\n\r\n", 400),
        (b"POST http://site.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
        (b"POST http://site.example/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 501),
    ],
)
async def test_a_malformed_request_is_rejected(request_: bytes, expected: int) -> None:
    async with Proxy(Guard()) as proxy:
        assert status(await say(proxy, request_)) == expected


async def test_the_bytes_and_connections_of_a_page_are_limited() -> None:
    async def floods(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()

    bounds = Bounds(page=100_000, connections=1, idle=0.2)
    async with serving(floods) as server, Proxy(guard(server.port), bounds) as proxy:
        line = f"GET http://site.example:{server.port}/"
        with proxy.admit() as ticket:
            assert len(await say(proxy, head(line, ticket))) <= 100_000
            assert status(await say(proxy, head(line, ticket))) == 503
        with proxy.admit() as ticket:  # an idle tunnel, and a second one
            tunnel = head(f"CONNECT site.example:{server.port}", ticket)
            idle = asyncio.create_task(say(proxy, tunnel))
            await until(lambda: bool(ticket.connections))
            assert status(await say(proxy, tunnel)) == 503
            assert status(await idle) == 200  # closed after the idle timeout


async def test_connections_end_with_their_ticket() -> None:
    async def hangs(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with serving(hangs) as server, Proxy(guard(server.port)) as proxy:
        with proxy.admit() as ticket:
            line = f"GET http://site.example:{server.port}/"
            waiting = asyncio.create_task(say(proxy, head(line, ticket)))
            await until(lambda: bool(server.requests))
        assert await waiting == b""
