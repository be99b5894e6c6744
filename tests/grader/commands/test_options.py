"""The types of flags, and the settings that flags give."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from grader.commands import inputs, options, running
from grader.commands.errors import CommandError
from grader.commands.options import Age, Calls, dollars, grading_options, page_options
from grader.settings import Settings


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5s", 5), ("30m", 1_800), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600),
     ("1.5h", 5_400),
     ("1 m", 60), (90, 90)],
)  # fmt: skip
def test_an_age_has_a_unit(text: Any, seconds: float) -> None:
    assert Age().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["7", "d", "-7d", "7y", "7d7", "", "1..5h"])
def test_an_age_without_a_number_and_a_unit_is_an_error(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not an age such as 30m, 12h or 7d"):
        Age().convert(text, None, None)


def test_calls_are_a_positive_number_or_never() -> None:
    assert Calls().convert("3", None, None) == 3
    assert Calls().convert("never", None, None) is None
    for text in ("0", "-1", "often"):
        with pytest.raises(click.BadParameter):
            Calls().convert(text, None, None)


def test_an_amount_is_a_finite_number_of_dollars() -> None:
    assert dollars("0") == 0.0
    assert dollars("1.9") == 1.9
    for text in ("-1", "inf", "nan", "much"):
        with pytest.raises(ValueError, match=r"dollars|could not convert"):
            dollars(text)


def settings(command_options: Callable[[Any], Any], *arguments: str) -> Settings:
    """The settings that a command with these flags gets."""
    found: list[Settings] = []

    @click.command()
    @command_options
    def command(**given: Any) -> None:
        found.append(options.settings_from(given))

    done = CliRunner().invoke(command, list(arguments), obj={}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return found[0]


def test_the_flags_have_the_defaults_of_the_settings() -> None:
    plain = Settings()
    assert settings(page_options) == plain
    assert settings(grading_options) == plain


def test_flags_give_settings(tmp_path: Path) -> None:
    archive = tmp_path / "a.warc"
    archive.touch()
    given = settings(
        grading_options, "--cache", str(tmp_path / "c"), "--pages", str(archive), "--offline",
        "--max-age", "1m", "--give-up-after", "never", "--allow-host", "h:1", "--allow-host", "i",
        "--fetch-workers", "2", "--browser-workers", "3", "--judge-id", "mine", "--workers", "5",
        "--judge-timeout", "1.5",
    )  # fmt: skip
    assert given == Settings(
        cache=tmp_path / "c", pages=(archive,), offline=True, max_age=60.0, give_up_after=None,
        allow_hosts=("h:1", "i"), fetch_workers=2, browser_workers=3, judge_id="mine", workers=5,
        judge_timeout=1.5,
    )  # fmt: skip


def test_flags_that_do_not_fit_together_are_an_error() -> None:
    with click.Context(click.Command("c"), obj={}), pytest.raises(CommandError, match="price of m"):
        options.settings_from({"judge": "m", "budget": 1.0})


def test_work_is_run_and_its_errors_are_told() -> None:
    async def work(error: Exception | None = None) -> str:
        if error:
            raise error
        return "done"

    assert running.run(work()) == "done"
    for error in (
        running.ArchiveError("a\nb"),
        running.CacheError("a\nb"),
        running.OutputError("a\nb"),
        running.NeverUsable("a\nb"),
    ):
        with pytest.raises(CommandError) as raised:
            running.run(work(error))
        assert raised.value.message == "a\\nb"
    with pytest.raises(CommandError, match="the model cannot be asked: no key"):
        running.run(work(running.ModelUnusable("no key")))
    faults = [inputs.Fault("f:1", "x", "a\nb"), inputs.Fault("f:2", "", "c")]
    with pytest.raises(CommandError) as raised:
        running.run(work(inputs.TaskError(faults)))
    assert raised.value.message == "f:1: x: a\\nb\nf:2: c"
