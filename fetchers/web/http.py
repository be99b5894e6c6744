"""Fetch URLs over http, with limits on everything that a server can make long or large."""

import asyncio
import errno
import logging
import os
import socket
import ssl as tls
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from string import printable
from types import TracebackType
from typing import Self
from urllib.parse import quote
from weakref import WeakValueDictionary

import aiohttp
from ada_url import join_url
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from fetchers.guard import Guard, Target
from fetchers.page import Dead, Refused, Response, Unreachable, Unvisitable, now
from fetchers.web.coding import decoded
from fetchers.web.headers import merge_headers, without_transfer_headers

_log = logging.getLogger(__name__)

MAX_REDIRECTS = 10
MAX_RETRY_AFTER = 86_400.0  # seconds
_REDIRECTS = (301, 302, 303, 307, 308)

# The headers of a browser, so that sites reply as to a browser. "Assay" says who asks.
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36 (compatible; Assay)",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9,*;q=0.5",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a visit.

    Times are in seconds. `total` is for all redirects and the body, without the wait for a free
    connection. `connect` is for one connection, `idle` for the wait for the next bytes. `size` is
    in bytes of the decoded body; the rest is cut off. `per_host` and `connections` are numbers of
    connections at once: to one host, and to all hosts.
    """

    total: float = 45
    connect: float = 10
    idle: float = 20
    size: int = 20_000_000
    per_host: int = 6
    connections: int = 100


class Http:
    """Fetches URLs through one client session. An async context manager for one event loop.

    `ssl` replaces the certificate authorities of the system.
    """

    def __init__(
        self, guard: Guard, limits: Limits | None = None, ssl: tls.SSLContext | None = None
    ) -> None:
        self._guard = guard
        self._limits = limits or Limits()
        self._ssl = ssl

    async def __aenter__(self) -> Self:
        limits = self._limits
        self._connections = asyncio.Semaphore(limits.connections)
        self._hosts: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=_GuardedResolver(self._guard),
                ssl=self._ssl or True,
                limit=0,  # `_slot` limits connections, so that no timeout runs during the wait
                keepalive_timeout=5,
            ),
            headers=_HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=limits.connect, sock_read=limits.idle
            ),
            auto_decompress=False,
            max_line_size=16_384,
            max_field_size=16_384,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def fetch(self, url: str) -> Response:
        """Follow the redirects from `url` and return the final response, with any status.

        Raises Refused if the guard refuses a URL of the redirects. Raises Dead if there is no such
        host or the redirects loop. Raises Unreachable for a status 429 or 5xx, a failed connection,
        a timeout, and a body that stops early. Raises nothing else. Cookies are kept for this visit
        only.
        """
        cookies = aiohttp.CookieJar(unsafe=True)  # "unsafe" allows IP addresses as hosts
        time_left = self._limits.total
        loop = asyncio.get_running_loop()
        for _ in range(MAX_REDIRECTS + 1):
            target = self._guard.target(url)
            async with self._slot(target.host):
                started = loop.time()
                step = await self._hop_in_time(target, cookies, time_left)
                time_left -= loop.time() - started
            if isinstance(step, Response):
                return step
            url = step
        raise Dead("redirect loop")

    @asynccontextmanager
    async def _slot(self, host: str) -> AsyncIterator[None]:
        """Wait for a free connection to `host`."""
        slots = self._hosts.setdefault(host, asyncio.Semaphore(self._limits.per_host))
        async with slots, self._connections:
            yield

    async def _hop_in_time(
        self, target: Target, cookies: aiohttp.CookieJar, time_left: float
    ) -> Response | str:
        """Call `_hop` with a timeout in seconds. Every other error becomes Unreachable."""
        try:
            async with asyncio.timeout(time_left):
                return await self._hop(target, cookies)
        except Unvisitable:
            raise
        except Exception as error:
            if not isinstance(error, (aiohttp.ClientError, OSError)):
                # aiohttp failed on a reply in an unexpected way. The log shows where.
                _log.warning("visit of %s failed", target.host, exc_info=True)
            raise Unreachable(_reason(error)) from error

    async def _hop(self, target: Target, cookies: aiohttp.CookieJar) -> Response | str:
        """Send one request. Return its response, or the next URL if it is a redirect."""
        url = URL(target.url, encoded=True)
        if (url.raw_host, url.port) != (target.host, target.port):
            raise Refused("ambiguous URL: two parsers read different hosts or ports")
        sent = {name: morsel.value for name, morsel in cookies.filter_cookies(url).items()}
        async with self._session.get(url, cookies=sent, allow_redirects=False) as reply:
            cookies.update_cookies(reply.cookies, url)
            if reply.status in _REDIRECTS and "Location" in reply.headers:
                reply.close()  # the body may have no end
                return _join(target.url, reply.headers["Location"])
            body, fault = await self._body(reply)
        response = Response(
            status=reply.status,
            final_url=target.url,
            headers=_headers(reply.headers),
            body=body,
            via="http",
            fetched_at=now(),
        )
        if reply.status == 429 or 500 <= reply.status <= 599:  # 999 is a bot wall
            retry_after = _retry_after(response.headers.get("retry-after", ""))
            raise Unreachable(f"status {reply.status}", retry_after, response)
        if fault:
            raise Unreachable(fault, response=response)
        return response

    async def _body(self, reply: aiohttp.ClientResponse) -> tuple[bytes, str]:
        """Read and decode the body, up to the limit of size. Return it with the fault, or ""."""
        size, raw, fault = self._limits.size, bytearray(), ""
        try:
            async for chunk in reply.content.iter_any():
                raw += chunk
                if len(raw) > size:
                    reply.close()
                    break
        except aiohttp.ClientPayloadError:
            fault = "body cut short"
        except TimeoutError:
            fault = "timed out"
        body = bytes(raw)
        if encoding := ",".join(reply.headers.getall("Content-Encoding", ())):
            try:
                body = await asyncio.to_thread(decoded, body, encoding, size)
            except ValueError:
                body, fault = b"", "unreadable content encoding"
        return body[:size], fault


class _GuardedResolver(AbstractResolver):
    """Resolves hosts through the guard, so the client connects only to checked addresses."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in await self._guard.addresses(host, port)
        ]

    async def close(self) -> None:
        pass


def _reason(error: Exception) -> str:
    """The reason of an Unreachable, for people."""
    match error:
        case TimeoutError():
            return "timed out"
        case aiohttp.ClientConnectorCertificateError():
            return f"certificate: {error.certificate_error}"
        case aiohttp.ClientConnectorSSLError():
            return "no secure connection"
        case aiohttp.ClientConnectorError():
            return f"no connection: {os.strerror(error.errno or errno.EIO)}"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
            return "connection dropped"
        case _:
            return f"broken response: {type(error).__name__}"


def _join(base: str, location: str) -> str:
    """The absolute URL of a Location header."""
    # Bytes that are not UTF-8 are sent back unchanged, as browsers do.
    readable = quote(location.encode("utf-8", "surrogateescape"), safe=printable)
    try:
        return join_url(base, readable)
    except ValueError:
        return location  # not a URL; the guard refuses it


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return without_transfer_headers(
        merge_headers(
            (name, value.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            for name, value in headers.items()
        )
    )


def _retry_after(value: str) -> float | None:
    """The seconds to wait by a Retry-After header, a number or a date (RFC 9110, 10.2.3).

    At most MAX_RETRY_AFTER; None if the header has neither form.
    """
    try:
        if value.isdecimal():
            seconds = float(value)
        else:
            seconds = parsedate_to_datetime(value).timestamp() - datetime.now(UTC).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)
