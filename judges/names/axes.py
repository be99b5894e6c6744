"""The axes of a task: which values are compared with each other, and what their names become
(scoring.md, section 3; WANDR, section 5 and appendix F). No model is asked here.

Each value first gets a standard form (`canonicalise`). On a semantic axis it then gets the name of
its cluster: the values that name the same thing. `cluster` makes clusters of the values that differ
in form alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from judges.names.folding import fold
from judges.names.legal_forms import legal_forms
from judges.names.policies import Closed, Identity, Semantic, canonicalise
from judges.records.record import Record


class Key(Protocol):
    """The part of a task's key that the resolver reads."""

    @property
    def name(self) -> str:
        """The key's name, which is also the name of its axis."""

    @property
    def fields(self) -> Sequence[str]:
        """The fields of a record's item that make up the key's value."""

    @property
    def identity(self) -> Identity:
        """The policy that decides when two values are equal."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The values that are compared with each other, in a task and all of its subtasks: those of a
    key with one field, or of one field of a composite key (named `key.field`). A field that is
    itself a key of the task uses that key's axes."""

    name: str
    field: str
    identity: Identity

    @property
    def of_companies(self) -> bool:
        """Whether the field, or the first words of the scope, say that the values are companies."""
        scope = getattr(self.identity, "scope", "").split(maxsplit=_SCOPE_WORDS)[:_SCOPE_WORDS]
        return bool(legal_forms().company_word.search(" ".join((self.field, *scope)).casefold()))


_SCOPE_WORDS = 4


def cluster(axis: Axis, values: Iterable[str]) -> dict[str, str]:
    """The cluster of each value of an axis, by form alone. A cluster is named by the folded form
    that its values share, so the names do not depend on the order of the values."""
    company = axis.of_companies
    return {value: fold(value, company) for value in values}


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a record, as records.jsonl shows them, by key.

    `canonical` has the standard forms that differ from the submitted values, and the URL's.
    `identity` has the clusters that differ from the standard forms; None if the value is outside
    its roster or precision, or is missing.
    """

    canonical: dict[str, str]
    identity: dict[str, str | None]


Standard = Mapping[str, str | None]
"""The standard form of each value of a record, by axis name. None: outside or missing."""


class Resolver:
    """Names the values of a task's records.

    A submission takes three steps. `standardise` each record. Make clusters of the values of each
    axis in `left_over`, with `cluster` or a model. `name` each record by its clusters.
    """

    def __init__(self, hierarchies: Mapping[str | None, Sequence[Key]]) -> None:
        """`hierarchies` has the keys of each hierarchy, by the subtask's dotted name as in records
        (None: the task itself). The keys of a subtask begin with its parent key."""
        keys = {key.name: key for levels in hierarchies.values() for key in levels}
        self._levels = {
            subtask: [(key.name, list(_axes(key, keys))) for key in levels if key.name != "url"]
            for subtask, levels in hierarchies.items()
        }
        self._axes = {
            subtask: list({axis.name: axis for _, axes in levels for axis in axes}.values())
            for subtask, levels in self._levels.items()
        }
        self._open_axes = {
            axis.name: axis
            for axes in self._axes.values()
            for axis in axes
            if isinstance(axis.identity, Semantic)
        }

    def standardise(self, record: Record) -> Standard:
        """The standard form of each value of a record."""
        standard: dict[str, str | None] = {}
        for axis in self._axes[record.subtask]:
            value = record.item.get(axis.field)
            named = canonicalise(axis.identity, value) if isinstance(value, str) else None
            standard[axis.name] = named
        return standard

    def axes(self, record: Record) -> Sequence[Axis]:
        """The axes of a record's values."""
        return self._axes[record.subtask]

    def outside(
        self, records: Iterable[Record], standards: Iterable[Standard]
    ) -> list[tuple[Axis, set[str]]]:
        """The submitted values that are not in the roster of their axis, for each closed axis."""
        values: dict[str, tuple[Axis, set[str]]] = {}
        for record, standard in zip(records, standards, strict=True):
            for axis in self._axes[record.subtask]:
                value = record.item.get(axis.field)
                if not isinstance(axis.identity, Closed) or not isinstance(value, str):
                    continue
                if standard[axis.name] is None:
                    values.setdefault(axis.name, (axis, set()))[1].add(value)
        return list(values.values())

    def placed(
        self,
        records: Iterable[Record],
        standards: Iterable[Standard],
        members: Mapping[tuple[str, str], str],
    ) -> list[Standard]:
        """The standards, with the members that a model chose for values outside of a roster.
        `members` has them by the name of the axis and the submitted value."""
        found: list[Standard] = []
        for record, standard in zip(records, standards, strict=True):
            values = ((axis.name, record.item.get(axis.field)) for axis in self.axes(record))
            known = {
                name: members[name, value]
                for name, value in values
                if isinstance(value, str) and (name, value) in members
            }
            found.append({**standard, **known} if known else standard)
        return found

    def left_over(self, standards: Iterable[Standard]) -> list[tuple[Axis, set[str]]]:
        """The distinct values of each semantic axis, for deduplication."""
        values: dict[str, set[str]] = {name: set() for name in self._open_axes}
        for standard in standards:
            for name, value in standard.items():
                if value is not None and name in values:
                    values[name].add(value)
        return [(axis, values[name]) for name, axis in self._open_axes.items()]

    def name(
        self,
        record: Record,
        standard: Standard,
        clusters: Mapping[str, Mapping[str, str]],
        url: str,
    ) -> Names:
        """The names of a record. `clusters` has, for each semantic axis by its name, the cluster of
        each value. `url` is the record's canonical URL."""
        names = Names({"url": url}, {})
        for key, axes in self._levels[record.subtask]:
            forms = [form for axis in axes if (form := standard[axis.name]) is not None]
            if len(forms) < len(axes):
                names.identity[key] = None
                continue
            canonical = _compound(forms)
            same = _compound(
                [
                    clusters[axis.name][form] if axis.name in self._open_axes else form
                    for axis, form in zip(axes, forms, strict=True)
                ]
            )
            if len(axes) > 1 or canonical != record.item[axes[0].field]:
                names.canonical[key] = canonical
            if same != canonical:
                names.identity[key] = same
        return names


def _axes(key: Key, keys: Mapping[str, Key]) -> Iterator[Axis]:
    """The axes of a key, one for each field. A field that is itself a key has that key's axes."""
    for field in key.fields:
        if field in keys and field != key.name:
            yield from _axes(keys[field], keys)
        else:
            name = key.name if len(key.fields) == 1 else f"{key.name}.{field}"
            yield Axis(name, field, key.identity)


def _compound(parts: Sequence[str]) -> str:
    """One name for the values of a composite key. Different sequences have different names."""
    if len(parts) == 1:
        return parts[0]
    return " | ".join([part.replace("\\", r"\\").replace("|", r"\|") for part in parts])
