"""The records that a collection requires, and where a submission lost score (WANDR, sections 4.5
and 6.3.2; scoring.md, section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, prod
from typing import NamedTuple

from grader.tasks.collection import CollectionTask, Key, Subtask


def required_records(task: CollectionTask) -> int:
    """The number of leaves that the task requires: `counts.required`.

    A subtask is required once under each node of its parent key. If that key is `shared`, it is
    required once for each distinct value (scoring.md, section 5). WANDR, appendix J: 20 GPUs with
    10 games each, 3 pages for a GPU and 3 for a game, are 200 + 60 + 30 records.
    """
    return _required_below("", 1, task.keys, task.subtasks)


def _required_below(top: str, tops: int, keys: Sequence[Key], subtasks: Sequence[Subtask]) -> int:
    """The leaves required under `tops` nodes of the key `top`."""
    reached, distinct = tops, {top: tops}
    for key in keys:
        reached *= key.volume
        distinct[key.name] = key.volume if key.shared else reached
    below = (_required_below(s.parent, distinct[s.parent], s.keys, s.subtasks) for s in subtasks)
    return reached + sum(below)


def required_members(task: CollectionTask) -> int:
    """The number of members that the task requires: the product of the volumes from the top key
    through the member key (scoring.md, section 5)."""
    depth = [key.name for key in task.keys].index(task.member)
    return prod(key.volume for key in task.keys[: depth + 1])


class Members(NamedTuple):
    """The members that full soft recall retains under a node: their number, and the sums of their
    full and retrieval soft recall."""

    number: float
    full: float
    retrieval: float


NO_MEMBERS = Members(0, 0.0, 0.0)


class Child(NamedTuple):
    """A child of a node above the member level: its full and retrieval soft recall, and the members
    that it retains. Compares by full, then by retrieval recall."""

    full: float
    retrieval: float
    members: Members


def retained(children: list[Child], volume: int) -> Members:
    """The members of the best `volume` children by full soft recall; ties are broken by retrieval
    soft recall (scoring.md, section 5)."""
    if not children:
        return NO_MEMBERS
    best = sorted(children, reverse=True)[:volume]
    return Members(*map(fsum, zip(*(child.members for child in best), strict=True)))


@dataclass(frozen=True, slots=True)
class Stages:
    """Where full soft recall was lost (WANDR, section 6.3.2 and table 8; scoring.md, section 5).

    discovery * enrichment * extraction + residual - identity_loss equals full soft recall.
    `enrichment` is None if no member is retained, `extraction` if retrieval recall is 0.
    """

    discovery: float
    enrichment: float | None
    extraction: float | None
    identity_loss: float
    residual: float


def stages(required: int, members: Members, unmerged: float, merged: float) -> Stages:
    """Split full soft recall into stages (scoring.md, section 5).

    `required` is the number of required members. `members` are those that full soft recall retains
    with identities left unmerged. `unmerged` and `merged` are full soft recall without and with
    merging.
    """
    number, full, retrieval = members
    return Stages(
        discovery=number / required,
        enrichment=retrieval / number if number else None,
        extraction=full / retrieval if retrieval else None,
        identity_loss=unmerged - merged,
        residual=unmerged - (full / required if retrieval else 0.0),
    )
