"""What a response answers, and whether it is the answer asked for."""

import time

import pytest

from judges.values.answers import REACH, Outcome, decide, gives_none, read


def outcome(answer: str, gold: str, *aliases: str) -> Outcome:
    return decide(read(f"Exact Answer: {answer}\nConfidence: 80%"), gold, *aliases)


# ----------------------------------------------------------------------------- harmless differences


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("“두물머리”.", "두물머리"),
        ("'두물머리'!", "두물머리"),
        ("「두물머리」", "두물머리"),
        ("__두물머리__", "두물머리"),
        ("`두물머리`", "두물머리"),
        ("[두물머리](https://ko.example.org/wiki/a_(b))", "두물머리"),
        ("두물머리 [3]", "두물머리"),
        ("<b>두물머리</b>", "두물머리"),
        ("- 두물머리", "두물머리"),
        ("두\u200b물머리", "두물머리"),
        ("푸른바다거북", "푸른 바다 거북"),
        ("서울특별시중구세종대로110", "서울특별시 중구 세종대로 110"),
        ("the great gatsby", "The Great Gatsby"),
        ("봄 여름 가을", "봄, 여름, 가을"),
        ("부산 경남", "부산·경남"),
        ("Kpop", "K-pop"),
        ("ＡＢＣ１２３", "ABC123"),
        ("1,234명", "1234명"),
        ("12, 15, 18", "12,15,18"),
        ("2023. 3. 4.", "2023.3.4"),
        ("3:0", "3 : 0"),
        ("45㎞", "45km"),
        ("AT&amp;T", "AT&T"),
        ("東京タワー。", "東京タワー"),
        ("北京 大学", "北京大学"),
        ("$42$", "42"),
    ],
)
def test_surface_form_does_not_count(answer: str, gold: str) -> None:
    assert outcome(answer, gold) == "correct"


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("한빛고 (韓빛高)", "한빛고"),
        ("한빛고 (Hanbit High School, 韓빛)", "한빛고"),
        ("**한빛고** (Hanbit)", "한빛고"),
        ("한빛고（韓빛）", "한빛고"),
        ("東京都 (とうきょうと)", "東京都"),
        ("42일 (약 6주)", "42일"),
        ("2023년 3월 4일 (금)", "2023년 3월 4일"),
        ("한빛고", "한빛고 (오산시)"),
        ("한빛고 (오산시)", "한빛고 (오산시)"),
        ("f(x)", "f(x)"),
        ("A- (최고 등급)", "A-"),
    ],
)
def test_a_gloss_does_not_count(answer: str, gold: str) -> None:
    assert outcome(answer, gold) == "correct"


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("한빛고 (또는 솔빛고)", "한빛고"),
        ("한빛고 (혹시 솔빛고)", "한빛고"),
        ("한빛고【또는 솔빛고】", "한빛고"),
        ("Hillside (alternatively Hilltop)", "Hillside"),
        ("한빛고 (화성시)", "한빛고 (오산시)"),
        ("솔빛고 (한빛고)", "한빛고"),
        ("42일 (43일)", "42일"),
        ("만족 (2021년)", "만족 (2024년)"),
    ],
)
def test_a_gloss_that_says_something_else(answer: str, gold: str) -> None:
    assert outcome(answer, gold) != "correct"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("Wait, the answer is Hilltop.", "wrong"),
        ("Actually: my final answer should be Hilltop", "wrong"),
        ("아니, 정답은 솔빛고입니다.", "wrong"),
        ("Actually, the answer is Hillside, as its register says.", "correct"),
        ("The answer is backed by two sources.", "correct"),
    ],
)
def test_another_answer_on_second_thoughts(after: str, expected: str) -> None:
    assert outcome(f"Hillside\n\n{after}", "Hillside") == expected


def test_an_alias_is_as_good() -> None:
    assert outcome("snsd", "소녀시대", "SNSD") == "correct"
    assert outcome("카라", "소녀시대", "SNSD") != "correct"


