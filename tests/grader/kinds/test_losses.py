"""The records that tasks require, and where submissions lost score."""

from collections.abc import Iterable
from typing import Any

import pytest

from grader.kinds.collection.losses import Stages, required_members, required_records
from grader.kinds.collection.rollup import Rollup, Scorer
from grader.tasks.collection import CollectionTask


def key(name: str, volume: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "volume": volume, **more}


def branch(name: str, parent: str, *keys: Any, subtasks: Any = ()) -> dict[str, Any]:
    return {"name": name, "parent": parent, "keys": keys, "subtasks": subtasks}


def collection(*keys: Any, subtasks: Any = (), **more: Any) -> CollectionTask:
    return CollectionTask.model_validate(
        {"name": "t", "kind": "collection", "keys": keys, "subtasks": subtasks, **more}
    )


PAGE = key("url", 1)
PAGES = key("url", 3)


@pytest.mark.parametrize(
    ("task", "required"),
    [
        # WANDR, section 3.4 and appendix J.
        (collection(key("company", 70), key("appointee", 1), PAGE,
                    subtasks=[branch("listings", "company", PAGE)]), 140),
        (collection(key("gpu", 20), key("game", 10, shared=True), PAGE,
                    subtasks=[branch("price", "gpu", PAGES), branch("rating", "game", PAGES)]),
         290),
        (collection(key("state", 30), PAGE,
                    subtasks=[branch("law", "state", key("area", 5), key("signal", 5), PAGE)]),
         780),
        (collection(key("company", 100), key("partner", 3), key("side", 2), PAGE), 600),
        (collection(key("gpu", 20), key("game", 10), PAGE,
                    subtasks=[branch("rating", "game", PAGES)]), 200 + 600),
        (collection(key("gpu", 20), key("game", 10, shared=True), key("level", 2), PAGE,
                    subtasks=[branch("guide", "level", PAGE)]), 400 + 400),
        (collection(key("gpu", 20), key("game", 10, shared=True), PAGE,
                    subtasks=[branch("studio", "game", key("person", 2), PAGE, subtasks=[
                        branch("rating", "game", PAGE), branch("life", "person", PAGES)])]),
         200 + 20 + 10 + 60),
        (collection(key("country", 3), PAGE,
                    subtasks=[branch("s", "country", key("city", 4, shared=True), PAGE, subtasks=[
                        branch("map", "city", PAGE)])]), 3 + 12 + 4),
    ],
)  # fmt: skip
def test_required_records(task: CollectionTask, required: int) -> None:
    assert required_records(task) == required


@pytest.mark.parametrize(("member", "required"), [("country", 3), ("company", 12), ("url", 24)])
def test_required_members_reach_through_the_member_key(member: str, required: int) -> None:
    task = collection(key("country", 3), key("company", 4), key("url", 2), member=member)
    assert required_members(task) == required


def row(url: str, full: int, retrieval: int, sub: str | None = None, **item: str) -> dict[str, Any]:
    """A graded record. A value in capitals is another name of the same value in small letters."""
    return {
        "subtask": sub, "item": item, "url": url, "canonical": {"url": url},
        "identity": {name: value.lower() for name, value in item.items()},
        "verdict_full": bool(full), "verdict_retrieval": bool(retrieval),
        "confidence": 3, "state": "graded",
    }  # fmt: skip


def rollup(task: CollectionTask, rows: Iterable[dict[str, Any]]) -> Rollup:
    scorer = Scorer(task)
    return scorer.rollup(map(scorer.leaf, rows))


def test_retained_members_are_the_best_by_recall() -> None:
    task = collection(key("k", 2), key("url", 2))
    rows = [
        row("u1", 1, 1, k="a"), row("u2", 0, 1, k="a"),
        row("u1", 0, 0, k="b"),
        row("u1", 0, 1, k="c"),
    ]  # fmt: skip
    # a has full recall 1/2 and retrieval recall 1. b and c have full recall 0. c is kept, because
    # its retrieval recall is higher: 1/2.
    assert rollup(task, rows).stages == Stages(1.0, 0.75, 0.5 / 1.5, 0.0, 0.0)


def test_a_shortfall_of_members_is_lost_to_discovery() -> None:
    assert rollup(collection(key("k", 4), PAGE), [row("u", 1, 1, k="a")]).stages == Stages(
        0.25, 1.0, 1.0, 0.0, 0.0
    )


def test_a_missing_subtask_is_lost_to_enrichment() -> None:
    task = collection(key("k", 2), PAGE, subtasks=[branch("s", "k", PAGE)])
    rows = [row("u", 1, 1, k="a"), row("u", 1, 1, k="b"), row("u", 1, 1, "s", k="b")]
    assert rollup(task, rows).stages == Stages(1.0, 0.5, 1.0, 0.0, 0.0)


def test_recall_lost_by_merging_is_identity_loss() -> None:
    task = collection(key("k", 2), PAGE)
    scores = rollup(task, [row("u", 1, 1, k="a"), row("v", 1, 1, k="A")])
    assert scores.full.soft.recall == 0.5
    assert scores.stages == Stages(1.0, 1.0, 1.0, 0.5, 0.0)


def test_recall_gained_by_merging_is_negative_identity_loss() -> None:
    task = collection(key("k", 2), PAGE, subtasks=[branch("s", "k", PAGE)])
    scores = rollup(task, [row("u", 1, 1, k="a"), row("u", 1, 1, "s", k="A")])
    assert scores.full.soft.recall == 0.5
    assert scores.stages == Stages(0.5, 0.0, None, -0.5, 0.0)


def test_members_below_the_top_leave_a_residual() -> None:
    task = collection(
        key("country", 1), key("company", 2), PAGE,
        subtasks=[branch("s", "country", key("url", 2))], member="company",
    )  # fmt: skip
    rows = [
        row("u", 1, 1, country="a", company="x"),
        row("u", 0, 1, country="a", company="y"),
        row("u", 1, 1, "s", country="a"),
    ]
    scores = rollup(task, rows)
    assert scores.full.soft.recall == 0.25
    assert scores.stages == Stages(1.0, 1.0, 0.5, 0.0, -0.25)


def test_members_outside_the_kept_parents_are_not_retained() -> None:
    task = collection(key("country", 1), key("company", 2), PAGE, member="company")
    rows = [
        row("u", 1, 1, country="a", company="x"),
        row("u", 0, 1, country="b", company="y"),
        row("u", 0, 1, country="b", company="z"),
    ]
    assert rollup(task, rows).stages == Stages(0.5, 1.0, 1.0, 0.0, 0.0)


def test_a_stage_without_members_or_retrieval_is_none() -> None:
    task = collection(key("k", 2), PAGE)
    assert rollup(task, []).stages == Stages(0.0, None, None, 0.0, 0.0)
    assert rollup(task, [row("u", 0, 0, k="a")]).stages == Stages(0.5, 0.0, None, 0.0, 0.0)


def test_counts() -> None:
    task = collection(key("k", 2), PAGE)
    rows = [
        row("u", 1, 1, k="a"),
        row("u", 1, 1, k="b") | {"confidence": 1},
        row("u", 1, 1, k="c") | {"state": "ungraded"},
        row("u", 1, 1, k="d") | {"state": "invalid"},
    ]
    scores = rollup(task, rows)
    assert scores.plain()["counts"] == {
        "required": 2, "submitted": 4, "graded": 2, "ungraded": 1, "invalid": 1,
        "low_confidence": 1,
    }  # fmt: skip
    assert not scores.complete
    assert rollup(task, rows[:2]).complete
