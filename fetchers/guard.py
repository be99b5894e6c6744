"""The guard: which addresses may be visited. An untrusted model chooses them."""

import asyncio
import math
import re
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from ada_url import URL

from fetchers.page import Dead, Refused, Unreachable

Address = IPv4Address | IPv6Address
Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""Gives the addresses of a host name. Raises `socket.gaierror` as `getaddrinfo` does."""

MAX_URL = 16_384  # characters; servers accept about half of it

# Names that exist only inside a network (RFC 6761, 6762, 7686, 8375, ICANN's list of name
# collisions, and common practice). A name without a dot is also such a name.
_INSIDE = (
    ".corp", ".home", ".home.arpa", ".internal", ".intranet", ".lan", ".local", ".localdomain",
    ".localhost", ".mail", ".onion", ".private",
)  # fmt: skip

# Ports that the Fetch standard blocks, and ports of databases, which could read the lines of a
# request as commands.
_BAD_PORTS = frozenset((
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
    1433, 1521, 3306, 3389, 5432, 5900, 6379, 11211, 27017,
))  # fmt: skip

# Every IPv4 block without a public server (IANA's registry of special addresses), and Azure's
# 168.63.129.16: a public address that leads to the host machine.
_CLOSED_V4 = {
    IPv4Network(block): why
    for block, why in {
        "0.0.0.0/8": "unspecified",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "shared",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "link-local",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "reserved",
        "192.0.2.0/24": "documentation",
        "192.88.99.0/24": "reserved",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "benchmarking",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
    }.items()
}
# Public servers have IPv6 addresses in 2000::/3 only, but not in these blocks of it.
_GLOBAL_V6 = IPv6Network("2000::/3")
_CLOSED_V6 = {
    IPv6Network(block): why
    for block, why in {
        "2001::/23": "reserved",  # Teredo, ORCHID, benchmarking
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4",
        "3fff::/20": "documentation",
    }.items()
}
_NAT64 = IPv6Network("64:ff9b::/96")


def closed(address: Address) -> str:
    """Say why `address` is not public ("loopback", "private", ...); empty if it is public."""
    if isinstance(address, IPv4Address):
        return next((why for block, why in _CLOSED_V4.items() if address in block), "")
    if address.ipv4_mapped is not None or address in _NAT64 or _is_isatap(address):
        return closed(IPv4Address(int(address) & 0xFFFFFFFF))
    if address not in _GLOBAL_V6:
        return "not a public IPv6 address"
    return next((why for block, why in _CLOSED_V6.items() if address in block), "")


def _is_isatap(address: IPv6Address) -> bool:
    return (int(address) >> 32) & 0xFDFF_FFFF == 0x0000_5EFE


_resolver_threads = ThreadPoolExecutor(64, thread_name_prefix="resolver")


async def system_lookup(host: str) -> Sequence[str]:
    """Ask the system's resolver, outside the event loop."""

    def ask() -> list[str]:
        # As bytes: Python's own IDNA codec refuses some names that resolvers know.
        answers = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
        return [str(sockaddr[0]) for *_, sockaddr in answers]

    return await asyncio.get_running_loop().run_in_executor(_resolver_threads, ask)


@dataclass(frozen=True, slots=True)
class Target:
    """An address that may be visited.

    `url` is the URL as a browser reads it, without user name, password and fragment. `host` is in
    lower case and IDNA form; an IPv6 address has no brackets.
    """

    url: str
    host: str
    port: int


