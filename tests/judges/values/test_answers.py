"""What a response answers, and whether it is the answer asked for."""

import time

import pytest

from judges.values.answers import REACH, Outcome, decide, gives_none, read


def outcome(answer: str, gold: str, *aliases: str) -> Outcome:
    return decide(read(f"Exact Answer: {answer}\nConfidence: 80%"), gold, *aliases)


# ------------------------------------------------------------------------- where the answer stands


@pytest.mark.parametrize(
    "response",
    [
        "Exact Answer: 한강",
        "exact answer : 한강",
        "Explanation: 정답 후보는 셋이다.\nExact Answer: 한강\nConfidence: 80%",
        "Final Answer: 한강",
        "My final answer: 한강",
        "최종 답변: 한강",
        "정답：한강",
        "**최종 답변:** 한강",
        "**Exact Answer**: **한강**",
        "### Final Answer\n\n한강\n\nSources: 다른 강",
        "최종 답변:\n\n한강\n\n낙동강은 후보에서 뺐다.",
        "Exact Answer: 한강\n이유: 낙동강은 길이가 맞지 않는다.",
        "Exact Answer: 한강 Confidence: 80%",
        "Exact Answer: 낙동강\n\n다시 보니 아니다.\n\nExact Answer: 한강",
        "Exact Answer: 낙동강 Exact Answer: 한강",
        "정답: 낙동강\nExact Answer: 한강",
        "Exact Answer: 한강\r\nConfidence: 80%\r\n",
        '```json\n{"answer": "한강", "confidence": 80}\n```',
        '{"steps": ["a"], "answer": ["한강"]}',
        '"Exact Answer": "한강"',
        'Final Answer:\n```json\n{"answer": "한강"}\n```',
        "Final Answer:\n```\n한강\n\n```",
        'Exact Answer: 낙동강\n\n{"answer": "한강"}',
        r"So it is \boxed{한강}.",
        r"Final answer: \boxed{한강}",
        r"Final answer: $\boxed{\text{한강}}$",
        r"\boxed{낙동강} was first. Now \boxed{한강}".replace(". ", ".\n"),
        "<think>Exact Answer: 낙동강</think>\nExact Answer: 한강",
        "한강",
        "한강.\n",
    ],
)
def test_the_answer_is_found(response: str) -> None:
    assert decide(read(response), "한강") == "correct"


@pytest.mark.parametrize(
    "response",
    [
        "Exact Answer: 한강\nExact Answer: 낙동강",
        "Exact Answer: 한강\n\nFinal Answer: 낙동강",
        "Explanation: 한강처럼 보였다.\nExact Answer: 낙동강",
        'Exact Answer: 한강\n\n{"answer": "낙동강"}',
        "Exact Answer: 한강\n\n" + r"\boxed{낙동강}",
        r"\boxed{한강} or \boxed{낙동강}",
        "Exact Answer: 한강\n낙동강",
        "- 한강\n- 낙동강",
        "한강이 여러 번 언급되었다.",
        "<think>Exact Answer: 한강</think>\n낙동강",
        "<think>Exact Answer: 한강",
        "오정답: 한강",
    ],
)
def test_a_mentioned_answer_is_not_the_final_answer(response: str) -> None:
    assert decide(read(response), "한강") != "correct"


def test_nested_braces_of_a_box_belong_to_the_answer() -> None:
    assert read(r"\boxed{f(x) = \frac{1}{x^{2}}} is it").answer == r"f(x) = \frac{1}{x^{2}}"


def test_numbers_of_a_json_answer_stay_as_they_were_written() -> None:
    assert read('{"answer": 0.70}').answer == "0.70"


def test_an_escaped_lone_surrogate_becomes_writable_text() -> None:
    read('{"answer": "a\\ud800b"}').answer.encode()


