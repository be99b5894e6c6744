"""Scoring a table: figures computed by hand, copies that score 1, rows with reasons."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from table_forms import FORMS, as_markdown

from grader.kinds.table.scoring import TableGrader, agreement
from grader.tasks.table import TableTask, rows_from_csv

COLUMNS = [
    {"name": "시", "format": "name"},
    {"name": "해", "format": "int"},
    {"name": "표", "format": "int"},
    {"name": "율", "format": "float:1"},
]
ROWS = [
    {"시": "가", "해": "1", "표": "10", "율": "1.5"},
    {"시": "가", "해": "2", "표": "20", "율": "-"},
    {"시": "나", "해": "1", "표": "30", "율": "3.5"},
    {"시": "나", "해": "2", "표": None, "율": "4.5"},
]


def task(columns=COLUMNS, keys=("시", "해"), rows=ROWS, **fields):
    return TableTask.model_validate(
        {"name": "t", "kind": "table", "columns": columns, "key_columns": keys, "rows": rows}
        | fields
    )


def grade(cells, **fields):
    names = [column["name"] for column in fields.get("columns", COLUMNS)]
    return TableGrader(task(**fields)).grade(as_markdown(names, cells))


def figures(measures):
    return pytest.approx((measures.precision, measures.recall, measures.f1))


def test_all_figures_equal_those_computed_by_hand():
    graded = grade(
        [
            ["가", "제1회", "10명", "1.6"],  # one cell wrong
            ["가", "2", "20", "99"],  # the wrong cell has no gold value
            ["나", "1", "", "3.5"],  # a blank
            ["나", "1", "30", "3.5"],  # the key once more
            ["다", "1", "1", "1"],  # no such row
        ]
    )
    score = graded.score
    assert score.parsed
    assert not score.success
    assert figures(score.item) == (3 / 5, 3 / 4, 2 / 3)
    # In the matched rows: 표 10 and 20 right, one blank; 율 one right, one wrong.
    assert figures(score.column.micro) == (3 / 4, 3 / 5, 2 / 3)
    assert score.column.macro.precision == pytest.approx((2 / 2 + 1 / 2) / 2)
    assert score.column.macro.recall == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert figures(score.row) == (1 / 5, 1 / 4, 2 / 9)
    # Right: 3, 3 and 3 cells, of 4 + 3 + 4 + 4 + 4 predicted and 4 + 3 + 4 + 3 gold ones.
    assert score.cell.precision == pytest.approx(9 / 19)
    assert score.cell.recall == pytest.approx(9 / 14)
    assert score.formats["int"].recall == pytest.approx(2 / 3)
    assert score.formats["float"].recall == pytest.approx(1 / 2)
    assert score.counts == {"gold_rows": 4, "rows": 5, "matched": 3}


def test_rows_say_what_was_compared_and_why():
    rows = grade([["가", "1", "11", "1.5"], ["다", "1", "1", "1"]]).rows
    assert rows[0]["row"] == 0
    assert rows[0]["gold_row"] == 0
    assert rows[0]["state"] == "graded"
    assert rows[0]["cells"]["표"] == {
        "gold": "10",
        "pred": "11",
        "match": False,
        "why": "11 is not the gold 10",
    }
    assert rows[1]["gold_row"] is None
    assert rows[1]["cells"]["시"]["pred"] == "다"
    assert [(row["row"], row["gold_row"]) for row in rows[2:]] == [(None, 1), (None, 2), (None, 3)]
    assert rows[2]["cells"]["율"]["match"] is None


def test_a_response_without_a_table_scores_0_and_is_not_parsed():
    score = TableGrader(task()).grade("모르겠습니다.").score
    assert not score.parsed
    assert not score.success
    assert score.item.f1 == score.column.micro.f1 == score.column.macro.f1 == score.row.f1 == 0
    assert score.cell.f1 == score.formats["int"].f1 == 0


def test_exact_keys_match_before_similar_keys():
    columns = [{"name": "이름", "format": "name"}, {"name": "값", "format": "int"}]
    rows = [{"이름": "중구 (Jung)", "값": "1"}, {"이름": "중구", "값": "2"}]
    score = grade([["중구", "2"], ["중구 (Jung)", "1"]], columns=columns, keys=["이름"], rows=rows)
    assert score.score.success


def test_the_first_of_repeated_rows_counts():
    columns = [{"name": "이름", "format": "name"}, {"name": "값", "format": "int"}]
    rows = [{"이름": "가", "값": "1"}]
    fields = {"columns": columns, "keys": ["이름"], "rows": rows}
    assert grade([["가", "9"], ["가", "1"]], **fields).score.row.f1 == 0


def test_a_key_that_the_gold_repeats_matches_as_often():
    columns = [{"name": "이름", "format": "name"}, {"name": "값", "format": "int"}]
    rows = [{"이름": "가", "값": "1"}, {"이름": "가", "값": "2"}]
    fields = {"columns": columns, "keys": ["이름"], "rows": rows}
    assert grade([["가", "2"], ["가", "1"]], **fields).score.success
    assert grade([["가", "2"], ["가", "2"], ["가", "2"]], **fields).score.counts["matched"] == 2


def test_a_tolerance_holds_for_keys_too():
    columns = [
        {"name": "값", "format": "float:3", "tolerance": 0.05},
        {"name": "이름", "format": "name"},
    ]
    rows = [{"값": "100", "이름": "가"}, {"값": "0", "이름": "나"}]
    fields = {"columns": columns, "keys": ["값"], "rows": rows}
    assert grade([["104.9", "가"], ["0", "나"]], **fields).score.success
    assert grade([["106", "가"]], **fields).score.item.f1 == 0


def test_many_rows_take_linear_time():
    columns = [{"name": "이름", "format": "name"}, {"name": "값", "format": "int"}]
    rows = [{"이름": f"가{n} (a{n})", "값": n} for n in range(500)]
    grader = TableGrader(task(columns, ["이름"], rows))
    for name in ("같은 이름", "가5", "{}", "가{} (다른 {})"):
        response = as_markdown(["이름", "값"], [[name.format(n, n), "1"] for n in range(5_000)])
        started = time.process_time()
        grader.grade(response)
        assert time.process_time() - started < 5


# A gold table handed in again scores 1 on everything, in every form.

nasty = st.text(
    st.sampled_from("가나ab12,.;|\"'\\`*-~[](){}<>&#:%\t\n 漢é²㈜년월일만—−"),
    min_size=1,
    max_size=8,
)
CELLS = {
    "name": nasty,
    "int": st.integers(-5, 10**7).map(str) | st.sampled_from(["3만 5천", "34~35", "약 34명"]),
    "float:2": st.decimals(-999, 999, places=3).map(str) | nasty,
    "date:YYYY-MM-DD": st.dates().map(str) | st.sampled_from(["24.03.01", "미상", "2024-02-30"]),
    "enum:남|여|A|B": st.sampled_from(["남", "여", "A", "B", "A, B", "다"]),
    "url": st.sampled_from(["https://a.org/A", "a.org", "https://a.org/a?b=1|2", "x"]) | nasty,
    "text": nasty,
}
NOTHING = st.sampled_from([None, "", "-", "N/A", "—"])


@st.composite
def gold_tables(draw):
    keys = draw(st.lists(st.sampled_from(["name", "int", "text"]), min_size=1, max_size=3))
    others = draw(st.lists(st.sampled_from(sorted(CELLS)), max_size=4))
    formats = [*keys, *others]
    columns = [{"name": f"열 {n} {'|x,y' * (n % 2)}", "format": f} for n, f in enumerate(formats)]
    row = st.tuples(
        *(CELLS[form].filter(str.strip) for form in keys),
        *(CELLS[form] | NOTHING for form in others),
    )
    rows = draw(st.lists(row, min_size=1, max_size=6))
    names = [column["name"] for column in columns]
    return columns, names[: len(keys)], [dict(zip(names, row, strict=True)) for row in rows]


def shuffled(gold, seed):
    columns, _, rows = gold
    chance = random.Random(seed)
    names = [column["name"] for column in columns]
    chance.shuffle(names)
    rows = [[row[name] or "" for name in names] for row in rows]
    chance.shuffle(rows)
    return names, rows


@settings(deadline=None)
@given(gold=gold_tables(), seed=st.integers(0, 99), form=st.sampled_from(sorted(FORMS)))
def test_a_gold_table_handed_in_again_scores_1_on_everything(gold, seed, form):
    columns, keys, rows = gold
    score = TableGrader(task(columns, keys, rows)).grade(FORMS[form](*shuffled(gold, seed))).score
    everything = [
        score.item, score.column.micro, score.column.macro, score.row, score.cell,
        *score.formats.values(),
    ]  # fmt: skip
    assert score.success
    assert all(one.precision == one.recall == one.f1 == 1 for one in everything)


METRICS = [
    {"preprocess": ["norm_str"], "metric": ["exact_match"]},
    {"preprocess": ["norm_str"], "metric": ["in_match"]},
    {"preprocess": ["extract_number"], "metric": ["number_near"], "criterion": 0.1},
    {"preprocess": ["extract_number"], "metric": ["number_near"]},
    {"preprocess": ["norm_date"], "metric": ["date_near"]},
    {"preprocess": ["norm_str"], "metric": ["url_match"]},
    {"metric": ["llm_judge"], "criterion": "the same in other words"},
]


@settings(deadline=None)
@given(
    steps=st.lists(st.sampled_from(METRICS), min_size=1, max_size=4),
    cells=st.lists(st.lists(nasty | st.just(""), min_size=5, max_size=5), min_size=1, max_size=5),
    form=st.sampled_from(sorted(FORMS)),
)
def test_a_widesearch_gold_table_handed_in_again_scores_1_on_everything(steps, cells, form):
    columns = [{"name": "k", "metric": ["exact_match"], "preprocess": ["norm_str"]}]
    columns += [{"name": f"c{n}", **step} for n, step in enumerate(steps)]
    names = [column["name"] for column in columns]
    cells = [row[: len(names)] for row in cells if row[0].strip()] or [["x"] * len(names)]
    rows = [dict(zip(names, row, strict=True)) for row in cells]
    grader = TableGrader(task(columns, ["k"], rows, sentinels=[]))
    score = grader.grade(FORMS[form](names, cells[::-1])).score
    assert score.success
    assert score.item.f1 == score.cell.f1 == score.column.macro.f1 == 1


# A second source.


def test_a_column_on_which_a_second_source_differs_is_not_kept():
    second = [("가", "1회", "10명", "9"), ("가", "2", "20", "9"), ("나", "1", "31", "9")]
    found = agreement(task(), second, enough=0.6)
    assert (found["표"].compared, found["표"].equal, found["표"].keep) == (3, 2, True)
    assert (found["율"].compared, found["율"].equal, found["율"].keep) == (2, 0, False)
    assert "시" not in found


# Faults of a task.

FAULTS = [
    ({"columns": [{"name": "시", "format": "nam"}], "keys": ["시"]}, "format"),
    ({"columns": [{"name": "시"}], "keys": ["시"]}, "format"),
    ({"columns": [{"name": "시", "format": "int", "tolerance": 0.1}], "keys": ["시"]}, "tolerance"),
    (
        {"columns": [{"name": "시", "format": "float:1", "tolerance": -1}], "keys": ["시"]},
        "tolerance",
    ),
    ({"columns": [{"name": "시", "metric": ["near"]}], "keys": ["시"]}, "metric"),
    (
        {"columns": [{"name": "시", "metric": ["in_match"], "preprocess": ["x"]}], "keys": ["시"]},
        "preprocess",
    ),
    (
        {"columns": [{"name": n, "format": "int"} for n in ("a", "A ")], "keys": ["a"]},
        "columns",
    ),
    ({"keys": ["시", "군"]}, "key_columns"),
    ({"keys": ["시", "시"]}, "key_columns"),
    ({"keys": []}, "key_columns"),
    ({"rows": [{"시": "가", "군": "x"}]}, "rows"),
    ({"rows": [{"표": "5"}]}, "rows"),
    ({"rows": []}, "rows"),
    ({"rows": ["가"]}, "rows"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "place"), FAULTS)
def test_a_faulty_task_names_the_field(fields, place):
    with pytest.raises(ValidationError, match=place):
        task(**fields)


def test_gold_rows_from_csv():
    assert rows_from_csv('\ufeff,시,표\n0,가,"1,0"\n1,나,\n') == [
        {"시": "가", "표": "1,0"},
        {"시": "나", "표": ""},
    ]
    for text, line in (("", 1), ("시,표\n가\n", 2), ('시,표\n가,"1\n', 2), ("시,시\n", 1)):
        with pytest.raises(ValueError, match=f"line {line}"):
            rows_from_csv(text)
