"""The identity policies of a key, and the standard form of a value under each of them (WANDR,
section 5 and appendix F)."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from judges.names.folding import fold, normalise
from judges.text.dates import Format, parse_date


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Exact(_Policy):
    """Two values are equal after Unicode and white-space normalisation."""

    how: Literal["exact"] = "exact"


class Semantic(_Policy):
    """Two values are equal if they name one entity. `scope` says what counts as one entity."""

    how: Literal["semantic"] = "semantic"
    scope: str = ""


class Date(_Policy):
    """Dates, equal to the precision of `format`. A value that is not a date, or is less precise, is
    outside."""

    how: Literal["date"] = "date"
    format: Format


class Closed(_Policy):
    """A roster of all valid values. `aliases` has other names of a member. Other values are
    outside."""

    how: Literal["closed"] = "closed"
    members: Annotated[tuple[str, ...], Field(min_length=1)]
    aliases: Mapping[str, tuple[str, ...]] = {}

    @model_validator(mode="after")
    def _unambiguous(self) -> Self:
        if unknown := self.aliases.keys() - set(self.members):
            raise ValueError(f"aliases: {min(unknown)!r} is not a member")
        owners: dict[str, str] = {}
        for field, member, name in self._names():
            if not normalise(name):
                raise ValueError(f"{field}: {name!r} is an empty name")
            owner = owners.setdefault(fold(name), member)
            if owner != member:
                raise ValueError(f"{field}: {name!r} is also a name of {owner!r}")
        if len(set(self.members)) < len(self.members):
            raise ValueError("members: a name is listed twice")
        return self

    def _names(self) -> Iterator[tuple[str, str, str]]:
        yield from (("members", member, member) for member in self.members)
        for member, aliases in self.aliases.items():
            yield from (("aliases", member, alias) for alias in aliases)

    @cached_property
    def roster(self) -> Mapping[str, str]:
        """The member for each name, by the folded form of the name."""
        return {fold(name): member for _, member, name in self._names()}


def _how(policy: Any) -> Any:
    if isinstance(policy, Mapping):
        return policy.get("how", "semantic")
    return getattr(policy, "how", None)


Identity = Annotated[
    Annotated[Exact, Tag("exact")]
    | Annotated[Semantic, Tag("semantic")]
    | Annotated[Date, Tag("date")]
    | Annotated[Closed, Tag("closed")],
    Discriminator(
        _how,
        custom_error_type="how",
        custom_error_message="how must be one of exact, semantic, closed, date",
    ),
]


def canonicalise(identity: Identity, value: str) -> str | None:
    """The standard form of a value under a policy, before deduplication (scoring.md, section 3).

    None if the value is empty, is not in the closed roster, or is not a date of the precision.
    """
    match identity:
        case Closed():
            return identity.roster.get(fold(value))
        case Date():
            date = parse_date(value)
            return date.format(identity.format) if date else None
        case _:
            return normalise(value) or None