# ------------------------------------------------------------------------------------ what counts


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("43", "42"),
        ("57명", "42"),
        ("4.2", "42"),
        ("0309", "03.09"),
        ("-5", "5"),
        ("450억원", "450만원"),
        ("2,000,000원", "450만원"),
        ("1,235명", "1,234명"),
        ("02-123-4568", "02-123-4567"),
        ("2023년 3월 5일", "2023년 3월 4일"),
        ("2023-03-05", "2023년 3월 4일"),
        ("March 5, 2023", "2023년 3월 4일"),
        ("7주 3현", "7주 2현"),
        ("12, 15, 19", "12, 15, 18"),
        ("-5℃", "5℃"),
        ("1억 2천만원", "1억 3천만원"),
        ("$40", "$41"),
        ("71.5 × 38.2cm", "71.5 × 38.7cm"),
        ("세종대로 111", "세종대로 110"),
        ("31일차 (시작 51일째)", "51일차 (시작 51일째)"),
    ],
)
def test_a_value_that_differs_is_wrong(answer: str, gold: str) -> None:
    assert outcome(answer, gold) == "wrong"


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("스타벅스", "이디야"),
        ("마흔둘", "42"),
        ("42명", "42"),
        ("6주", "42일"),
        ("4,500,000원", "450만원"),
        ("2023-03-04", "2023년 3월 4일"),
        ("2023년 3월", "2023년 3월 4일"),
        ("3월 9일", "03.09"),
        ("28.4㎢", "28.36㎢"),
        ("18, 15, 12", "12, 15, 18"),
        ("40%", "40"),
        ("10:30", "1030"),
        ("3/4", "34"),
        ("12 3", "123"),
        ("10²", "102"),
        ("A+", "A"),
        ("C#", "C"),
        ("한빛고등학교", "한빛고"),
        ("여주역", "여주"),
        ("여주 2", "여주"),
        ("여줎", "여주"),
        ("한빛고 학생", "한빛고"),
        ("한빛고, 솔빛고", "한빛고"),
        ("\ud800", "한빛고"),
    ],
)
def test_other_words_are_never_correct_without_a_judge(answer: str, gold: str) -> None:
    assert outcome(answer, gold) in ("undecided", "wrong")


@pytest.mark.parametrize(
    ("answer", "gold"), [("2023-03-04", "2023년 3월 4일"), ("42명", "42"), ("28.4㎢", "28.36㎢")]
)
def test_the_same_value_in_other_words_is_undecided(answer: str, gold: str) -> None:
    assert outcome(answer, gold) == "undecided"


@pytest.mark.parametrize(
    "answer",
    [
        "한빛고 또는 솔빛고",
        "솔빛고 혹은 한빛고",
        "한빛고 or 솔빛고",
        "한빛고, or 솔빛고",
        "한빛고 / 솔빛고",
        "한빛고/솔빛고",
        "한빛고 아니면 솔빛고",
        "西安または한빛고",
        "한빛고 or 솔빛고 or 효원고",
    ],
)
def test_two_candidates_are_wrong(answer: str) -> None:
    assert outcome(answer, "한빛고") == "wrong"


def test_two_names_of_the_answer_are_one_candidate() -> None:
    assert outcome("소녀시대 / SNSD", "소녀시대", "SNSD") == "correct"


@pytest.mark.parametrize("gold", ["A or B", "이것 또는 저것", "A / B", "AC/DC"])
def test_a_gold_answer_may_read_like_alternatives(gold: str) -> None:
    assert outcome(gold, gold) == "correct"
    assert outcome(gold[:1], gold) == "undecided"


@pytest.mark.parametrize(
    "answer",
    ["한빛고가 아니라 솔빛고", "not 한빛고 but 솔빛고", "솔빛고 (한빛고 아님)", "不是한빛고"],
)
def test_the_gold_answer_denied_is_wrong(answer: str) -> None:
    assert outcome(answer, "한빛고") == "wrong"


