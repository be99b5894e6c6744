"""What every kind of task has (formats.md, 1)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Model(BaseModel):
    """Base of what a task file holds: immutable, strictly typed; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Wrong = tuple[str, str]
"""What is wrong inside a task: the path of a field, and the reason."""


class WrongFields(ValueError):
    """All that is wrong inside a part of a task."""

    def __init__(self, wrong: Sequence[Wrong]) -> None:
        super().__init__("; ".join(f"{field}: {reason}" for field, reason in wrong))
        self.wrong = wrong


def refuse(wrong: Iterable[Wrong]) -> None:
    """Raise all that is wrong at once, if anything is."""
    if found := list(wrong):
        raise WrongFields(found)


class Task(Model):
    """What every kind of task has. Every label can be broken down by in a summary."""

    name: Name
    title: str = ""
    prompt: str = ""
    labels: Mapping[str, Any] = {}
