"""Headers of an answer, as they are kept: by names in lower case."""

from collections.abc import Iterable, Mapping

# These tell how the body travelled, which is over.
_OF_THE_WIRE = ("connection", "content-encoding", "content-length", "transfer-encoding")


def joined(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by name; what several say stands in one, parted by commas (RFC 9110, 5.3)."""
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower(), []).append(value)
    return {name: ", ".join(several) for name, several in values.items()}


def of_the_content(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers without those that tell how the body travelled."""
    return {name: value for name, value in headers.items() if name not in _OF_THE_WIRE}
