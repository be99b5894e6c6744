"""The score tree of one submission and its eight figures (WANDR, section 5 and appendices K and L;
scoring.md, section 4).

    scorer = Scorer(task)
    scores = scorer.rollup(map(scorer.leaf, rows))

The eight figures are precision and recall, soft and hard, under the full and the retrieval verdict.
One pass over the records builds the tree, and one walk yields all eight (scoring.md, section 6).
Time is linear in the records, except that a node sorts its children if they exceed its volume.
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
    """The measures under one verdict. Soft gives partial credit. Hard counts a node below the root
    only if its score is 1."""

    soft: Measures
    hard: Measures


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of records. `required` are the leaves that the task asks for. Of the `submitted`
    records, each is `graded`, `ungraded` or `invalid`. `low_confidence` is a part of `graded`."""

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
        """Whether every record has a verdict."""
        return not self.counts.ungraded

    def plain(self) -> dict[str, Any]:
        """The fields of a line of scores.jsonl."""
        return asdict(self)


class Scorer:
    """Scores the submissions of one task. `leaf` reads a row of records.jsonl for `rollup`."""

    def __init__(self, task: CollectionTask) -> None:
        self.leaf = LeafReader(task).leaf
        member = [key.name for key in task.keys].index(task.member)
        self._main = _hierarchy_shape(None, "", task.keys, task.subtasks, member)
        self._required_records = required_records(task)
        self._required_members = required_members(task)

    def rollup(self, leaves: Iterable[Leaf]) -> Rollup:
        """The scores of a submission, from the leaves of all its records.

        `stages` are computed with identities left unmerged (scoring.md, section 5).
        """
        trees, counts = _build_trees(leaves)
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
"""Four scores: full soft, full hard, retrieval soft, retrieval hard.

A hard score below the root is exactly 0 or 1. The mean of scores that are all 1 is exactly 1.
"""

Score = tuple[Quad, Quad, Members]
"""Precision, recall, and the retained members. Below the member key there are no members."""

NOTHING: Quad = (0.0, 0.0, 0.0, 0.0)
VERDICTS: tuple[Quad, ...] = tuple((f, f, r, r) for r in (0.0, 1.0) for f in (0.0, 1.0))
"""The scores of a leaf, by its verdicts as bits: 1 is full, 2 is retrieval. A leaf is 0 or 1."""

Node = dict[Step, Any]
"""The children of a node: nodes, or verdict bits for a url and for a step without an identity."""

Trees = dict[str | None, Node]
"""The tree of each hierarchy. The tree of a subtask begins with the values of its parent key."""


def _build_trees(leaves: Iterable[Leaf]) -> tuple[Trees, dict[str, int]]:
    """Build the trees of a submission, and count its records.

    - An ungraded record, and one whose confidence is below `TRUSTED`, is in no tree: it is missing
      (WANDR, section 5; scoring.md, section 1).
    - An invalid record is a leaf with score 0 (scoring.md, section 4).
    - Records with the same path are one leaf with the worst of their verdicts (scoring.md, section
      4; WANDR does not say).
    - A step without an identity is one child with score 0. If a field is missing, it is a child of
      its own (scoring.md, section 3).
    """
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
            last = (states["submitted"], None)  # a field is missing: no other record has this step
        node[last] = node.get(last, 3) & bits
    return trees, states


class _Shape(NamedTuple):
    """A hierarchy. `axes` and `volumes` are those of its keys. `subtasks[depth]` are the subtasks
    attached to the node above the key at `depth`; `top` is the axis of the topmost of these nodes.
    `member` is the depth of the member key, or `NO_MEMBER`."""

    name: str | None
    top: str
    axes: tuple[str, ...]
    volumes: tuple[int, ...]
    subtasks: tuple[tuple["_Shape", ...], ...]
    member: int


NO_MEMBER = -1


def _hierarchy_shape(
    name: str | None, top: str, keys: Sequence[Key], subtasks: Sequence[Subtask], member: int
) -> _Shape:
    def attached(node: str) -> tuple[_Shape, ...]:
        return tuple(
            _hierarchy_shape(
                f"{name}.{s.name}" if name else s.name, node, s.keys, s.subtasks, NO_MEMBER
            )
            for s in subtasks
            if s.parent == node
        )

    axes = tuple(key.name for key in keys)
    volumes = tuple(key.volume for key in keys)
    return _Shape(name, top, axes, volumes, tuple(map(attached, (top, *axes[:-1]))), member)


