"""Surface form of short answers: what counts and what does not (answers.md, item 2)."""

import time

import pytest

from judges.values.surface import (
    LONGEST,
    candidates,
    clean,
    differ,
    forms,
    glosses,
    same,
    says,
)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("**Seoul**", "**seoul**"),
        ("[Seoul](https://example.org/a_(b))", "seoul"),
        ("![Seoul](/a.png)", "seoul"),
        ("[Seoul](not a link)", "[seoul](not a link)"),
        ("<b>Seoul</b>", "seoul"),
        ("a < b", "a < b"),
        ("$42$", "42"),
        (" $$x$$. ", "x"),
        ("$4 and $5", "$4 and $5"),
        (r"\text{Seoul}", "{seoul}"),
        ("- Seoul", "seoul"),
        ("- - Seoul", "- seoul"),
        ("-5", "-5"),
        ("AT&amp;T", "at&t"),
        ("ＡＢＣ", "abc"),
        ("−5", "-5"),
        ("3〜5", "3~5"),
        ("<b>A" + "A" * 496, "a" * 497),
        ("<b>A" + "A" * 497, "<b>a" + "a" * 497),
    ],
)
def test_clean(text, cleaned):
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a b", "ab"),
        ("a.", "a"),
        ("'a'", "a"),
        ("a, b", "ab"),
        ("a: b", "ab"),
        ("k-pop", "kpop"),
        ("a-", "a-"),
        ("u.s.", "us"),
        ("1,234", "1234"),
        ("12, 15", "12,15"),
        ("3 : 0", "3:0"),
        ("#1", "1"),
        ("~ 5", "~5"),
        ("5~", "5"),
        ("(a)", "a"),
        ("a = b", "ab"),
    ],
)
def test_these_share_a_form(one, other):
    assert forms(one) & forms(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 2", "12"),
        ("1,2", "12"),
        ("1.5", "15"),
        (".5", "5"),
        ("-5", "5"),
        ("-$5", "$5"),
        ("10:30", "1030"),
        ("3/4", "34"),
        ("40%", "40"),
        ("a-", "a"),
        ("c#", "c"),
        (">5", "5"),
        ("<-5", "-5"),
        ("0,123", "0123"),
        ("1,23", "123"),
        ("!!", "??"),
        ("a" * (LONGEST + 1), "a" * LONGEST + " a"),
    ],
)
def test_these_share_no_form(one, other):
    assert not forms(one) & forms(other)


def test_only_short_texts_have_other_forms():
    assert "a" * 499 in forms("a" * 499 + ".")
    assert forms("a" * 500 + ".") == {"a" * 500 + "."}


@pytest.mark.parametrize(
    ("text", "more"), [("a", True), ("5", True), ("...", False), ("", False), ("-", False)]
)
def test_a_text_of_punctuation_says_nothing(text, more):
    assert says(text) is more
    assert says("." * LONGEST + text) is False


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", []),
        ("a (b)", [("a", "b")]),
        ("a (b).", [("a", "b")]),
        ("a (b (c))", [("a", "b (c)")]),
        ("a (b) (c)", [("a (b)", "c"), ("a", "b")]),
        ("a (b) (c) (d) (e)", [("a (b) (c) (d)", "e"), ("a (b) (c)", "d"), ("a (b)", "c")]),
        ("(a)", []),
        ("a b)", []),
        ("(a) b", []),
        ("a" * (LONGEST - 4) + " (b)", [("a" * (LONGEST - 4), "b")]),
        ("a" * (LONGEST - 3) + " (b)", []),
    ],
)
def test_glosses(text, found):
    assert list(glosses(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a or b", ["a", "b"]),
        ("a / b", ["a", "b"]),
        ("a/b", ["a/b"]),
        ("a 또는 b 혹은 c", ["a", "b", "c"]),
        ("a, or b", ["a", "b"]),
        ("or b", ["b"]),
        ("a または b", ["a ", " b"]),
        ("oregon", ["oregon"]),
    ],
)
def test_candidates(text, found):
    assert [part.strip(" ,") for part in candidates(text)] == [part.strip() for part in found]


