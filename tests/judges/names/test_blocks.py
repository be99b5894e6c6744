import random
from collections import Counter
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from names import aliased_companies, companies

from judges.names.blocks import LARGEST, blocks, contradict
from judges.names.folding import fold


def block_with(name: str, *others: str) -> set[str]:
    """The names that stand in a block with `name`."""
    found = [
        set(block) for block in blocks(fold(n) for n in (name, *others)) if fold(name) in block
    ]
    return found[0] if found else {fold(name)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Aleksandr Pushkin", "Alexander Pushkin"),
        ("Aleksandr Pushkin", "Александр Пушкин"),
        ("Bill Gates", "William Gates"),
        ("J. Smith", "John Smith"),
        ("IBM", "International Business Machines"),
        ("UCLA", "University of California, Los Angeles"),
        ("UC Berkeley", "University of California, Berkeley"),
        ("JP Morgan", "JPMorgan Chase"),
        ("Coca-Cola Company", "CocaCola"),
        ("Istanbul", "Istanbul, Türkiye"),
        ("Türkiye", "Turkey"),
        ("St. Petersburg", "Saint Petersburg"),
        ("Mohammed", "Muhammad"),
        ("Tchaikovsky", "Tschaikowsky"),
        ("Area 51", "Area Fifty-One"),
        ("World War II", "World War 2"),
        ("Super Bowl LVIII", "Super Bowl LVIII (2024)"),
        ("Sultan Ahmed Mosque", "Mosque of Sultan Ahmed"),
        ("Σωκράτης", "Sokratis"),
        ("서울", "Seoul"),
        ("C++", "C#"),
        ("Zhang Wei", "Wei Zhang"),
        ("Goldman Sachs Bank", "Goldman Sachs Asset Management"),
    ],
)
def test_names_that_look_alike_are_in_one_block(one: str, other: str) -> None:
    assert block_with(one, other, "Lima", "Banana Boat", "Quartz") == {fold(one), fold(other)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Orange", "Banana"),
        ("Saint Petersburg Mining University", "Lima State University"),
        ("Windows 10", "Windows 11"),
        ("UFC 299", "UFC 300"),
        ("2024", "2025"),
        ("!!!", "???"),
        ("Facebook", "Meta Platforms"),
    ],
)
def test_names_that_look_different_are_in_no_block(one: str, other: str) -> None:
    assert blocks((fold(one), fold(other))) == []


def test_names_contradict_if_each_has_a_number_that_the_other_lacks() -> None:
    assert contradict("windows 10", "windows 11")
    assert contradict("q1 2024", "q2 2024")
    assert not contradict("windows", "windows 11")
    assert not contradict("march 5 2024", "2024-03-05")
    assert not contradict("area 51", "area fifty one")
    assert contradict("tier ٣", "tier 4")


def test_contradicting_names_share_a_block_only_through_a_third_name() -> None:
    assert blocks(["windows 10", "windows 11", "windows"]) == [
        ("windows", "windows 10", "windows 11")
    ]


def test_the_order_of_the_names_does_not_matter() -> None:
    names = list(aliased_companies(300, 60))
    shuffled = random.Random(5).sample(names, len(names))
    assert blocks(names) == blocks(shuffled) == blocks([*names, *names])


def test_a_block_is_bounded_and_the_closest_names_stay_together() -> None:
    crowd = [f"acme {'abcdefghij'[n // 10]}{'klmnopqrst'[n % 10]}" for n in range(100)]
    found = blocks([*crowd, "brandenburg gate", "brandenburger gate"])
    assert max(map(len, found)) <= LARGEST
    assert ("brandenburg gate", "brandenburger gate") in found


def test_a_word_that_many_names_share_does_not_hide_an_alias() -> None:
    crowd = [f"{first} zhang" for first in companies(100)] + ["wei zhang"]
    for alias in ("zhang wei", "w zhang"):
        assert any({alias, "wei zhang"} <= set(block) for block in blocks([*crowd, alias]))


def test_an_unrelated_name_changes_no_block() -> None:
    names = set(aliased_companies(500, 100))
    before = blocks(names)
    for name in ("xylophone quartet", "ζεύς", "4711", "ö"):
        assert blocks({*names, name}) == before


def test_a_thousand_companies_make_far_fewer_blocks_and_aliases_meet_in_them() -> None:
    truth = aliased_companies(1000, 150)
    found = blocks(truth)
    assert len(truth) == 1000
    assert len(found) < 250
    block_of = {name: block for block in found for name in block}
    by_company: dict[str, list[str]] = {}
    for name, company in truth.items():
        by_company.setdefault(company, []).append(name)
    aliases = [names for names in by_company.values() if len(names) > 1]
    met = [names for names in aliases if len({block_of.get(name) for name in names}) == 1]
    assert len(aliases) >= 100
    assert len(met) >= 0.95 * len(aliases)


def test_when_one_value_in_twenty_changes_most_blocks_stay() -> None:
    names = sorted(aliased_companies(1000, 150))
    replaced = names[::20]
    fresh = [name for name in companies(1200, seed=99) if name not in names][: len(replaced)]
    before = set(blocks(names))
    after = set(blocks({*names, *fresh} - set(replaced)))
    assert len(after - before) <= 0.2 * len(before)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=30))
def test_no_two_blocks_share_a_name(names: list[str]) -> None:
    found = blocks(names)
    counts = Counter(name for block in found for name in block)
    assert set(counts) <= set(names)
    assert not counts or max(counts.values()) == 1
    assert all(2 <= len(block) <= LARGEST for block in found)
    assert found == sorted(found)
    assert found == blocks(reversed(names))


