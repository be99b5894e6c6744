"""Visits over http: a URL to a response, bounded in everything that the other side decides."""

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

from fetchers.address import Guard, Target
from fetchers.page import Dead, Refused, Response, Unreachable, Unvisitable, now
from fetchers.web.coding import decoded
from fetchers.web.headers import joined, of_the_content

_log = logging.getLogger(__name__)

MAX_REDIRECTS = 10
MAX_RETRY_AFTER = 86_400.0  # seconds
_REDIRECTS = (301, 302, 303, 307, 308)

# What a browser sends, and who it is in truth.
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36 (compatible; Assay)",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9,*;q=0.5",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a visit. Times are in seconds; `total` covers redirects and body, not the wait
    for a free connection. `size` is in bytes of the decoded body: what is beyond is cut off."""

    total: float = 45
    connect: float = 10
    idle: float = 20
    size: int = 20_000_000
    per_host: int = 6
    connections: int = 100


class Http:
    """Visits URLs through one client session; an async context manager of one event loop.

    `ssl` replaces the system's trust.
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
                resolver=_Checked(self._guard),
                ssl=self._ssl or True,
                limit=0,  # the slots below bound it, so that no time-out runs while one waits
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
        """The response at the end of the redirects from `url`, whatever its status, but for a 5xx
        or 429: these, a failed connection, a time-out, a body that stops short are Unreachable.

        Raises Refused (by the guard, for any hop), Dead (no such host, a redirect loop) and
        Unreachable, nothing else. Cookies live from hop to hop and end with the visit.
        """
        cookies = aiohttp.CookieJar(unsafe=True)  # "unsafe" lets hosts be addresses
        left = self._limits.total
        loop = asyncio.get_running_loop()
        for _ in range(MAX_REDIRECTS + 1):
            target = self._guard.target(url)
            async with self._slot(target.host):
                started = loop.time()
                step = await self._guarded_hop(target, cookies, left)
                left -= loop.time() - started
            if isinstance(step, Response):
                return step
            url = step
        raise Dead("redirect loop")

    @asynccontextmanager
    async def _slot(self, host: str) -> AsyncIterator[None]:
        slots = self._hosts.setdefault(host, asyncio.Semaphore(self._limits.per_host))
        async with slots, self._connections:
            yield

    async def _guarded_hop(
        self, target: Target, cookies: aiohttp.CookieJar, left: float
    ) -> Response | str:
        """`_hop` within its time, its failures put into the three words for them."""
        try:
            async with asyncio.timeout(left):
                return await self._hop(target, cookies)
        except Unvisitable:
            raise
        except Exception as error:
            if not isinstance(error, (aiohttp.ClientError, OSError)):
                # The client at its wits' end over what came: an outcome still, and worth a look.
                _log.warning("visit of %s failed", target.host, exc_info=True)
            raise Unreachable(_reason(error)) from error

    async def _hop(self, target: Target, cookies: aiohttp.CookieJar) -> Response | str:
        """One request: its response, or the URL to go on with."""
        url = URL(target.url, encoded=True)
        if (url.raw_host, url.port) != (target.host, target.port):
            raise Refused("not an address: read in two ways")
        sent = {name: morsel.value for name, morsel in cookies.filter_cookies(url).items()}
        async with self._session.get(url, cookies=sent, allow_redirects=False) as answer:
            cookies.update_cookies(answer.cookies, url)
            if answer.status in _REDIRECTS and "Location" in answer.headers:
                answer.close()  # its body may be endless
                return _join(target.url, answer.headers["Location"])
            body, truncated, fault = await self._body(answer)
        response = Response(
            status=answer.status,
            final_url=target.url,
            headers=_headers(answer.headers),
            body=body,
            via="http",
            fetched_at=now(),
            truncated=truncated,
        )
        if answer.status == 429 or 500 <= answer.status <= 599:  # 999 is a bot wall
            wish = _retry_after(response.headers.get("retry-after", ""))
            raise Unreachable(f"status {answer.status}", wish, response)
        if fault:
            raise Unreachable(fault, response=response)
        return response

    async def _body(self, answer: aiohttp.ClientResponse) -> tuple[bytes, bool, str]:
        """The decoded body, whether there is more of it, and what went wrong, if anything did."""
        size, raw, fault = self._limits.size, bytearray(), ""
        try:
            async for chunk in answer.content.iter_any():
                raw += chunk
                if len(raw) > size:
                    answer.close()
                    break
        except aiohttp.ClientPayloadError:
            fault = "body cut short"
        except TimeoutError:
            fault = "timed out"
        body = bytes(raw)
        if encoding := ",".join(answer.headers.getall("Content-Encoding", ())):
            try:
                body = await asyncio.to_thread(decoded, body, encoding, size + 1)
            except ValueError:
                body, fault = b"", "unreadable content encoding"
        return body[:size], bool(fault) or max(len(raw), len(body)) > size, fault


class _Checked(AbstractResolver):
    """Gives the client the addresses that the guard has checked, and so no others to connect to."""

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
    # Bytes that are no UTF-8 go back as they came, as a browser sends them.
    readable = quote(location.encode("utf-8", "surrogateescape"), safe=printable)
    try:
        return join_url(base, readable)
    except ValueError:
        return location  # which the guard refuses as no address


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return of_the_content(
        joined(
            (name, value.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            for name, value in headers.items()
        )
    )


def _retry_after(value: str) -> float | None:
    """Seconds to wait by a Retry-After header in either of its forms (RFC 9110, 10.2.3)."""
    try:
        if value.isdecimal():
            seconds = float(value)
        else:
            seconds = parsedate_to_datetime(value).timestamp() - datetime.now(UTC).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)
