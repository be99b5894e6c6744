"""Undo the content codings (gzip, deflate, br, zstd) and the chunking of HTTP bodies."""

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
    # Many servers omit the zlib header. The low half of its first byte is 8.
    "deflate": lambda body, size: zlib.decompressobj(15 if body[0] & 0xF == 8 else -15).decompress(
        body, size
    ),
    "br": lambda body, size: brotli.Decompressor().process(body, output_buffer_limit=size),
    "zstd": lambda body, size: zstd.ZstdDecompressor().decompress(body, size),
}


def decoded(body: bytes, content_encoding: str, size: int) -> bytes:
    """Return the body without the codings that `content_encoding`, the header, names.

    The result of each coding is cut to `size` bytes. Unknown codings (`utf-8`, `none`) are ignored,
    as in browsers. Raises ValueError if the body does not have these codings, or if there are more
    than three.
    """
    names = [name.strip().lower().removeprefix("x-") for name in content_encoding.split(",")]
    codings = [name for name in reversed(names) if name in _DECODERS]
    if len(codings) > _MAX_CODINGS:
        raise ValueError("too many content codings")
    try:
        for coding in codings:
            body = body and _DECODERS[coding](body, size)[:size]
    except (zlib.error, brotli.error, zstd.ZstdError) as error:
        raise ValueError(f"not {content_encoding}: {error}") from None
    return body


_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")


def unchunked(body: bytes) -> bytes:
    """Return the data of a chunked body. The body may end early.

    Raises ValueError if the body is not chunked.
    """
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
