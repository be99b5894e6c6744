"""The rollup: the paper's worked case, each rule, and a slow implementation to compare with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.kinds.collection.leaves import LeafReader
from grader.kinds.collection.rollup import Figures, Rollup, Scorer
from grader.tasks.collection import CollectionTask, Key, Subtask

Row = dict[str, Any]


def collection(keys: Sequence[Any], subtasks: Sequence[Any] = (), **more: Any) -> CollectionTask:
    return CollectionTask.model_validate(
        {"name": "t", "kind": "collection", "keys": keys, "subtasks": subtasks, **more}
    )


def levels(**volumes: int) -> list[dict[str, Any]]:
    return [{"name": name, "volume": volume} for name, volume in volumes.items()]


def row(
    url: str | None = "u", full: bool = True, retrieval: bool | None = None, *, sub: str = "",
    state: str = "graded", confidence: int = 3, ids: Mapping[str, str | None] | None = None,
    forms: dict[str, str] | None = None, **item: str,
) -> Row:  # fmt: skip
    return {
        "subtask": sub or None,
        "item": item,
        "url": url,
        "canonical": (forms or {}) | ({"url": url} if url else {}),
        "identity": dict(ids or {}),
        "verdict_full": full if state == "graded" else None,
        "verdict_retrieval": (full if retrieval is None else retrieval)
        if state == "graded"
        else None,
        "confidence": confidence if state == "graded" else None,
        "state": state,
    }


def rollup(task: CollectionTask, rows: Iterable[Row]) -> Rollup:
    scorer = Scorer(task)
    return scorer.rollup(map(scorer.leaf, rows))


def eight(figures: Figures) -> tuple[float, ...]:
    soft, hard = figures.soft, figures.hard
    return soft.precision, soft.recall, hard.precision, hard.recall


def full(task: CollectionTask, *rows: Row) -> tuple[float, ...]:
    """Soft precision and recall, hard precision and recall, under the full verdict."""
    return eight(rollup(task, rows).full)


class TestThePapersWorkedCase:
    """WANDR, appendix L."""

    TASK = collection(
        levels(country=3, city=2, url=1),
        [
            {"name": "heritage", "parent": "city", "keys": levels(site=2, url=1)},
            {"name": "leader", "parent": "country", "keys": levels(url=1)},
            {"name": "event", "parent": "country", "keys": levels(url=1)},
        ],
    )
    ALIASES: ClassVar = {"Istanbul, Türkiye": "Istanbul", "Selimiye Camii": "Selimiye Mosque"}

    def row(self, *, sub: str = "", good: bool = True, **item: Any) -> Row:
        ids = {key: self.ALIASES[value] for key, value in item.items() if value in self.ALIASES}
        return row("/".join(item.values()), good, sub=sub, ids=ids, **item)

    def rows(self) -> Iterator[Row]:
        cities = {
            "France": ("Paris", "Lyon"),
            "India": ("Delhi", "Jaipur", "Bangalore"),
            "Turkey": ("Istanbul", "Istanbul, Türkiye", "Bursa"),
        }
        sites = {
            "Paris": ("Banks of the Seine", "Versailles"),
            "Lyon": ("Old town", "Croix-Rousse"),
            "Delhi": ("Red Fort",),
            "Jaipur": ("Jantar Mantar", "Walled city"),
            "Istanbul": ("Selimiye Mosque", "Walls"),
            "Bursa": ("Cumalıkızık", "Green Tomb"),
        }
        for country, names in cities.items():
            for city in names:
                yield self.row(country=country, city=city)
            yield self.row(sub="leader", country=country)
            yield self.row(sub="event", good=country != "Turkey", country=country)
        for city, found in sites.items():
            for site in found:
                yield self.row(sub="heritage", city=city, site=site)
        yield self.row(sub="heritage", good=False, city="Istanbul, Türkiye", site="Selimiye Camii")

    def test_the_figures_are_those_of_the_paper(self) -> None:
        scores = rollup(self.TASK, self.rows())
        assert eight(scores.full) == pytest.approx((5 / 9, 7 / 12, 1 / 3, 1 / 3), abs=1e-15)
        assert round(scores.full.soft.f1, 2) == 0.57
        assert round(scores.full.hard.f1, 2) == 0.33

    def test_two_names_of_one_city_are_one_city_with_the_worse_site(self) -> None:
        rows = [{**one, "verdict_full": True} if one["subtask"] == "event" else one
                for one in self.rows()]  # fmt: skip
        # The recall of Turkey is the mean of Istanbul (one site of two) and Bursa: 3/4, like India.
        assert rollup(self.TASK, rows).full.soft.recall == pytest.approx((1 + 0.75 + 0.75) / 3)


class TestLeaves:
    TASK = collection(levels(k=2, url=1))

    def test_records_with_one_path_are_one_leaf_with_the_worst_verdict(self) -> None:
        assert full(self.TASK, row(k="a"), row(k="a", full=False)) == (0, 0, 0, 0)

    def test_an_invalid_record_is_a_submitted_failure(self) -> None:
        rows = row(k="a"), row(k="b", state="invalid")
        assert full(self.TASK, *rows) == (0.5, 0.5, 0.5, 0.5)

    @pytest.mark.parametrize(
        "missing", [{"state": "ungraded"}, {"confidence": 1}], ids=["ungraded", "unsure"]
    )
    def test_a_record_without_a_usable_verdict_is_missing(self, missing: dict[str, Any]) -> None:
        rows = row(k="a"), row(k="b", full=False, **missing)
        assert full(self.TASK, *rows) == (1, 0.5, 1, 0.5)

    def test_an_empty_submission_scores_0(self) -> None:
        scores = rollup(self.TASK, [])
        assert eight(scores.full) == eight(scores.retrieval) == (0, 0, 0, 0)
        assert scores.full.soft.f1 == 0

    def test_each_verdict_has_its_figures(self) -> None:
        scores = rollup(self.TASK, [row(k="a", full=False, retrieval=True), row(k="b")])
        assert eight(scores.full) == (0.5, 0.5, 0.5, 0.5)
        assert eight(scores.retrieval) == (1, 1, 1, 1)


class TestChildren:
    TASK = collection(levels(k=2, url=1))

    def test_precision_counts_each_alias_and_recall_the_worst_of_them(self) -> None:
        rows = row(k="a"), row(k="A", full=False, ids={"k": "a"}), row(k="b")
        assert full(self.TASK, *rows) == (2 / 3, 0.5, 2 / 3, 0.5)

    def test_recall_keeps_the_best_volume_children(self) -> None:
        rows = row(k="a"), row(k="b", full=False), row(k="c")
        assert full(self.TASK, *rows) == (2 / 3, 1, 2 / 3, 1)

    def test_a_value_outside_the_roster_is_one_child_with_score_0(self) -> None:
        rows = row(k="a"), row("u1", k="x", ids={"k": None}), row("u2", k="x", ids={"k": None})
        assert full(self.TASK, *rows) == (0.5, 0.5, 0.5, 0.5)

    def test_each_record_without_a_field_is_a_child_of_its_own_with_score_0(self) -> None:
        rows = row(k="a"), row(ids={"k": None}), row(ids={"k": None}, state="invalid")
        assert full(self.TASK, *rows) == (1 / 3, 0.5, 1 / 3, 0.5)

    def test_a_record_without_url_fails_at_the_url(self) -> None:
        assert full(self.TASK, row(k="a"), row(None, state="invalid", k="a")) == (0.5, 0.5, 0, 0.5)

    def test_values_with_one_standard_form_are_one_child(self) -> None:
        rows = row("u1", k="Mar 2025", forms={"k": "2025-03"}), row("u2", False, k="2025-03")
        assert full(self.TASK, *rows) == (0.5, 0.5, 0, 0.5)

    def test_the_mean_of_three_perfect_children_is_exactly_1(self) -> None:
        task = collection(levels(k=3, j=3, url=3))
        rows = [row(f"{k}{j}{u}", k=k, j=j) for k in "abc" for j in "abc" for u in "abc"]
        assert full(task, *rows) == (1, 1, 1, 1)


class TestCompositeKeys:
    TASK = collection([*levels(who=1), {"name": "deed", "fields": ["who", "deed"], "volume": 2},
                       *levels(url=1)])  # fmt: skip

    def test_a_field_that_is_an_axis_uses_its_identity(self) -> None:
        task = collection(self.TASK.model_dump()["keys"][1:], member="deed")
        rows = row(who="a", deed="d"), row(who="A", deed="d", ids={"who": "a"}, full=False)
        assert full(task, *rows) == (0.5, 0, 0.5, 0)

    def test_a_key_is_outside_if_one_of_its_fields_is_outside(self) -> None:
        task = collection(self.TASK.model_dump()["keys"][1:], member="deed")
        assert full(task, row(who="a", deed="d", ids={"who": None})) == (0, 0, 0, 0)

    def test_the_identity_of_the_key_is_used_before_those_of_its_fields(self) -> None:
        rows = [row(who="a", deed=deed, ids={"deed": "one"}) for deed in "xy"]
        assert full(self.TASK, *rows) == (1, 0.5, 1, 0)

    @pytest.mark.parametrize("value", ["", None, 7, ["a"], {"a": 1}], ids=repr)
    @pytest.mark.parametrize("field", ["who", "deed"])
    def test_a_key_is_missing_if_one_of_its_fields_is_not_a_string(
        self, field: str, value: Any
    ) -> None:
        task = collection(self.TASK.model_dump()["keys"][1:], member="deed")
        item = {"who": "a", "deed": "d", field: value}
        assert LeafReader(task).leaf(row() | {"item": item}).path == ((None, None),)


class TestSubtasks:
    TASK = collection(levels(k=2, url=1), [{"name": "s", "parent": "k", "keys": levels(url=2)}])

    def test_a_subtask_without_records_scores_0(self) -> None:
        assert full(self.TASK, row(k="a")) == (0, 0, 0, 0)

    def test_a_subtask_multiplies_the_score_of_its_node(self) -> None:
        assert full(self.TASK, row(k="a"), row(sub="s", k="a")) == (1, 0.25, 1, 0)

    def test_aliases_pool_the_records_of_a_subtask(self) -> None:
        ids = {"k": "a"}
        rows = row(k="a"), row("u1", sub="s", k="a"), row("u2", sub="s", k="A", ids=ids)
        assert full(self.TASK, *rows) == (1, 0.5, 1, 0.5)

    def test_one_page_cited_under_two_aliases_is_one_leaf(self) -> None:
        rows = row(k="a"), row(sub="s", k="a"), row(sub="s", k="A", full=False, ids={"k": "a"})
        assert full(self.TASK, *rows) == (0, 0, 0, 0)

    def test_a_subtask_record_without_a_parent_value_counts_only_as_submitted(self) -> None:
        rows = [row(k="a"), row("u1", sub="s", k="a"), row("u2", sub="s", k="a")]
        lost = [row(sub="s", k="x", ids={"k": None}), row(sub="s", state="invalid"),
                row(sub="s", k="b")]  # fmt: skip
        scores = rollup(self.TASK, [*rows, *lost])
        assert eight(scores.full) == full(self.TASK, *rows) == (1, 0.5, 1, 0.5)
        assert scores.counts.submitted == 6


class TestReading:
    READ = LeafReader(collection(levels(k=1, url=1)))

    @pytest.mark.parametrize(
        "fault",
        [
            {"subtask": "none"},
            {"subtask": ["s"]},
            {"state": "fine"},
            {"verdict_full": None},
            {"confidence": "3"},
            {"item": ["a"]},
            {"identity": {"k": ["a"]}},
        ],
        ids=str,
    )
    def test_a_row_that_does_not_fit_the_task_is_refused(self, fault: Row) -> None:
        with pytest.raises(ValueError, match=next(iter(fault)).split("_")[0]):
            self.READ.leaf(row(k="a") | fault)

    @pytest.mark.parametrize("value", ["", None, 7, ["a"], {"a": 1}, float("nan")], ids=repr)
    def test_a_value_that_is_not_a_string_is_missing(self, value: Any) -> None:
        assert self.READ.leaf(row(k="a") | {"item": {"k": value}}).path == ((None, None),)


# -- A slow implementation of the rules, after the listing of appendix K: filter at every node. --


def value(one: Row, key: Key) -> tuple[str, ...] | None:
    forms = one["canonical"]
    parts = tuple(forms.get(field, one["item"].get(field)) for field in key.fields)
    return None if None in parts else parts


def identity(one: Row, key: Key, merge: bool = True) -> Any:
    found = value(one, key)
    name = None if found is None else one["identity"].get(key.name, found)
    return name if merge or name is None else found


class Slow:
    def __init__(self, task: CollectionTask, rows: list[Row], verdict: str, recall: bool,
                 hard: bool, merge: bool = True) -> None:  # fmt: skip
        self.task, self.verdict, self.recall, self.hard = task, verdict, recall, hard
        self.merge = merge
        self.rows = [
            one
            for one in rows
            if one["state"] == "invalid" or (one["state"] == "graded" and one["confidence"] >= 2)
        ]

    def total(self) -> Fraction:
        rows = [one for one in self.rows if one["subtask"] is None]
        return self.children(rows, self.task.keys, self.task.subtasks, "")

    def children(self, rows: list[Row], keys: Sequence[Key], subs: Any, prefix: str) -> Fraction:
        """The score of the node that holds `rows`. `keys` are the keys below it."""
        if not rows:
            return Fraction(0)
        key = keys[0]
        wrong = [one for one in rows if identity(one, key, self.merge) is None]
        values = {
            value(one, key): identity(one, key, self.merge) for one in rows if one not in wrong
        }
        scores = {
            v: self.node([o for o in rows if o not in wrong and value(o, key) == v], i, keys, subs,
                         prefix)
            for v, i in values.items()
        }  # fmt: skip
        if not self.recall:
            named = {value(one, key) for one in wrong} - {None}
            lacking = sum(value(one, key) is None for one in wrong)
            return sum(scores.values(), Fraction(0)) / (len(scores) + len(named) + lacking)
        merged: dict[Any, Fraction] = {}
        for v, score in scores.items():
            merged[values[v]] = min(score, merged.get(values[v], score))
        best = sorted(merged.values(), reverse=True)[: key.volume]
        return sum(best, Fraction(0)) / key.volume

    def node(self, rows: list[Row], name: Any, keys: Sequence[Key], subs: Sequence[Subtask],
             prefix: str) -> Fraction:  # fmt: skip
        """The score of the child with the identity `name` at the first of `keys`."""
        key, below = keys[0], keys[1:]
        if not below:
            return Fraction(min(one[self.verdict] or False for one in rows))
        return self.compose(self.children(rows, below, subs, prefix), key, name, subs, prefix)

    def compose(self, score: Fraction, key: Key, name: Any, subs: Sequence[Subtask],
                prefix: str) -> Fraction:  # fmt: skip
        if self.hard:
            score = Fraction(score == 1)
        for sub in subs:
            if sub.parent == key.name:
                dotted = prefix + sub.name
                rows = [
                    one
                    for one in self.rows
                    if one["subtask"] == dotted and identity(one, key, self.merge) == name
                ]
                inside = self.children(rows, sub.keys, sub.subtasks, dotted + ".")
                score *= self.compose(inside, key, name, sub.subtasks, dotted + ".")
        return score


NAMES = ("a", "b", "c", "d")


@st.composite
def tasks(draw: st.DrawFn) -> CollectionTask:
    volume = st.integers(1, 3)

    def hierarchy(prefix: str, above: str, most: int) -> list[dict[str, Any]]:
        keys: list[dict[str, Any]] = []
        for depth in range(draw(st.integers(0 if above else 1, most))):
            name = f"{prefix}{depth}"
            fields = [above, name] if above and draw(st.booleans()) else [name]
            keys.append({"name": name, "fields": fields, "volume": draw(volume)})
            above = name
        return [*keys, {"name": "url", "volume": draw(volume)}]

    def subtasks(prefix: str, parents: list[str], deeper: int) -> list[dict[str, Any]]:
        found = []
        for n in range(draw(st.integers(0, 2)) if deeper else 0):
            parent = draw(st.sampled_from(parents))
            keys = (
                hierarchy(f"{prefix}{n}k", "", 2)
                if draw(st.booleans())
                else levels(url=draw(volume))
            )
            inner = [parent, *(key["name"] for key in keys[:-1])]
            nested = subtasks(f"{prefix}{n}s", inner, deeper - 1)
            found.append(
                {"name": f"{prefix}{n}", "parent": parent, "keys": keys, "subtasks": nested}
            )
        return found

    keys = hierarchy("k", "", 3)
    names = [key["name"] for key in keys]
    subs = subtasks("s", names[:-1], 2)
    return collection(keys, subs, member=draw(st.sampled_from(names)))


@st.composite
def submissions(draw: st.DrawFn) -> tuple[CollectionTask, list[Row]]:
    task = draw(tasks())
    # On every axis, d is another name of a, and c may be outside the roster.
    outside = {key.name: draw(st.booleans()) for h in task.hierarchies.values() for key in h.levels}
    rows = []
    for _ in range(draw(st.integers(0, 25))):
        dotted = draw(st.sampled_from(list(task.hierarchies)))
        hierarchy = task.hierarchies[dotted]
        item = {f: draw(st.sampled_from(NAMES[:2] if draw(st.booleans()) else NAMES))
                for f in hierarchy.fields}  # fmt: skip
        if item and draw(st.integers(0, 9)) == 0:
            del item[draw(st.sampled_from(sorted(item)))]
        ids: dict[str, str | None] = {}
        for key in hierarchy.levels[:-1]:
            parts = [item.get(field) for field in key.fields]
            if None in parts or (outside[key.name] and parts[-1] == "c"):
                ids[key.name] = None
            elif "d" in parts:
                ids[key.name] = (
                    "a" if parts == ["d"] else str([p and p.replace("d", "a") for p in parts])
                )
            else:
                ids[key.name] = str(parts) if len(parts) > 1 else parts[0]
        rows.append(
            row(
                draw(st.sampled_from("uvw")),
                shown := draw(st.integers(0, 3)) > 0,
                shown or draw(st.booleans()),
                sub=dotted or "",
                state=draw(st.sampled_from(["graded"] * 8 + ["invalid", "ungraded"])),
                confidence=draw(st.sampled_from([1, 2, 3, 3, 3])),
                ids=ids,
                **item,
            )
        )
    return task, rows


def slow(task: CollectionTask, rows: list[Row], verdict: str) -> tuple[float, ...]:
    return tuple(
        float(Slow(task, rows, f"verdict_{verdict}", recall, hard).total())
        for hard in (False, True)
        for recall in (False, True)
    )


@settings(deadline=None, max_examples=300)
@given(submissions())
def test_the_walk_agrees_with_a_slow_implementation_of_the_rules(
    submission: tuple[CollectionTask, list[Row]],
) -> None:
    task, rows = submission
    scores = rollup(task, rows)
    assert eight(scores.full) == pytest.approx(slow(task, rows, "full"), abs=1e-12)
    assert eight(scores.retrieval) == pytest.approx(slow(task, rows, "retrieval"), abs=1e-12)


@settings(deadline=None)
@given(submissions(), st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(
    submission: tuple[CollectionTask, list[Row]], random: Any
) -> None:
    task, rows = submission
    shuffled = random.sample(rows, len(rows))
    assert rollup(task, shuffled) == rollup(task, rows)


@settings(deadline=None)
@given(submissions())
def test_the_stages_make_up_full_soft_recall(
    submission: tuple[CollectionTask, list[Row]],
) -> None:
    task, rows = submission
    scores = rollup(task, rows)
    lost = scores.stages
    unmerged = float(Slow(task, rows, "verdict_full", True, False, merge=False).total())
    product = lost.discovery * (lost.enrichment or 0) * (lost.extraction or 0)
    assert product + lost.residual == pytest.approx(unmerged, abs=1e-12)
    assert unmerged - lost.identity_loss == pytest.approx(scores.full.soft.recall, abs=1e-12)
    if task.member == task.keys[0].name:
        assert lost.residual == 0
