"""The judge spec of a collection task: validity checks, requirements, and their rules."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from datetime import date
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, Literal, Self

import regex
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from fetchers.urls import host_matches

# `{item.x}`, `{answer.x}`, `{url}`. A brace after \p, \P or \N is part of the regex.
TEMPLATE = regex.compile(r"(?<!\\[pPN])\{(?P<role>[A-Za-z_]\w*)(?:\.(?P<name>[^{}]+))?\}")


def _known_roles(text: str) -> str:
    for match in TEMPLATE.finditer(text):
        if match["role"] not in (("item", "answer") if match["name"] else ("url",)):
            raise ValueError(
                f"{match[0]} is unknown; use {{item.NAME}}, {{answer.NAME}} or {{url}}"
            )
    return text


_LONGEST_PATTERN = 100_000
_PATTERN_PART = regex.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|\{(?P<times>\d+)[,}]|.", regex.DOTALL
)


def _written_out(pattern: str) -> int:
    """The length of a pattern, in characters and classes, with its repeats written out. The regex
    module compiles it in that form, so {99999999} would use all memory."""
    lengths, last = [0], 0
    for part in _PATTERN_PART.finditer(pattern):
        if part["times"]:
            more = last * max(min(int(part["times"][:10]), _LONGEST_PATTERN + 1) - 1, 0)
            last += more
            lengths[-1] += more
        elif part[0] == "(":
            lengths.append(0)
        elif part[0] == ")" and len(lengths) > 1:
            last = lengths.pop()
            lengths[-1] += last
        else:
            last = 1
            lengths[-1] += 1
    return sum(lengths)


def _compiles(pattern: str) -> str:
    if max(len(pattern), _written_out(pattern[:_LONGEST_PATTERN])) > _LONGEST_PATTERN:
        raise ValueError(
            f"longer than {_LONGEST_PATTERN:,} characters when its repeats are written out"
        )
    try:
        regex.compile(TEMPLATE.sub("x", pattern))
    except (regex.error, RecursionError, OverflowError) as fault:
        raise ValueError(f"not a regular expression: {fault}") from None
    return pattern


def _is_day(text: str) -> str:
    if not TEMPLATE.search(text):
        date.fromisoformat(text)
    return text


def _several(value: Any) -> Any:
    if value == []:
        raise ValueError("an empty list")
    return (value,) if isinstance(value, str) else value


def _nested(inner: str, outer: str) -> bool:
    return host_matches(inner if "://" in inner else f"http://{inner}", outer)


def _iso(value: Any) -> Any:
    """A date of TOML as text."""
    return value.isoformat() if isinstance(value, date) else value


Text = Annotated[str, Field(min_length=1), AfterValidator(_known_roles)]
Pattern = Annotated[Text, AfterValidator(_compiles)]
Day = Annotated[Text, AfterValidator(_is_day), BeforeValidator(_iso)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_several)]
Patterns = Annotated[tuple[Pattern, ...], BeforeValidator(_several)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class NumberNear(_Model):
    """A number in the text differs from `value` by at most `within`, a share of `value`."""

    value: Annotated[float, Field(allow_inf_nan=False)] | Text
    within: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class ItemMatches(_Model):
    """The item's field `field` has a match of `regex`."""

    field: Annotated[str, Field(min_length=1)]
    regex: Pattern


class Rule(_Model):
    """A rule that decides a check without a model (formats.md, section 1). Each operator that is
    set must hold."""

    contains: Texts | None = None
    contains_any: Texts | None = None
    not_contains: Texts | None = None
    regex: Patterns | None = None
    min_words: Annotated[int, Field(ge=1, strict=True)] | None = None
    date_between: tuple[Day, Day] | None = None
    number_near: NumberNear | None = None
    domain: Texts | None = None
    not_domain: Texts | None = None
    item_matches: ItemMatches | None = None

    @model_validator(mode="before")
    @classmethod
    def _has_an_operator(cls, data: Any) -> Any:
        if isinstance(data, dict) and all(data.get(name) is None for name in cls.model_fields):
            given = ", ".join(map(repr, data)) or "nothing"
            raise ValueError(
                f"no operator in {given}; a rule needs one of " + ", ".join(cls.model_fields)
            )
        return data

    @model_validator(mode="after")
    def _can_hold(self) -> Self:
        if self.date_between and not any(map(TEMPLATE.search, self.date_between)):
            first, last = self.date_between
            if first > last:
                raise ValueError(f"date_between ends ({last}) before it begins ({first})")
        for one, other in combinations(self.domain or (), 2):
            if TEMPLATE.search(one + other) or _nested(one, other) or _nested(other, one):
                continue
            raise ValueError(
                f"domain: all domains of a list must match; no host is in both {one} and {other}"
            )
        return self


class _Check(_Model):
    id: Annotated[str, Field(min_length=1)]
    text: str = ""
    rule: Rule | None = None

    @model_validator(mode="after")
    def _has_text_or_rule(self) -> Self:
        if self.rule is None and not self.text.strip():
            raise ValueError(f"{self.id!r} has neither a text nor a rule")
        return self


class Requirement(_Check):
    """A statement that the page must show (satisfied) and the excerpts alone must show
    (supported)."""


class ValidityCheck(_Check):
    """A condition without which a record is invalid; it is read `on` the page or the excerpts."""

    on: Literal["page", "excerpts"] = "page"


class JudgeSpec(_Model):
    """The checks for the records of one hierarchy of a task (WANDR, section 5)."""

    instructions: str = ""
    validity: tuple[ValidityCheck, ...] = ()
    requirements: tuple[Requirement, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        _unique("validity", self.validity)
        _unique("requirements", self.requirements)
        return self

    @property
    def needs_model(self) -> tuple[str, ...]:
        """The ids of the checks that have no rule."""
        return tuple(check.id for check in (*self.validity, *self.requirements) if not check.rule)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that can change a verdict."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _unique(place: str, checks: Iterable[_Check]) -> None:
    twice = [name for name, count in Counter(check.id for check in checks).items() if count > 1]
    if twice:
        raise ValueError(f"{place} has more than one check with the id {twice[0]!r}")
