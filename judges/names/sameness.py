"""Questions to a model about identity, and what its answers mean: which member of a closed roster a
value names, and which values of an axis are one (WANDR, section 5 and appendix F).

Values are strangers' words: a request's user message is nothing but them, as JSON.
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
"""Characters. What is longer is hardly a name: it is compared as it stands, and not asked about."""


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
    """A closed axis as a model is asked about it: each member with its aliases."""

    field: str
    names: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, field: str, policy: Closed) -> Self:
        """The roster of a policy, for the values of a field."""
        return cls(field, tuple((m, policy.aliases.get(m, ())) for m in policy.members))


@dataclass(frozen=True, slots=True)
class Stray:
    """A value that is no name in its roster."""

    roster: Roster
    value: str


@dataclass(frozen=True, slots=True)
class Placed:
    """The member that a stray is (None: it is outside), why, and what asking took."""

    member: str | None
    reason: str
    usage: Usage


def strays(roster: Roster, values: Iterable[str]) -> dict[str, Stray]:
    """What is to be asked about values that no alias decides: a stray for each value that may name
    something, the same for those that differ in form alone. The others are outside."""
    spelt: dict[str, Stray] = {}
    found = {}
    for value in sorted(values, key=lambda value: (len(value), value)):
        if len(value) <= LONGEST and any(map(str.isalnum, value)):
            found[value] = spelt.setdefault(fold(value), Stray(roster, normalise(value)))
    return found


def placing(ask: Ask, model: str, effort: Effort) -> Batcher[Stray, Placed]:
    """Places strays, many of one roster in a request; but a value alone that is long enough to
    talk the model round."""

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
        return stray.roster, stray.value if len(stray.value) > _TALKATIVE else ""

    return Batcher(place, group, TOGETHER)


TOGETHER = 20
"""Strays that are asked about at once, at most."""
_TALKATIVE = 60  # characters
_MOST_SHOWN = 500  # members; endpoints bound what a schema may enumerate, in number
_MOST_ENUMERATED = 15_000  # and in characters
_CLOSEST = _MOST_SHOWN // TOGETHER
_MOST_ALIASES = 10


def _shown(roster: Roster, values: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The members that a model is shown: all of them, or those closest to each of the values."""
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
    """The number of a member and one of its names, folded, for all names."""
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
    """Values of a field that may be one, of which a model is asked; `scope` says what is one."""

    field: str
    scope: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Same:
    """Two or more values of a block that are one, and why."""

    values: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Merged:
    """What of a block is one; the rest of it is distinct. And what asking took."""

    same: tuple[Same, ...]
    usage: Usage


async def merge(block: Block, ask: Ask, model: str, effort: Effort) -> Merged:
    """Ask which values of a block are one. Raises what `ask` raises, and UnusableReply if the reply
    leaves out a value."""
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
    """A first for every value, none of them later than it: whatever meets this is a partition."""
    firsts = ({"type": "integer", "enum": [*range(1, n + 1)]} for n in range(1, values + 1))
    return json.dumps(numbered([closed(reason=REASON, first=first) for first in firsts]))


def _same(values: Sequence[str], said: Mapping[str, Any]) -> tuple[Same, ...]:
    """What an answer makes one. Values whose numbers contradict each other never are, not by way
    of a third either: no model may forgive that."""
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
    """The values of an axis by the cluster that each belongs to; why, where a model joined it with
    others; and those that a model was asked about in vain, with what went wrong."""

    names: Mapping[str, str]
    reasons: Mapping[str, str]
    undecided: Mapping[str, str]


class Candidates:
    """The values of an axis on their way to clusters: which `blocks` are to be asked about, and
    what the answers make of them. Values that differ in form alone are one from the start."""

    def __init__(self, axis: Axis, values: Iterable[str]) -> None:
        """CPU work, about 0.1 ms a value; up to 0.3 ms for values made to look alike."""
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
        """The clusters, from what became of each block. One is called by the shortest folded form
        in it, the first of the alphabet among equals. A block without an answer is left as the
        lexical rules have it; raises what concerns more than that block."""
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
