"""Names for results and for bytes."""

import json
from hashlib import blake2b, sha256

import orjson

_SIZE = 20  # bytes: two lists of parts with one key would take some 2**80 tries to find


def digest(*parts: object) -> bytes:
    """A key of 20 bytes for what a result depends on.

    `parts` are JSON values. Different lists of parts give different keys; the order of an object's
    fields does not matter. Raises TypeError for what JSON cannot say.
    """
    try:
        return blake2b(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS), digest_size=_SIZE).digest()
    except TypeError:
        # Lone surrogates and integers beyond 64 bits: slower, under a mark of its own.
        escaped = json.dumps(parts, sort_keys=True).encode()
        return blake2b(escaped, digest_size=_SIZE, person=b"escaped").digest()


def content_digest(content: bytes) -> str:
    """The name of a body in the store: its SHA-256 in lower-case hexadecimal digits."""
    return sha256(content).hexdigest()
