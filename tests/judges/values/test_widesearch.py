"""WideSearch's own comparison, and where it differs on purpose."""

import pytest

from judges.values.widesearch import WideSearchComparator


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
