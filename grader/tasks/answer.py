"""The task of one short answer (K-BrowseComp, BrowseComp; formats.md, 1)."""

from typing import Literal

from grader.tasks.task import Model, Name, Task


class Slot(Model):
    """A value that a solver finds on its way to the answer."""

    id: Name
    value: Name


class AnswerTask(Task):
    """A question with one short answer, other names of it, and the values on the way to it."""

    kind: Literal["answer"]
    answer: Name
    aliases: tuple[Name, ...] = ()
    checklist: tuple[Slot, ...] = ()
