"""A task with one short answer (K-BrowseComp, BrowseComp; formats.md, section 1)."""

from typing import Literal

from grader.tasks.task import Model, Name, Task


class Slot(Model):
    """A value that a solver has to find before it can find the answer."""

    id: Name
    value: Name


class AnswerTask(Task):
    """A question with one short answer, other names of the answer, and the values that lead to
    it."""

    kind: Literal["answer"]
    answer: Name
    aliases: tuple[Name, ...] = ()
    checklist: tuple[Slot, ...] = ()
