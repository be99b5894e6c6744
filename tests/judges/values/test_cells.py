"""When two cells are the same: clause by clause, what is and what is not."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.values.cells import comparator_for, compare, is_blank

SAME = {
    "text": [
        ("Tom & Jerry", "Tom &amp; Jerry"),
        ("ＡＢＣ", "abc"),
        ("Gone  with\tthe wind", "gone with the wind"),
        ("강한 바람", "**강한 바람**"),
        ("강한 바람", "`강한 바람`"),
        ("강한 바람", "[강한 바람](https://example.org/wind)"),
        ("강한 바람", "강한<br>바람"),
        ("강한 바람", "강한 바람[1]"),
        ("강한 바람", "강한 바람[주 1]"),
        ("강한 바람", "강한 바람†"),
        ("강한 바람", "“강한 바람”"),
        ("훈민정음", "《훈민정음》"),
        ("훈민정음", "『훈민정음』"),
        ("rock 'n' roll", "rock ‘n’ roll"),
        ("Paris–Roubaix", "Paris-Roubaix"),
        ("It ended", "It ended."),
        ("終わった", "終わった。"),
        ("서울특별시 강남구", "서울특별시, 강남구"),
        ("a new hope", "A new hope!"),
        ("전북·전남", "전북ㆍ전남"),
        ("1,000 visitors", "1000 visitors"),
        ("up to 5", "up to: 5"),
    ],
    "int": [
        ("1234567", "1,234,567"),
        ("1234567", "1 234 567"),
        ("1234567", "1\u00a0234\u202f567"),
        ("34", "34.0"),
        ("34", "34.000"),
        ("34", "３４"),
        ("34", "약 34명"),
        ("34", "34 개"),
        ("34", "about 34"),
        ("34", "34 people"),
        ("34", "만 34세"),
        ("34", "34명 (비례 5명 포함)"),
        ("34", "34(2위)"),
        ("1", "공동 1위"),
        ("7", "제7회"),
        ("7", "제 7 회"),
        ("7", "7th"),
        ("7", "第7回"),
        ("7", "No. 7"),
        ("605", "605 km²"),
        ("605", "605㎢"),
        ("605", "605 km2"),
        ("605", "605 m^2"),
        ("30", "30[2]"),
        ("30", "**30**"),
        ("1500000", "1.5e6"),
        ("-5", "\u22125"),
        ("-5", "–5"),
        ("35000", "3.5만"),
        ("35000", "3만5천"),
        ("35000", "3만 5,000원"),
        ("30000000", "3천만 원"),
        ("35000000", "3천 5백만"),
        ("2500000000000", "2조 5,000억 원"),
        ("123456789", "1억 2,345만 6,789"),
        ("2000", "2천"),
        ("35000", "3万5千"),
        ("120000000", "1.2億円"),
        ("120000000", "1.2亿"),
        ("1500000", "1.5M"),
        ("1500000", "1.5 Million"),
        ("2000000000", "$2 billion"),
        ("2000000000", "2bn"),
        ("34000", "34K"),
        ("3", "3조각"),
        ("2018", "2018년"),
        ("1000000", "₩1,000,000"),
        ("34~35", "34 ~ 35"),
    ],
    "float:2": [
        ("0.87", "0,87"),
        ("52.79", "52.79%"),
        ("52.79", "52.790"),
        ("52.79", "52.788"),
        ("52.79", "약 52.79 %p"),
        ("1234.5", "1.234,5"),
        ("1234.5", "1,234.5"),
        ("-0.5", "\u2212.5"),
        ("150000000", "1.5억"),
        ("12.5", "12,5 km"),
        ("8.5", "8.5점 (10점 만점)"),
    ],
    "float:1": [("1.25", "1.3"), ("53.7", "53.7 퍼센트")],
    "float:0": [("12", "12.4")],
    "date:YYYY-MM-DD": [
        ("2024-03-01", value)
        for value in (
            "2024-3-1", "2024.03.01", "2024. 3. 1", "2024.3.1.", "2024/03/01", "20240301",
            "2024-03-01 09:30", "2024-03-01T09:30:00Z", "2024년 3월 1일", "2024년3월1일",
            "2024年3月1日", "March 1, 2024", "1 March 2024", "Mar. 1, 2024", "March 1st, 2024",
            "Friday, March 1, 2024", "1st of March 2024", "24.03.01", "24. 3. 1.", "'24.3.1",
            "약 2024년 3월 1일", "2024-03-01 (금)", "2024-03-01(추정)", "2024년 3월 1일 금요일",
            "2024년 3월 1일 개봉", "2024. 3. 1. (음력 1. 21.)", "2024-03-01[3]",
            "**2024-03-01**",            "2024년 3월 1일 오후 3시", "2024년 3월 1일 기준",
        )
    ]
    + [("1946-09-06", "46.09.06"), ("0918-07-25", "918년 7월 25일")],
    "date:YYYY-MM": [
        ("2024-03", value)
        for value in ("2024년 3월", "2024.03", "2024/3", "March 2024", "2024-03-15", "2024.3.")
    ],
    "date:YYYY": [
        ("1905", value)
        for value in ("1905년", "1905-05-05", "약 1905년",
            "1905년 (광무 9년)", "1905年", "May 1905")
    ]
    + [("918", "0918"), ("918", "918년")],
    "enum:남|여": [("남", " 남 "), ("여", "여[1]"), ("여", "「여」")],
    "enum:EASY|MEDIUM|HARD": [("HARD", "Hard."), ("HARD", "**hard**"), ("HARD", "HARD (어려움)")],
    "enum:국민의힘|더불어민주당": [("국민의힘", "국민의 힘"), ("국민의힘", "국민의힘 소속")],
    "name": [
        ("에어부산 (Air Busan)", "에어부산"),
        ("에어부산", "에어부산(Air Busan)"),
        ("Air Busan", "에어부산 （Air Busan）"),
        ("에어부산 (Air Busan)", "AIR BUSAN"),
        ("에어부산 (Air Busan)", "에어부산 (AIR BUSAN)"),
        ("㈜카카오", "카카오"),
        ("카카오(주)", "카카오"),
        ("카카오", "주식회사 카카오"),
        ("O'Brien", "O’Brien"),
        ("O'Brien", "Oʼbrien"),
        ("J.K. Rowling", "J. K. Rowling"),
        ("김서연", "**김 서연**[1]"),
        ("Beyonce\u0301", "Beyonc\u00e9"),
        ("가-나", "가–나"),
    ],
    "url": [
        ("https://example.org/A", value)
        for value in (
            "http://example.org/A", "https://www.example.org/A/", "example.org/A",
            "https://EXAMPLE.org/A#top", "https://example.org/A?utm_source=x", "www.example.org/A",
            "[site](https://example.org/A)", "<https://example.org/A>", "https://example.org:443/A",
            "https://example.org/%41", "https://example.org/A.", "`https://example.org/A`",
            "https://example.org/A (공식)",
        )
    ]
    + [
        ("https://ko.wikipedia.org/wiki/서울", "https://ko.wikipedia.org/wiki/%EC%84%9C%EC%9A%B8"),
        ("https://한국.kr", "https://xn--3e0b707e.kr/"),
        ("https://example.org/a_(b)", "http://example.org/a_(b)"),
    ],
}  # fmt: skip

OTHER = {
    "text": [
        ("한국 최초의 항공사", "최초의 항공사"),
        ("1.5", "15"),
        ("-5", "5"),
        ("10:30", "1030"),
        ("10²", "102"),
        ("C++", "C"),
        ("3 4", "34"),
        ("a (b)", "a"),
        ("에어부산 (Air Busan)", "에어부산"),
        ("abc", ""),
        ("≥5", "5"),
        ("5 ± 2", "5 2"),
    ],
    "int": [
        ("1000", "1.000"),
        ("34", "34~35"),
        ("34", "34-35"),
        ("34", "34 또는 35"),
        ("34", "34, 35"),
        ("12", "12/300"),
        ("12", "12명 중 3명"),
        ("7", "2018년 7회"),
        ("34", "34.5"),
        ("34", "-34"),
        ("34", "34만"),
        ("34", "34K"),
        ("34", "<34"),
        ("34", "삼십사"),
        ("34", "미상"),
        ("34", "-"),
        ("87", "0,87"),
        ("12345", "1,2345"),
        ("342", "34²"),
        ("6052", "605 km²"),
        ("35000", "3만 50000"),
        ("20240301", "2024-03-01"),
        ("34", "34e400"),
    ],
    "float:2": [
        ("1.25", "1.3"),
        ("52.79", "52.8"),
        ("52.79", "0.5279"),
        ("1.234", "1,234"),
        ("52.79", "52.79 ~ 53.00"),
        ("4.5", "4.5/5"),
        ("0.87", "-0.87"),
        ("0.87", "0.87e-400"),
    ],
    "float:0": [("12", "12.5")],
    "date:YYYY-MM-DD": [
        ("2024-03-01", value)
        for value in (
            "2024-03-02", "2024-03", "2024", "2024년 3월", "03/01/2024", "01/03/2024", "미상", "",
            "2024-03-01 ~ 2024-03-05", "2024-03-01 ~", "2024년 3월 1일부터", "2024년 3월 1일 이후",
            "2024-03-01 or 2024-03-02", "2024-03-01 또는 2024-03-02", "March 2024", "24.03.02",
            "before 2024-03-01", "since March 1, 2024", "2024-13-01", "2024. 3. 1. - 3. 5.",
            "음력 2024년 3월 1일", "2024년 3월 1일 이전",
        )
    ]
    + [("2024-02-29", "2024년 2월 30일"), ("2023-02-28", "2023-02-29"), ("1824-03-01", "24.03.01")],
    "date:YYYY-MM": [("2024-03", "2024"), ("2024-03", "2024-04-01"), ("2024-03", "2024-03 ~ 04")],
    "date:YYYY": [
        ("1905", "1906"), ("1905", "1905~1910"), ("57", "기원전 57년"), ("1905", "1905년 이후"),
    ],
    "enum:남|여": [("남", "여"), ("남", "남/여"), ("남", "남녀"), ("남", "남성"), ("남", "")],
    "enum:EASY|MEDIUM|HARD": [
        ("HARD", "HARD or MEDIUM"), ("HARD", "HARD (MEDIUM)"), ("HARD", "HARDER"),
    ],
    "enum:국민의힘|무소속": [("국민의힘", "국민의힘, 무소속"), ("국민의힘", "국민")],
    "name": [
        ("에어부산", "Air Busan"),
        ("카카오", "카카오뱅크"),
        ("에어부산 (Air Busan)", "에어서울 (Air Busan)"),
        ("하얼빈 (2024)", "하얼빈 (2009)"),
        ("김서연", "김서현"),
        ("김서연", "김서연, 김서현"),
        ("김서연", "김서연 (또는 김서현)"),
        ("Ada Moor", "Ada Moor (or Eda Moor)"),
        ("김서연", "김서현 (김서연) (김세연)"),
        ("Cafe", "Café"),
    ],
    "url": [
        ("https://example.org/A", value)
        for value in (
            "https://example.org/a", "https://example.org/A/B", "https://example.com/A",
            "https://example.org", "https://example.org/A?id=2", "https://sub.example.org/A",
            "없음", "https://example.org/A https://example.org/B",
        )
    ],
}  # fmt: skip


def cases(table):
    return [(form, *pair) for form, pairs in table.items() for pair in pairs]


@pytest.mark.parametrize(("form", "gold", "pred"), cases(SAME))
def test_the_same(form, gold, pred):
    assert compare(form, gold, pred).match
    assert compare(form, gold, pred).why
    assert compare(form, pred, gold).match, "the same, whichever is the gold"


@pytest.mark.parametrize(("form", "gold", "pred"), cases(OTHER))
def test_not_the_same(form, gold, pred):
    match = compare(form, gold, pred)
    assert not match.match
    assert match.why
    assert not compare(form, pred, gold).match


def test_a_tolerance_is_a_share_of_the_gold():
    assert compare("float:1", "100", "109", tolerance=0.1).match
    assert not compare("float:1", "100", "111", tolerance=0.1).match
    assert compare("float:1", "-100", "-109", tolerance=0.1).match
    assert not compare("float:1", "0", "0.1", tolerance=0.1).match


@pytest.mark.parametrize(
    "form", ["number", "float", "float:", "date", "date:DD", "enum:", "INT", ""]
)
def test_an_unknown_format_is_refused(form):
    with pytest.raises(ValueError, match="is none of"):
        comparator_for(form)


def test_a_tolerance_has_no_meaning_elsewhere():
    with pytest.raises(ValueError, match="tolerance"):
        comparator_for("int", 0.1)


def test_the_reason_is_for_people():
    assert compare("float:2", "52.79", "52.8%").why == "52.79 is not 52.80"
    assert compare("int", "34", "34~35").why == "'34~35' is no whole number: more than one number"
    assert compare("date:YYYY-MM-DD", "2024-03-01", "2024년 3월").why == (
        "'2024년 3월' is no date: it says less than YYYY-MM-DD"
    )
    assert compare("date:YYYY-MM-DD", "2024-03-01", "2024. 3. 2").why == (
        "2024-03-01 is not 2024-03-02"
    )
    assert compare("enum:남|여", "남", "남/여").why == "'남/여' is no member: several of 남|여"
    assert compare("name", "가", "").why == "blank"


@pytest.mark.parametrize("text", ["", " ", "\u200b", "&nbsp;", "<br/>", "\n"])
def test_blank(text):
    assert is_blank(text)


FORMATS = ["name", "int", "float:2", "date:YYYY-MM-DD", "date:YYYY", "enum:A|B", "url", "text"]
written = st.text(
    st.sampled_from("가나만억천년월일abAB0123456789.,-~/()[]<>&;:#*_`'\"²㈜% \n") | st.characters(),
    max_size=20,
)


@settings(deadline=None)
@given(form=st.sampled_from(FORMATS), one=written, other=written)
def test_every_cell_is_itself_and_the_gold_may_be_either(form, one, other):
    assert compare(form, one, one).match
    if "(" not in one + other:
        assert compare(form, one, other).match == compare(form, other, one).match
    comparator = comparator_for(form)
    first, second = comparator.read(one), comparator.read(other)
    if comparator.exact(first) == comparator.exact(second):
        assert comparator.compare(first, second).match
    if comparator.compare(first, second).match:
        assert comparator.aliases(first) & comparator.aliases(second)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "unit",
    ["(", "[", "1", "1,", "만", "[a](", "가 ", "<", "&", "\u0301", "'", "http://", " ", "-1"],
)
def test_hostile_cells_take_linear_time(form, unit):
    started = time.process_time()
    assert compare(form, unit * 100_000, unit * 100_000 + "x").why
    assert time.process_time() - started < 3
