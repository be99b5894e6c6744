"""What the cache itself reads in a row's value: the visit it tells of, the bodies it needs.

Values belong to their stages. Those that are JSON objects keep digests of bodies in the fields
`sha256` (what came over the wire) and `text` (what was extracted); a visit's row also has
`final_url`, `status`, `headers`, `via` and `fetched_at`, as in `fetchers.page.Response`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Visit:
    """An answer of a server, or a page as a browser showed it (`rendered`)."""

    url: str
    status: int
    headers: Mapping[str, str]
    sha256: str
    rendered: bool
    fetched_at: str


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _fields(value: bytes) -> dict[str, Any]:
    try:
        fields = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {}
    return fields if isinstance(fields, dict) else {}


def bodies_needed(value: bytes) -> list[str]:
    """The digests of the bodies that a row's value names."""
    fields = _fields(value)
    return [fields[name] for name in ("sha256", "text") if _is_digest(fields.get(name))]


def visit(value: bytes) -> Visit | None:
    """The visit that a row's value tells of, None for any other value."""
    match _fields(value):
        case {
            "final_url": str(url),
            "status": int(status),
            "headers": dict(headers),
            "sha256": str(sha256),
            "via": str(via),
            "fetched_at": str(fetched_at),
        } if _is_digest(sha256):
            return Visit(url, status, headers, sha256, via == "browser", fetched_at)
    return None
