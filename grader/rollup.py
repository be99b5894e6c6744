"""The score tree of one submission and its eight figures (WANDR, section 5, appendices K and L).

    scorer = Scorer(task)
    scores = scorer.rollup(map(scorer.leaf, rows))

Time is linear in the records, but for the sort of a node's children where there are more of them
than its volume.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from math import fsum
from typing import Any, NamedTuple, Self

from grader.leaves import ROOT, TRUSTED, Leaf, LeafReader, Step, Value
from grader.stages import (
    NO_MEMBERS,
    Child,
    Members,
    Stages,
    required_members,
    required_records,
    retained,
    stages,
)
from grader.tasks import CollectionTask, Key, Subtask


@dataclass(frozen=True, slots=True)
class Measures:
    """Precision, recall and their harmonic mean within the task (0 where both are 0)."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, precision: float, recall: float) -> Self:
        """Complete the two by their F1."""
        total = precision + recall
        return cls(precision, recall, 2 * precision * recall / total if total else 0.0)


@dataclass(frozen=True, slots=True)
class Figures:
    """The measures under one verdict: with partial credit, and for whole members alone."""

    soft: Measures
    hard: Measures


@dataclass(frozen=True, slots=True)
class Counts:
    """Records that the task requires, that were submitted, and how these fared; those of
    `low_confidence` are among the `graded`."""

    required: int
    submitted: int
    graded: int
    ungraded: int
    invalid: int
    low_confidence: int


@dataclass(frozen=True, slots=True)
class Rollup:
    """The scores of one submission."""

    full: Figures
    retrieval: Figures
    stages: Stages
    counts: Counts

    @property
    def complete(self) -> bool:
        """Whether every record could be judged."""
        return not self.counts.ungraded

    def plain(self) -> dict[str, Any]:
        """All of it as a line of scores.jsonl has it."""
        return asdict(self)


class Scorer:
    """Scores the submissions of one task; `leaf` reads their records."""

    def __init__(self, task: CollectionTask) -> None:
        self.leaf = LeafReader(task).leaf
        member = [key.name for key in task.keys].index(task.member)
        self._main = _shape(None, "", task.keys, task.subtasks, member)
        self._required_records = required_records(task)
        self._required_members = required_members(task)

    def rollup(self, leaves: Iterable[Leaf]) -> Rollup:
        """The scores of a submission, from the leaves of all of its records."""
        trees, counts = _grow(leaves)
        walk = _Walk(trees, self._main)
        precision, recall, members = walk.root
        unmerged = recall
        if walk.merged:  # rare: otherwise this walk is the one without merging, too
            _, unmerged, members = _Walk(trees, self._main, merge=False).root
        full, retrieval = (
            Figures(
                Measures.of(precision[soft], recall[soft]),
                Measures.of(precision[soft + 1], recall[soft + 1]),
            )
            for soft in (0, 2)
        )
        lost = stages(self._required_members, members, unmerged[0], recall[0])
        return Rollup(full, retrieval, lost, Counts(required=self._required_records, **counts))


Quad = tuple[float, float, float, float]
"""Full soft, full hard, retrieval soft, retrieval hard. Hard scores are 0 or 1 exactly, and so
is the mean of those that are all 1."""

Score = tuple[Quad, Quad, Members]
"""Precision, recall, and the members retained (none below the member key)."""

NOTHING: Quad = (0.0, 0.0, 0.0, 0.0)
VERDICTS: tuple[Quad, ...] = tuple((f, f, r, r) for r in (0.0, 1.0) for f in (0.0, 1.0))
"""A leaf's score by its verdicts as bits: 1 full, 2 retrieval."""

Node = dict[Step, Any]
"""A node's children: nodes, or above the urls (and for a step without identity) verdict bits."""

Trees = dict[str | None, dict[Value, Node]]
"""The top nodes of every hierarchy that has records."""


def _grow(leaves: Iterable[Leaf]) -> tuple[Trees, dict[str, int]]:
    """The trees of a submission, and how its records fared. A record without a usable verdict is
    in no tree; of records with one path the worst counts."""
    trees: Trees = {None: {ROOT: {}}}
    states = Counter(submitted=0, graded=0, ungraded=0, invalid=0, low_confidence=0)
    for subtask, top, path, state, full, retrieval, confidence in leaves:
        states["submitted"] += 1
        states[state] += 1
        if state == "ungraded":
            continue
        if state == "invalid":
            bits = 0
        elif confidence < TRUSTED:
            states["low_confidence"] += 1
            continue
        else:
            bits = full + 2 * retrieval
        if top is None:
            continue
        tops = trees.setdefault(subtask, {})
        node = tops.setdefault(top, {})
        for step in path[:-1]:
            node = node.setdefault(step, {})
        last = path[-1]
        if last[0] is None:
            last = (states["submitted"], None)  # a child by itself
        node[last] = node.get(last, 3) & bits
    return trees, states


