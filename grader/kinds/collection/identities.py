"""Names for the values of a submission's records: canonicalise, then deduplicate (WANDR, section 5
and appendix F; scoring.md, section 3).

Form decides alone if the judge is `rules`. A model judge also decides by meaning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.stages.event_loop import in_thread_if_many
from grader.stages.pipeline import Pipeline
from grader.stages.roles import Roles
from grader.tasks.collection import Hierarchy
from judges.names.axes import Axis, Names, Resolver, Standard, cluster
from judges.names.policies import Closed
from judges.names.sameness import Candidates, Clusters, Roster, strays
from judges.records.record import Record
from queues.pool import Crashed, TimedOut


@dataclass(frozen=True, slots=True)
class RecordNames:
    """The names of one record's values.

    `reasons` has, by axis, why a model put a value into a closed roster or joined it with others.
    `undecided` is not empty if a question about a value got no answer: it says which and why.
    """

    names: Names
    reasons: Mapping[str, str]
    undecided: str


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """A model's answers about the values of one axis: its reasons, and errors that left a value
    undecided, by value."""

    reasons: Mapping[str, str]
    errors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Canonical:
    """The standard form of each record's values, in the order of the records; and by closed axis,
    a model's answers about values that are no alias of a member."""

    standards: Sequence[Standard]
    answers: Mapping[str, ModelAnswers]


class Identities:
    """Names the records of one task's submissions."""

    def __init__(self, hierarchies: Mapping[str | None, Hierarchy]) -> None:
        self._resolver = Resolver({name: h.levels for name, h in hierarchies.items()})

    async def canonicalise(self, records: Sequence[Record], pipeline: Pipeline) -> Canonical:
        """Find the standard form of every value. If the judge is a model, it is asked which member
        of a closed roster a value names that is no alias of one."""
        standards = await in_thread_if_many(len(records), self._standards, records)
        roles = pipeline.judge.roles
        return await self._place(records, standards, roles) if roles else Canonical(standards, {})

    async def dedupe(self, canonical: Canonical, pipeline: Pipeline) -> dict[str, Clusters]:
        """Cluster the values of each axis on which meaning decides which values are one entity. If
        the judge is `rules`, values that differ only in form are one. The result is by axis."""
        roles = pipeline.judge.roles
        clusters: dict[str, Clusters] = {}
        for axis, values in self._resolver.left_over(canonical.standards):
            if roles:
                clusters[axis.name] = await _cluster_by_meaning(axis, values, roles, pipeline)
            else:
                names = await in_thread_if_many(len(values), cluster, axis, values)
                clusters[axis.name] = Clusters(names, {}, {})
        return clusters

    async def names(
        self,
        records: Sequence[Record],
        urls: Mapping[str, str],
        canonical: Canonical,
        clusters: Mapping[str, Clusters],
    ) -> list[RecordNames]:
        """Name each record by its clusters, in the order of the records. `urls` has the canonical
        form of each URL."""
        return await in_thread_if_many(
            len(records), self._names, records, urls, canonical, clusters
        )

    def _standards(self, records: Sequence[Record]) -> list[Standard]:
        return [self._resolver.standardise(record) for record in records]

    async def _place(
        self, records: Sequence[Record], standards: Sequence[Standard], roles: Roles
    ) -> Canonical:
        """Ask a model for the roster members of values that are no aliases."""
        members: dict[tuple[str, str], str] = {}
        answers: dict[str, ModelAnswers] = {}
        for axis, values in self._resolver.outside(records, standards):
            assert isinstance(axis.identity, Closed)
            questions = strays(Roster.of(axis.field, axis.identity), values)
            placed, errors = await roles.canonicalise.each(questions)
            for value, answer in placed.items():
                if answer.member is not None:
                    members[axis.name, value] = answer.member
            answers[axis.name] = ModelAnswers(
                {value: answer.reason for value, answer in placed.items()},
                {value: str(error) for value, error in errors.items()},
            )
        return Canonical(self._resolver.placed(records, standards, members), answers)

    def _names(
        self,
        records: Sequence[Record],
        urls: Mapping[str, str],
        canonical: Canonical,
        clusters: Mapping[str, Clusters],
    ) -> list[RecordNames]:
        cluster_names = {axis: found.names for axis, found in clusters.items()}
        answers = {
            **canonical.answers,
            **{
                axis: ModelAnswers(found.reasons, found.undecided)
                for axis, found in clusters.items()
                if found.reasons or found.undecided
            },
        }
        named = []
        for record, standard in zip(records, canonical.standards, strict=True):
            names = self._resolver.name(record, standard, cluster_names, urls[record.url])
            reasons: dict[str, str] = {}
            undecided = ""
            for axis in self._resolver.axes(record) if answers else ():
                known = answers.get(axis.name, _NO_ANSWERS)
                for value in _forms(axis, record, standard):
                    if reason := known.reasons.get(value):
                        reasons[axis.name] = reason
                    if error := known.errors.get(value):
                        undecided = f"identity of {axis.field} undecided: {error}"
            named.append(RecordNames(names, reasons, undecided))
        return named


_NO_ANSWERS = ModelAnswers({}, {})


async def _cluster_by_meaning(
    axis: Axis, values: set[str], roles: Roles, pipeline: Pipeline
) -> Clusters:
    """Cluster the values of an axis with a model. A worker process finds the candidates, because
    hostile values can make that slow; if it fails, all values are undecided."""
    try:
        candidates = await pipeline.compute(Candidates, axis, values)
    except (Crashed, TimedOut) as failure:
        return Clusters(cluster(axis, values), {}, dict.fromkeys(values, str(failure)))
    return candidates.clusters(await roles.dedupe.many(candidates.blocks))


def _forms(axis: Axis, record: Record, standard: Standard) -> set[str]:
    """A record's value on an axis, as submitted and in its standard form. A model's answers about
    rosters are keyed by the former, those about sameness by the latter."""
    return {value for value in (record.item.get(axis.field), standard[axis.name]) if value}
