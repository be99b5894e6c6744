"""Response headers as they are stored: by name in lower case."""

from collections.abc import Iterable, Mapping

# These describe the transfer of the body. They are wrong for a decoded body.
_TRANSFER_HEADERS = ("connection", "content-encoding", "content-length", "transfer-encoding")


def merge_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the headers by name, in lower case.

    The values of a repeated name are joined with ", " (RFC 9110, 5.3).
    """
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value)
    return {name: ", ".join(several) for name, several in values.items()}


def without_transfer_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers without those that describe the transfer of the body."""
    return {name: value for name, value in headers.items() if name not in _TRANSFER_HEADERS}
