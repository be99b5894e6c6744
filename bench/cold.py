"""Grading from cold: CPU seconds a page and a record, of all processes.

python bench/cold.py RUN.jsonl --tasks TASKS --pages ARCHIVE.warc.gz
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

CLI = Path(__file__).resolve().parent.parent / "cli.py"


PR_SET_CHILD_SUBREAPER = 36


def reap() -> None:
    """Wait for the processes that a call has left behind, so that their time is counted."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--pages", required=True)
    args = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with TemporaryDirectory() as folder:
        command = [
            sys.executable, str(CLI), "grade", args.run, "--tasks", args.tasks,
            "--pages", args.pages, "--offline", "--cache", f"{folder}/cache", "--out", folder,
        ]  # fmt: skip
        for name in ("cold", "again"):
            before, began = os.times(), time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            wall = time.perf_counter() - began
            reap()
            after = os.times()
            cpu = sum(after[2:4]) - sum(before[2:4])
            with Path(folder, "records.jsonl").open(encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
            pages = {row["canonical"]["url"] for row in rows}
            print(
                f"{name}: {len(pages)} pages, {len(rows)} records, {wall:.1f} s; CPU {cpu:.1f} s, "
                f"{cpu / len(pages) * 1e3:.1f} ms a page, {cpu / len(rows) * 1e3:.2f} ms a record"
            )


if __name__ == "__main__":
    main()
