"""Which hosts answer in this call: tells a bad address from a network that does not work."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Set
from contextlib import contextmanager

MOST_HOSTS = 5
"""Hosts that are kept: those that answered, and those with a known URL. A visit involves up to two
hosts, so more than two are needed."""


class Network:
    """Knows which hosts answered in this call, with any status, and which are being visited.

    If none answered, `probe` visits a URL that answered in an earlier call, and says if it answers
    now.
    """

    def __init__(self, probe: Callable[[str], Awaitable[bool]]) -> None:
        self._probe = probe
        self._answered: set[str] = set()
        self._visited: Counter[str] = Counter()
        self._known_urls: dict[str, str] = {}
        self._probing = asyncio.Lock()
        self._changed = asyncio.Event()

    @contextmanager
    def visiting(self, host: str) -> Iterator[None]:
        """Note that a host is being visited while the block runs."""
        self._visited[host] += 1
        try:
            yield
        finally:
            self._visited[host] -= 1
            if not self._visited[host]:
                del self._visited[host]
            self._notify()

    def add_answer(self, host: str) -> None:
        """Note that a host answered in this call."""
        if len(self._answered) < MOST_HOSTS:
            self._answered.add(host)
            self._notify()

    @property
    def wants_known_urls(self) -> bool:
        """Whether `add_known_url` has room for more."""
        return len(self._known_urls) < MOST_HOSTS

    def add_known_url(self, host: str, url: str) -> None:
        """Note a URL of `host` that answered in an earlier call."""
        self._known_urls.setdefault(host, url)

    async def answers_besides(self, hosts: Set[str]) -> bool:
        """Whether a host that is not one of `hosts` answers in this call.

        Waits for the visits of other hosts under way until one of them answers. If none does, each
        known URL is probed once.
        """
        while not self._answered - hosts and self._visited.keys() - hosts:
            await self._changed.wait()
        async with self._probing:
            for host in [host for host in self._known_urls if host not in hosts]:
                if self._answered - hosts:
                    break
                if await self._probe(self._known_urls.pop(host)):
                    self.add_answer(host)
        return bool(self._answered - hosts)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
