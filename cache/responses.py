"""The parts of a row's value that the cache reads: a stored response, and digests of bodies.

Stages decide what a value is. If it is a JSON object, its fields `sha256` (the body of a response)
and `text` (the extracted text) are digests of bodies. The value of a response also has `final_url`,
`status`, `headers`, `via` and `fetched_at`, as in `fetchers.page.Response`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The reply of a server, or a page that a browser rendered (`rendered`)."""

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
    """Give the digests of the bodies that a row's value names."""
    fields = _fields(value)
    return [fields[name] for name in ("sha256", "text") if _is_digest(fields.get(name))]


def stored_response(value: bytes) -> StoredResponse | None:
    """Read the response in a row's value; None if the value is something else."""
    match _fields(value):
        case {
            "final_url": str(url),
            "status": int(status),
            "headers": dict(headers),
            "sha256": str(sha256),
            "via": str(via),
            "fetched_at": str(fetched_at),
        } if _is_digest(sha256):
            return StoredResponse(url, status, headers, sha256, via == "browser", fetched_at)
    return None
