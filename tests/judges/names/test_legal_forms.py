import pytest

from judges.names.legal_forms import legal_forms


@pytest.mark.parametrize(
    ("words", "company", "left"),
    [
        ("acme inc", False, "acme"),
        ("acme co ltd", False, "acme"),
        ("acme inc ltd", False, "acme"),
        ("acme ltd inc corp", False, "acme"),
        ("acme gmbh and co kg", False, "acme"),
        ("acme and co", False, "acme and co"),
        ("acme and co", True, "acme"),
        ("acme ag", False, "acme ag"),
        ("acme ag", True, "acme"),
        ("inc", True, "inc"),
        ("the inc", True, "the inc"),
        ("the acme inc", True, "the acme"),
        ("inc acme", True, "inc acme"),
        ("ооо acme", False, "acme"),
        ("ооо", False, "ооо"),
        ("acme ооо", False, "acme ооо"),
        ("ооо acme inc", False, "acme"),
        ("", False, ""),
    ],
)
def test_legal_forms_are_dropped_at_both_ends(words: str, company: bool, left: str) -> None:
    assert legal_forms().strip(words.split(), company) == left.split()


@pytest.mark.parametrize(
    ("name", "companies"),
    [
        ("company", True),
        ("listed companies", True),
        ("parent_company", True),
        ("bank", True),
        ("banks", True),
        ("accompanist", False),
        ("riverbank", False),
        ("발행회사", True),
        ("country", False),
    ],
)
def test_a_word_says_that_values_are_companies(name: str, companies: bool) -> None:
    assert bool(legal_forms().company_word.search(name)) is companies
