"""Keys of results and digests of bodies."""

import json
from hashlib import blake2b, sha256

import orjson

_SIZE = 20  # bytes; it takes about 2**80 tries to find two results with one key


def digest(*parts: object) -> bytes:
    """Compute the key (20 bytes) of a result from everything that the result depends on.

    `parts` are JSON values. Different lists of parts give different keys; the order of an object's
    fields does not matter. Raises TypeError for a value that JSON cannot represent.
    """
    try:
        return blake2b(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS), digest_size=_SIZE).digest()
    except TypeError:
        # Lone surrogates, or integers beyond 64 bits. `person` keeps these keys apart.
        escaped = json.dumps(parts, sort_keys=True).encode()
        return blake2b(escaped, digest_size=_SIZE, person=b"escaped").digest()


def content_digest(content: bytes) -> str:
    """Compute the digest of a body: its SHA-256 in lower-case hexadecimal digits."""
    return sha256(content).hexdigest()
