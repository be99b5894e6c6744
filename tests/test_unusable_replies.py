"""`grade` with a model whose replies are not usable, and with the same model at two addresses."""

import json
from collections import Counter
from pathlib import Path

from aiohttp import web
from material import read_lines, write_lines
from model_grading import (  # fixtures are used by their names
    RECORDS,
    Grading,
    expected,
    grading,
    input_files,
    number,
    opinion,
    patience,
    record,
)
from modelserver import Asked, model_behind, says

__all__ = ["grading", "input_files", "patience"]


def test_an_unusable_reply_is_answered_with_what_was_wrong(grading: Grading) -> None:
    def prose_first(asked: Asked) -> web.Response:
        return opinion(asked) if len(asked.messages) > 2 else says("I like larches.")

    with model_behind(prose_first) as server:
        grading.point_at(server)
        grading()
    assert all(map(expected, grading.rows))
    assert len(server.asked) == 2 * RECORDS
    for asked in server.asked:
        if len(asked.messages) > 2:
            assert [m["role"] for m in asked.messages] == ["system", "user", "assistant", "user"]
            assert asked.messages[2]["content"] == "I like larches."
            assert "there is no JSON object in the reply" in asked.messages[3]["content"]
    firsts = Counter(json.dumps(asked.messages[:2]) for asked in server.asked)
    assert set(firsts.values()) == {2}
    assert grading.work["judge"]["models"]["m"]["calls"] == 2 * RECORDS
    assert grading.work["ask"]["retries"] == 0


def test_a_record_without_a_usable_reply_is_ungraded_and_the_others_are_not_touched(
    grading: Grading,
) -> None:
    def one_bad(asked: Asked) -> web.Response:
        return says(json.dumps({"verdict": "yes"})) if number(asked) == 3 else opinion(asked)

    with model_behind(one_bad) as server:
        grading.point_at(server)
        told = grading(status=1).stderr
        assert Counter(map(number, server.asked))[3] == 3
        assert len(server.asked) == RECORDS + 2
        bad = grading.rows[3]
        assert (bad["state"], bad["verdict_full"], bad["judge"]) == ("ungraded", None, None)
        assert "no usable reply in 3 attempts: the reply does not meet the schema" in bad["error"]
        assert all(expected(row) for row in grading.rows if row["index"] != 3)
        assert bad["error"] in told

        grading(status=1)  # verdicts in the cache show that the model is usable
        assert len(server.asked) == RECORDS + 5


def test_a_model_that_never_gives_a_usable_reply_stops_the_call(
    grading: Grading, folder: Path
) -> None:
    with model_behind(lambda asked: says("\x1b[2JI like larches.")) as server:
        grading.point_at(server)
        done = grading("--judge-id", "ours", status=2)
        assert len(server.asked) <= 3 * RECORDS
    assert done.stderr.count("Error: stopped early: m gave no usable reply") == 1
    assert "\\x1b[2JI like larches." in done.stderr
    assert "\x1b" not in done.stderr
    assert "the same command continues" in done.stderr
    summary = json.loads((folder / "out" / "summary.json").read_text("utf-8"))
    assert summary["stopped"].startswith("stopped early: m gave no usable reply to the first ")
    assert grading.rows == []

    with model_behind(opinion) as server:
        grading.point_at(server)
        grading("--judge-id", "ours")
        assert len(server.asked) == RECORDS
    assert all(map(expected, grading.rows))
    assert "stopped" not in json.loads((folder / "out" / "summary.json").read_text("utf-8"))


def test_results_that_were_complete_before_the_stop_are_kept(
    grading: Grading, folder: Path
) -> None:
    # The first submission needs no model: its page is not there, so its record is ungraded.
    lost = {**record(0), "url": "https://trees.example/lost"}
    write_lines(
        folder / "run.jsonl",
        {"task": "opinions", "rollout": "lost", "records": [lost]},
        {"task": "opinions", "rollout": "0", "records": [*map(record, range(RECORDS))]},
    )
    with model_behind(lambda asked: says("")) as server:
        grading.point_at(server)
        assert "The last reply was empty." in grading(status=2).stderr
    assert [row["rollout"] for row in grading.rows] == ["lost"]
    assert len(read_lines(folder / "out" / "scores.jsonl")) == 1


def test_the_same_model_at_another_address_is_asked_again_unless_the_judge_has_an_id(
    grading: Grading,
) -> None:
    with model_behind(opinion) as one, model_behind(opinion) as other:
        for server, flags, calls in (
            (one, (), RECORDS),
            (other, (), RECORDS),
            (one, ("--judge-id", "ours"), 2 * RECORDS),
            (other, ("--judge-id", "ours"), RECORDS),
        ):
            grading.point_at(server)
            grading(*flags)
            assert len(server.asked) == calls
            assert all(map(expected, grading.rows))  # `judge` stays the name of the model
