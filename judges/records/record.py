"""The unit of grading: one claim, with a URL and excerpts that should prove it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    """One submitted record (WANDR, section 3.3).

    `index` is the position in the submission, from 0. `subtask` is the dotted name of the record's
    hierarchy, None for the main one. `item` maps each key field to its submitted value. `answer` is
    any JSON. `fault` is empty for a well-formed record. Otherwise it says what is malformed; such a
    record is not judged and has failed.
    """

    index: int
    subtask: str | None
    item: Mapping[str, Any]
    url: str
    excerpts: tuple[str, ...]
    answer: Any
    fault: str = ""