@pytest.mark.parametrize(
    "response",
    [
        "",
        "  \n",
        "Exact Answer:\nConfidence: 0%",
        "Exact Answer: 한강\n\nExact Answer:\nConfidence: 0%",
        "Exact Answer: None",
        "Exact Answer: **N/A**",
        "Exact Answer: I don’t know.",
        "I don't know",
        "Exact Answer: I could not find the answer",
        "Exact Answer: 모르겠습니다",
        "Exact Answer: 정답을 찾을 수 없습니다.",
        "Exact Answer: わかりません",
        "Exact Answer: 无法确定",
        "Exact Answer: ...",
        '{"answer": null}',
        '{"answer": ""}',
        '{"answer": "한',
        r"Final answer: \boxed{한",
        '더 찾아 보겠습니다. search("',
        'search_web(query="한강 길이")',
        'Exact Answer: search("한강',
        '찾는 중\n<tool_call>{"name": "search", "arguments": {"query": "한강"}}</tool_call>',
        '{"name": "search", "arguments": {"query": "한',
        "<think>아직 생각 중",
    ],
)
def test_a_response_without_an_answer(response: str) -> None:
    assert decide(read(response), "한강") == "no_answer"


@pytest.mark.parametrize("gold", ["없음", "None", "I Don't Know", "?"])
def test_a_text_that_looks_like_no_answer_can_be_the_gold_answer(gold: str) -> None:
    assert outcome(gold, gold) == "correct"


def test_text_without_a_label_is_undecided() -> None:
    reading = read("조사해 보니 낙동강 또는 한강이 맞다.\n그렇게 보인다.")
    assert not reading.marked
    assert decide(reading, "한강") == "undecided"


# ------------------------------------------------------------------------------------- confidence


@pytest.mark.parametrize(
    ("stated", "fraction"),
    [
        ("Confidence: 85%", 0.85),
        ("Confidence: 85 %", 0.85),
        ("Confidence: 85", 0.85),
        ("Confidence: 85/100", 0.85),
        ("Confidence: 8/10", 0.8),
        ("Confidence: 4 out of 5", 0.8),
        ("Confidence: 0.85", 0.85),
        ("Confidence: .85", 0.85),
        ("Confidence: 0.85%", 0.0085),
        ("Confidence: 1", 0.01),
        ("Confidence: 1.0", 1.0),
        ("Confidence: 0", 0.0),
        ("Confidence: 100%", 1.0),
        ("**Confidence:** **70%**", 0.7),
        ("Confidence (0-100%): 70", 0.7),
        ("Confidence: high (70%)", 0.7),
        ("Confidence: ７０％", 0.7),
        ("신뢰도: 0.65", 0.65),
        ("확신도: 65/100", 0.65),
        ("확신도: 65점", 0.65),
        ("Confidence: 10%\nConfidence: 30%", 0.3),
        ("Confidence: high", 1.0),
        ("Confidence: 850", 1.0),
        ("Confidence: -5", 1.0),
        ("Confidence: 0/0", 1.0),
        ("", 1.0),
    ],
)
def test_confidence_is_a_fraction(stated: str, fraction: float) -> None:
    assert read(f"Exact Answer: 한강\n{stated}").confidence == pytest.approx(fraction)


@pytest.mark.parametrize(
    ("value", "fraction"),
    [("60", 0.6), ("0.6", 0.6), ('"60%"', 0.6), ("1", 0.01), ("1.0", 1.0), ("null", 1.0)],
)
def test_confidence_in_json(value: str, fraction: float) -> None:
    reading = read(f'{{"answer": "한강", "confidence": {value}}}')
    assert reading.confidence == pytest.approx(fraction)


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


# --------------------------------------------------------------------------- the parts of a reading


