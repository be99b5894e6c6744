"""The cost of deduplicating the values of an axis with a model. Run: `python bench/identity.py`.
Last output (2 cores under load, Python 3.11):

first rollout      1000 values     850 clusters    134 blocks    134 new calls   0.10 s
5 % replaced       1000 values     863 clusters    122 blocks      2 new calls   0.06 s
the same again     1000 values     850 clusters    134 blocks      0 new calls   0.05 s
a large axis     100000 values   85313 clusters  15859 blocks  15859 new calls  12.40 s
closed roster        88 strays       500 members        5 calls   0.01 s
a large roster     1000 strays      4000 members       50 calls   6.31 s

A request of `dedupe` has about 2300 characters, including its schema. A request of `canonicalise`
has 2500 characters and the roster twice.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from names import aliased_companies, companies

from judges.endpoint.questions import Reply, Request, Usage
from judges.names.axes import Axis
from judges.names.policies import Closed, Semantic
from judges.names.sameness import Block, Candidates, Roster, merge, placing, strays

COMPANY = Axis("company", "company", Semantic(scope="a company; a subsidiary is another"))


class Model:
    """A model that knows the right answers, at no cost, and counts its requests."""

    def __init__(self, truth: dict[str, str]) -> None:
        self._truth = truth
        self.calls = 0

    async def __call__(self, request: Request) -> Reply:
        self.calls += 1
        values = list(json.loads(request.user).values())
        named = [self._truth.get(value, value) for value in values]
        if request.role == "dedupe":
            said = [{"reason": "", "first": named.index(name) + 1} for name in named]
        else:
            said = [{"reason": "", "member": name} for name in named]
        return Reply({str(place): one for place, one in enumerate(said, 1)}, Usage(1))


async def deduplicate(truth: dict[str, str], values: Iterable[str], known: set[Block]) -> str:
    """Deduplicate the values of an axis. Count the blocks that are not in `known`; add them."""
    model = Model(truth)
    began = time.perf_counter()
    candidates = Candidates(COMPANY, values)
    blocked = time.perf_counter() - began
    ends = [await merge(block, model, "m", "high") for block in candidates.blocks]
    clusters = candidates.clusters(ends)
    fresh = [block for block in candidates.blocks if block not in known]
    known.update(fresh)
    return (
        f"{len(clusters.names):7} values {len(set(clusters.names.values())):7} clusters "
        f"{len(candidates.blocks):6} blocks {len(fresh):6} new calls {blocked:6.2f} s"
    )


async def place(truth: dict[str, str], members: int) -> str:
    model = Model(truth)
    roster = Roster.of("company", Closed(members=tuple(sorted(set(truth.values()))[:members])))
    shown = {member for member, _ in roster.names}
    known = [value for value, member in truth.items() if member in shown and value != member]
    place_one = placing(model, "m", "low")
    began = time.perf_counter()
    found = strays(roster, known)
    await asyncio.gather(*map(place_one, found.values()))
    seconds = time.perf_counter() - began
    return f"{len(known):7} strays {len(shown):9} members {model.calls:8} calls {seconds:6.2f} s"


async def main() -> None:
    truth = aliased_companies(1000, 150)
    known: set[Block] = set()
    print("first rollout  ", await deduplicate(truth, truth, known))
    names = sorted(truth)
    fresh = [name for name in companies(1200, seed=99) if name not in truth][:50]
    print("5 % replaced   ", await deduplicate(truth, {*names, *fresh} - set(names[::20]), known))
    print("the same again ", await deduplicate(truth, random.sample(names, len(names)), known))
    many = aliased_companies(100_000, 15_000)
    print("a large axis   ", await deduplicate(many, many, set()))
    print("closed roster  ", await place(truth, 500))
    print("a large roster ", await place(aliased_companies(5000, 1000), 4000))


if __name__ == "__main__":
    asyncio.run(main())
