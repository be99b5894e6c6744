"""The cost of model calls: prices, budgets, dry runs."""

import json
from pathlib import Path

import pytest
from aiohttp import web
from material import write_lines
from model_grading import (
    PRICES,
    RECORDS,
    TASK,
    Grading,
    expected,
    grading,
    input_files,
    model,
    opinion,
    patience,
    record,
)
from modelserver import Asked, ModelServer, model_behind

__all__ = ["grading", "input_files", "model", "patience"]


def test_costs_follow_from_prices(grading: Grading, model: ModelServer, folder: Path) -> None:
    (folder / "grader.toml").write_text(
        '[prices."m"]\ntokens_in = 10\ncached_in = 1\ntokens_out = 100\n'
    )
    told = grading().stderr
    cost = RECORDS * (40 * 10 + 60 * 1 + 7 * 100) / 1e6
    assert grading.work["judge"]["models"]["m"]["cost_usd"] == pytest.approx(cost)
    assert f"84 out, {cost:.4f} USD" in told
    grading()
    assert grading.work["saved"]["cost_usd"] == pytest.approx(cost)


def wordy(asked: Asked) -> web.Response:
    """The usual reply, in 400 tokens."""
    reply = json.loads(opinion(asked).body)  # type: ignore[arg-type]
    reply["usage"]["completion_tokens"] = 400
    return web.json_response(reply)


def test_a_budget_is_not_exceeded_and_a_larger_one_continues(
    grading: Grading, folder: Path
) -> None:
    (folder / "grader.toml").write_text(PRICES)  # 0.4 USD a call
    with model_behind(wordy) as server:
        grading.point_at(server)
        told = grading("--budget", 1.9, status=1).stderr
        assert len(server.asked) == 4
        assert grading.work["judge"]["models"]["m"]["cost_usd"] == pytest.approx(1.6)
        assert "8 x cannot be judged: the budget of 1.9 USD is spent" in told
        assert [row["state"] for row in grading.rows].count("graded") == 4

        grading("--budget", 100)
        assert len(server.asked) == RECORDS
    assert all(map(expected, grading.rows))


def test_a_budget_needs_a_price(grading: Grading, folder: Path, model: ModelServer) -> None:
    (folder / "grader.toml").write_text(PRICES.replace('"m"', '"other"'))
    told = grading("--budget", 1, status=2).stderr
    for part in ("price of m", "grader.toml", '[prices."m"]', "tokens_in"):
        assert part in told
    assert not (folder / "out").exists()
    assert not model.asked


@pytest.mark.parametrize(
    "prices",
    [
        "prices = 3",
        "[prices]\nm = 3",
        "[prices.m]\ntokens_in = 1",
        '[prices.m]\ntokens_in = "x"\ncached_in = 1\ntokens_out = 1',
        "[prices.m]\ntokens_in = -1\ncached_in = 1\ntokens_out = 1",
        "[prices.m]\ntokens_in = nan\ncached_in = 1\ntokens_out = 1",
        "[prices.m]\ntokens_in = []\ncached_in = 1\ntokens_out = 1",
    ],
)
def test_bad_prices_are_reported(grading: Grading, folder: Path, prices: str) -> None:
    (folder / "grader.toml").write_text(prices)
    assert "grader.toml: prices" in grading("--budget", 1, status=2).stderr


@pytest.mark.parametrize("budget", ["nan", "-1", "much"])
def test_a_budget_is_a_number_of_dollars(grading: Grading, folder: Path, budget: str) -> None:
    (folder / "grader.toml").write_text(PRICES)
    grading("--budget", budget, status=2)


def test_a_dry_run_sends_nothing_writes_nothing_and_reports_the_cost(
    grading: Grading, model: ModelServer, folder: Path
) -> None:
    (folder / "grader.toml").write_text(PRICES)
    records = [record(n) for n in range(RECORDS)]
    records.append({**record(0), "url": "https://trees.example/none"})
    write_lines(
        folder / "run.jsonl",
        *({"task": "opinions", "rollout": str(n), "records": records} for n in range(8)),
        b"{",
    )
    earlier = write_lines(folder / "out" / "records.jsonl", {"kept": True})
    before = earlier.read_bytes()
    done = grading("--dry-run")
    assert not model.asked
    assert [path.name for path in (folder / "out").iterdir()] == ["records.jsonl"]
    assert earlier.read_bytes() == before
    assert "Dry run: 8 submissions read, no model called, nothing written." in done.stdout
    assert "The call would cost about: judge by m: 12 calls, " in done.stdout
    assert "6,000 out, 6.0000 USD" in done.stdout
    assert f"{8 * RECORDS} x cannot be judged: not asked: a dry run" in done.stdout
    assert "8 x page unreachable: offline" in done.stdout
    assert "run.jsonl:9: unreadable JSON" in done.stdout
    assert "full soft" not in done.stdout  # no scores

    # What is known already is not foreseen, and tells how long a reply is.
    write_lines(folder / "run.jsonl", {"task": "opinions", "records": records[:4]})
    grading()
    write_lines(folder / "run.jsonl", {"task": "opinions", "records": records[:6]})
    told = grading("--dry-run").stdout
    assert "judge by m: 2 calls" in told
    assert "14 out" in told


def test_a_dry_run_of_rules_has_no_cost(grading: Grading, folder: Path) -> None:
    write_lines(folder / "tasks.jsonl", {**TASK, "judge": {"requirements": []}})
    done = grading("--judge", "rules", "--dry-run")
    assert "Dry run: 1 submissions read" in done.stdout
    assert "would cost" not in done.stdout
    assert not (folder / "out").exists()
