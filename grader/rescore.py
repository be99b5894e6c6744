"""Recomputes scores from graded records, without pages or a judge."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.call import Call, CallReport
from grader.kinds.collection.kind import CollectionKind
from grader.lines import BadInput, check_writable, parse_object, read_lines
from grader.runs.groups import LineGroups
from grader.runs.submissions import Name, Reject
from grader.tasks.collection import CollectionTask
from grader.tasks.packages import AnyTask


def rescore(
    records: Path, tasks: Sequence[AnyTask], out: Path, inputs: Sequence[Path] = ()
) -> CallReport:
    """Score the submissions of a records.jsonl, and write the results to `out`. Blocking.

    `inputs` are further files that no result may replace. A line that is not a row of a loaded
    task is a reject. An attempt without records has no row, and gets no score here.
    Raises OutputError.
    """
    call = Call(tasks, out, [records, *inputs])
    kinds = {t.name: CollectionKind(t) for t in tasks if isinstance(t, CollectionTask)}
    for ordinal, ((run, task, rollout), rows) in enumerate(_graded(records, kinds, call.reject)):
        call.add(kinds[task].score(ordinal, run, rollout, rows))
    call.close({})
    return call.report


def _graded(
    records: Path, kinds: Mapping[str, CollectionKind], reject: Callable[[Reject], None]
) -> Iterator[tuple[Name, list[dict[str, Any]]]]:
    """Yield the rows of each submission. They may stand anywhere in the file."""
    with LineGroups[Name]() as groups:
        for place, raw in read_lines(
            str(records), lambda where, reason: reject(Reject(where, reason))
        ):
            try:
                row = parse_object(raw)
                check_writable(row)
                name = _name(row, kinds)
                kinds[name[1]].read(row)
            except ValueError as error:
                reject(Reject(place, str(error)))
            else:
                groups.add(name, place, raw)
        for name, lines in groups:
            yield name, [parse_object(raw) for _, raw in lines]


def _name(row: Mapping[str, Any], kinds: Mapping[str, CollectionKind]) -> Name:
    match row:
        case {"kind": "table" | "answer" as kind}:
            raise BadInput(f"a row of kind {kind}: only collections can be scored from rows")
        case {"run": str(run), "task": str(task), "rollout": str(rollout)} if task in kinds:
            return run, task, rollout
    raise BadInput(
        f"not a row of a loaded collection, or a name is missing: task {row.get('task')!r}"
    )
