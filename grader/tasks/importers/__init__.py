"""Benchmarks' own files to files of tasks."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from grader.lines import OutputError
from grader.tasks.importers import browsecomp, kbrowsecomp, kowidesearch, widesearch
from grader.tasks.packages import Fault, TaskError, load

IMPORTERS: Mapping[str, Callable[[Path, list[Fault]], Iterator[dict[str, Any]]]] = {
    "kbrowsecomp": kbrowsecomp.convert,
    "browsecomp": browsecomp.convert,
    "kowidesearch": kowidesearch.convert,
    "widesearch": widesearch.convert,
}


def import_benchmark(name: str, source: Path, out: Path) -> int:
    """Write the tasks of a benchmark's file to `out`, a line each, and return their number.

    Raises TaskError with every fault of the file, and leaves `out` as it was; OutputError where
    it cannot be written.
    """
    faults: list[Fault] = []
    scratch = out.with_name(f"{out.name}.new.jsonl")
    count = 0
    try:
        with scratch.open("wb") as file:
            for task in IMPORTERS[name](source, faults):
                file.write(orjson.dumps(task, option=orjson.OPT_APPEND_NEWLINE))
                count += 1
        if faults:
            raise TaskError(faults)
        load([scratch])
        scratch.replace(out)
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror}") from error
    finally:
        scratch.unlink(missing_ok=True)
    return count
