"""The cost of a rollup: CPU time for each record, including garbage collection and the reading of
rows; and memory in addition to the rows.

    python -m bench.rollup

Last output (Python 3.11, a virtual machine with 2 cores; target: 15 us at 10^6 records):

     17000 x      10 records, <=       3 children a node:   6.7 us a record,    0 MB
       570 x     300 records, <=       5 children a node:   6.8 us a record,    0 MB
         1 x   10000 records, <=      20 children a node:   9.0 us a record,    3 MB
         1 x  100000 records, <=      20 children a node:  10.5 us a record,   31 MB
         1 x 1000000 records, <=       1 children a node:  14.3 us a record,  729 MB
         1 x 1000000 records, <=      10 children a node:  12.2 us a record,  401 MB
         1 x 1000000 records, <=     100 children a node:   9.3 us a record,  232 MB
         1 x 1000000 records, <= 1000000 children a node:  13.7 us a record,  389 MB
"""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from grader.kinds.collection.rollup import Scorer
from grader.tasks.collection import CollectionTask

SHAPES = (
    (17_000, 10, 3),
    (570, 300, 5),
    (1, 10_000, 20),
    (1, 100_000, 20),
    (1, 1_000_000, 1),
    (1, 1_000_000, 10),
    (1, 1_000_000, 100),
    (1, 1_000_000, 1_000_000),
)
"""The submissions, the records of each, and the most children of a node above the URLs."""


def key(name: str, volume: int) -> dict[str, Any]:
    return {"name": name, "volume": volume}


TASK = CollectionTask.model_validate(
    {
        "name": "bench",
        "kind": "collection",
        "keys": [key("country", 30), key("company", 70), key("product", 3), key("url", 2)],
        "subtasks": [
            {"name": "listings", "parent": "company", "keys": [key("url", 1)]},
            {"name": "offices", "parent": "country", "keys": [key("city", 5), key("url", 1)]},
        ],
    }
)


def rows(number: int, width: int) -> Iterator[dict[str, Any]]:
    """One submission. Two in five records are of subtasks; one in fifty uses another name."""
    for n in range(number):
        subtask = (None, None, None, "listings", "offices")[n % 5]
        item, rest = {}, n
        for level in ("product", "company", "country"):
            rest, place = divmod(rest, width)
            item[level] = f"{level} {rest} {place}"
        if subtask == "listings":
            item = {"company": item["company"]}
        elif subtask == "offices":
            item = {"country": item["country"], "city": f"city {n}"}
        alias = n % 50 == 0
        url = f"https://site{n % 1000}.example/page/{n}"
        yield {
            "subtask": subtask,
            "item": item,
            "url": url,
            "canonical": {"url": url},
            "identity": {k: v.rsplit(" ", 1)[0] for k, v in item.items()} if alias else {},
            "verdict_full": n % 3 == 0,
            "verdict_retrieval": n % 3 < 2,
            "confidence": 1 + n % 7 // 3,
            "state": "graded" if n % 40 else "invalid",
        }


def peak() -> float:
    """The peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(submissions: int, records: int, width: int) -> None:
    """Time one shape."""
    scorer = Scorer(TASK)
    submission = list(rows(records, width))
    before, start = peak(), time.process_time()
    for _ in range(submissions):
        scorer.rollup(map(scorer.leaf, submission))
    each = (time.process_time() - start) / records / submissions * 1e6
    shape = f"{submissions:>10} x {records:>7} records, <= {width:>7} children a node"
    print(f"{shape}: {each:5.1f} us a record, {peak() - before:4.0f} MB")


if __name__ == "__main__":
    if sys.argv[1:]:
        main(*map(int, sys.argv[1:]))
    else:  # one process for each shape, for its own peak
        for shape in SHAPES:
            subprocess.run([sys.executable, "-m", "bench.rollup", *map(str, shape)], check=True)
