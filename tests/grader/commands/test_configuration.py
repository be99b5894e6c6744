"""`grader.toml`: defaults of flags, and prices."""

from pathlib import Path

import pytest

from grader.commands.configuration import read_configuration
from grader.commands.errors import CommandError
from grader.commands.front import main
from judges.endpoint.questions import Price


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str) -> None:
    Path("grader.toml").write_text(text, "utf-8")


def test_no_file_sets_nothing() -> None:
    found = read_configuration(main)
    assert (found.defaults, found.prices) == ({}, {})


def test_values_are_given_to_each_command_that_has_the_flag() -> None:
    write('workers = 3\ntasks = ["a", "b"]\nallow-host = "h:1"\ncache = "c"\n')
    defaults = read_configuration(main).defaults
    assert defaults["grade"] == {
        "workers": "3", "tasks": ["a", "b"], "allow_hosts": ["h:1"], "cache": "c",
    }  # fmt: skip
    assert defaults["fetch"] == {"allow_hosts": ["h:1"], "cache": "c"}
    assert defaults["score"] == {"tasks": ["a", "b"]}
    assert defaults["cache"]["stats"] == {"cache": "c"}


def test_prices_are_in_dollars_for_a_million_tokens() -> None:
    write("[prices.m]\ntokens_in = 1\ncached_in = 0.5\ntokens_out = 2\n")
    assert read_configuration(main).prices == {"m": Price(1.0, 0.5, 2.0)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("colour = 1\nzebra = 2", "there is no flag --colour"),
        ("workers = [1]", "--workers does not take such a value"),
        ("tasks = [[1]]", "--tasks does not take such a value"),
        ("tasks = {a = 1}", "--tasks does not take such a value"),
        ("prices = 3", "prices"),
        ("[prices.m]\ntokens_in = -1", "prices"),
        ("[prices.m]\nper_token = 1", "prices"),
        ("x", "grader.toml"),
    ],
)
def test_a_bad_file_is_named(text: str, told: str) -> None:
    write(text)
    with pytest.raises(CommandError) as raised:
        read_configuration(main)
    assert told in raised.value.message
    assert "grader.toml" in raised.value.message
