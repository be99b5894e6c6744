"""Decoders of ledger values: they read the values of a stage and refuse everything else."""

from typing import Any

import orjson
import pytest

from fetchers.triage.signals import Signals
from grader.stages.stored import decoder
from grader.stages.visits import Visit
from grader.stages.workers import Reading
from judges.records.verdict import Shown, Verdict

VISIT = Visit(200, "https://a.example/", {"content-type": "text/html"}, "ab", "http", "2026-09-01")
READING = Reading("ab", 7, "html", "", Signals(prose=7, marks=("title:wall",)))

VERDICT = Verdict(
    True, True, False, {}, {"told": Shown(True, False)}, 3, "why", "rules", ("a", "b")
)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Verdict, VERDICT),
        (Visit, VISIT),
        (Visit | None, VISIT),
        (Visit | None, None),
        (Reading, READING),
    ],
)
def test_a_written_value_is_decoded(kind: Any, value: Any) -> None:
    assert decoder(kind)(orjson.dumps(value)) == value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", True), ("status", "200"), ("status", 2.5), ("headers", []), ("headers", None),
        ("headers", {"a": 1}), ("sha256", None), ("via", "pigeon"), ("final_url", ["https:"]),
    ],
)  # fmt: skip
def test_a_field_of_another_type_is_refused(field: str, value: Any) -> None:
    row = orjson.dumps({**orjson.loads(orjson.dumps(VISIT)), field: value})
    with pytest.raises(ValueError, match=field):
        decoder(Visit | None)(row)


@pytest.mark.parametrize("row", [b"", b"1", b"{}", b"\xff", b"[" * 100_000, b'"\\ud800"'])
def test_a_value_of_another_kind_is_refused(row: bytes) -> None:
    with pytest.raises(ValueError, match="Visit"):
        decoder(Visit)(row)


def test_a_value_that_json_cannot_encode_again_is_refused() -> None:
    row = orjson.dumps(VISIT).replace(b"200", b"2" * 30)
    with pytest.raises(ValueError, match="cannot be written again"):
        decoder(Visit)(row)


def test_a_verdict_that_was_cached_without_flags_has_none() -> None:
    fields = orjson.loads(orjson.dumps(VERDICT))
    del fields["flags"]
    assert decoder(Verdict)(orjson.dumps(fields)).flags == ()