class _Shape(NamedTuple):
    """A hierarchy below its top: the volume at each depth, the subtasks that hang on the nodes
    above it, and the depth of the member key (-1 in a subtask)."""

    name: str | None
    volumes: tuple[int, ...]
    subtasks: tuple[tuple["_Shape", ...], ...]
    member: int


def _shape(
    name: str | None, top: str, keys: Sequence[Key], subtasks: Sequence[Subtask], member: int
) -> _Shape:
    def attached(node: str) -> tuple[_Shape, ...]:
        return tuple(
            _shape(f"{name}.{s.name}" if name else s.name, s.parent, s.keys, s.subtasks, -1)
            for s in subtasks
            if s.parent == node
        )

    nodes = (top, *(key.name for key in keys[:-1]))
    return _Shape(name, tuple(k.volume for k in keys), tuple(map(attached, nodes)), member)


class _Walk:
    """One walk over a submission's trees, after appendix K's listing, all choices at once.

    `root` is the score of the whole; `merged` tells whether identities were merged anywhere.
    Without `merge`, aliases stay apart in recall, though they share their subtasks' records.
    """

    def __init__(self, trees: Trees, main: _Shape, *, merge: bool = True) -> None:
        self._trees = trees
        self._merge = merge
        self._subtasks: dict[str | None, dict[Value, Score]] = {}
        self.merged = False
        self._score_subtasks(main)
        self.root = self._children(main, trees[None][ROOT], 0)

    def _score_subtasks(self, shape: _Shape) -> None:
        for subtask in chain.from_iterable(shape.subtasks):
            self._score_subtasks(subtask)
            tops = self._trees.get(subtask.name, {})
            self._subtasks[subtask.name] = {
                identity: self._node(subtask, node, 0, identity) for identity, node in tops.items()
            }

    def _node(self, shape: _Shape, node: Node, depth: int, identity: Value) -> Score:
        """The score of a node below the root: hard scores are floored, subtasks multiplied in."""
        precision, recall, members = self._children(shape, node, depth)
        precision, recall = _floor(precision), _floor(recall)
        for subtask in shape.subtasks[depth]:
            scores = self._subtasks[subtask.name].get(identity)
            if scores is None:
                return NOTHING, NOTHING, members
            precision = _times(precision, scores[0])
            recall = _times(recall, scores[1])
        return precision, recall, members

    def _children(self, shape: _Shape, node: Node, depth: int) -> Score:
        """Aggregate a node's children, which stand at `depth` of the hierarchy."""
        leaves = depth + 1 == len(shape.volumes)
        precisions: list[Quad] = []
        recalls: dict[object, Quad] = {}
        above: list[Child] = []
        for step, child in node.items():
            identity = step[1]
            if identity is None:
                continue
            if leaves:
                precision = recall = VERDICTS[child]
                members = NO_MEMBERS
            else:
                precision, recall, members = self._node(shape, child, depth + 1, identity)
            if depth <= shape.member:
                full, _, retrieval, _ = recall
                own = Members(1, full, retrieval) if depth == shape.member else members
                above.append(Child(full, retrieval, own))
            precisions.append(precision)
            entity = identity if self._merge else step
            if entity in recalls:
                self.merged = True
                recall = _worst(recall, recalls[entity])
            recalls[entity] = recall
        volume = shape.volumes[depth]
        return (
            _share(precisions, len(node)),
            _share(_best(list(recalls.values()), volume), volume),
            retained(above, volume),
        )


def _share(scores: Sequence[Quad], of: int) -> Quad:
    """The sum of the scores divided by `of`, whatever their order."""
    if not scores:
        return NOTHING
    a, b, c, d = zip(*scores, strict=True)
    return fsum(a) / of, fsum(b) / of, fsum(c) / of, fsum(d) / of


def _best(scores: Sequence[Quad], volume: int) -> Sequence[Quad]:
    """The best `volume` scores under each choice."""
    if len(scores) <= volume:
        return scores
    columns = (sorted(column, reverse=True)[:volume] for column in zip(*scores, strict=True))
    return list(zip(*columns, strict=True))


def _floor(score: Quad) -> Quad:
    return score[0], float(score[1] == 1), score[2], float(score[3] == 1)


def _times(one: Quad, other: Quad) -> Quad:
    return one[0] * other[0], one[1] * other[1], one[2] * other[2], one[3] * other[3]


def _worst(one: Quad, other: Quad) -> Quad:
    a, b, c, d = map(min, one, other)
    return a, b, c, d
