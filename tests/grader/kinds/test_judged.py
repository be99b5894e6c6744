"""Tables and short answers through a real grader, with a model that judges beside the rules."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from modelserver import Asked, ModelServer, model_server, refuses, says

from grader.grader import Grader
from grader.kinds.result import Result
from grader.results.summary import Summary
from grader.runs.submissions import read_submission
from grader.settings import Settings
from grader.stages.pipeline import Pipeline
from grader.tasks.answer import AnswerTask
from grader.tasks.table import TableTask
from judges.endpoint.questions import Price
from queues.pool import Crashed

TABLE = TableTask.model_validate(
    {
        "name": "floods",
        "kind": "table",
        "labels": {"tier": "HARD"},
        "columns": [
            {"name": "country", "format": "name"},
            {"name": "year", "format": "int"},
            {
                "name": "cause",
                "format": "text",
                "criterion": "the same cause in other words counts",
            },
            {"name": "deaths", "format": "int", "criterion": "the same number"},
            {"name": "river", "format": "name"},
        ],
        "key_columns": ["country", "year"],
        "rows": [
            {"country": "South Korea", "year": 2020, "cause": "rain", "deaths": 42, "river": "Han"},
            {"country": "Germany", "year": 2021, "cause": "rain", "deaths": 196, "river": "Ahr"},
            {"country": "Libya", "year": 2023, "cause": "dams", "deaths": 5923, "river": "Derna"},
        ],
    }
)
HEAD = "| country | year | cause | deaths | river |\n|---|---|---|---|---|\n"
COPY = HEAD + (
    "| South Korea | 2020 | rain | 42 | Han |\n"
    "| Germany | 2021 | rain | 196 | Ahr |\n"
    "| Libya | 2023 | dams | 5923 | Derna |\n"
)
OTHER_WORDS = HEAD + (
    "| Republic of Korea | 2020 | it rained | 42 | Han |\n"
    "| Germany | 2021 | it rained a lot | 196 | Ahr |\n"
    "| Libya | 2023 | an earthquake | 5923 | Derna |\n"
)
ANSWER = AnswerTask.model_validate(
    {
        "name": "river",
        "kind": "answer",
        "prompt": "Which river runs through Seoul?",
        "answer": "한강",
        "labels": {"split": "verified"},
    }
)
ROWS = {"Republic of Korea": 0, "Deutschland": 1, "Germany": 1, "Libya": 2}


def content(asked: Asked) -> str:
    return asked.user.split("\n", 1)[1].rsplit("\n", 1)[0]


def role(asked: Asked) -> str:
    name: str = asked.body["response_format"]["json_schema"]["name"]
    return name


def wise(asked: Asked) -> web.Response:
    """A model that knows countries, other words for rain, and the rivers of Seoul."""
    match role(asked):
        case "keys":
            said: Mapping[str, Any] = {
                number: {"reason": "a country", "row": ROWS.get(key["country"])}
                for number, key in json.loads(content(asked)).items()
            }
        case "cells":
            said = {
                number: {"reason": "about rain", "same": "rain" in cell["predicted"]}
                for number, cell in json.loads(content(asked)).items()
            }
        case "answer":
            wanted = asked.body["response_format"]["json_schema"]["schema"]["properties"]
            found = {"answer": "Han River"} if "answer" in wanted else {}
            said = {"reason": "a name", **found, "correct": "Han River" in asked.user}
        case _:
            said = {"reason": "took the first result", "mode": "F5"}
    return says(json.dumps(said))


class Rig:
    """Grades responses with a judge. All calls share one cache."""

    def __init__(self, server: ModelServer, cache: Path) -> None:
        self.server = server
        self._cache = cache
        self.work: dict[str, Any] = {}

    async def grade(
        self, *lines: tuple[TableTask | AnswerTask, Mapping[str, Any]], **settings: Any
    ) -> list[Result]:
        given = [
            read_submission(task, {"run": "r", "rollout": str(number), **line})
            for number, (task, line) in enumerate(lines)
        ]
        options = {"judge": "m", "offline": True, "cpu_workers": 1, **settings}
        async with Grader(Settings(cache=self._cache, **options)) as grader:
            results = [result async for result in grader.grade(given)]
            self.work = grader.work()
        return sorted(results, key=lambda result: result.ordinal)

    @property
    def asked(self) -> Counter[str]:
        return Counter(map(role, self.server.asked))


Rigged = Callable[[Callable[[Asked], web.Response]], Any]


@pytest.fixture
def rigged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rigged:
    @asynccontextmanager
    async def rig(answer: Callable[[Asked], web.Response] = wise) -> AsyncIterator[Rig]:
        async with model_server(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            yield Rig(server, tmp_path / "cache")

    return rig


def table(response: str) -> tuple[TableTask, Mapping[str, Any]]:
    return TABLE, {"response": response}


def answer(response: str, **more: Any) -> tuple[AnswerTask, Mapping[str, Any]]:
    return ANSWER, {"response": response, **more}


def cell(result: Result, row: int, column: str) -> dict[str, Any]:
    found: dict[str, Any] = result.rows[row]["cells"][column]
    return found


# ------------------------------------------------------------------------------------------- tables


async def test_judged_figures_stand_beside_the_strict_ones(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        (judged,) = await rig.grade(table(OTHER_WORDS))
        (strict,) = await rig.grade(table(OTHER_WORDS), judge="rules")
    assert "judged" not in strict.score
    assert {**judged.score, "judged": None} == {**strict.score, "judged": None}
    assert judged.score["item"]["f1"] == 2 / 3
    assert judged.score["row"]["f1"] == 0.0
    assert judged.score["judged"]["item"]["f1"] == 1.0
    assert judged.score["judged"]["row"]["f1"] == 2 / 3
    assert judged.score["judged"]["cell"]["f1"] == 14 / 15
    assert judged.score["judged"]["success"] is False
    assert judged.score["complete"] is True
    assert rig.asked == {"keys": 1, "cells": 1}


async def test_rows_say_which_cells_a_model_accepted(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        (result,) = await rig.grade(table(OTHER_WORDS))
    korea, germany, libya, missed = result.rows
    assert (korea["gold_row"], korea["judged_gold_row"]) == (None, 0)
    assert (missed["row"], missed["gold_row"], missed["judged_row"]) == (None, 0, 0)
    assert korea["cells"]["country"] == {
        "gold": "South Korea",
        "pred": "Republic of Korea",
        "match": False,
        "judged": True,
        "why": "a country",
    }
    assert korea["cells"]["deaths"]["judged"] is True
    assert (korea["cells"]["cause"]["judged"], germany["cells"]["cause"]["judged"]) == (True, True)
    assert libya["cells"]["cause"] == {
        "gold": "dams",
        "pred": "an earthquake",
        "match": False,
        "judged": False,
        "why": "about rain",
    }
    assert "judged" not in germany["cells"]["deaths"]


async def test_a_copy_of_the_gold_needs_no_model_call(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        (result,) = await rig.grade(table(COPY))
    assert result.score["success"] is result.score["judged"]["success"] is True
    assert not rig.asked


async def test_a_second_run_uses_the_cache_and_gives_the_same_result(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        first = await rig.grade(table(OTHER_WORDS), answer("Exact Answer: Han River"))
        asked = rig.asked
        again = await rig.grade(table(OTHER_WORDS), answer("Exact Answer: Han River"))
    assert rig.asked == asked
    assert [(r.score, r.rows) for r in first] == [(r.score, r.rows) for r in again]
    assert rig.work["saved"]["calls"] == asked.total()


async def test_another_model_does_not_use_the_cached_answers(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        await rig.grade(table(OTHER_WORDS))
        await rig.grade(table(OTHER_WORDS), judge="other")
    assert rig.asked == {"keys": 2, "cells": 2}


async def test_one_cell_in_many_tables_is_paid_for_once(rigged: Rigged) -> None:
    more = OTHER_WORDS.replace("an earthquake", "a quake")
    async with rigged(wise) as rig:
        await rig.grade(table(OTHER_WORDS))
        await rig.grade(table(more))
    assert rig.asked == {"keys": 1, "cells": 2}
    assert content(rig.server.asked[-1]).count('"predicted"') == 1


async def test_a_model_cannot_accept_cells_that_are_shown_to_differ(rigged: Rigged) -> None:
    def agrees(asked: Asked) -> web.Response:
        said = json.loads(content(asked))
        of = {"keys": {"row": 0}, "cells": {"same": True}}[role(asked)]
        return says(json.dumps({number: {"reason": "", **of} for number in said}))

    response = HEAD + (
        "| Republic of Korea | 2021 | it rained | 42 | Han |\n"
        "| Germany | 2021 | 7 dams | 197 | the Ahr |\n"
        f"| Libya | 2023 | {'x' * 10_001} | | Derna |\n"
    )
    async with rigged(agrees) as rig:
        (result,) = await rig.grade(table(response))
    assert result.score["judged"]["item"]["f1"] == 2 / 3
    assert cell(result, 1, "cause")["judged"] is True
    assert "judged" not in cell(result, 1, "deaths")  # a number
    assert "judged" not in cell(result, 1, "river")  # no criterion
    assert "judged" not in cell(result, 2, "cause")  # longer than a cell
    assert "judged" not in cell(result, 2, "deaths")  # blank
    assert result.rows[0]["gold_row"] is None
    assert "judged_gold_row" not in result.rows[0]


async def test_a_model_matches_rows_one_to_one(rigged: Rigged) -> None:
    response = HEAD + (
        "| Deutschland | 2021 | rain | 196 | Ahr |\n"
        "| Republic of Korea | 2020 | rain | 42 | Han |\n"
        "| Republic of Korea | 2020 | rain | 42 | Han |\n"
        "| Germany | 2021 | rain | 196 | Ahr |\n"
        "| Germany | 2021 | rain | 196 | Ahr |\n"
    )
    async with rigged(wise) as rig:
        (result,) = await rig.grade(table(response))
    assert [row["gold_row"] for row in result.rows] == [None, None, None, 1, None, 0, 2]
    assert [row.get("judged_gold_row") for row in result.rows[:5]] == [None, 0, None, None, None]
    assert cell(result, 0, "country")["judged"] is False
    assert (
        content(rig.server.asked[0]).count('"country"') == 2
    )  # the same key twice, without repeats


async def test_a_widesearch_column_with_llm_judge_is_judged_by_the_model(rigged: Rigged) -> None:
    task = TableTask.model_validate(
        {
            "name": "ws",
            "kind": "table",
            "sentinels": [],
            "key_columns": ["id"],
            "columns": [
                {"name": "id", "metric": ["exact_match"]},
                {"name": "cause", "metric": ["llm_judge"], "criterion": "the same cause"},
                {"name": "both", "metric": ["url_match", "llm_judge"]},
                {"name": "strict", "metric": ["exact_match"]},
            ],
            "rows": [
                {"id": "1", "cause": "wet", "both": "http://a.example", "strict": "rain"},
                {"id": "2", "cause": "wet", "both": "http://a.example", "strict": "rain"},
            ],
        }
    )
    response = json.dumps(
        [
            {"id": 1, "cause": "rain", "both": "http://a.example rain", "strict": "rain!"},
            {"id": 2, "cause": "", "both": "http://b.example rain", "strict": "rain"},
        ]
    )
    async with rigged(wise) as rig:
        (result,) = await rig.grade((task, {"response": response}))
    accepted = {
        (row, name)
        for row, line in enumerate(result.rows)
        for name, one in line["cells"].items()
        if one.get("judged")
    }
    assert accepted == {(0, "cause"), (0, "both")}
    assert '"the same cause"' in rig.server.asked[0].system


async def test_a_cell_without_an_answer_leaves_its_row_ungraded(rigged: Rigged) -> None:
    def forbids(asked: Asked) -> web.Response:
        return refuses(400, "forbidden") if "earthquake" in asked.user else wise(asked)

    async with rigged(forbids) as rig:
        (result,) = await rig.grade(table(OTHER_WORDS))
        assert [row["state"] for row in result.rows] == ["graded", "graded", "ungraded", "graded"]
        assert "forbidden" in result.rows[2]["error"]
        assert cell(result, 1, "cause")["judged"] is True
        assert (result.ungraded, result.complete) == (1, False)
        assert (result.score["complete"], result.score["judged"]) == (False, None)
        assert result.score["item"]["f1"] == 2 / 3


async def test_the_number_of_keys_that_a_model_is_asked_about_is_bounded(rigged: Rigged) -> None:
    response = HEAD + "".join(f"| Nowhere {n} | 2020 | | | |\n" for n in range(5_000))
    async with rigged(wise) as rig:
        (result,) = await rig.grade(table(response))
    assert rig.asked == {"keys": 12}
    assert result.score["judged"]["item"]["f1"] == 0.0


async def test_the_summary_has_both_figures(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        results = await rig.grade(table(OTHER_WORDS), table(COPY))
    summary = Summary([TABLE])
    for result in results:
        summary.add(result)
    report = summary.report(rig.work)["runs"]["r"]["table"]
    for part in (report, report["by"]["tier"]["HARD"]):
        assert part["metrics"]["row"]["f1"] == 1 / 2
        assert part["metrics"]["judged"]["row"]["f1"] == pytest.approx(5 / 6)
    assert rig.work["cells"]["models"]["m"]["calls"] == 1


async def test_a_dry_run_makes_no_model_call_and_counts_the_calls(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        (result,) = await rig.grade(table(OTHER_WORDS), dry=True, prices={"m": Price(1, 1, 1)})
    assert not rig.asked
    assert not result.complete
    assert rig.work["keys"]["models"]["m"]["calls"] == 1
    assert rig.work["cells"]["models"]["m"]["calls"] == 1


# ------------------------------------------------------------------------------------------ answers


async def test_a_model_decides_undecided_answers(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        right, wrong, found = await rig.grade(
            answer("Exact Answer: Han River\nConfidence: 80%"),
            answer("Exact Answer: Taehwa River"),
            answer("It must be the Han River."),
        )
        (strict,) = await rig.grade(answer("Exact Answer: Han River"), judge="rules")
    assert strict.score["outcome"] == "undecided"
    assert (right.score["outcome"], right.score["correct"]) == ("correct", True)
    assert (right.score["extracted"], right.score["confidence"]) == ("Han River", 0.8)
    assert (right.rows[0]["reason"], right.rows[0]["state"]) == ("a name", "graded")
    assert wrong.score["outcome"] == "wrong"
    assert (found.score["outcome"], found.score["extracted"]) == ("correct", "Han River")
    assert rig.asked == {"answer": 3}


async def test_a_model_is_not_asked_about_decided_answers(rigged: Rigged) -> None:
    async with rigged(wise) as rig:
        results = await rig.grade(*map(answer, ("Exact Answer: 한강", "Exact Answer: None", "")))
    assert [result.score["outcome"] for result in results] == ["correct", "no_answer", "no_answer"]
    assert not rig.asked


async def test_wrong_attempts_with_a_trajectory_get_a_failure_mode(rigged: Rigged) -> None:
    way = [{"role": "tool", "content": "Ulsan"}]
    async with rigged(wise) as rig:
        results = await rig.grade(
            answer("Exact Answer: 한강 or 낙동강", trajectory=way),
            answer("Exact Answer: Taehwa River", trajectory=way),
            answer("Exact Answer: Taehwa River"),
            answer("Exact Answer: 한강", trajectory=way),
            answer("", trajectory=way),
        )
    assert [result.score["failure"] for result in results] == ["F5", "F5", None, None, "F0"]
    assert results[0].rows[0]["failure_reason"] == "took the first result"
    assert rig.asked == {"answer": 1, "failure": 2}
    summary = Summary([ANSWER])
    for result in results:
        summary.add(result)
    figures = summary.report({})["runs"]["r"]["answer"]["metrics"]["verified"]
    assert figures["failures"] == {"F0": 0.2, "F5": 0.4}
    assert (figures["accuracy"], figures["accuracy_decided"]) == (0.2, 0.2)


async def test_an_answer_without_a_usable_reply_is_ungraded(rigged: Rigged) -> None:
    async with rigged(lambda _: refuses(400, "forbidden")) as rig:
        (result,) = await rig.grade(answer("Exact Answer: Han River"))
    assert (result.score["outcome"], result.score["complete"]) == ("undecided", False)
    assert (result.ungraded, result.rows[0]["state"]) == (1, "ungraded")
    assert "forbidden" in result.rows[0]["error"]


async def test_an_outcome_is_kept_if_the_failure_mode_gets_no_reply(rigged: Rigged) -> None:
    async with rigged(lambda _: refuses(400, "forbidden")) as rig:
        (result,) = await rig.grade(answer("Exact Answer: 한강 or 낙동강", trajectory=["Ulsan"]))
    assert (result.score["outcome"], result.score["failure"]) == ("wrong", None)
    assert (result.score["complete"], result.rows[0]["state"]) == (True, "graded")
    assert "forbidden" in result.rows[0]["failure_error"]


# --------------------------------------------------------------------------- what cannot be read


async def test_a_response_that_ends_its_process_does_not_affect_other_submissions(
    rigged: Rigged, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute = Pipeline.compute

    async def crashing(self: Pipeline, function: Callable[..., Any], *args: Any) -> Any:
        if any(isinstance(arg, str) and "poison" in arg for arg in args):
            raise Crashed("a process died")
        return await compute(self, function, *args)

    monkeypatch.setattr(Pipeline, "compute", crashing)
    given = (table("poison"), answer("poison"), table(COPY), answer("Exact Answer: 한강"))
    async with rigged(wise) as rig:
        for judge in ("m", "rules"):
            results = await rig.grade(*given, judge=judge)
            assert [result.complete for result in results] == [False, False, True, True]
            for result in results[:2]:
                assert (result.ungraded, result.score["complete"]) == (1, False)
                assert result.rows[0]["state"] == "ungraded"
                assert result.rows[0]["error"] == "cannot be read: a process died"
