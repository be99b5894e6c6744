"""What a collection asks for, and where a submission lost it (WANDR, sections 4.5 and 6.3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, prod
from typing import NamedTuple

from grader.tasks.collection import CollectionTask, Key, Subtask


def required_records(task: CollectionTask) -> int:
    """The leaves that the task asks for: every hierarchy once under every node that it hangs on,
    but once for each distinct value where its key is shared (WANDR, appendix J: 20 GPUs of 10
    games, 3 pages a GPU and 3 a game, are 200 + 60 + 30)."""
    return _required("", 1, task.keys, task.subtasks)


def _required(top: str, tops: int, keys: Sequence[Key], subtasks: Sequence[Subtask]) -> int:
    reached, distinct = tops, {top: tops}
    for key in keys:
        reached *= key.volume
        distinct[key.name] = key.volume if key.shared else reached
    below = (_required(s.parent, distinct[s.parent], s.keys, s.subtasks) for s in subtasks)
    return reached + sum(below)


def required_members(task: CollectionTask) -> int:
    """The members that the task asks for: the volumes from the top through the member key."""
    depth = [key.name for key in task.keys].index(task.member)
    return prod(key.volume for key in task.keys[: depth + 1])


class Members(NamedTuple):
    """The members that full soft recall retains under a node, and their summed soft recalls."""

    number: float
    full: float
    retrieval: float


NO_MEMBERS = Members(0, 0.0, 0.0)


class Child(NamedTuple):
    """A child of a node above the members: its soft recalls, and the members it retains."""

    full: float
    retrieval: float
    members: Members


def retained(children: list[Child], volume: int) -> Members:
    """The members in the `volume` best children by full, then retrieval, soft recall."""
    if not children:
        return NO_MEMBERS
    best = sorted(children, reverse=True)[:volume]
    return Members(*map(fsum, zip(*(child.members for child in best), strict=True)))


@dataclass(frozen=True, slots=True)
class Stages:
    """Where full soft recall was lost (WANDR, section 6.3.2 and table 8).

    discovery x enrichment x extraction + residual - identity_loss is full soft recall. A stage
    that nothing reached is None: enrichment without a member, extraction without a retrieval.
    """

    discovery: float
    enrichment: float | None
    extraction: float | None
    identity_loss: float
    residual: float


def stages(required: int, members: Members, unmerged: float, merged: float) -> Stages:
    """Split full soft recall. `members` are what it retains with identities left `unmerged`, of
    `required` ones; `unmerged` and `merged` are full soft recall without and with merging."""
    number, full, retrieval = members
    return Stages(
        discovery=number / required,
        enrichment=retrieval / number if number else None,
        extraction=full / retrieval if retrieval else None,
        identity_loss=unmerged - merged,
        residual=unmerged - (full / required if retrieval else 0.0),
    )