class Guard:
    """Decides which addresses may be visited: those of the public web, and allowed hosts.

    `allow` lists hosts that are allowed anyway, each as `HOST` (any port) or `HOST:PORT`. `lookup`
    resolves host names; `timeout` is its limit in seconds. Raises ValueError for an entry of
    `allow` in another form.
    """

    def __init__(
        self, allow: Iterable[str] = (), lookup: Lookup = system_lookup, timeout: float = 10
    ) -> None:
        self._allowed = frozenset(map(_host_and_port, allow))
        self._lookup = lookup
        self._timeout = timeout
        self._answered = -math.inf  # time of the resolver's last answer for a public name

    def target(self, url: str) -> Target:
        """Read `url` and check everything that can be checked before the host is resolved.

        Raises Refused if `url` is not an http(s) URL, or its host or port may not be visited.
        """
        if len(url) > MAX_URL:
            raise Refused("not an address: too long")
        try:
            parsed = URL(url.strip())
        except ValueError:
            raise Refused("not an address") from None
        scheme = parsed.protocol[:-1]
        if scheme not in ("http", "https"):
            raise Refused(f"not an http address: {scheme[:20]}")
        parsed.username = parsed.password = parsed.hash = ""
        host = parsed.hostname.strip("[]")
        port = int(parsed.port) if parsed.port else _DEFAULT_PORTS[scheme]
        self.check(host, port)
        return Target(parsed.href, host, port)

    def check(self, host: str, port: int) -> None:
        """Check a host and port before the host is resolved. Raises Refused."""
        if self._allows(host, port):
            return
        if port in _BAD_PORTS:
            raise Refused(f"port {port} is not one of the web's")
        if address := _address(host):
            if why := closed(address):
                raise Refused(f"{host} is {why}")
            return
        name = host.removesuffix(".")
        if not _NAME.fullmatch(name):
            raise Refused("not a public host name")
        if f".{name}".endswith(_INSIDE):
            raise Refused(f"{name} is a name inside a network")

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """Resolve `host` and check every address. Connect to one of these; do not resolve again.

        Raises Refused if an address is not public, Dead if the resolver says that the name does
        not exist while it answers for other names, and Unreachable if the resolver fails.
        """
        self.check(host, port)
        if _address(host):
            return (host,)
        found = await self._resolve(host)
        if not self._allows(host, port):
            for address in found:
                if why := closed(ip_address(address)):
                    raise Refused(f"{host} leads to {address}, which is {why}")
            self._answered = time.monotonic()
        return found

    def _allows(self, host: str, port: int) -> bool:
        host = host.removesuffix(".")
        return (host, None) in self._allowed or (host, port) in self._allowed

    async def _resolve(self, host: str) -> Sequence[str]:
        try:
            async with asyncio.timeout(self._timeout):
                found = await self._lookup(host)
        except socket.gaierror as error:
            if error.errno in _NO_SUCH_HOST and await self._resolver_works():
                raise Dead("no such host") from None
            raise Unreachable(f"the resolver failed: {error.strerror}") from None
        except (OSError, UnicodeError):  # a timeout is an OSError
            raise Unreachable("the resolver did not answer") from None
        if not found:
            raise Unreachable("the resolver gave no address")
        return found

    async def _resolver_works(self) -> bool:
        """Say if the resolver has just answered for a public name, or does so now."""
        now = time.monotonic()
        if now - self._answered < _TRUST:
            return True
        for name in _WELL_KNOWN:
            try:
                async with asyncio.timeout(self._timeout):
                    if await self._lookup(name):
                        self._answered = now
                        return True
            except OSError:
                continue
        return False


_DEFAULT_PORTS = {"http": 80, "https": 443}
_NO_SUCH_HOST = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
_WELL_KNOWN = ("example.com", "www.wikipedia.org")
_TRUST = 60.0  # seconds; one answer shows for this long that the resolver works

# At least two labels: a resolver may look for a name without a dot in its own network.
_NAME = re.compile(r"(?=.{1,253}$)[^.]{1,63}(\.[^.]{1,63})+")


def _address(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _host_and_port(entry: str) -> tuple[str, int | None]:
    """Read `HOST` or `HOST:PORT` into the form in which hosts and ports are compared."""
    match = re.fullmatch(r"(\[.+\]|[^]:/?#@\\[]+)(?::(\d+))?", entry.strip())
    host, port = match.groups() if match else (f"[{entry.strip()}]", None)
    try:
        read = URL(f"http://{host}:{port or 80}/")
    except ValueError:
        raise ValueError(f"not a host or host:port: {entry!r}") from None
    return read.hostname.strip("[]").removesuffix("."), int(port) if port else None