@pytest.mark.parametrize(
    "names",
    [
        [f"bank {'x' * (n % 7)} {n}" for n in range(20_000)],
        [
            ("abcdefgh" * 5)[n % 8 :] + bin(n)[2:].replace("1", "l").replace("0", "o")
            for n in range(20_000)
        ],
        ["\U0010ffff" * n for n in range(300)],
        ["﷽" * n for n in range(300)],
        [" ".join(f"w{'abcdefghij'[(n * k) % 10]}" for k in range(16)) for n in range(20_000)],
        ["x" * 400 + f"{n:b}".replace("0", "o") for n in range(2000)],
        ["a" * 1_000_000, "a" * 1_000_001, "\ud800", "\0", ""],
    ],
    ids=["bank", "letters", "unassigned", "ligature", "words", "long", "huge"],
)
def test_hostile_names_take_no_long_time(names: list[str]) -> None:
    began = process_time()
    found = blocks(names)
    assert process_time() - began < 10
    assert all(len(block) <= LARGEST for block in found)


OTHERS = ("arthur", "boleslav", "cuthbert", "dmitri", "eugenia", "fiodor")
"""First names that look like no other."""


def together(one: str, other: str, crowd: list[str]) -> bool:
    """Whether two names are in one block, among the others of a crowd."""
    return any({one, other} <= set(block) for block in blocks([one, other, *crowd]))


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("john smith", "jn smith", True),
        ("john smith", "hn smith", False),
        ("john smith", "johhn smith", True),
        ("john smith", "kate smith", False),
        ("st smith", "saint smith", True),
        ("xy smith", "xavier york smith", True),
        ("xz smith", "xavier york smith", False),
        ("smith data bases", "smith database", True),
        ("smith data bases", "smith dalmatia", False),
    ],
)
def test_with_a_common_word_the_rest_must_look_alike(one: str, other: str, alike: bool) -> None:
    assert together(one, other, [f"{name} smith" for name in OTHERS]) is alike


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("acme betta gamma", "acme beta gama", True),
        ("acme bta gmma dlta", "acme beta gamma delta", False),
        ("acme bank bta gmma dlta pi", "acme bank beta gamma delta pii", True),
    ],
)
def test_a_third_of_the_words_must_be_shared(one: str, other: str, alike: bool) -> None:
    crowd = [f"acme {name}" for name in OTHERS] + [f"{name} bank" for name in OTHERS]
    assert together(one, other, crowd) is alike


def test_common_words_make_names_alike_if_the_first_and_most_others_are_shared() -> None:
    assert blocks(f"alpha {name} gamma" for name in OTHERS) == [
        tuple(f"alpha {name} gamma" for name in OTHERS)
    ]
    assert blocks(f"{name} alpha gamma" for name in OTHERS) == []
    assert blocks(f"alpha {name} {name[::-1]} gamma" for name in OTHERS) == []


def test_a_rare_word_makes_names_alike_if_half_of_the_words_are_shared() -> None:
    for count, found in ((4, 1), (5, 0)):
        names = [f"{name} smith" for name in OTHERS[:count]]
        assert len(blocks(names)) == found
    assert blocks(["arthur smith", "boleslav cuthbert smith"]) != []
    assert blocks(["arthur dmitri smith", "boleslav cuthbert smith"]) == []


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("xbcde", "ybcde", True),
        ("bcdex", "bcdey", True),
        ("bcd", "bcf", False),
        ("bcx", "bcy", False),
        ("abcdefgh", "abcdxyzw", False),
        ("abcdefgh", "abcdefxy", True),
    ],
)
def test_one_word_is_alike_if_three_letters_in_four_are(one: str, other: str, alike: bool) -> None:
    assert together(one, other, []) is alike


def test_an_initial_joined_to_a_name_is_found_among_many() -> None:
    crowd = [f"{first} zhang" for first in companies(100)]
    assert together("wei zhang", "wzhang", crowd)


def test_a_block_has_30_names_and_a_trace_of_more_than_32_names_is_ignored() -> None:
    letters = "abcdefghijklmnopqrstuvwxyzαβγδεζηθ"
    assert LARGEST == 30
    names = [f"harbour{letter}" for letter in letters]
    assert sorted(map(len, blocks(names[:26]))) == [26]
    words = [f"harbour{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(33)]
    assert sorted(map(len, blocks(words[:32]))) == [2, 30]
    assert sum(map(len, blocks(words[:32]))) == 32


def test_a_block_by_words_has_8_names() -> None:
    names = [f"alpha {name} gamma" for name in (*OTHERS, "grzegorz", "hilarion", "ignatz")]
    assert max(map(len, blocks(names))) == 8


@pytest.mark.parametrize(
    ("one", "other", "contradicting"),
    [
        ("route 66", "route 066", False),
        ("route 66", "route 660", True),
        ("1 2", "2 1", False),
        ("1 2", "1", False),
        ("1 2", "1 3", True),
        ("0", "00", False),
        ("0", "1", True),
        ("", "1", False),
    ],
)
def test_numbers_are_compared_without_leading_zeros(
    one: str, other: str, contradicting: bool
) -> None:
    assert contradict(one, other) is contradicting
    assert contradict(other, one) is contradicting


def test_the_most_alike_names_are_joined_first() -> None:
    crowd = [f"alpha {name} gamma" for name in (*OTHERS, "grzegorz", "hilarion", "ignatz")]
    assert together(crowd[0], "the alpha arthur gamma", crowd)
    assert together(crowd[-1], "the alpha ignatz gamma", crowd)
