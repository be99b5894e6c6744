"""Misleading truncation: the excerpt is marked by ⟦ ⟧ in the sentence of the page."""

import re
import time

import pytest

from judges.records import truncation
from judges.records.excerpts import Finding, PageText, faithful
from judges.records.sentences import Cut, markers


def found(marked: str) -> Finding:
    excerpt = re.search("⟦(.*)⟧", marked, re.DOTALL)
    assert excerpt
    return faithful(excerpt[1], PageText(marked.replace("⟦", "").replace("⟧", "")))


@pytest.mark.parametrize(
    ("page", "marker"),
    [
        # English
        ("It is not true that ⟦the tower was built in 1903⟧.", "not true that"),
        ("It isn’t true that ⟦the tower was built in 1903⟧.", "isn't true that"),
        ("There is no evidence that ⟦the tower was built in 1903⟧.", "no evidence that"),
        ("There is no evidence that the old ⟦tower was built in 1903⟧.", "no evidence that"),
        ("The report denied that ⟦the tower was built in 1903⟧.", "denied that"),
        ("He falsely claimed that ⟦the tower was built in 1903⟧.", "falsely claimed that"),
        ("The tower was never ⟦built in 1903⟧.", "never"),
        ("The tower has not been ⟦built in stone⟧.", "not been"),
        ("The tower wasn’t ⟦built in 1903⟧.", "wasn't"),
        ("They failed to ⟦build the tower⟧.", "failed to"),
        ("⟦The tower was built in 1903⟧, which is false.", "which is false"),
        ("⟦The tower was built in 1903⟧, which never happened.", "which never happened"),
        (
            "The claim that ⟦the tower was built in 1903⟧ was later retracted.",
            "was later retracted",
        ),
        (
            "⟦The plan of the tower is lost⟧ because it was never built.",
            "because it was never built",
        ),
        ("The story that ⟦the tower was built in 1903⟧ was untrue.", "was untrue"),
        ("He said ⟦“the tower was built in 1903⟧”, but this is not true.", "but this is not true"),
        ("If approved, ⟦the bridge will open in 2027⟧.", "if"),
        ("The mayor said that if approved, ⟦the bridge will open in 2027⟧.", "if"),
        ("Work began and, unless stopped, ⟦the bridge will open in 2027⟧.", "unless"),
        ("Had it been built, ⟦the tower would be the tallest⟧.", "had it"),
        ("If ⟦the bridge opens in 2027⟧, traffic will fall.", "if"),
        ("⟦The bridge will open in 2027⟧ only if the council agrees.", "only if"),
        ("⟦The bridge will open in 2027⟧, provided that it is paid.", "provided that"),
        ("Critics claim that ⟦the tower was built in 1903⟧, but it opened in 1910.", "claim that"),
        ("According to critics, ⟦the tower leans⟧, but it does not.", "according to critics,"),
        ("He wrote that ⟦the tower was built in 1903⟧; historians say it is untrue.", "wrote that"),
        # German
        ("Es ist nicht wahr, dass ⟦der Turm 1903 gebaut wurde⟧.", "nicht wahr, dass"),
        ("Sie bestritt, dass ⟦der Turm 1903 gebaut wurde⟧.", "bestritt, dass"),
        ("Der Turm wurde nie ⟦in Stein gebaut⟧.", "nie"),
        ("⟦Der Turm wurde 1903 gebaut⟧, was nicht stimmt.", "was nicht stimmt"),
        ("Falls der Rat zustimmt, ⟦wird die Brücke 2027 eröffnet⟧.", "falls"),
        (
            "Kritiker behaupten, dass ⟦der Turm schief steht⟧, doch er steht gerade.",
            "behaupten, dass",
        ),
        # French
        ("Il n’est pas vrai que ⟦la tour date de 1903⟧.", "n'est pas vrai que"),
        ("Il n'y a aucune preuve que ⟦la tour date de 1903⟧.", "aucune preuve que"),
        ("⟦La tour date de 1903⟧, ce qui est faux.", "ce qui est faux"),
        ("S'il est approuvé, ⟦le pont ouvrira en 2027⟧.", "s'il"),
        ("Ils prétendent que ⟦la tour date de 1903⟧, mais elle est de 1910.", "prétendent que"),
        # Spanish
        ("No es cierto que ⟦la torre se construyó en 1903⟧.", "no es cierto que"),
        ("El alcalde negó que ⟦la torre se construyera en 1903⟧.", "negó que"),
        ("⟦La torre se construyó en 1903⟧, lo cual es falso.", "lo cual es falso"),
        ("Si se aprueba, ⟦el puente abrirá en 2027⟧.", "si"),
        ("Afirman que ⟦la torre es de 1903⟧, pero es de 1910.", "afirman que"),
        # Chinese
        ("没有证据表明⟦塔建于1903年⟧。", "没有证据表明"),
        ("他否认⟦塔建于1903年⟧。", "否认"),
        ("⟦塔建于1903年⟧的说法不实。", "的说法不实"),
        ("如果获批，⟦大桥将于2027年开通⟧。", "如果"),
        ("有人说⟦塔建于1903年⟧，但塔建于1910年。", "有人说"),
        # Japanese
        ("⟦塔は1903年に建てられた⟧という事実はない。", "という事実はない"),
        ("⟦塔は1903年に建てられた⟧というのは誤りだ。", "というのは誤り"),
        ("⟦塔が1903年に建てられた⟧わけではない。", "わけではない"),
        ("もし承認されれば、⟦橋は2027年に開通する⟧。", "もし"),
        ("伝説によると⟦塔は1903年に建てられた⟧が、事実ではない。", "が、事実ではない"),
        # Korean
        ("⟦탑은 1903년에 지어졌다⟧는 것은 사실이 아니다.", "것은 사실이 아니"),
        ("⟦탑이 1903년에 지어졌다⟧라는 것은 사실이 아니다.", "것은 사실이 아니"),
        ("⟦탑이 1903년에 지어졌다⟧는 주장은 거짓이다.", "주장은 거짓"),
        ("⟦탑은 1903년에 지어지지⟧ 않았다.", "않"),
        ("⟦다리를 지을 수⟧ 없다.", "없다"),
        ("만약 승인되면, ⟦다리는 2027년에 열린다⟧.", "만약"),
        ("만약 승인되면 ⟦다리는 2027년에 열린다⟧.", "만약"),
        ("다리가 승인된다면 ⟦내년에 문을 연다⟧.", "다면"),
    ],
)
def test_an_excerpt_that_its_sentence_turns_round(page: str, marker: str) -> None:
    finding = found(page)
    assert not finding.faithful
    assert finding.reason.startswith("misleading truncation: ")
    assert f"“{marker}”" in finding.reason
    assert not finding.final


