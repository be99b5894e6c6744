from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from judges.names.axes import Axis, Names, Resolver, cluster
from judges.names.policies import Closed, Date, Exact, Identity, Semantic
from judges.records.record import Record


@dataclass(frozen=True)
class Key:
    name: str
    fields: tuple[str, ...]
    identity: Identity


COMPANY = Key("company", ("company",), Semantic())
APPOINTMENT = Key("company_appointee", ("company", "appointee"), Semantic(scope="an appointment"))
MONTH = Key("month", ("month",), Date(format="YYYY-MM"))
URL = Key("url", ("url",), Exact())
TASK = {
    None: [COMPANY, APPOINTMENT, MONTH, URL],
    "listings": [COMPANY, URL],
    "people": [APPOINTMENT, URL],
}


def record(subtask: str | None = None, **item: Any) -> Record:
    return Record(0, subtask, item, "https://x.example", ("",), "")


def resolve(task: Mapping[str | None, list[Key]], records: Iterable[Record]) -> list[Names]:
    resolver = Resolver(task)
    records = list(records)
    standards = [resolver.standardise(one) for one in records]
    clusters = {axis.name: cluster(axis, values) for axis, values in resolver.left_over(standards)}
    return [
        resolver.name(one, standard, clusters, "https://x.example/")
        for one, standard in zip(records, standards, strict=True)
    ]


def test_names_hold_only_the_values_that_differ_from_the_submitted_ones() -> None:
    (names,) = resolve(
        TASK, [record(company="374Water, Inc.", appointee="Jo  Doe", month="March 2025")]
    )
    assert names == Names(
        canonical={
            "url": "https://x.example/",
            "company_appointee": "374Water, Inc. | Jo Doe",
            "month": "2025-03",
        },
        identity={"company": "374water", "company_appointee": "374water | jo doe"},
    )


def test_a_value_that_names_its_own_cluster_is_left_out() -> None:
    (names,) = resolve({None: [COMPANY, URL]}, [record(company="374water")])
    assert names == Names({"url": "https://x.example/"}, {})


def test_a_key_is_one_axis_throughout_the_task() -> None:
    one, other, person = resolve(
        TASK,
        [
            record(company="NVIDIA", appointee="Jo Doe", month="2025-03"),
            record("listings", company="Nvidia Corp."),
            record("people", company="nvidia", appointee="JO DOE"),
        ],
    )
    assert one.identity["company"] == other.identity["company"] == "nvidia"
    assert one.identity["company_appointee"] == person.identity["company_appointee"]
    assert "company" not in person.identity


def test_ambiguous_legal_forms_are_dropped_on_axes_of_companies() -> None:
    assert Axis("company", "company", Semantic()).of_companies
    assert Axis("k", "k", Semantic(scope="a listed company; a subsidiary is another")).of_companies
    assert Axis("k", "발행회사", Semantic()).of_companies
    assert Axis("k", "parent_company", Semantic()).of_companies
    assert not Axis("accompanist", "accompanist", Semantic()).of_companies
    assert not Axis("product", "product", Semantic(scope="a phone of one company")).of_companies
    assert cluster(Axis("issuer", "issuer", Semantic()), ["SAP SE"]) == {"SAP SE": "sap"}
    assert cluster(Axis("phone", "phone", Semantic()), ["iPhone SE"]) == {"iPhone SE": "iphone se"}


def test_a_value_that_is_outside_or_missing_has_no_identity() -> None:
    country = Key("country", ("country",), Closed(members=("Japan",)))
    city = Key("country_city", ("country", "city"), Semantic())
    names = resolve(
        {None: [country, city, URL]},
        [
            record(country="japan", city="Kyoto"),
            record(country="Narnia", city="Kyoto"),
            record(country="Japan"),
            record(country="Japan", city="\u200b"),
            record(country="Japan", city=["Kyoto"]),
        ],
    )
    assert [one.identity for one in names] == [
        {"country_city": "Japan | kyoto"},
        {"country": None, "country_city": None},
        {"country_city": None},
        {"country_city": None},
        {"country_city": None},
    ]
    assert names[0].canonical["country"] == "Japan"
    assert "country_city" not in names[1].canonical


