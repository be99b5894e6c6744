"""Questions to a model about identity (scoring.md, section 3; WANDR, section 5 and appendix F):
which member of a closed roster a value names, and which values of a semantic axis name one thing.

The values are untrusted: they are the whole user message of a request, as JSON.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Template
from typing import Any, Self

from rapidfuzz import process

from judges.endpoint.batching import Batcher
from judges.endpoint.prompting import (
    MOST_SAID,
    REASON,
    as_json,
    by_number,
    closed,
    numbered,
    read_prompt,
    reason,
)
from judges.endpoint.questions import (
    Ask,
    Effort,
    Rejected,
    Request,
    Trouble,
    UnusableReply,
    Usage,
)
from judges.names.axes import Axis, cluster
from judges.names.blocks import blocks, contradict
from judges.names.folding import fold, normalise
from judges.names.policies import Closed, Semantic

LONGEST = 200
"""The characters of a name. The model is not asked about a longer value."""


_LAYOUT = 1
_CANONICALISE, CANONICALISE_VERSION = read_prompt(__file__, "canonicalise", _LAYOUT)
_DEDUPE, DEDUPE_VERSION = read_prompt(__file__, "dedupe", _LAYOUT)


def _request(
    role: str, model: str, effort: Effort, system: str, values: Sequence[str], schema: str
) -> Request:
    user = json.dumps(dict(enumerate(values, 1)), ensure_ascii=False, indent=0)
    return Request(role, model, effort, system, user, schema, items=len(values))


# ---------------------------------------------------------------------------------- closed rosters


@dataclass(frozen=True, slots=True)
class Roster:
    """The roster of a closed axis, as a request shows it: the members with their aliases."""

    field: str
    names: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, field: str, policy: Closed) -> Self:
        """The roster of the policy of a field."""
        return cls(field, tuple((m, policy.aliases.get(m, ())) for m in policy.members))


@dataclass(frozen=True, slots=True)
class Stray:
    """A value that is not in its roster."""

    roster: Roster
    value: str


@dataclass(frozen=True, slots=True)
class Placed:
    """The member that a stray names (None: outside), the reason, and the usage of the request."""

    member: str | None
    reason: str
    usage: Usage


def strays(roster: Roster, values: Iterable[str]) -> dict[str, Stray]:
    """The strays to ask about, by value. Values that differ in form alone have one stray. Values
    that are too long, or have no letter or digit, are left out: they are outside."""
    spelt: dict[str, Stray] = {}
    found = {}
    for value in sorted(values, key=lambda value: (len(value), value)):
        if len(value) <= LONGEST and any(map(str.isalnum, value)):
            found[value] = spelt.setdefault(fold(value), Stray(roster, normalise(value)))
    return found


def placing(ask: Ask, model: str, effort: Effort) -> Batcher[Stray, Placed]:
    """A batcher that asks which members strays name, many strays of one roster in a request. A
    value that is long enough to influence other answers has a request of its own."""

    async def place(some: Sequence[Stray]) -> list[Placed | Exception]:
        roster, values = some[0].roster, [stray.value for stray in some]
        names = await asyncio.to_thread(_shown, roster, values)
        schema = _member_schema(len(values), tuple(member for member, _ in names))
        system = Template(_CANONICALISE).substitute(
            field=as_json(roster.field), roster=_listed(names)
        )
        reply = await ask(_request("canonicalise", model, effort, system, values, schema))
        return [
            said if isinstance(said, Exception) else Placed(said["member"], reason(said), usage)
            for said, usage in by_number(reply, len(values))
        ]

    def group(stray: Stray) -> tuple[Roster, str]:
        return stray.roster, stray.value if len(stray.value) > _LONGEST_IN_BATCH else ""

    return Batcher(place, group, BATCH_SIZE)


BATCH_SIZE = 20
"""The most strays in a request."""
_LONGEST_IN_BATCH = 60  # characters of a value that shares a request
_MOST_SHOWN = 500  # members in a schema; endpoints limit their number
_MOST_ENUMERATED = 15_000  # characters of the members in a schema; endpoints limit them too
_CLOSEST = _MOST_SHOWN // BATCH_SIZE
_MOST_ALIASES = 10


def _shown(roster: Roster, values: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The members that a request shows: all of them, or those closest to each value."""
    room = sum(len(member) for member, _ in roster.names)
    if len(roster.names) <= _MOST_SHOWN and room <= _MOST_ENUMERATED:
        return roster.names
    spelt = _spelt(roster)
    closest = {
        spelt[place][0]
        for value in values
        for _, _, place in process.extract(fold(value), [name for _, name in spelt], limit=_CLOSEST)
    }
    return tuple(roster.names[number] for number in sorted(closest))


@lru_cache(maxsize=16)
def _spelt(roster: Roster) -> list[tuple[int, str]]:
    """All names of the roster, as (number of the member, folded name)."""
    return [
        (number, fold(name))
        for number, (member, aliases) in enumerate(roster.names)
        for name in (member, *aliases)
    ]


