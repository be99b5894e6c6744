"""The messages at the end of a call, and its exit status."""

from collections import Counter
from pathlib import Path

import pytest

from grader.call import CallReport
from grader.commands.messages import (
    MOST_REASONS,
    exit_status,
    show_dry_run,
    show_scores,
    tell_report,
)
from grader.runs.submissions import Reject

WORK = {"work": {}, "runs": {}, "rejects": {"by_run": {}}}
USAGE = {"calls": 2, "tokens_in": 10, "cached_in": 0, "tokens_out": 3, "cost_usd": None}


def told(capsys: pytest.CaptureFixture[str], report: CallReport) -> list[str]:
    tell_report(report, Path("results"))
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_a_complete_call_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, CallReport(submissions=1, summary=WORK)) == []


def test_rejects_are_reported_with_their_places_and_their_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = [Reject(f"run.jsonl:{n}", "why\x1b") for n in range(2)]
    report = CallReport(submissions=1, rejects=1_002, first_rejects=first, summary=WORK)
    assert told(capsys, report) == [
        "1,002 rejected lines or records (all are in results/rejects.jsonl):",
        "  run.jsonl:0: why\\u001b",
        "  run.jsonl:1: why\\u001b",
        "  and 1,000 more",
    ]
    report.rejects = 2
    assert told(capsys, report)[-1] == "  run.jsonl:1: why\\u001b"


def test_ungraded_records_are_reported_with_the_most_frequent_reasons(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reasons = Counter({f"reason {n}": 1_000 - n for n in range(MOST_REASONS + 3)})
    lines = told(capsys, CallReport(submissions=1, ungraded=reasons, summary=WORK))
    assert lines[0] == (
        f"{reasons.total():,} records are ungraded. Run the same command again to grade them:"
    )
    assert lines[1] == "  1,000 x reason 0"
    assert lines[-1] == "  and 3 other reasons"
    assert len(lines) == MOST_REASONS + 2


def test_all_reasons_are_reported_if_they_are_few(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = Counter({f"reason {n}": 1 for n in range(MOST_REASONS)})
    lines = told(capsys, CallReport(submissions=1, ungraded=reasons, summary=WORK))
    assert len(lines) == MOST_REASONS + 1
    assert "other" not in lines[-1]


def test_one_reason_more_than_are_listed_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = Counter({f"reason {n}": 1 for n in range(MOST_REASONS + 1)})
    lines = told(capsys, CallReport(submissions=1, ungraded=reasons, summary=WORK))
    assert lines[-1] == "  and 1 other reasons"


def test_notable_records_problems_models_and_an_interrupt_are_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = CallReport(
        submissions=1,
        notable=Counter({"dead": 3, "novel": 1}),
        gave_up={"https://a.example/"},
        problems=("an archive is damaged",),
        interrupted=True,
        summary={**WORK, "work": {"judge": {"models": {"m": USAGE}}}},
    )
    assert told(capsys, report) == [
        "an archive is damaged",
        "Of the records: 3 on dead pages, 1 novel",
        "1 address never answered in several calls: counts as dead",
        "judge by m: 2 calls, 10 tokens in, 3 out, no price known",
        "interrupted: the results so far are in results. Run the same command again to grade",
        "the rest; pages and verdicts that are in the cache cost nothing.",
    ]


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (CallReport(summary=WORK), True),
        (CallReport(summary=WORK, submissions=1), False),
        (CallReport(summary=WORK, rejects=1), False),
        (CallReport(summary=WORK, interrupted=True), False),
    ],
)
def test_an_empty_input_is_reported(
    capsys: pytest.CaptureFixture[str], report: CallReport, said: bool
) -> None:
    assert ("There was no submission to grade." in told(capsys, report)) == said


@pytest.mark.parametrize(
    ("report", "status"),
    [
        (CallReport(submissions=1), 0),
        (CallReport(submissions=1, rejects=5), 0),
        (CallReport(submissions=1, ungraded=Counter(x=1)), 1),
        (CallReport(), 2),
        (CallReport(rejects=1), 2),
        (CallReport(interrupted=True), 130),
        (CallReport(submissions=1, ungraded=Counter(x=1), interrupted=True), 130),
    ],
)
def test_the_exit_status_says_how_the_call_ended(report: CallReport, status: int) -> None:
    assert exit_status(report) == status


def test_a_dry_run_is_complete_with_ungraded_records(capsys: pytest.CaptureFixture[str]) -> None:
    summary = {**WORK, "work": {"judge": {"models": {"m": USAGE}}}}
    report = CallReport(
        submissions=1_000,
        ungraded=Counter(x=2),
        rejects=1,
        first_rejects=[Reject("a:1", "b")],
        summary=summary,
    )
    assert exit_status(report, 0) == 0
    show_dry_run(report)
    assert capsys.readouterr().out.splitlines() == [
        "Dry run: 1,000 submissions read, no model called, nothing written.",
        "1 rejected lines or records:",
        "  a:1: b",
        "2 records have no verdict yet:",
        "  2 x x",
        "The call would cost about: judge by m: 2 calls, 10 tokens in, 3 out, no price known",
    ]


def test_scores_are_printed_without_colours_if_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = {
        "tasks": 1, "submissions": 1, "completed": 1, "ungraded": 0,
        "metrics": {"all": {"accuracy": 1.0, "accuracy_decided": 1.0}},
    }  # fmt: skip
    show_scores(CallReport(summary={**WORK, "runs": {"\x1bred": {"answer": answer}}}))
    printed = capsys.readouterr().out
    assert "\\u001bred" in printed
    assert "\x1b" not in printed
