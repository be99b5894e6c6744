"""Lines of records.jsonl: flags, and addresses that were given up, beside the score."""

from pathlib import Path
from typing import Any

import pytest
from material import article, read_lines, redirect, write_archive, write_lines

from fetchers.page import Page
from grader.grader import Grader
from grader.kinds.collection.identities import RecordNames
from grader.kinds.collection.kind import CollectionKind
from grader.kinds.collection.rows import Outcome, count_flags, record_row, was_given_up
from grader.kinds.result import Result
from grader.rescore import rescore
from grader.results.files import Output
from grader.results.summary import Summary
from grader.runs.submissions import read_submission
from grader.settings import Settings
from grader.tasks.collection import NOT_OPEN_PUBLISHING, CollectionTask
from judges.names.axes import Names
from judges.records.verdict import Verdict

FACT = "Larch needles fall in autumn."
PASTE, SHORT, NEWS = "https://pastebin.com/abc", "https://bit.ly/x", "https://news.example/a"
REFLECTING = "https://search.example/?q=Larch%20needles%20fall%20in%20autumn."
PAGES = {
    REFLECTING: article("Search", f"Results for: {FACT}"),
    PASTE: article("Paste", FACT),
    NEWS: article("News", FACT),
    SHORT: redirect(NEWS),
}
TASK: dict[str, Any] = {
    "name": "facts",
    "kind": "collection",
    "keys": [
        {"name": "fact", "volume": 4, "identity": {"how": "exact"}},
        {"name": "url", "volume": 1},
    ],
    "judge": {"requirements": [{"id": "told", "rule": {"contains": "{item.fact}"}}]},
}


def record(url: str) -> dict[str, Any]:
    return {"item": {"fact": FACT}, "url": url, "excerpts": [FACT], "answer": {"fact": FACT}}


async def grade(tmp_path: Path, task: CollectionTask, *urls: str) -> Result:
    archive = write_archive(tmp_path / "pages.warc", PAGES)
    settings = Settings(cache=tmp_path / "cache", pages=(archive,), offline=True)
    one = read_submission(task, {"run": "r", "records": [record(url) for url in urls]})
    async with Grader(settings) as grader:
        (result,) = [result async for result in grader.grade([one])]
    return result


# Flags


async def test_pages_that_anyone_can_publish_are_flagged(tmp_path: Path) -> None:
    task = CollectionTask.model_validate(TASK)
    result = await grade(tmp_path, task, PASTE, NEWS, SHORT, "https://www.bit.ly/gone", "")
    flagged = ["open_publishing"]
    assert [row["flags"] for row in result.rows] == [flagged, [], flagged, flagged, []]
    assert [row["verdict_full"] for row in result.rows] == [True, True, True, None, False]
    assert result.score["flags"] == result.flags == {"open_publishing": 3}


async def test_a_page_that_repeats_its_url_is_flagged_and_proves_nothing(tmp_path: Path) -> None:
    task = CollectionTask.model_validate(TASK)
    for _ in range(2):  # judged, and from the cache
        result = await grade(tmp_path, task, REFLECTING, NEWS)
        assert [row["flags"] for row in result.rows] == [["reflected_url"], []]
        assert [row["verdict_full"] for row in result.rows] == [False, True]
        assert result.score["flags"] == {"reflected_url": 1}


async def test_a_task_may_fail_them(tmp_path: Path) -> None:
    task = CollectionTask.model_validate({**TASK, "open_publishing": "fail"})
    result = await grade(tmp_path, task, PASTE, NEWS, SHORT)
    assert [row["validity"] for row in result.rows] == [
        {"open_publishing": False}, {"open_publishing": True}, {"open_publishing": True},
    ]  # fmt: skip
    assert [row["verdict_full"] for row in result.rows] == [False, True, True]
    assert result.rows[0]["criteria"]["overall_valid"] is False
    assert result.score["flags"] == {"open_publishing": 2}


def test_the_option_is_part_of_every_judge_and_its_digest() -> None:
    subtask = {
        "name": "more", "parent": "fact", "keys": [TASK["keys"][1]], "judge": TASK["judge"],
        "subtasks": [{"name": "deep", "parent": "fact", "keys": [TASK["keys"][1]]}],
    }  # fmt: skip
    plain = CollectionTask.model_validate({**TASK, "subtasks": [subtask]})
    strict = CollectionTask.model_validate(
        {**TASK, "subtasks": [subtask], "open_publishing": "fail"}
    )
    assert plain.hierarchies.keys() == strict.hierarchies.keys() == {None, "more", "more.deep"}
    for name, hierarchy in strict.hierarchies.items():
        before = plain.hierarchies[name].judge
        assert before.validity == ()
        assert hierarchy.judge.validity == (NOT_OPEN_PUBLISHING,)
        assert hierarchy.judge.requirements == before.requirements
        assert hierarchy.judge.digest != before.digest
        assert hierarchy.judge.needs_model == ()