@pytest.mark.parametrize(
    ("answer", "gold", "equal"),
    [
        ("a", "a", True),
        ("a [3]", "a", True),
        ("a【3†source】", "a", True),
        ("a [3] [4]", "a", True),
        ("a [3] b", "a", False),
        ("a" * 496 + " [3]", "a" * 496, True),
        ("a" * 497 + " [3]", "a" * 497, False),
        ("a (b)", "a", True),
        ("a (b) [1]", "a", True),
        ("a (b) (c)", "a", True),
        ("a", "a (b)", True),
        ("a (c)", "a (b)", False),
        ("a (b)", "a (b)", True),
        ("a (or b)", "a", False),
        ("a (maybe b)", "a", False),
        ("42 (43)", "42", False),
        ("42 (b)", "42", True),
        ("b (a)", "a", False),
    ],
)
def test_same(answer, gold, equal):
    assert same(answer, gold) is equal


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        # dates
        ("2024-03-01", "2024-03-02", True),
        ("2024-03-01", "2024-04-01", True),
        ("2024-03-01", "2023-03-01", True),
        ("2024-03-01", "2024-03", False),
        ("2024-03", "2024-04-01", True),
        ("2024-03-01", "march 1, 2024", False),
        ("2024-03-01", "seoul", False),
        ("2024-03-01", "42", False),
        ("2024", "2030", True),
        # the same words around numbers
        ("7 weeks 3 days", "7 weeks 2 days", True),
        ("12, 15, 18", "18, 15, 12", False),
        ("12, 15, 18", "12, 15, 19", True),
        ("room 3a", "room 3b", False),
        # quantities
        ("42", "43", True),
        ("42 km", "43", True),
        ("42", "43 km", True),
        ("42 km", "43 miles", False),
        ("42 km", "42 km", False),
        ("$40", "$41", True),
        ("$40", "€41", False),
        ("-5", "5", True),
        ("-$5", "$5", True),
        ("3만", "30000", False),
        ("3만 5천", "35000", False),
        ("3만 5천", "36000", True),
        ("1억 2천만원", "1억 3천만원", True),
        ("1.5 million", "1500000", False),
        ("2 billion", "2 million", True),
        ("20%", "30", True),
        ("", "5", False),
        ("km", "5", False),
        # rounding
        ("28.4", "28.36", False),
        ("28.4", "28.35", False),
        ("28.4", "28.34", True),
        ("28", "28.5", False),
        ("28", "28.51", True),
        ("28.36", "28.37", True),
        # numbers with a leading zero may be dates
        ("03.09", "3.9", False),
        ("03.09", "3.90", True),
        ("0.5", "0.4", True),
        ("007", "7", False),
        ("010", "10.4", False),
        # length
        ("1" * LONGEST, "2" * LONGEST, True),
        ("1" * (LONGEST + 1), "2" * (LONGEST + 1), False),
    ],
)
def test_differ(one, other, differs):
    assert differ(one, other) is differs
    assert differ(other, one) is differs


@pytest.mark.parametrize(
    ("scales", "value"),
    [
        ("십十", 10),
        ("백百", 100),
        ("천千", 1000),
        ("만万萬", 10_000),
        ("억亿億", 100_000_000),
        ("조", 1_000_000_000_000),
        (("thousand",), 1000),
        (("million",), 1_000_000),
        (("billion",), 1_000_000_000),
    ],
)
def test_scales(scales, value):
    for scale in scales:
        for factor in (3, 1.5):
            assert differ(f"{factor} {scale}", f"{factor * value + 1:.0f} km")
            assert not differ(f"{factor} {scale}", f"{factor * value:.0f} km")


@pytest.mark.parametrize(
    "unit", ["(", ")", "1,", "1만", "a(b)", "[1]", "<b>", "$", "\\text{", ". "]
)
def test_hostile_texts_take_little_time(unit):
    text = (unit * LONGEST)[:LONGEST]
    started = time.process_time()
    for one, other in ((clean(text), clean(text + "x")), (text, text[1:])):
        same(one, other)
        differ(one, other)
        candidates(one)
    assert time.process_time() - started < 1
