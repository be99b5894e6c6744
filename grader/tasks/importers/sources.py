"""What the importers of JSON lines share."""

from collections.abc import Callable
from pathlib import Path

from grader.tasks.packages import Fault


def faults_at(faults: list[Fault]) -> Callable[[str, str], None]:
    """Takes the place and the reason of what cannot be read into `faults`."""
    return lambda place, reason: faults.append(Fault(place, "", reason))


def default_name(source: Path, place: str) -> str:
    """The name of a task whose item has none: the file's stem and the line (formats.md, 4)."""
    return f"{source.stem}-{place.rpartition(':')[2]}"
