"""The fixtures of a package: records with known verdicts, which test the judge of the task. For
tables and answers they are responses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.grader import Grader
from grader.lines import BadInput, parse_object, read_lines
from grader.runs.submissions import Submission, read_record, read_submission
from grader.settings import Settings
from grader.tasks.collection import CollectionTask
from grader.tasks.packages import Fault, Package, TaskError
from judges.records.record import Record

FILE = "fixtures.jsonl"
RUN = "fixtures"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A fixture with fields that did not come out as expected. `fields` has for each the expected
    and the found value."""

    where: str
    fields: Mapping[str, tuple[Any, Any]]
    reason: str

    def __str__(self) -> str:
        wrong = ", ".join(
            f"{name} is {found!r}, not {expected!r}"
            for name, (expected, found) in self.fields.items()
        )
        return f"{self.where}: {wrong} ({self.reason})"


@dataclass(frozen=True, slots=True)
class FixturesReport:
    """How many fixtures were judged, and which did not come out as expected. `problems` are
    messages to the user, such as damage in an archive."""

    fixtures: int
    disagreements: tuple[Disagreement, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Fixtures:
    """A submission that is made of fixtures, with the place and the expected fields of each."""

    submission: Submission
    places: Sequence[str]
    expected: Sequence[Mapping[str, Any]]


async def run_fixtures(packages: Sequence[Package], settings: Settings) -> FixturesReport:
    """Judge every fixture. Raises TaskError if one cannot be read."""
    faults: list[Fault] = []
    fixtures = [found for package in packages for found in _read(package, faults)]
    if faults:
        raise TaskError(faults)
    disagreements: dict[int, list[Disagreement]] = {}
    async with Grader(settings) as grader:
        async for result in grader.grade(one.submission for one in fixtures):
            rows = result.rows if result.kind == "collection" else [result.score]
            disagreements[result.ordinal] = list(_compare(fixtures[result.ordinal], rows))
        problems = grader.problems
    return FixturesReport(
        sum(len(one.places) for one in fixtures),
        tuple(one for number in sorted(disagreements) for one in disagreements[number]),
        problems,
    )


def _read(package: Package, faults: list[Fault]) -> Iterator[_Fixtures]:
    """The fixtures of a package: those of a collection are the records of one submission, those of
    other kinds are a submission each."""
    task = package.task
    places: list[str] = []
    records: list[Record] = []
    expected: list[Mapping[str, Any]] = []
    path = package.folder / FILE if package.folder else None
    if path is None or not path.exists():
        return
    for place, raw in read_lines(str(path), lambda p, r: faults.append(Fault(p, "", r))):
        try:
            data = parse_object(raw)
            expect = data.get("expect")
            if not isinstance(expect, dict) or not expect:
                raise BadInput("has no field `expect`, or an empty one")
            if not isinstance(task, CollectionTask):
                whole = read_submission(task, {**data, "run": RUN, "rollout": place})
                yield _Fixtures(whole, [place], [expect])
                continue
            records.append(read_record(len(records), data, task))
        except BadInput as error:
            faults.append(Fault(place, "", str(error)))
        else:
            places.append(place)
            expected.append(expect)
    if records:
        yield _Fixtures(Submission(task, RUN, "0", records=tuple(records)), places, expected)


def _compare(fixtures: _Fixtures, rows: Sequence[Mapping[str, Any]]) -> Iterator[Disagreement]:
    for place, expected, row in zip(fixtures.places, fixtures.expected, rows, strict=True):
        found = {name: _at(row, name) for name in expected}
        if wrong := {n: (value, found[n]) for n, value in expected.items() if found[n] != value}:
            reason = row.get("error") or row.get("reason") or "no reason given"
            yield Disagreement(place, wrong, reason)


def _at(row: Any, path: str) -> Any:
    """The value at a dotted path in a row, or None."""
    for name in path.split("."):
        row = row.get(name) if isinstance(row, Mapping) else None
    return row
