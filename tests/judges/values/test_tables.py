"""Finding the table in a response: three forms, and what real output does to them."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_forms import FORMS

from judges.values.tables import TableReader, column_form

NAMES = ["나라", "수도", "인구"]
ROWS = [("가나", "아크라", "1,000"), ("나미비아", "빈트후크", "2000")]


def read(response, names=NAMES, keys=("나라",)):
    return TableReader(names, keys).read(response)


MARKDOWN = """| 나라 | 수도 | 인구 |
|:---|:-:|---:|
| 가나 | 아크라 | 1,000 |
| 나미비아 | 빈트후크 | 2000 |"""
JSON = """[{"나라": "가나", "수도": "아크라", "인구": "1,000"},
 {"나라": "나미비아", "수도": "빈트후크", "인구": 2000}]"""
CSV = """나라,수도,인구
가나,아크라,"1,000"
나미비아,빈트후크,2000"""

WHOLE = {
    "markdown, bare": MARKDOWN,
    "markdown, fenced": f"표입니다.\n\n```markdown\n{MARKDOWN}\n```\n이상입니다.",
    "markdown, the fence ends the last line": f"```markdown\n{MARKDOWN}```",
    "markdown, the fence begins the header": f"```markdown{MARKDOWN}\n```",
    "markdown without outer pipes": MARKDOWN.replace("| ", "", 1).replace("\n| ", "\n"),
    "markdown without a rule": "\n".join(
        line for line in MARKDOWN.splitlines() if ":-:" not in line
    ),
    "markdown, bold header": MARKDOWN.replace("나라", "**나라**").replace("수도", "__수도__"),
    "markdown, other order, extra column": "| 인구 | 비고 | 나라 | 수도 |\n|---|---|---|---|\n"
    "| 1,000 | x | 가나 | 아크라 |\n| 2000 | | 나미비아 | 빈트후크 |",
    "markdown, windows lines": MARKDOWN.replace("\n", "\r\n"),
    "markdown, old lines": MARKDOWN.replace("\n", "\r"),
    "markdown, quoted": "\n".join(f"> {line}" for line in MARKDOWN.splitlines()),
    "markdown, words right before and after": f"표: 나라|수도\n{MARKDOWN}\n출처: 위키",
    "json, bare": f"답은 {JSON} 입니다.",
    "json, fenced": f"```json\n{JSON}\n```",
    "json in an object": f'{{"note": "[1]", "rows": {JSON}}}',
    "json, nested deeper": f'{{"result": {{"table": {{"data": {JSON}}}}}}}',
    "json with attrs": '{"rows": [{"나라": "가나", "attrs": {"수도": "아크라", "인구": "1,000"}},'
    '{"나라": "나미비아", "attrs": {"수도": "빈트후크", "인구": 2000}}]}',
    "json lines": JSON.strip("[]").replace("},", "}"),
    "json, a comma too many": JSON.replace("}]", "},\n]"),
    "json, sources beside": JSON.replace('"수도"', '"sources": [{"url": "x"}], "수도"'),
    "csv, fenced": f"```csv\n{CSV}\n```",
    "csv, fence without a name": f"```\n{CSV}\n```",
    "csv, bare": f"표입니다.\n\n{CSV}\n\n출처, 위키, 등",
    "csv, bare, words right after": f"{CSV}\n출처는 위키입니다.",
    "csv, spaces after commas": f"```csv\n{CSV.replace(',아', ', 아').replace(',빈', ', 빈')}\n```",
    "tsv": '```tsv\n나라\t수도\t인구\n가나\t아크라\t"1,000"\n나미비아\t빈트후크\t2000\n```',
    "semicolons": "```csv\n나라;수도;인구\n가나;아크라;1,000\n나미비아;빈트후크;2000\n```",
    "after a draft": f'```json\n[{{"나라": "초안"}}]\n```\n다시:\n{MARKDOWN}',
    "after another form": f"{MARKDOWN.replace('가나', '초안')}\n\n```csv\n{CSV}\n```",
    "before another table": f"{MARKDOWN}\n\n| 출처 | 링크 |\n|---|---|\n| 위키 | x |",
    "before an empty one": f"{MARKDOWN}\n\n```json\n[]\n```\n\n| 나라 | 수도 |\n|---|---|\n",
    "cut off json": JSON[:-1] + ', {"나라": "니제르", "수도": "니아',
    "cut off attrs": '{"rows": [{"나라": "가나", "attrs": {"수도": "아크라", "인구": "1,000"}},'
    '{"나라": "나미비아", "attrs": {"수도": "빈트후크", "인구": 2000}},'
    '{"나라": "니제르", "attrs": {"수',
    "cut off markdown": MARKDOWN + "\n| 니제르 | 니아",
    "cut off csv": f"```csv\n{CSV}\n니제르,니아",
    "cut off csv in quotes": f'```csv\n{CSV}\n니제르,"니아',
}


@pytest.mark.parametrize("response", WHOLE.values(), ids=WHOLE)
def test_the_table_is_read_whole(response):
    assert read(response) == ROWS


NONE = {
    "nothing": "",
    "words": "죄송합니다. 표를 만들 수 없습니다.",
    "an empty list": "```json\n[]\n```",
    "a header alone": "| 나라 | 수도 |\n|---|---|",
    "a rule alone": "|---|---|",
    "no key column": "| 수도 | 인구 |\n|---|---|\n| 아크라 | 5 |",
    "names in a sentence": "나라, 수도, 인구 순으로 적었습니다.",
    "numbers": "[1, 2, [3]]",
}


@pytest.mark.parametrize("response", NONE.values(), ids=NONE)
def test_no_table(response):
    assert read(response) is None


def test_short_rows_get_blank_cells_and_extra_cells_are_ignored():
    response = "| 나라 | 수도 | 인구 |\n|---|---|---|\n| 가나 |\n| 니제르 | 니아메 | 5 | 6 |"
    assert read(response) == [("가나", "", ""), ("니제르", "니아메", "5")]
    assert read("```csv\n나라,수도,인구\n가나\n니제르,니아메,5,6\n```") == read(response)


def test_a_greater_sign_before_a_number_is_not_a_quotation():
    assert read("나라 | 수도\n---|---\n> 5 | 아크라", ["나라", "수도"]) == [("> 5", "아크라")]


def test_a_missing_column_is_blank_and_null_is_blank():
    assert read('[{"나라": "가나", "수도": null}]') == [("가나", "", "")]


def test_values_of_other_types_are_written_out():
    response = '[{"나라": ["가나", "토고"], "수도": true, "인구": 1.50}]'
    assert read(response) == [("가나, 토고", "true", "1.50")]


def test_an_escaped_pipe_and_a_line_break_belong_to_the_cell():
    response = "| 나라 | 수도 | 인구 |\n|---|---|---|\n| a\\|b | c<br>d | ```x``` |"
    assert read(response) == [("a|b", "c<br>d", "```x```")]


def test_two_key_columns_must_both_be_there():
    assert read(MARKDOWN, keys=("나라", "수도")) == ROWS
    assert read("| 나라 | 인구 |\n|---|---|\n| 가나 | 5 |", keys=("나라", "수도")) is None


def test_a_row_of_dashes_below_the_rule_is_a_row():
    response = "| 나라 | 수도 | 인구 |\n|---|---|---|\n| - | - | - |\n| 가나 | - | --- |"
    assert read(response) == [("-", "-", "-"), ("가나", "-", "---")]


@pytest.mark.parametrize(
    "other", ["NAME", " n a m e ", "**Name**", "ｎａｍｅ", "`name`", "name[1]"]
)
def test_column_names_match_in_other_forms(other):
    assert column_form(other) == column_form("name")


def test_half_a_surrogate_pair_is_replaced():
    assert read('[{"나라": "\\ud800가"}]') == [("?가", "", "")]


cells = st.text(
    st.sampled_from("가나ab1,;|\"'\\`*-~[](){}<>&#.:\t\n\u00a0\u2028漢é")
    | st.characters(exclude_categories=["Cs"], exclude_characters="\r"),
    max_size=8,
).map(str.strip)


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(cells, cells, cells).filter(any), min_size=1, max_size=5),
    form=st.sampled_from(sorted(FORMS)),
)
def test_a_written_table_is_read_back(rows, form):
    names = ["key", "second", "third"]
    expected = [
        tuple("<br>".join(cell.splitlines()) if form == "markdown" else cell for cell in row)
        for row in rows
    ]
    found = read(FORMS[form](names, rows), names, ["key"])
    assert [tuple(map(str.strip, row)) for row in found or []] == expected


HOSTILE = {
    "pipes": "|" * 400_000,
    "pipes and rules": "|-" * 100_000,
    "many columns": "| 나라 |" + " a |" * 100_000 + "\n|---|\n| 가나 |",
    "a long line": "나" * 10_000_000,
    "commas": "," * 400_000,
    "brackets": "[" * 400_000,
    "objects": '{"' * 100_000,
    "open objects": "{" * 400_000,
    "nested objects": '{"a":' * 60_000,
    "lists of lists": "[[" * 60_000 + "]" * 60_000,
    "broken objects": '{"a" x' * 60_000,
    "fences": "```\n" * 60_000,
    "quotes": "나라,수도\n" + '"a\n' * 60_000,
    "one open quote": "나라,수도\n" + '"' + "a,\n" * 60_000,
    "headers": "| 나라 | 수도 |\n" * 30_000,
    "rows of csv headers": "나라,수도\n" * 30_000,
    "spaces": "{" + " " * 400_000 + "[" + " " * 400_000,
    "lines": "\n" * 200_000,
    "a huge number": '[{"나라": ' + "9" * 400_000 + "}]",
    "backslashes": "|" + "\\|" * 100_000,
}


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_linear_time(response):
    started = time.process_time()
    read(response)
    assert time.process_time() - started < 5


def test_a_long_column_name_is_compared_as_it_is():
    assert column_form("A" * 300) == "a" * 300
    assert column_form("A" * 301) == "A" * 301


@pytest.mark.parametrize(
    ("response", "rows"),
    [
        # only the key column
        ("| 나라 |\n|---|\n| 가나 |", [("가나", "", "")]),
        ('[{"나라": "가나"}]', [("가나", "", "")]),
        ("```csv\n나라\n가나\n```", [("가나", "", "")]),
        # half of the names of a bare header are the task's
        ("나라,비고\n가나,x", [("가나", "", "")]),
        ("나라,비고,출처\n가나,x,y", None),
        ("```\n나라,비고,출처\n가나,x,y\n```", [("가나", "", "")]),
        # the last table wins, whatever its form
        ('나라,수도\n가나,a\n\n[{"나라": "토고"}]', [("토고", "", "")]),
        ('[{"나라": "토고"}]\n\n나라,수도\n가나,a', [("가나", "a", "")]),
        ("| 나라 |\n|---|\n| 가나 |\n\n| 나라 |\n|---|\n| 토고 |", [("토고", "", "")]),
        # a header that is repeated
        ("| 나라 | 수도 |\n|---|---|\n| 가나 | a |\n| 나라 | 수도 |\n|---|---|\n| 토고 | b |",
            [("토고", "b", "")]),
        # a column that is given twice: the first counts
        ("| 나라 | 수도 | 수도 |\n|---|---|---|\n| 가나 | a | b |", [("가나", "a", "")]),
        ('[{"나라": "가나", "수도": "", "**수도**": "b"}]', [("가나", "b", "")]),
        ('[{"나라": "가나", "수도": "a", "**수도**": "b"}]', [("가나", "a", "")]),
        # blank rows
        ("| 나라 | 수도 |\n|---|---|\n| | |\n| 가나 | a |\n| | |", [("가나", "a", "")]),
        ("| 나라 | 수도 |\n|---|---|\n| | |", None),
        # the rule
        ("| 나라 | 수도 |\n| 가나 | a |\n| --- | - |", [("가나", "a", ""), ("---", "-", "")]),
        # a line that may be cut off
        ("| 나라 | 수도 |\n|---|---|\n| 가나 | a |\n| 토고 | b", [("가나", "a", "")]),
        ("| 나라 | 수도 |\n|---|---|\n| 가나 | a |\n| 토고 | b\n",
            [("가나", "a", ""), ("토고", "b", "")]),
        ("나라 | 수도\n---|---\n가나 | a\n토고 | b", [("가나", "a", ""), ("토고", "b", "")]),
        # CSV
        ('```csv\n나라,수도\n"가,나","a ""b"""\n```', [("가,나", 'a "b"', "")]),
        ('```csv\n나라,수도\n"가나" x,a\n```', [('"가나" x', "a", "")]),
        ('```csv\n나라,수도\n"가\n나",a\n```', [("가\n나", "a", "")]),
        ("나라,수도\n가나,a\n\n토고,b", [("가나", "a", "")]),
        ("```csv\n나라,수도\n가나,a\n\n토고,b\n```", [("가나", "a", ""), ("토고", "b", "")]),
        ("```json\n나라,수도\n가나,a\n```", None),
        ("~~~csv\n나라,수도\n가나,a\n~~~\n토고,b", [("가나", "a", "")]),
        ("```csv\n나라,수도\n가나,a\n토고", [("가나", "a", "")]),
        # JSON
        ('{"나라": "가나"} {"나라": "토고"}', [("가나", "", ""), ("토고", "", "")]),
        ('{"나라": "가나"},\n{"나라": "토고"}', [("가나", "", ""), ("토고", "", "")]),
        ('{"나라": "가나"} and {"나라": "토고"}', [("토고", "", "")]),
        ('[{"나라": "가나"}, 5, {"나라": "토고"}]', [("가나", "", ""), ("토고", "", "")]),
        ('[{"수도": "a"}, {"나라": "가나"}]', [("", "a", ""), ("가나", "", "")]),
        ('[{"나라": "가나", "attrs": {"나라": "토고", "수도": "a"}}]', [("가나", "a", "")]),
        ('[{"나라": "가나", "수도": {"en": "a", "ko": "b"}}]', [("가나", "", "")]),
        ('[{"나라": "가나", "수도": [{"x": ["a", {"y": true}]}]}]', [("가나", "a, true", "")]),
        ('[{"나라": "가나", "수도": [{"x": [["a", {"y": true}]]}]}]', [("가나", "a, ", "")]),
        ('[{"나라": "가나", "수도": [[[[[["a"]]]]]]}]', [("가나", "", "")]),
        ('[{"나라": "가나", "수도": [[[[["a"]]]]]}]', [("가나", "a", "")]),
        ('[{"나라": "가나", "수도": false, "인구": NaN}]', [("가나", "false", "")]),
        ('[{"나라": "가\t나"}]', [("가\t나", "", "")]),
        # text before that looks like JSON
        ('{"note": {"a" [1] ' + "{" * 100 + '[{"나라": "가나"}]', [("가나", "", "")]),
    ],
)  # fmt: skip
def test_which_rows_are_read(response, rows):
    assert read(response) == rows


def test_a_table_after_much_broken_json_is_found():
    response = '{"a" x' * 2_000 + '[{"나라": "가나"}]'
    assert read(response) == [("가나", "", "")]