@pytest.mark.parametrize("value", ["report", "fail"])
def test_the_id_of_the_added_check_is_taken(value: str) -> None:
    own = {"validity": [{"id": "open_publishing", "text": "Is it?"}]}
    subtask = {"name": "more", "parent": "fact", "keys": [TASK["keys"][1]], "judge": own}
    task = {**TASK, "subtasks": [subtask], "open_publishing": value}
    if value == "report":
        CollectionTask.model_validate(task)
        return
    with pytest.raises(ValueError, match=r"subtasks\[0\].judge.validity\[0\].id"):
        CollectionTask.model_validate(task)


@pytest.mark.parametrize("value", ["ignore", "", None, True])
def test_an_unknown_value_of_the_option_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="open_publishing"):
        CollectionTask.model_validate({**TASK, "open_publishing": value})


def row_of(page: Page | None, verdict: Verdict | None, url: str = NEWS) -> dict[str, Any]:
    task = CollectionTask.model_validate(TASK)
    one = read_submission(task, {"run": "r", "records": [record(url)]})
    names = RecordNames(Names({"url": url}, {}), {}, "")
    return record_row(one, one.records[0], Outcome(page, verdict, "" if verdict else "no"), names)


def page_at(url: str) -> Page:
    return Page("ok", "", "http", 200, url, "", "", 7, "", "")


def verdict_with(*flags: str) -> Verdict:
    return Verdict(True, True, True, {}, {}, 3, "", "rules", flags)


def test_the_flags_of_a_verdict_are_reported_with_those_of_the_url() -> None:
    assert row_of(page_at(NEWS), verdict_with("reflected_url"))["flags"] == ["reflected_url"]
    both = row_of(page_at(PASTE), verdict_with("reflected_url", "a_flag"))
    assert both["flags"] == ["a_flag", "open_publishing", "reflected_url"]
    assert row_of(page_at(NEWS), None, PASTE)["flags"] == ["open_publishing"]
    assert row_of(None, None)["flags"] == []


def test_flags_are_counted_by_row() -> None:
    odd: list[Any] = [None, "b", 3, {"b": 1}, [["b"], None, 4], ["b", "b"]]
    rows = [{"flags": flags} for flags in (["b", "a"], ["b"], [], *odd)]
    assert count_flags([*rows, {}]) == {"a": 1, "b": 3}
    assert list(count_flags(rows)) == ["a", "b"]


# Addresses that were given up


@pytest.mark.parametrize(
    ("page", "given_up"),
    [
        ({"state": "dead", "reason": "never answered"}, True),
        ({"state": "dead", "reason": "status 404"}, False),
        ({"state": "unreachable", "reason": "never answered"}, False),
        (None, False),
        ([], False),
        ({}, False),
    ],
)
def test_a_row_says_if_its_address_was_given_up(page: Any, given_up: bool) -> None:
    assert was_given_up({"page": page}) is given_up


def test_scores_and_summary_count_addresses_and_flags_again(tmp_path: Path) -> None:
    task = CollectionTask.model_validate(TASK)
    dead = Page("dead", "never answered", "http", None, NEWS, "", "", 0, "", "")
    rows = [
        row_of(dead, verdict_with()), row_of(dead, verdict_with()),
        row_of(page_at(PASTE), verdict_with("reflected_url")),
    ]  # fmt: skip
    result = CollectionKind(task).score(0, "r", "0", rows)
    assert (result.gave_up, result.complete) == (2, True)
    assert result.score["counts"]["gave_up"] == 2
    assert result.score["flags"] == {"open_publishing": 1, "reflected_url": 1}

    output, summary = Output(tmp_path / "out"), Summary([task])
    for one in (result, CollectionKind(task).score(1, "r", "1", rows[1:])):
        output.add(one)
        summary.add(one)
    output.close()
    part = summary.report({})["runs"]["r"]["collection"]
    assert part["gave_up"] == 3
    assert part["flags"] == {"open_publishing": 2, "reflected_url": 2}

    path = write_lines(tmp_path / "records.jsonl", *rows)
    ending = rescore(path, [task], tmp_path / "again")
    assert read_lines(tmp_path / "again" / "scores.jsonl") == [result.score]
    assert ending.gave_up == {NEWS}
    assert ending.summary["runs"]["r"]["collection"]["flags"] == result.flags
