"""WideSearch's own comparison, and where it differs on purpose."""

from dataclasses import FrozenInstanceError

import pytest

from judges.values.formats.widesearch import PREPROCESS, WideSearchComparator


def match(gold, pred, metric, preprocess=(), criterion=None):
    comparator = WideSearchComparator(preprocess, [metric], criterion)
    return comparator.compare(comparator.read(gold), comparator.read(pred)).match


@pytest.mark.parametrize(
    ("metric", "preprocess", "criterion", "gold", "pred", "same"),
    [
        ("exact_match", ["norm_str"], None, "New York", "new  york*", True),
        ("exact_match", ["norm_str"], None, "New York", "newyorkx", False),
        ("exact_match", [], None, "New York", "new york", True),
        ("in_match", ["norm_str"], None, "Amazon, Tesla", "tesla", True),
        ("in_match", ["norm_str"], None, "tesla", "Amazon, Tesla", False),
        ("in_match", ["norm_str"], None, "tesla", "", False),
        ("number_near", ["extract_number"], 0.05, "1,000 km", "about 1040", True),
        ("number_near", ["extract_number"], 0.05, "1,000", "1060", False),
        ("number_near", ["extract_number"], 0.05, "50%", "0.5", True),
        ("number_near", ["extract_number"], None, "1,000", "1000.0", True),
        ("number_near", ["extract_number"], None, "1,000", "1001", False),
        ("number_near", ["extract_number"], 0.1, "none", "unknown", True),
        ("date_near", ["norm_date"], None, "2024-03-01", "April 1, 2024", True),
        ("date_near", ["norm_date"], None, "2024-03-01", "2024-04-02", False),
        ("date_near", ["norm_date"], None, "March 2024", "2024-03-01", True),
        ("date_near", ["norm_date"], None, "-, 1994", "1994", True),
        ("date_near", ["norm_date"], None, "03/04/2024", "2024-03-04*", True),
        ("date_near", ["norm_date"], None, "25/03/24", "2024-03-25", True),
        ("date_near", ["norm_date"], None, "incumbent", "incumbent", True),
        ("date_near", ["norm_date"], None, "incumbent", "2024-03-01", False),
        ("date_near", ["norm_date"], None, "incumbent", "retired", False),
        ("url_match", ["norm_str"], None, "https://a.org/x", "https://a.org/y", True),
        ("url_match", ["norm_str"], None, "https://a.org", "https://b.org", False),
        ("url_match", ["norm_str"], None, "https://[x", "https://b.org", False),
        ("llm_judge", [], None, "a reason", "A reason", True),
        ("llm_judge", [], None, "a reason", "another", False),
        ("exact_match", [], None, "", "", True),
        ("exact_match", [], None, "", "x", False),
        ("url_match", [], None, "a.org", "", False),
        ("url_match", [], None, "a.org", "b.org", True),
        ("url_match", [], None, "https://a.org https://b.org", "http://b.org/x http://a.org", True),
        ("url_match", [], None, "https://a.org https://b.org", "https://a.org", False),
        ("in_match", [], None, "Tesla", "tesla", False),
        ("number_near", [], 0.1, "100", "110", True),
        ("number_near", [], 0.1, "100", "110.1", False),
        ("number_near", [], 0.1, "100", "90", True),
        ("number_near", [], 0.1, "-100", "-110", True),
        ("number_near", [], 0.1, "0", "0.0", True),
        ("number_near", [], 0.1, "0", "0.1", False),
        ("number_near", [], 0.1, "100", "many", False),
        ("number_near", [], 0.1, "many", "100", False),
        ("number_near", [], None, "0.2%", "0.002", True),
        ("number_near", [], None, "inf", "Infinity", True),
        ("date_near", [], None, "2024-03-01", "2024-01-30", True),
        ("date_near", [], None, "2024-03-01", "2024-01-29", False),
        ("date_near", [], None, "2024-03-01", "retired", False),
        ("date_near", [], None, "2024", "2024-02-01", True),
        ("date_near", [], None, "2024", "2024-02-02", False),
    ],
)
def test_metrics(metric, preprocess, criterion, gold, pred, same):
    assert match(gold, pred, metric, preprocess, criterion) is same


def test_keys_are_compared_by_equality():
    comparator = WideSearchComparator(["extract_number"], ["number_near"], 0.5)
    assert comparator.exact(comparator.read("10 km")) == comparator.exact(comparator.read("10"))
    assert not comparator.aliases(comparator.read("10")) & comparator.aliases(comparator.read("11"))


@pytest.mark.parametrize(
    ("preprocess", "metrics", "field"),
    [(["x"], ["exact_match"], "preprocess"), ([], ["x"], "metric"), ([], [], "metric")],
)
def test_unknown_names_are_refused(preprocess, metrics, field):
    with pytest.raises(ValueError, match=f"{field}: "):
        WideSearchComparator(preprocess, metrics)


@pytest.mark.parametrize(
    ("name", "text", "prepared"),
    [
        ("norm_str", " New  York* ", "newyork"),
        ("extract_number", "about 1,234.5 km", "1234.5"),
        ("extract_number", "-3.", "-3."),
        ("extract_number", "+.5%", "+.5%"),
        ("extract_number", "none", "NULL"),
        ("norm_date", "March 5, 2024", "2024-03-05"),
        ("norm_date", "March 2024", "2024-03-01"),
        ("norm_date", "2024", "2024-01-01"),
        ("norm_date", "03/04/2024", "2024-03-04"),
        ("norm_date", "25/03/24", "2024-03-25"),
        ("norm_date", "3-4-68", "2068-03-04"),
        ("norm_date", "3-4-69", "1969-03-04"),
        ("norm_date", "3-4-99", "1999-03-04"),
        ("norm_date", "3.4.1868", "1868-03-04"),
        ("norm_date", "31/31/2024", "31/31/2024"),
        ("norm_date", "*2024-03-05*, ", "2024-03-05"),
        ("norm_date", "retired", "retired"),
    ],
)
def test_preprocess(name, text, prepared):
    assert PREPROCESS[name](text) == prepared


def test_all_metrics_must_agree_and_the_reason_names_the_first_that_does_not():
    comparator = WideSearchComparator([], ["in_match", "exact_match"])
    gold = comparator.read("Amazon, Tesla")
    assert comparator.compare(gold, comparator.read("Tesla")).why == (
        "exact_match: 'Tesla' is not the gold 'Amazon, Tesla'"
    )
    assert comparator.compare(gold, comparator.read("Ford")).why == (
        "in_match: 'Ford' is not the gold 'Amazon, Tesla'"
    )
    assert comparator.compare(gold, comparator.read("Amazon,<br> Tesla")).why == "the same text"
    near = WideSearchComparator([], ["number_near", "in_match"], 0.1)
    assert near.compare(near.read("100.0"), near.read("100")).why == (
        "the same by number_near, in_match"
    )
    assert not near.compare(near.read("100.0"), near.read("")).match
    assert not near.compare(near.read(""), near.read("100")).match


def test_an_exact_key_ignores_letter_case():
    comparator = WideSearchComparator([], ["exact_match"])
    assert comparator.exact(comparator.read("Lima")) == comparator.exact(comparator.read("LIMA"))
    assert comparator.aliases(comparator.read("Lima")) == {"lima"}


def test_a_comparator_does_not_change():
    with pytest.raises(FrozenInstanceError):
        WideSearchComparator([], ["exact_match"]).criterion = 1.0
