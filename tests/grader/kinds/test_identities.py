"""Names of a submission's records: by form, and by a model's answers."""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from grader.kinds.collection.identities import Identities, RecordNames
from grader.stages import event_loop
from grader.tasks.collection import CollectionTask
from judges.endpoint.questions import Trouble, Usage
from judges.names.sameness import Block, Merged, Placed, Same, Stray
from judges.records.record import Record
from queues.pool import Crashed, TimedOut

TASK = CollectionTask.model_validate(
    {
        "name": "firms",
        "kind": "collection",
        "keys": [
            {
                "name": "land",
                "volume": 2,
                "identity": {"how": "closed", "members": ["France", "Spain"]},
            },
            {"name": "firm", "volume": 3, "identity": {"how": "semantic"}},
            {"name": "url", "volume": 1},
        ],
        "judge": {"requirements": [{"id": "told", "rule": {"contains": "{item.firm}"}}]},
    }
)
IDENTITIES = Identities(TASK.hierarchies)
MEMBERS = {"Frankreich": "France", "Atlantis": None}


def records(*items: tuple[Any, Any]) -> list[Record]:
    return [
        Record(n, None, {"land": land, "firm": firm}, f"http://a.example/{n}", (), None, "")
        for n, (land, firm) in enumerate(items)
    ]


class Roles:
    """A model that knows the members above, and that all values of a block are one."""

    def __init__(self) -> None:
        self.canonicalise = self.dedupe = self
        self.blocks: list[Block] = []
        self.block_error: Exception | None = None

    async def each(
        self, questions: Mapping[str, Stray]
    ) -> tuple[dict[str, Placed], dict[str, Exception]]:
        known = {value: MEMBERS[value] for value in questions if value in MEMBERS}
        placed = {value: Placed(m, f"is {m}", Usage()) for value, m in known.items()}
        return placed, {value: Trouble("no reply") for value in questions if value not in MEMBERS}

    async def many(self, blocks: Iterable[Block]) -> list[Merged | Exception]:
        self.blocks = list(blocks)
        return [
            self.block_error or Merged((Same(block.values, "one firm"),), Usage())
            for block in self.blocks
        ]


async def names_of(
    given: list[Record], roles: Roles | None = None, compute_error: Exception | None = None
) -> list[RecordNames]:
    async def compute(function: Callable[..., Any], *args: Any) -> Any:
        if compute_error:
            raise compute_error
        return function(*args)

    pipeline: Any = SimpleNamespace(judge=SimpleNamespace(roles=roles), compute=compute)
    canonical = await IDENTITIES.canonicalise(given, pipeline)
    clusters = await IDENTITIES.dedupe(canonical, pipeline)
    urls = {record.url: record.url.upper() for record in given}
    return await IDENTITIES.names(given, urls, canonical, clusters)


@pytest.mark.parametrize("inline", [True, False])
async def test_without_a_model_form_decides(inline: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "MOST_INLINE", 100 if inline else 0)
    first, second, stranger = await names_of(
        records(("france", "Acme Inc."), ("France", "ACME"), ("Frankreich", "Acme"))
    )
    assert first.names.canonical == {"url": "HTTP://A.EXAMPLE/0", "land": "France"}
    assert first.names.identity == {"firm": "acme"}
    assert second.names.canonical == {"url": "HTTP://A.EXAMPLE/1"}
    assert second.names.identity == {"firm": "acme"}
    assert stranger.names.identity == {"land": None, "firm": "acme"}
    for named in (first, second, stranger):
        assert (named.reasons, named.undecided) == ({}, "")


async def test_a_model_places_values_in_a_roster() -> None:
    known, outside, unknown, alias = await names_of(
        records(("Frankreich", "A1"), ("Atlantis", "B2"), ("Espana", "C3"), ("Spain", "D4")),
        Roles(),
    )
    assert known.names.canonical["land"] == "France"
    assert "land" not in known.names.identity
    assert known.reasons == {"land": "is France"}
    assert outside.names.identity["land"] is None
    assert outside.reasons == {"land": "is None"}
    assert (known.undecided, outside.undecided) == ("", "")
    assert unknown.undecided == "identity of land undecided: no reply"
    assert unknown.reasons == {}
    assert (alias.reasons, alias.undecided) == ({}, "")


async def test_a_model_joins_values_that_mean_one_entity() -> None:
    roles = Roles()
    one, other, third = await names_of(
        records(("Spain", "Acme Energy"), ("Spain", "Acme Energy Group"), ("Spain", "Zebra")),
        roles,
    )
    assert [set(block.values) for block in roles.blocks] == [{"Acme Energy", "Acme Energy Group"}]
    cluster = one.names.identity.get("firm", "Acme Energy")
    assert other.names.identity["firm"] == cluster
    assert one.reasons == other.reasons == {"firm": "one firm"}
    assert (third.reasons, third.names.identity["firm"]) == ({}, "zebra")


async def test_values_of_a_question_without_a_reply_are_undecided() -> None:
    roles = Roles()
    roles.block_error = Trouble("status 503")
    one, other, third = await names_of(
        records(("Spain", "Acme Energy"), ("Spain", "Acme Energy Group"), ("Spain", "Zebra")),
        roles,
    )
    assert one.undecided == other.undecided == "identity of firm undecided: status 503"
    assert third.undecided == ""
    assert one.names.identity["firm"] != other.names.identity["firm"]


@pytest.mark.parametrize("error", [Crashed("killed"), TimedOut("too slow")])
async def test_values_are_undecided_if_the_worker_process_fails(error: Exception) -> None:
    (named,) = await names_of(records(("Spain", "Acme")), Roles(), error)
    assert named.undecided == f"identity of firm undecided: {error}"
    assert named.names.identity["firm"] == "acme"


async def test_a_missing_value_has_no_name() -> None:
    (named,) = await names_of(records(("Spain", None)), Roles())
    assert named.names.identity == {"firm": None}
    assert (named.reasons, named.undecided) == ({}, "")