def test_composite_values_are_never_confused() -> None:
    pair = Key("pair", ("a", "b"), Exact())
    names = resolve(
        {None: [pair, URL]},
        [record(a="x | y", b="z"), record(a="x", b="y | z"), record(a="x\\", b="| y | z")],
    )
    assert len({one.canonical["pair"] for one in names}) == 3


def test_a_composite_key_may_contain_itself_and_another_composite_key() -> None:
    city = Key("city", ("country", "city"), Semantic())
    site = Key("site", ("city", "site"), Semantic())
    (names,) = resolve({None: [city, site, URL]}, [record(country="IN", city="Delhi", site="Fort")])
    assert names.identity == {"city": "in | delhi", "site": "in | delhi | fort"}


def test_clusters_do_not_depend_on_the_order_of_records() -> None:
    records = [record("listings", company=name) for name in ("ACME", "Acme Inc.", "acme", "Other")]
    assert resolve(TASK, records) == resolve(TASK, records[::-1])[::-1]


COUNTRY = Key("country", ("country",), Closed(members=("Japan", "Peru")))
STATE = Key("state", ("state",), Closed(members=("Texas",)))


def test_values_outside_of_a_roster_are_listed_by_axis_as_they_were_submitted() -> None:
    resolver = Resolver({None: [COUNTRY, STATE, COMPANY, URL]})
    records = [
        record(country="Nippon", state="texas", company="A"),
        record(country="NIPPON", state="Lone Star State", company="B"),
        record(country="japan", state=7, company="C"),
        record(country=None, company="D"),
    ]
    standards = [resolver.standardise(one) for one in records]
    assert [(axis.name, values) for axis, values in resolver.outside(records, standards)] == [
        ("country", {"Nippon", "NIPPON"}),
        ("state", {"Lone Star State"}),
    ]
    assert resolver.outside([], []) == []


def test_a_member_that_a_model_chose_becomes_the_standard_form() -> None:
    resolver = Resolver({None: [COUNTRY, STATE, URL]})
    records = [
        record(country="Nippon", state="Nippon"),
        record(country="Peru", state="texas"),
        record(country=["Nippon"], state="Bavaria"),
    ]
    standards = [resolver.standardise(one) for one in records]
    assert standards[0] == {"country": None, "state": None}
    placed = resolver.placed(records, standards, {("country", "Nippon"): "Japan"})
    assert placed == [
        {"country": "Japan", "state": None},
        {"country": "Peru", "state": "Texas"},
        {"country": None, "state": None},
    ]
    (named, *_) = [
        resolver.name(one, standard, {}, "https://x.example/")
        for one, standard in zip(records, placed, strict=True)
    ]
    assert named == Names({"url": "https://x.example/", "country": "Japan"}, {"state": None})


def test_the_axes_of_a_record_are_those_of_its_hierarchy_each_once() -> None:
    resolver = Resolver(TASK)
    assert [axis.name for axis in resolver.axes(record())] == [
        "company",
        "company_appointee.appointee",
        "month",
    ]
    assert [axis.name for axis in resolver.axes(record("listings"))] == ["company"]
    assert [axis.field for axis in resolver.axes(record("people"))] == ["company", "appointee"]


def test_only_semantic_axes_are_left_for_deduplication() -> None:
    resolver = Resolver(TASK)
    records = [
        record(company="A", appointee="X", month="2025-03"),
        record(company="A", month="2025"),
        record("listings", company="b"),
    ]
    left = resolver.left_over([resolver.standardise(one) for one in records])
    assert {axis.name: values for axis, values in left} == {
        "company": {"A", "b"},
        "company_appointee.appointee": {"X"},
    }


def test_the_first_four_words_of_a_scope_say_whether_values_are_companies() -> None:
    assert Axis("k", "k", Semantic(scope="one of the companies")).of_companies
    assert not Axis("k", "k", Semantic(scope="one of the listed companies")).of_companies
    assert not Axis("k", "k", Exact()).of_companies


def test_a_composite_name_escapes_its_separator() -> None:
    pair = Key("pair", ("a", "b"), Exact())
    (names,) = resolve({None: [pair, URL]}, [record(a="x|y\\", b="z")])
    assert names.canonical["pair"] == r"x\|y\\ | z"
