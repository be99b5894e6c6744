from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from judges.names.policies import Closed, Date, Exact, Identity, Semantic, canonicalise

POLICY: TypeAdapter[Identity] = TypeAdapter(Identity)


def test_exact_ignores_unicode_form_and_white_space_only() -> None:
    policy = Exact()
    assert canonicalise(policy, " Ａ\u200b1 \n x ") == "A1 x"
    assert canonicalise(policy, "e\u200b\u0301") == "é"
    assert canonicalise(policy, "10²") == "10²"
    assert canonicalise(policy, "x²") == "x2"
    assert canonicalise(policy, "a") != canonicalise(policy, "A")
    assert canonicalise(policy, "a.") != canonicalise(policy, "a")
    assert canonicalise(policy, " \u200b\x00 ") is None


def test_a_semantic_value_is_standardised_in_form_only() -> None:
    assert canonicalise(Semantic(), "NVIDIA  Corp.") == "NVIDIA Corp."


def test_a_closed_roster_knows_its_members_by_all_their_names() -> None:
    policy = Closed(
        members=("South Korea", "Türkiye", "C", "C++"),
        aliases={
            "South Korea": ("Republic of Korea", "대한민국", "south-korea"),
            "Türkiye": ("Turkey",),
        },
    )
    for value in (
        "South Korea",
        "south korea",
        "REPUBLIC OF KOREA",
        "대한 민국",
        " South\tKorea. ",
    ):
        assert canonicalise(policy, value) == "South Korea"
    assert canonicalise(policy, "turkiye") == canonicalise(policy, "turkey") == "Türkiye"
    assert canonicalise(policy, "c++") == "C++"
    for value in ("Korea", "North Korea", "C#", "", "South Korea 2"):
        assert canonicalise(policy, value) is None


def test_a_date_is_cut_to_the_precision_and_a_less_precise_one_is_outside() -> None:
    month = Date(format="YYYY-MM")
    for value in ("Mar. 2025", "March 2025", "2025-03", "2025년 3월", "March 31, 2025"):
        assert canonicalise(month, value) == "2025-03"
    for value in ("2025", "March", "spring 2025", "03/04/2025", "2025-02-30", ""):
        assert canonicalise(month, value) is None
    assert canonicalise(Date(format="YYYY"), "03/04/2025") == "2025"
    assert canonicalise(Date(format="YYYY-MM-DD"), "Mar. 2025") is None


@pytest.mark.parametrize(
    ("given_policy", "policy"),
    [
        ({}, Semantic()),
        ({"scope": "a city"}, Semantic(scope="a city")),
        ({"how": "exact", "note": "unknown fields are ignored"}, Exact()),
        ({"how": "date", "format": "YYYY"}, Date(format="YYYY")),
        ({"how": "closed", "members": ["a"], "aliases": {"a": ["b"]}},
         Closed(members=("a",), aliases={"a": ("b",)})),
    ],
)  # fmt: skip
def test_policies_are_read_from_tasks(given_policy: dict[str, Any], policy: Identity) -> None:
    assert POLICY.validate_python(given_policy) == policy


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"how": "fuzzy"}, "how must be one of exact, semantic, closed, date"),
        ("exact", "how must be one of exact, semantic, closed, date"),
        ({"how": "closed"}, "members"),
        ({"how": "closed", "members": []}, "members"),
        ({"how": "closed", "members": ["a", "a"]}, "members: a name is listed twice"),
        ({"how": "closed", "members": ["a", "A."]},
         "members: 'A.' is also a name of 'a'"),
        ({"how": "closed", "members": ["a", " "]}, "members: ' ' is an empty name"),
        ({"how": "closed", "members": ["a", "b"], "aliases": {"c": ["d"]}},
         "aliases: 'c' is not a member"),
        ({"how": "closed", "members": ["a", "b"], "aliases": {"a": ["B"]}},
         "aliases: 'B' is also a name of 'b'"),
        ({"how": "closed", "members": ["a", "b"], "aliases": {"a": ["x"], "b": ["X!"]}},
         "aliases: 'X!' is also a name of 'a'"),
        ({"how": "closed", "members": ["a"], "aliases": {"a": "b"}}, "aliases"),
        ({"how": "date"}, "format"),
        ({"how": "date", "format": "MM-YYYY"}, "format"),
    ],
)  # fmt: skip
def test_a_faulty_policy_names_the_field(policy: Any, said: str) -> None:
    with pytest.raises(ValidationError) as fault:
        POLICY.validate_python(policy)
    assert said in str(fault.value)


@pytest.mark.parametrize(
    "policy", [Exact(), Semantic(scope="x"), Date(format="YYYY"), Closed(members=("a",))]
)
def test_a_policy_is_its_own_valid_form_and_does_not_change(policy: Identity) -> None:
    assert POLICY.validate_python(policy) == policy
    with pytest.raises(ValidationError):
        policy.how = "exact"  # type: ignore[assignment]
