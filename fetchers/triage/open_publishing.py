"""Hosts on which the author of a claim could publish a page within a minute.

The hosts are data: open_publishing.toml lists them and says which hosts belong there.
"""

import tomllib
from functools import lru_cache
from pathlib import Path

from fetchers.urls import hostname

_LIST = Path(__file__).parent / "open_publishing.toml"

OPEN_PUBLISHING_HOSTS: tuple[str, ...] = tuple(
    host for hosts in tomllib.loads(_LIST.read_text("utf-8")).values() for host in hosts
)
"""Hosts on which anyone can publish any text within a minute; each covers the hosts under it."""

_HOSTS = frozenset(OPEN_PUBLISHING_HOSTS)
_MAX_LABELS = max(host.count(".") + 1 for host in _HOSTS)


@lru_cache(maxsize=1_000)  # many records cite one URL
def is_open_publishing(url: str) -> bool:
    """Say if anyone could have published the page at `url`, its final URL, within a minute.

    The host is read as a browser reads it, so credentials, port, letter case and a final dot do
    not matter. False for text that is not a URL. Takes the same time for any number of hosts.
    """
    labels = hostname(url).rstrip(".").rsplit(".", _MAX_LABELS)[-_MAX_LABELS:]
    return any(".".join(labels[start:]) in _HOSTS for start in range(len(labels)))
