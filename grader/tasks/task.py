"""The fields of every kind of task, and how faults in a task are collected (formats.md, section
1)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Model(BaseModel):
    """Base of the models in a task file: immutable; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Wrong = tuple[str, str]
"""A fault inside a task: the path of the field, and the reason."""


class WrongFields(ValueError):
    """All faults inside a part of a task."""

    def __init__(self, wrong: Sequence[Wrong]) -> None:
        super().__init__("; ".join(f"{field}: {reason}" for field, reason in wrong))
        self.wrong = wrong


def refuse(wrong: Iterable[Wrong]) -> None:
    """Raise WrongFields with all faults, if there are any."""
    if found := list(wrong):
        raise WrongFields(found)


class Task(Model):
    """The fields of every kind of task. A summary has the figures for each value of each label."""

    name: Name
    title: str = ""
    prompt: str = ""
    labels: Mapping[str, Any] = {}
