"""The rest of a sentence around a part of it."""

import time

import pytest

from judges.records.search import Place
from judges.records.sentences import Cut, cut_off


def rest(text: str, part: str) -> Cut:
    start = text.index(part)
    return cut_off(text, Place(start, start + len(part)))


@pytest.mark.parametrize(
    ("text", "part", "before", "after"),
    [
        (
            "It rained. He saw the old tower fall. Then it snowed.",
            "the old",
            "He saw",
            "tower fall.",
        ),
        ("He saw the old tower fall.", "He saw the old tower fall.", "", ""),
        ("It rained. He saw. It snowed.", "He saw.", "", ""),
        ("It rained. He saw. It snowed.", "rained. He", "It", "saw."),
        ("It rained! He saw.", "He", "", "saw."),
        ("“It rained.” He saw.", "He", "", "saw."),
        ("“Did it rain?” he asked them.", "he asked", "“Did it rain?”", "them."),
        ("Mr. Jones saw it", "saw", "Mr. Jones", "it"),
        ("In the U.S. Mr. J. K. Hill saw it", "saw", "In the U.S. Mr. J. K. Hill", "it"),
        ("It cost 1.5 million in all", "million", "It cost 1.5", "in all"),
        ("Am 3. Mai 1903 kam er", "kam", "Am 3. Mai 1903", "er"),
        ("It ended in 1903. Then Ada came", "Ada", "Then", "came"),
        ("It was ca. twenty years", "twenty", "It was ca.", "years"),
        ("It was on page 5 cf. Smith here", "Smith", "It was on page 5 cf.", "here"),
        ("One line\nHe saw\nanother", "saw", "He", ""),
        ("One cell\tHe saw\tanother", "saw", "He", ""),
        ("雨が降った。彼は塔を見た。雪。", "塔を", "彼は", "見た。"),
        ("비가 왔다. 그는 탑을 보았다. 눈.", "탑을", "그는", "보았다."),
        ("Really?! He saw", "saw", "He", ""),
        ("He saw (see fig. 2 below) it. Then", "it.", "He saw (see fig. 2 below)", ""),
        ("He saw it… and left", "saw", "He", "it… and left"),
        ("a" * 1000 + " mid " + "b" * 1000, "mid", "a" * 399, "b" * 399),
    ],
)
def test_rest_of_a_sentence(text: str, part: str, before: str, after: str) -> None:
    assert rest(text, part) == Cut(before, after)


@pytest.mark.parametrize("unit", [".", ". ", "a.", "!?", "\n", "。", "...\u201d", "J. "])
def test_a_flood_of_marks_takes_little_time(unit: str) -> None:
    text = unit * 200_000
    began = time.process_time()
    for start in range(0, len(text), len(text) // 50):
        cut_off(text, Place(start, start + 10))
    assert time.process_time() - began < 1
