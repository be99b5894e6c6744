import random
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.records.passages import GAP, passages

WORDS = [f"{a}{b}" for a in "bcdfghklmn" for b in ("ar", "el", "in", "op", "ut", "and")]


def filler(sentences: int, seed: int = 1) -> str:
    rng = random.Random(seed)
    lines = (" ".join(rng.choices(WORDS, k=12)).capitalize() + "." for _ in range(sentences))
    return "\n".join(lines)


LEDE = "The town council of Overby met on Monday to hear reports. "
FACT = "Ms Ada Quill was appointed treasurer with effect from 3 May 2024"
BEFORE = "Before that the mayor thanked the fire brigade. "
AFTER = ". After that the sitting was closed by the chair."
PAGE = LEDE + filler(2000, 1) + BEFORE + FACT + AFTER + filler(2000, 2)


def test_a_text_that_fits_is_returned_whole():
    assert passages(PAGE, len(PAGE), [], []) == PAGE


def test_head_and_excerpt_with_its_surroundings_are_kept():
    shown = passages(PAGE, 12_000, [FACT], [])
    assert len(shown) <= 12_000
    assert shown.startswith(LEDE)
    assert BEFORE + FACT + AFTER in shown
    assert GAP in shown


def test_an_excerpt_is_found_in_another_form():
    other = "“Ms **Ada Quill** was appointed\ntreasurer with EFFECT from 3 May 2024 …"
    assert FACT in passages(PAGE, 12_000, [other], [])


def test_what_the_task_asks_for_is_found_without_an_excerpt():
    wanted = ["Ada Quill", "The page says when the treasurer was appointed."]
    assert FACT in passages(PAGE, 12_000, [], wanted)


def test_every_excerpt_is_shown_before_the_surroundings_of_any():
    facts = [f"Delegate number{n} voted for motion m{n * 7}." for n in range(6)]
    page = "".join(filler(200, n) + " " + fact + " " for n, fact in enumerate(facts)) + filler(50)
    shown = passages(page, 14_000, facts, [])
    assert all(fact in shown for fact in facts)


def test_passages_keep_the_order_of_the_page_with_gaps_between_them():
    shown = passages(PAGE, 12_000, [FACT], [])
    assert shown.endswith(GAP)
    parts = shown.removesuffix(GAP).split(GAP)
    assert all(part in PAGE for part in parts)
    places = [PAGE.index(part) for part in parts]
    assert places == sorted(places)


def test_scripts_without_spaces_are_searched_too():
    page = (
        "春眠不覚暁処処聞啼鳥" * 4000
        + "新任の会計係は山田花子である。"
        + "夜来風雨声花落知多少" * 4000
    )
    shown = passages(page, 9000, ["新任の会計係は山田花子である。"], [])
    assert "山田花子" in shown
    assert len(shown) <= 9000


@given(
    st.text(st.sampled_from("ab .\n\ud800\0漢"), max_size=3000),
    st.integers(200, 2000),
    st.lists(st.text(max_size=30), max_size=3),
)
def test_it_is_never_longer_than_the_room(text, room, excerpts):
    assert len(passages(text, room, excerpts, excerpts)) <= room


@pytest.mark.parametrize(
    "page",
    ["a" * 3_000_000, "a b " * 700_000, "{" * 2_000_000, "\n" * 2_000_000, filler(40_000)],
)
def test_a_hostile_page_takes_no_longer_than_a_long_one(page):
    begun = perf_counter()
    shown = passages(page, 120_000, [page[:50_000]] * 1000, [page[:50_000]])
    assert len(shown) <= 120_000
    assert perf_counter() - begun < 20
