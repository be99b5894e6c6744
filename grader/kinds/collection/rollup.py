"""The score tree of one submission and its eight figures (WANDR, section 5, appendices K and L).

    scorer = Scorer(task)
    scores = scorer.rollup(map(scorer.leaf, rows))

Time is linear in the records, but for the sort of a node's children where there are more of them
than its volume.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from itertools import chain
from math import fsum
from operator import and_
from typing import Any, NamedTuple

from grader.kinds.collection.leaves import TRUSTED, Leaf, LeafReader, Step
from grader.kinds.collection.losses import (
    Child,
    Members,
    Stages,
    required_members,
    required_records,
    retained,
    stages,
)
from grader.kinds.measures import Measures
from grader.tasks.collection import CollectionTask, Key, Subtask


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
        if walk.aliases:
            _, unmerged, members = _Walk(trees, self._main, merge=False).root
        full, retrieval = (
            Figures(*(Measures.of(precision[at], recall[at]) for at in verdict))
            for verdict in ((0, 1), (2, 3))
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
"""A node's children: nodes, or verdict bits for a url and for a step without an identity."""

Trees = dict[str | None, Node]
"""The tree of every hierarchy; that of a subtask begins with the values of its parent key."""


def _grow(leaves: Iterable[Leaf]) -> tuple[Trees, dict[str, int]]:
    """The trees of a submission, and how its records fared. A record without a usable verdict is
    in no tree; of records with one path the worst counts."""
    trees: Trees = defaultdict(dict)
    states = Counter(submitted=0, graded=0, ungraded=0, invalid=0, low_confidence=0)
    for subtask, path, state, full, retrieval, confidence in leaves:
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
        node = trees[subtask]
        for step in path[:-1]:
            node = node.setdefault(step, {})
        last = path[-1]
        if last[0] is None:
            last = (states["submitted"], None)  # a child by itself
        node[last] = node.get(last, 3) & bits
    return trees, states


class _Shape(NamedTuple):
    """A hierarchy: the axes and volumes of its keys, the subtasks that hang on the node above
    each of them (`top` is the axis of the first of these), and the depth of the member key."""

    name: str | None
    top: str
    axes: tuple[str, ...]
    volumes: tuple[int, ...]
    subtasks: tuple[tuple["_Shape", ...], ...]
    member: int


NO_MEMBER = -1


def _shape(
    name: str | None, top: str, keys: Sequence[Key], subtasks: Sequence[Subtask], member: int
) -> _Shape:
    def attached(node: str) -> tuple[_Shape, ...]:
        return tuple(
            _shape(f"{name}.{s.name}" if name else s.name, node, s.keys, s.subtasks, NO_MEMBER)
            for s in subtasks
            if s.parent == node
        )

    axes = tuple(key.name for key in keys)
    volumes = tuple(key.volume for key in keys)
    return _Shape(name, top, axes, volumes, tuple(map(attached, (top, *axes[:-1]))), member)


class _Walk:
    """One walk over a submission's trees, after appendix K's listing, all choices at once.

    `root` is the score of the whole. Without `merge` every value is an entity of its own, in
    recall and where subtasks are matched. `aliases` tells whether that would be another score.
    """

    def __init__(self, trees: Trees, main: _Shape, *, merge: bool = True) -> None:
        self._trees = trees
        self._merge = merge
        self._subtasks: dict[str | None, dict[object, Score]] = {}
        self._values: dict[str, dict[object, object]] = defaultdict(dict)
        self.aliases = False
        self._score_subtasks(main)
        self.root = self._children(main, trees[None], 0)

    def _score_subtasks(self, shape: _Shape) -> None:
        """Score every top node of the subtasks of a hierarchy, innermost subtasks first."""
        for subtask in chain.from_iterable(shape.subtasks):
            self._score_subtasks(subtask)
            tops: dict[object, list[Node]] = defaultdict(list)
            for step, node in self._trees[subtask.name].items():
                if step[1] is not None:
                    tops[self._entity(subtask.top, step)].append(node)
            self._subtasks[subtask.name] = {
                entity: self._node(subtask, _pool(nodes), 0, entity)
                for entity, nodes in tops.items()
            }

    def _entity(self, axis: str, step: Step) -> object:
        value, identity = step
        if self._values[axis].setdefault(identity, value) != value:
            self.aliases = True
        return identity if self._merge else value

    def _node(self, shape: _Shape, node: Node, depth: int, entity: object) -> Score:
        """The score of a node below the root: hard scores are floored, subtasks multiplied in."""
        precision, recall, members = self._children(shape, node, depth)
        precision, recall = _floor(precision), _floor(recall)
        for subtask in shape.subtasks[depth]:
            scores = self._subtasks[subtask.name].get(entity)
            if scores is None:
                return NOTHING, NOTHING, members
            precision = _times(precision, scores[0])
            recall = _times(recall, scores[1])
        return precision, recall, members

    def _children(self, shape: _Shape, node: Node, depth: int) -> Score:
        """Aggregate a node's children, which stand at `depth` of the hierarchy."""
        if depth + 1 == len(shape.axes):
            return _pages(shape, node)
        axis, volume = shape.axes[depth], shape.volumes[depth]
        precisions: list[Quad] = []
        recalls: dict[object, Quad] = {}
        above: list[Child] = []
        for step, child in node.items():
            if step[1] is None:
                continue
            entity = self._entity(axis, step)
            precision, recall, members = self._node(shape, child, depth + 1, entity)
            precisions.append(precision)
            if depth <= shape.member:
                above.append(_child(recall, None if depth == shape.member else members))
            if entity in recalls:
                recall = _worst(recall, recalls[entity])
            recalls[entity] = recall
        return (
            _share(precisions, len(node)),
            _share(_best(list(recalls.values()), volume), volume),
            retained(above, volume),
        )


def _pages(shape: _Shape, node: Node) -> Score:
    """Aggregate a node's urls, each of which is an entity of its own."""
    volume = shape.volumes[-1]
    scores = [VERDICTS[bits] for step, bits in node.items() if step[1] is not None]
    members = [_child(score) for score in scores] if shape.member + 1 == len(shape.axes) else []
    return (
        _share(scores, len(node)),
        _share(_best(scores, volume), volume),
        retained(members, volume),
    )


def _child(recall: Quad, members: Members | None = None) -> Child:
    """A child for the stages: with the members in it, or itself a member."""
    full, _, retrieval, _ = recall
    return Child(full, retrieval, Members(1, full, retrieval) if members is None else members)


def _pool(nodes: list[Any]) -> Any:
    """The union of nodes that are one entity's; of leaves with one path the worst counts."""
    if len(nodes) == 1:
        return nodes[0]
    if isinstance(nodes[0], int):
        return reduce(and_, nodes)
    children: dict[Step, list[Any]] = defaultdict(list)
    for node in nodes:
        for step, child in node.items():
            children[step].append(child)
    return {step: _pool(same) for step, same in children.items()}


def _share(scores: Sequence[Quad], of: int) -> Quad:
    """The sum of the scores divided by `of`, whatever their order."""
    if not scores:
        return NOTHING
    if len(scores) == 1:  # the usual case, worth a short way
        one = scores[0]
        return one[0] / of, one[1] / of, one[2] / of, one[3] / of
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
