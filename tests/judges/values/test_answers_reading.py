"""Where the final answer of a response is, and its confidence (answers.md, item 1)."""

import pytest

from judges.values.answers import decide, read

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
    assert decide(read(f"Exact Answer: {gold}\nConfidence: 80%"), gold) == "correct"


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