def _listed(names: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    return "\n".join(as_json([member, *aliases[:_MOST_ALIASES]]) for member, aliases in names)


@lru_cache(maxsize=256)
def _member_schema(values: int, members: tuple[str, ...]) -> str:
    one = closed(reason=REASON, member={"$ref": "#/$defs/member"})
    schema = numbered([one] * values)
    member = {"type": ["string", "null"], "enum": [*members, None]}
    return json.dumps({**schema, "$defs": {"member": member}})


# ------------------------------------------------------------------------------ sameness by meaning


@dataclass(frozen=True, slots=True)
class Block:
    """Values of a field that may name one thing. `scope` says what counts as one thing."""

    field: str
    scope: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Same:
    """Two or more values of a block that name one thing, and the reason."""

    values: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The values of a block that name one thing, and the usage of the request. The other values are
    distinct."""

    same: tuple[Same, ...]
    usage: Usage


async def merge(block: Block, ask: Ask, model: str, effort: Effort) -> Merged:
    """Ask which values of a block name one thing. Raises the exceptions of `ask`, and UnusableReply
    if the reply leaves out a value."""
    system = Template(_DEDUPE).substitute(
        field=as_json(block.field), scope=as_json(block.scope or _NO_SCOPE)
    )
    schema = _first_schema(len(block.values))
    reply = await ask(_request("dedupe", model, effort, system, block.values, schema))
    for number, why in (reply.unanswered or {}).items():
        raise UnusableReply(f"value {number} of a block: {why}", usage=reply.usage)
    return Merged(_same(block.values, reply.value), reply.usage)


_NO_SCOPE = "(not given: what the field's name says, each thing of that kind)"


@lru_cache(maxsize=64)
def _first_schema(values: int) -> str:
    """The schema of a reply: for each value the first value that names the same thing, which is not
    later than the value itself. Every reply that meets it is a partition."""
    firsts = ({"type": "integer", "enum": [*range(1, n + 1)]} for n in range(1, values + 1))
    return json.dumps(numbered([closed(reason=REASON, first=first) for first in firsts]))


def _same(values: Sequence[str], said: Mapping[str, Any]) -> tuple[Same, ...]:
    """The groups of values that a reply joins. Values whose numbers contradict each other stay
    apart, also through a third value, whatever the reply says."""
    together: list[list[str]] = []
    reasons: list[list[str]] = []
    of: list[int] = []
    for number, value in enumerate(values, 1):
        answer = said[str(number)]
        home = of[int(answer["first"]) - 1] if answer["first"] < number else len(together)
        if home == len(together) or any(_contradict(value, other) for other in together[home]):
            home = len(together)
            together.append([])
            reasons.append([])
        else:
            reasons[home].append(answer["reason"].strip())
        together[home].append(value)
        of.append(home)
    return tuple(
        Same(tuple(one), "; ".join(dict.fromkeys(filter(None, why)))[:MOST_SAID])
        for one, why in zip(together, reasons, strict=True)
        if len(one) > 1
    )


def _contradict(one: str, other: str) -> bool:
    return contradict(fold(one), fold(other))


@dataclass(frozen=True, slots=True)
class Clusters:
    """The clusters of an axis: `names` has the cluster of each value, `reasons` why a model joined
    it with others, and `undecided` the error of a request that was not answered."""

    names: Mapping[str, str]
    reasons: Mapping[str, str]
    undecided: Mapping[str, str]


class Candidates:
    """The values of an axis before deduplication. `blocks` has the blocks to ask about. Values that
    differ in form alone are joined without a request."""

    def __init__(self, axis: Axis, values: Iterable[str]) -> None:
        """Find the blocks. CPU work: 0.1 ms for a value, up to 0.3 ms if values look alike."""
        assert isinstance(axis.identity, Semantic)
        self._folds = cluster(axis, values)
        spelt: dict[str, str] = {}
        for value, folded in self._folds.items():
            if len(value) <= LONGEST:
                spelt[folded] = min(
                    spelt.get(folded, value), value, key=lambda value: (len(value), value)
                )
        self.blocks = [
            Block(axis.field, axis.identity.scope, tuple(spelt[folded] for folded in block))
            for block in blocks(spelt)
        ]

    def clusters(self, ends: Iterable[Merged | Exception]) -> Clusters:
        """The clusters, from the result or exception for each block. A cluster is named by its
        shortest folded form, the first in the alphabet among equals. If the request for a block
        failed, its values stay as they are; exceptions that concern other blocks too are raised."""
        names: dict[str, str] = {}
        reasons: dict[str, str] = {}
        undecided: dict[str, str] = {}
        for block, end in zip(self.blocks, ends, strict=True):
            match end:
                case Merged():
                    for same in end.same:
                        folds = [self._folds[value] for value in same.values]
                        name = min(folds, key=lambda folded: (len(folded), folded))
                        names.update(dict.fromkeys(folds, name))
                        reasons.update(dict.fromkeys(folds, same.reason))
                case Trouble() | Rejected() | TimeoutError():
                    undecided.update({self._folds[value]: f"{end}" for value in block.values})
                case _:
                    raise end
        every = self._folds.items()
        return Clusters(
            {value: names.get(folded, folded) for value, folded in every},
            {value: reasons[folded] for value, folded in every if folded in reasons},
            {value: undecided[folded] for value, folded in every if folded in undecided},
        )
