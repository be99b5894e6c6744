"""The time of grading from a warm cache, at the size of the WANDR benchmark: 170,495 records on
57,000 pages.

    python bench/regrade.py [--records 170495] [--pages 57000] [--folder DIR]

Writes an archive of small pages and a run file, and grades once to fill the cache. Then it times
grading again in another process, and reading and decoding one ledger row for each record.
"""

import argparse
import asyncio
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import orjson
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cache.folder import Cache

PER_SUBMISSION = 300
FILLER = "The harbour office counts every ship that comes in, and writes down its cargo. " * 12

TASK = {
    "name": "bench",
    "kind": "collection",
    "keys": [
        {"name": "company", "volume": 100},
        {"name": "person", "fields": ["company", "person"], "volume": 1},
        {"name": "url", "volume": 3},
    ],
    "judge": {
        "requirements": [
            {"id": "names", "rule": {"contains": ["{item.company}", "{item.person}"]}},
            {"id": "words", "rule": {"min_words": 20}},
        ]
    },
}


def url(page: int) -> str:
    return f"https://news{page % 997}.example/articles/{page}"


def write_archive(path: Path, pages: int) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for page in range(pages):
            body = (
                f"<html><head><title>Page {page}</title></head><body><p>Company {page} named "
                f"Person {page} as its head on {page} counts.</p><p>{FILLER}</p></body></html>"
            ).encode()
            headers = StatusAndHeaders(
                "200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1"
            )
            writer.write_record(
                writer.create_warc_record(
                    url(page), "response", payload=io.BytesIO(body), http_headers=headers
                )
            )


def submissions(records: int, pages: int) -> Iterator[dict[str, Any]]:
    """Submissions of 300 records, with three records for each page. If the records are more than
    three times the pages, the pages come again in further rollouts."""
    batch: list[dict[str, Any]] = []
    for number in range(records):
        page = number // 3 % pages
        quote = ("named Person", f"Company {page} named Person {page}", "as its head")[number % 3]
        batch.append(
            {
                "item": {"company": f"Company {page}", "person": f"Person {page}"},
                "url": url(page),
                "excerpts": [quote],
                "answer": {"role": "head", "note": number % 3},
            }
        )
        if len(batch) == PER_SUBMISSION or number == records - 1:
            yield {"task": "bench", "rollout": str(number // PER_SUBMISSION), "records": batch}
            batch = []


def grade(folder: Path, run: Path, out: str) -> tuple[float, int]:
    """The seconds and the peak memory in KiB of `assay grade` in another process."""
    command = [
        sys.executable, str(Path(__file__).resolve().parent.parent / "cli.py"), "grade", str(run),
        "--tasks", str(folder / "tasks.jsonl"), "--pages", str(folder / "pages.warc.gz"),
        "--offline", "--cache", str(folder / "cache"), "--out", str(folder / out),
    ]  # fmt: skip
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    return time.perf_counter() - began, usage.ru_maxrss


async def read_rows(folder: Path, records: int) -> float:
    """The microseconds to read and decode a ledger row of the stage `judge`, in batches of 500."""
    async with Cache.open(folder / "cache") as cache:
        keys = [
            stored.row.key
            async for page in cache.ledger.pages()
            for stored in page
            if stored.row.stage == "judge"
        ][:records]
        began = time.perf_counter()
        for start in range(0, len(keys), 500):
            for row in (await cache.ledger.get_many("judge", keys[start : start + 500])).values():
                orjson.loads(row)
        return (time.perf_counter() - began) / len(keys) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=170_495)
    parser.add_argument("--pages", type=int, default=57_000)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    folder = args.folder or Path(mkdtemp(prefix="regrade-"))
    folder.mkdir(exist_ok=True)
    run = folder / "run.jsonl"
    (folder / "tasks.jsonl").write_text(json.dumps(TASK) + "\n")
    if not (folder / "pages.warc.gz").exists():
        write_archive(folder / "pages.warc.gz", args.pages)
    with run.open("wb") as file:
        file.writelines(orjson.dumps(s) + b"\n" for s in submissions(args.records, args.pages))
    seconds, peak = grade(folder, run, "first")
    print(f"first call: {seconds:.1f} s, {peak / 1024:.0f} MiB")
    for _ in range(3):
        seconds, peak = grade(folder, run, "again")
        row = asyncio.run(read_rows(folder, args.records))
        record = seconds / args.records * 1e6
        print(
            f"again: {seconds:.1f} s, {record:.0f} µs a record, {row:.1f} µs a ledger row, "
            f"ratio {record / row:.1f}, {peak / 1024:.0f} MiB"
        )


if __name__ == "__main__":
    main()
