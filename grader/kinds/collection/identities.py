"""Which values of a submission's records name one thing: by form, and by meaning where a model is
asked (WANDR, section 5 and appendix F)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.stages.pipeline import Pipeline, aside
from grader.stages.roles import Roles
from grader.tasks.collection import Hierarchy
from judges.names.identity import Axis, Closed, Names, Resolver, Standard, cluster
from judges.names.sameness import Candidates, Clusters, Roster, strays
from judges.records.record import Record
from queues.pool import Crashed, TimedOut


@dataclass(frozen=True, slots=True)
class Named:
    """What a record's values are called. `reasons` has, by axis, why a model placed or joined one;
    `undecided` says which question about them got no answer, and why."""

    names: Names
    reasons: Mapping[str, str]
    undecided: str


@dataclass(frozen=True, slots=True)
class _Answers:
    """What is known of an axis' values beyond their form: reasons and failures, by value."""

    reasons: dict[str, str]
    undecided: dict[str, str]


class Identities:
    """Names the records of one task's submissions."""

    def __init__(self, hierarchies: Mapping[str | None, Hierarchy]) -> None:
        self._resolver = Resolver({name: h.levels for name, h in hierarchies.items()})

    async def name(
        self, records: Sequence[Record], urls: Mapping[str, str], pipeline: Pipeline
    ) -> list[Named]:
        """The names of a submission's records, in their order. `urls` has the canonical form of
        each URL; where the pipeline's judge asks no model, form alone decides."""
        roles = pipeline.judge.roles
        standards = await aside(len(records), self._standards, records)
        answers: defaultdict[str, _Answers] = defaultdict(lambda: _Answers({}, {}))
        if roles is not None:
            standards = await self._place(records, standards, roles, answers)
        clusters: dict[str, Mapping[str, str]] = {}
        for axis, values in self._resolver.left_over(standards):
            if roles is None:
                clusters[axis.name] = await aside(len(values), cluster, axis, values)
            else:
                found = await _by_meaning(axis, values, roles, pipeline)
                clusters[axis.name] = found.names
                answers[axis.name].reasons.update(found.reasons)
                answers[axis.name].undecided.update(found.undecided)
        return await aside(len(records), self._named, records, urls, standards, clusters, answers)

    def _standards(self, records: Sequence[Record]) -> list[Standard]:
        return [self._resolver.standardise(record) for record in records]

    async def _place(
        self,
        records: Sequence[Record],
        standards: Sequence[Standard],
        roles: Roles,
        answers: Mapping[str, _Answers],
    ) -> list[Standard]:
        """The standards, with the members that a model finds behind values that no alias does."""
        placed: dict[tuple[str, str], str] = {}
        for axis, values in self._resolver.outside(records, standards):
            assert isinstance(axis.identity, Closed)
            asked = strays(Roster.of(axis.field, axis.identity), values)
            found, failures = await roles.canonicalise.each(asked)
            for value, end in found.items():
                answers[axis.name].reasons[value] = end.reason
                if end.member is not None:
                    placed[axis.name, value] = end.member
            for value, why in failures.items():
                answers[axis.name].undecided[value] = str(why)
        return self._resolver.placed(records, standards, placed)

    def _named(
        self,
        records: Sequence[Record],
        urls: Mapping[str, str],
        standards: Sequence[Standard],
        clusters: Mapping[str, Mapping[str, str]],
        answers: Mapping[str, _Answers],
    ) -> list[Named]:
        named = []
        for record, standard in zip(records, standards, strict=True):
            names = self._resolver.name(record, standard, clusters, urls[record.url])
            reasons: dict[str, str] = {}
            undecided = ""
            for axis in self._resolver.axes(record) if answers else ():
                for value in _spellings(axis, record, standard):
                    known = answers[axis.name]
                    if reason := known.reasons.get(value):
                        reasons[axis.name] = reason
                    if why := known.undecided.get(value):
                        undecided = f"identity of {axis.field} undecided: {why}"
            named.append(Named(names, reasons, undecided))
        return named


async def _by_meaning(axis: Axis, values: set[str], roles: Roles, pipeline: Pipeline) -> Clusters:
    """The clusters of an axis' values. Finding out which are alike is work for a process of its
    own: there may be many, made up to take long."""
    try:
        candidates = await pipeline.compute(Candidates, axis, values)
    except (Crashed, TimedOut) as failure:
        return Clusters(cluster(axis, values), {}, dict.fromkeys(values, str(failure)))
    return candidates.clusters(await roles.dedupe.many(candidates.blocks))


def _spellings(axis: Axis, record: Record, standard: Standard) -> set[str]:
    """A value as it was submitted and in its standard form: answers are kept by either."""
    return {value for value in (record.item.get(axis.field), standard[axis.name]) if value}
