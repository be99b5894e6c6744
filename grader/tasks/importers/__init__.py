"""Converts the files of benchmarks to files of tasks."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from grader.lines import OutputError, check_not_inputs
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

    Raises TaskError with every fault of the file, and OutputError if `out` cannot be written or is
    the source. `out` stays as it was then.
    """
    faults: list[Fault] = []
    scratch = out.with_name(f"{out.name}.new.jsonl")
    check_not_inputs([out, scratch], [source])
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
        raise OutputError(f"cannot write {out}: {error.strerror}; choose another --out") from error
    finally:
        scratch.unlink(missing_ok=True)
    return count
