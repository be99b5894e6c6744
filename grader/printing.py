"""Text from outside, such as names, values and reasons, made safe to print."""

import os
import re

_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def harmless(text: str) -> str:
    """Replace the characters that a terminal obeys by JSON escapes (`\\u001b`).

    These are control characters, line breaks, marks that change the direction of writing, and lone
    surrogates, which cannot be encoded. JSON text stays the same JSON.
    """
    return _UNSAFE.sub(lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}", text)


def printable(name: str) -> str:
    """A file name or an argument as text that can be encoded; bytes that are not UTF-8 are
    replaced by U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")
