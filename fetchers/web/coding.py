"""Bodies as they travel to bodies as they are meant: transfer and content codings undone."""

import re
import sys
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_MAX_CODINGS = 3
_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": lambda body, size: zlib.decompressobj(31).decompress(body, size),
    # Half of the servers leave out the zlib header, which starts with an 8 in its lower half.
    "deflate": lambda body, size: zlib.decompressobj(15 if body[0] & 0xF == 8 else -15).decompress(
        body, size
    ),
    "br": lambda body, size: brotli.Decompressor().process(body, output_buffer_limit=size),
    "zstd": lambda body, size: zstd.ZstdDecompressor().decompress(body, size),
}


def decoded(body: bytes, content_encoding: str, size: int) -> bytes:
    """The body without the codings that the header names, each cut to `size` bytes.

    What is no coding (`utf-8`, `none`) counts for nothing, as in browsers. Raises ValueError where
    the body is not what the header says.
    """
    names = [name.strip().lower().removeprefix("x-") for name in content_encoding.split(",")]
    codings = [name for name in reversed(names) if name in _DECODERS]
    if len(codings) > _MAX_CODINGS:
        raise ValueError("coded too often")
    try:
        for coding in codings:
            body = body and _DECODERS[coding](body, size)[:size]
    except (zlib.error, brotli.error, zstd.ZstdError) as error:
        raise ValueError(f"not {content_encoding}: {error}") from None
    return body


_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")


def unchunked(body: bytes) -> bytes:
    """The body without its chunking, as far as it came. Raises ValueError where it has none."""
    parts = []
    at = 0
    while at < len(body):
        size = _CHUNK_SIZE.match(body, at)
        if size is None:
            raise ValueError("not chunked")
        start, length = size.end(), int(size[1], 16)
        if not length:
            break
        parts.append(body[start : start + length])
        at = start + length
        at += 2 if body.startswith(b"\r\n", at) else 1 if body.startswith(b"\n", at) else 0
    return b"".join(parts)