@pytest.mark.parametrize(
    "after",
    [
        "Correction: 솔빛고가 맞다.",
        "On second thought, it is 솔빛고.",
        "That is wrong; it is 솔빛고.",
        "답을 바꿉니다: 솔빛고",
        "위 답은 틀렸습니다.",
    ],
)
def test_an_answer_that_is_withdrawn_is_wrong(after: str) -> None:
    response = f"Exact Answer: 한빛고\nConfidence: 80%\n\n{after}"
    assert decide(read(response), "한빛고") == "wrong"


@pytest.mark.parametrize("after", ["한빛고가 아닌 것 같다.", "It is not 한빛고."])
def test_an_answer_that_is_denied_elsewhere_is_undecided(after: str) -> None:
    assert decide(read(f"Exact Answer: 한빛고\n\n{after}"), "한빛고") == "undecided"
    assert decide(read(r"It is not \boxed{한빛고}."), "한빛고") == "undecided"


def test_an_explanation_after_the_answer_does_no_harm() -> None:
    response = "Exact Answer: 한빛고\nConfidence: 80%\n\n이유: 솔빛고가 아니라는 점은 확인했습니다."
    assert decide(read(response), "한빛고") == "correct"


# ---------------------------------------------------------------------------------------- hostility


@pytest.mark.parametrize(
    "response",
    [
        "a" * REACH,
        "\n" * REACH,
        "Exact Answer:" + " " * REACH,
        "Exact Answer: 한빛고\n" * 100_000,
        '"answer": [' * 100_000,
        r"\boxed{" * 100_000,
        'x("' * 300_000,
        "Exact Answer: 한빛고 " + "(" * 200 + ")" * 200,
        "Exact Answer: " + "(" * 100_000,
        "Exact Answer: " + "e\u0301\u0323" * 100_000,
        "Exact Answer: 한빛고\n\n" + "not " * 200_000,
        "Exact Answer: " + "1," * 240,
        "Exact Answer: " + "9" * 499,
        "Exact Answer: " + "1" * 400 + ":",
        "Exact Answer: " + "1만" * 200 + ":",
        "Exact Answer: &#" + "9" * 5000 + ";",
    ],
    ids=range(16),
)
def test_hostile_responses_take_little_time(response: str) -> None:
    started = time.process_time()
    for gold in ("한빛고", "123만원"):
        decide(read(response), gold)
    assert time.process_time() - started < 5


def test_an_answer_with_a_million_characters_after_it_is_not_final() -> None:
    assert decide(read("Exact Answer: 한빛고\n\n" + "가" * REACH), "한빛고") == "undecided"


@pytest.mark.parametrize(
    ("answer", "none"),
    [
        ("", True),
        ("none", True),
        ("**N/A**", True),
        ("none" + "." * 496, True),
        ("none" + "." * 497, False),
        ("none of them", False),
        ("nonesuch", False),
        ("search(", False),
        ('search("x', True),
        ('search("x")', True),
        ('search("x") is it', False),
        ("f(x)", False),
        ("<tool_call>x</tool_call>", True),
        ("<tool_call>x</tool_call> A", False),
        ("<tool_call>x", True),
        ('{"arguments": 1', True),
        ("[TOOL_CALLS]", True),
        ("search(query=", True),
    ],
)
def test_an_answer_that_says_that_there_is_none(answer: str, none: bool) -> None:
    assert gives_none(answer) is none


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("A or C", "A or B", "undecided"),
        ("A or A", "A", "correct"),
        ("A/A", "A", "correct"),
        ("B/C", "A", "undecided"),
        ("B or C", "A", "wrong"),
        ("this is not right", "*", "undecided"),
        ("it is not " + "a" * 100, "a" * 100, "wrong"),
        ("it is not " + "a" * 101, "a" * 101, "undecided"),
        ("not 12", "1", "undecided"),
    ],
)
def test_alternatives_and_denials(answer: str, gold: str, expected: str) -> None:
    assert outcome(answer, gold) == expected
