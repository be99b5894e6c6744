"""The unit of grading: one claim, with the page and the words that should prove it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """One submitted record (WANDR, section 3.3).

    `index` counts the submission's records in the order in which they came; `subtask` is the
    dotted name of the hierarchy it belongs to, None for the main one; `item` maps each key field
    to its submitted value; `answer` is any JSON. `fault` is empty for a well-formed record;
    otherwise it says what is malformed: such a record is never judged, it failed.
    """

    index: int
    subtask: str | None
    item: Mapping[str, Any]
    url: str
    excerpts: tuple[str, ...]
    answer: Any
    fault: str = ""
