"""The list of commands, the version, completion, and the time that they take."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import click
import pytest
from click.testing import CliRunner
from conftest import Command

from grader.commands import cache, errors, fetch, grade, tasks
from grader.commands.front import DISTRIBUTION, GROUPS, main, run_command_line

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def test_the_help_lists_commands_by_group() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    places = [text.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    for name, (_, line) in COMMANDS.items():
        assert f"  {name} " in text
        assert line in text
    assert "_ASSAY_COMPLETE=bash_source assay" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_where_the_list_says(name: str) -> None:
    module, _, function = COMMANDS[name][0].partition(":")
    assert getattr(import_module(module), function).name == name
    assert module in {cache.__name__, fetch.__name__, grade.__name__, tasks.__name__}
    done = CliRunner().invoke(main, [name, "--help"])
    assert done.exit_code == 0
    assert "Usage:" in done.output


def test_a_command_that_does_not_exist_is_bad_usage() -> None:
    done = CliRunner().invoke(main, ["polish"])
    assert done.exit_code == errors.UNUSABLE
    assert "No such command 'polish'" in done.output


def test_the_version_is_that_of_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"assay {version(DISTRIBUTION)}\n"
    monkeypatch.setattr("grader.commands.front.DISTRIBUTION", "not-installed-anywhere")
    done = CliRunner().invoke(main, ["--version"])
    assert done.exit_code == 0
    assert "not installed" in done.output


def test_the_shell_completes_commands_and_flags(assay: Command) -> None:
    def completions(line: str) -> list[str]:
        words = line.split(" ")
        done = assay(
            env={
                "_CLI_PY_COMPLETE": "bash_complete",
                "COMP_WORDS": line,
                "COMP_CWORD": str(len(words) - 1),
            }
        )
        return [option.partition(",")[2] for option in done.stdout.splitlines()]

    assert completions("cli.py gr") == ["grade"]
    assert completions("cli.py grade --off") == ["--offline"]
    assert completions("cli.py cache ver") == ["verify"]


@pytest.mark.parametrize("arguments", ["['--help']", "['--version']", "[]"])
def test_the_help_imports_no_stage_of_the_grader(arguments: str) -> None:
    script = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from grader.commands.front import main\n"
        f"CliRunner().invoke(main, {arguments})\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "click" in loaded
    assert loaded.isdisjoint({"aiohttp", "asyncio", "pydantic", "rich", "judges", "fetchers"})


@pytest.mark.parametrize(
    ("error", "told", "status"),
    [
        (errors.CommandError("a", "b"), ["Error: a", "b"], 2),
        (
            OSError(28, "No space left on device", "out/x"),
            ["Error: out/x: No space left on device"],
            2,
        ),
        (OSError(28, "No space left on device"), ["Error: No space left on device"], 2),
        (OSError("odd"), ["Error: odd"], 2),
        (ValueError("x\ny"), ["Error: unexpected ValueError at ", "test_front.py:", ": x\\ny"], 2),
        (None, [], 0),
    ],
)
def test_an_error_becomes_a_message_and_a_status(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    error: Exception | None,
    told: list[str],
    status: int,
) -> None:
    def fail(standalone_mode: bool) -> None:
        assert not standalone_mode
        if error:
            raise error

    monkeypatch.setattr(main, "main", fail)
    monkeypatch.setattr("grader.commands.front.discard_stdout", lambda: None)
    assert run_command_line() == status
    printed = capfd.readouterr().err
    assert len(printed.splitlines()) == (1 if "unexpected" in printed else len(told))
    assert all(part in printed for part in told)


def test_the_lines_of_an_error_cannot_be_forged() -> None:
    assert issubclass(errors.CommandError, click.ClickException)
    assert errors.CommandError("a\nb", "c\x1b").format_message() == "a\\nb\nc\\u001b"