class _Walk:
    """One walk over the trees of a submission (WANDR, appendix K; scoring.md, section 4).

    `root` is the score of the root. With `merge`, children with one identity are one entity, in
    recall and for subtasks. Without it, each value is an entity. `aliases` is true if two values
    have one identity: only then can `merge` change the score.
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
        """Score the top nodes of all subtasks of a hierarchy, by entity; nested subtasks first.

        Aliases pool their records (scoring.md, section 4). A top node that is outside a closed
        roster, or missing, has no place in the tree (scoring.md, section 3).
        """
        for subtask in chain.from_iterable(shape.subtasks):
            self._score_subtasks(subtask)
            tops: dict[object, list[Node]] = defaultdict(list)
            for step, node in self._trees[subtask.name].items():
                if step[1] is not None:
                    tops[self._entity(subtask.top, step)].append(node)
            self._subtasks[subtask.name] = {
                entity: self._node(subtask, _merge_nodes(nodes), 0, entity)
                for entity, nodes in tops.items()
            }

    def _entity(self, axis: str, step: Step) -> object:
        value, identity = step
        if self._values[axis].setdefault(identity, value) != value:
            self.aliases = True
        return identity if self._merge else value

    def _node(self, shape: _Shape, node: Node, depth: int, entity: object) -> Score:
        """The score of a node below the root (scoring.md, section 4; WANDR, appendix K).

        First a hard score short of 1 becomes 0. Then the score is multiplied by the score of each
        subtask attached to this key, for this entity. A subtask without records scores 0.
        """
        precision, recall, members = self._children(shape, node, depth)
        precision, recall = _floor_hard(precision), _floor_hard(recall)
        for subtask in shape.subtasks[depth]:
            scores = self._subtasks[subtask.name].get(entity)
            if scores is None:
                return NOTHING, NOTHING, members
            precision = _times(precision, scores[0])
            recall = _times(recall, scores[1])
        return precision, recall, members

    def _children(self, shape: _Shape, node: Node, depth: int) -> Score:
        """Aggregate the children of a node, whose key is at `depth` (scoring.md, section 4).

        - Precision is the mean over the distinct values, before deduplication. A child without an
          identity counts with score 0.
        - Recall merges children of one entity with the worst of their scores, keeps the best
          `volume` entities, and divides their sum by `volume`. A child without an identity gives no
          recall.
        """
        if depth + 1 == len(shape.axes):
            return _aggregate_urls(shape, node)
        axis, volume = shape.axes[depth], shape.volumes[depth]
        precisions: list[Quad] = []
        recalls: dict[object, Quad] = {}
        members_below: list[Child] = []
        for step, child in node.items():
            if step[1] is None:
                continue
            entity = self._entity(axis, step)
            precision, recall, members = self._node(shape, child, depth + 1, entity)
            precisions.append(precision)
            if depth <= shape.member:
                members_below.append(_child(recall, None if depth == shape.member else members))
            if entity in recalls:
                recall = _worst(recall, recalls[entity])
            recalls[entity] = recall
        return (
            _divided_sum(precisions, len(node)),
            _divided_sum(_best(list(recalls.values()), volume), volume),
            retained(members_below, volume),
        )


def _aggregate_urls(shape: _Shape, node: Node) -> Score:
    """Aggregate the urls of a node as `_Walk._children` does. Each canonical URL is an entity."""
    volume = shape.volumes[-1]
    scores = [VERDICTS[bits] for step, bits in node.items() if step[1] is not None]
    members = [_child(score) for score in scores] if shape.member + 1 == len(shape.axes) else []
    return (
        _divided_sum(scores, len(node)),
        _divided_sum(_best(scores, volume), volume),
        retained(members, volume),
    )


def _child(recall: Quad, members: Members | None = None) -> Child:
    """A child for the loss stages: a member itself if `members` is None, else with its members."""
    full, _, retrieval, _ = recall
    return Child(full, retrieval, Members(1, full, retrieval) if members is None else members)


def _merge_nodes(nodes: list[Any]) -> Any:
    """The union of the nodes of one entity. Leaves with one path are one: the worst verdicts."""
    if len(nodes) == 1:
        return nodes[0]
    if isinstance(nodes[0], int):
        return reduce(and_, nodes)
    children: dict[Step, list[Any]] = defaultdict(list)
    for node in nodes:
        for step, child in node.items():
            children[step].append(child)
    return {step: _merge_nodes(same) for step, same in children.items()}


def _divided_sum(scores: Sequence[Quad], divisor: int) -> Quad:
    """The sum of the scores divided by `divisor`. The order of the scores does not matter."""
    if not scores:
        return NOTHING
    if len(scores) == 1:  # the usual case: faster
        a, b, c, d = scores[0]
        return a / divisor, b / divisor, c / divisor, d / divisor
    columns = zip(*scores, strict=True)
    a, b, c, d = (fsum(column) / divisor for column in columns)
    return a, b, c, d


def _best(scores: Sequence[Quad], volume: int) -> Sequence[Quad]:
    """The best `volume` scores, chosen for each of the four figures by itself."""
    if len(scores) <= volume:
        return scores
    columns = (sorted(column, reverse=True)[:volume] for column in zip(*scores, strict=True))
    return list(zip(*columns, strict=True))


def _floor_hard(score: Quad) -> Quad:
    """A hard score short of 1 becomes 0 (scoring.md, section 4)."""
    return score[0], float(score[1] == 1), score[2], float(score[3] == 1)


def _times(one: Quad, other: Quad) -> Quad:
    """The product, figure by figure."""
    return one[0] * other[0], one[1] * other[1], one[2] * other[2], one[3] * other[3]


def _worst(one: Quad, other: Quad) -> Quad:
    """The minimum, figure by figure."""
    a, b, c, d = map(min, one, other)
    return a, b, c, d
