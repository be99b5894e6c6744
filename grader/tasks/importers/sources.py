"""Functions that the importers of JSON lines share."""

from collections.abc import Callable
from pathlib import Path

from grader.tasks.packages import Fault


def faults_at(faults: list[Fault]) -> Callable[[str, str], None]:
    """A function that adds the place and the reason of an unreadable line to `faults`."""
    return lambda place, reason: faults.append(Fault(place, "", reason))


def default_name(source: Path, place: str) -> str:
    """The name of a task whose item has no id: the stem of the file and the line (formats.md,
    4)."""
    return f"{source.stem}-{place.rpartition(':')[2]}"