@pytest.mark.parametrize(
    ("response", "answer", "beside"),
    [
        ("Exact Answer: A", "A", ""),
        ("Exact Answer: A\nB\nConfidence: 5", "A\nB", "Confidence: 5"),
        ("Exact Answer: A\n\nBut", "A", "\n\nBut"),
        ("Exact Answer: A\n \nBut", "A", "\n \nBut"),
        ("Exact Answer:\n\n**A**\n\nBut", "A", "\n\nBut"),
        ("Exact Answer\nA", "A", ""),
        ("**Exact Answer**\nA", "A", ""),
        ("the exact answer\nA. Exact Answer: B", "B", ""),
        ("Exact Answer (in Korean): A", "A", ""),
        ("Exact Answer: A Notes: none", "A Notes: none", ""),
        ("Exact Answer: A\nNotes: none", "A", "\nNotes: none"),
        ("Exact Answer: A Confidence: 9\nNotes: x", "A", "Confidence: 9\nNotes: x"),
        ("Exact Answer: ```\nA\n\nB\n``` C", "A\n\nB", "``` C"),
        ("Exact Answer: ```text\nA", "A", ""),
        ("Confidence: 5\nExact Answer: A", "A", ""),
        ("Confidence: 5\nExact Answer: A\nConfidence: 6\nNotes: B", "A", "Confidence: 6\nNotes: B"),
        ("x\n\\boxed{A}", "A", "A"),
        (r"Exact Answer: A \boxed{B} C", "B", "A B C"),
        (r"so \boxed{A} it is" + "\nthen", "A", "so A it is\nthen"),
        (r"\boxed{A} \boxed{B}", r"\boxed{A} \boxed{B}", ""),
        (r"\boxed{A{B}C}", "A{B}C", "A{B}C"),
        (r"\boxed{A} Exact Answer: B", "B", ""),
        ('Exact Answer: A {"answer": "B"} C', "B", "} C"),
        ('{"answer": "B"} Exact Answer: A', "A", ""),
        ('{"answer": ["A", 1.50, null, true]}', "A, 1.50, true", "}"),
        ('{"answer": {"x": 1}}', '{"x": "1"}', "}"),
        ('{"final_answer": "A"}', "A", "}"),
        ('{\\"answer\\": "A"} Exact Answer: B', "B", ""),
        ("<think>x</think>Exact Answer: A<think>Exact Answer: B", "A", ""),
    ],
)
def test_the_answer_and_the_text_around_it(response: str, answer: str, beside: str) -> None:
    reading = read(response)
    assert reading.marked
    assert reading.answer == answer
    assert reading.beside.strip() == beside.strip()


@pytest.mark.parametrize("response", ["A", " A \n", "exact answers: A", "my correctanswer: A"])
def test_a_response_without_a_mark_is_its_own_answer(response: str) -> None:
    reading = read(response)
    assert not reading.marked
    assert (reading.answer, reading.beside) == (response.strip(), "")


@pytest.mark.parametrize(
    ("stated", "fraction"),
    [
        ("Confidence: 100", 1.0),
        ("Confidence: 101", 1.0),
        ("Confidence: 99", 0.99),
        ("Confidence: 1/2", 0.5),
        ("Confidence: 3/2", 1.0),
        ("Confidence: 0.5/2", 0.25),
        ("Confidence: 2 of 4", 0.5),
        ("Confidence: 0,85", 0.85),
        ("Confidence: 1.5", 0.015),
        ("Confidence: 1.0%", 0.01),
        ("Confidence: 70 percent", 0.7),
        ("Confidence: 70퍼센트", 0.7),
        ("Confidence: " + "x" * 56 + " 50", 0.5),
        ("Confidence: " + "x" * 57 + " 50", 0.05),
        ("Confidence: high\n50", 1.0),
        ('{"confidence": "55"} Confidence: 66', 0.55),
        ('{"confidence": "' + "x" * 58 + '50"}', 0.5),
        ('{"confidence": "' + "x" * 59 + '50"}', 0.05),
        ("Confidence: 50\nConfidence:", 1.0),
    ],
)
def test_more_ways_to_state_a_confidence(stated: str, fraction: float) -> None:
    assert read(f"Exact Answer: 한강\n{stated}").confidence == pytest.approx(fraction)


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