@pytest.mark.parametrize(
    "page",
    [
        "In 1999 he wrote that ⟦the tower was built in 1903⟧ and rebuilt.",
        "The mayor said that ⟦the tower was built in 1903⟧, but the roof is newer.",
        "It is not true. ⟦The tower was built in 1903⟧.",
        "It is not true that it leans, and ⟦the tower was built in 1903⟧.",
        "No evidence that it leans was found; ⟦the tower was built in 1903⟧.",
        "There is no doubt that ⟦the tower was built in 1903⟧.",
        "Nobody denies that ⟦the tower was built in 1903⟧.",
        "Critics claim that ⟦the tower was built in 1903⟧.",
        "If you visit, ⟦the tower is open daily⟧.",
        "If ⟦you visit the tower⟧, take the stairs.",
        "When it rains, ⟦the tower is closed⟧.",
        "If it rains, the bells ring, and ⟦the tower is closed⟧.",
        "Not ⟦only the tower was built⟧ but the bridge too.",
        "It is not ⟦always open to visitors⟧.",
        "The tower, which is ⟦the tallest in town⟧, leans.",
        "⟦The tower was built in 1903⟧, which is why it leans.",
        "⟦The tower was built in 1903⟧. Which is false is the date of the bridge.",
        "It is not true that he left.\n⟦The tower was built in 1903⟧",
        "denied that\t⟦the tower was built in 1903⟧",
        "It was not ⟦Ada⟧.",
        "He fell ill, ⟦never built the tower⟧, and left.",
        "It is not true that ⟦it leans⟧. Yes, it leans.",
        "Der Turm, den ⟦alle in der Stadt kennen⟧, ist alt.",
        "Es ist nicht ⟦nur der Turm gebaut worden⟧, auch die Brücke.",
        "La tour ⟦date de 1903⟧, mais elle penche.",
        "La torre ⟦es de 1903⟧, pero está cerrada.",
        "他说⟦塔建于1903年⟧，后来重建。",
        "⟦塔は1903年に建てられた⟧といわれる。",
        "⟦塔は1903年に建てられた⟧のではないかといわれる。",
        "⟦탑은 1903년에 지어졌다⟧고 한다.",
        "한 방송에 따르면, ⟦탑은 1903년에 지어졌다⟧.",
    ],
)
def test_an_excerpt_that_is_merely_cut_is_faithful(page: str) -> None:
    finding = found(page)
    assert finding.faithful, finding.reason
    assert finding.cut is not None


def test_one_place_that_is_not_misleading_is_enough() -> None:
    page = "It is a lie that the tower was built in 1903. Yet the tower was built in 1903."
    finding = faithful("the tower was built in 1903", PageText(page))
    assert finding.faithful
    assert finding.cut == ("Yet", ".")
    twice = "It is a lie that he won the cup. It is a lie that he won the cup."
    assert not faithful("he won the cup", PageText(twice)).faithful


def test_an_excerpt_that_has_the_marker_is_faithful() -> None:
    page = PageText("It is not true that the tower was built in 1903, which is what he said.")
    assert faithful("It is not true that the tower was built in 1903", page).faithful
    assert faithful("not true that the tower was built", page).faithful


def test_a_changed_number_outweighs_a_misleading_cut() -> None:
    finding = faithful(
        "the tower was built in 1904", PageText("He denied that the tower was built in 1903")
    )
    assert finding.final


def test_the_marker_is_named_in_the_words_of_the_list() -> None:
    listed = {word for data in markers().values() for words in data.values() for word in words}
    page = PageText("There is NO **evidence** that the tower was built in 1903")
    reason = faithful("the tower was built in 1903", page).reason
    assert reason == "misleading truncation: “no evidence that” before it is left out"
    assert "no evidence that" in listed


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "zh", "ja", "ko"])
def test_each_language_has_markers_before_and_after(language: str) -> None:
    lists = markers()[language]
    assert {"denied_by", "supposes", "claims", "contrasts", "contradicts"} <= lists.keys()
    for name, words in lists.items():
        assert len(words) == len(set(words)), name


@pytest.mark.parametrize("unit", ["if, ", "not ", "that ", "없", "ことはない", ", "])
def test_markers_in_a_flood_take_little_time(unit: str) -> None:
    page = PageText((unit * 20 + "the tower leans " + unit * 20 + "\n") * 500)
    began = time.process_time()
    faithful("the tower leans", page)
    assert time.process_time() - began < 2


def test_an_excerpt_that_is_a_whole_sentence_is_not_cut() -> None:
    assert truncation.misleading(["the", "tower"], Cut("", "")) == ""
    assert truncation.misleading(["the", "tower"], Cut("never", "")) != ""
    assert truncation.misleading(["tower", "."], Cut("never", "")) == ""
