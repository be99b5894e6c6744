"""Converts the questions of BrowseComp to answer tasks (OpenAI, arXiv 2504.12516)."""

import base64
import csv
import hashlib
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from grader.tasks.packages import Fault

_ENCRYPTED = ("problem", "answer")
_KEY = "canary"


def convert(source: Path, faults: list[Fault]) -> Iterator[dict[str, Any]]:
    """Yield the tasks of the published CSV, decrypted. Other columns become labels. A row that
    cannot be converted is added to `faults`, with its line."""
    try:
        with source.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, restkey="")
            if missing := {*_ENCRYPTED, _KEY} - set(rows.fieldnames or ()):
                faults.append(Fault(f"{source}:1", min(missing), "no such column"))
                return
            for row in rows:
                place = f"{source}:{rows.line_num}"
                try:
                    yield _task(row, f"{source.stem}-{rows.line_num}")
                except _Undecryptable as error:
                    faults.append(Fault(place, str(error), "cannot be decrypted"))
    except OSError as error:
        faults.append(Fault(str(source), "", f"unreadable: {error.strerror}"))
    except (UnicodeDecodeError, csv.Error) as error:
        faults.append(Fault(str(source), "", f"unreadable: {error}"))


class _Undecryptable(Exception):
    """A field that cannot be decrypted; the message is its name."""


def _task(row: Mapping[str, str | None], name: str) -> dict[str, Any]:
    problem, answer = (_decrypt(field, row.get(field), row.get(_KEY)) for field in _ENCRYPTED)
    own = ("", "id", _KEY, *_ENCRYPTED)
    return {
        "name": row.get("id") or name,
        "kind": "answer",
        "prompt": problem,
        "answer": answer,
        "labels": {field: value for field, value in row.items() if field not in own and value},
    }


def _decrypt(field: str, text: str | None, password: str | None) -> str:
    """Decode base64, then XOR with the SHA-256 digest of the canary, which is repeated."""
    key = hashlib.sha256((password or "").encode()).digest()
    try:
        secret = base64.b64decode(text or "", validate=True)
        plain = bytes(a ^ b for a, b in zip(secret, cycle(key), strict=False)).decode().strip()
    except ValueError:
        raise _Undecryptable(field) from None
    if not plain:
        raise _Undecryptable(field)
    return plain
