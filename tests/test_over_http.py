"""Records get the same verdicts from an archive and from test servers."""

import json
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import trustme
from conftest import Command
from material import Answer, article, read_lines, redirect, serving, write_archive, write_lines

TASK = {
    "name": "facts",
    "kind": "collection",
    "keys": [
        {"name": "fact", "volume": 10, "identity": {"how": "exact"}},
        {"name": "url", "volume": 1},
    ],
    "judge": {"requirements": [{"id": "told", "rule": {"contains": "{item.fact}"}}]},
}
# No page here needs a browser. tests/test_browser_run.py has those.
PAGES = {
    "/facts": article("Facts", "Larch needles fall in autumn."),
    "/latin": Answer(
        article("Facts", "Mélèze needles fall in autumn.").content.decode().encode("latin-1"),
        headers={"Content-Type": "text/html; charset=latin-1"},
    ),
    "/plain": Answer(
        "Larch needles fall in autumn.\n" * 20, headers={"Content-Type": "text/plain"}
    ),
    "/data": Answer(
        '{"note": "Larch needles fall in autumn."}', headers={"Content-Type": "application/json"}
    ),
    "/moved": redirect("/facts", 301),
    "/twice": redirect("/moved"),
    "/loop": redirect("/loop"),
    "/gone": Answer("<h1>Not found</h1>", 404),
    "/empty": Answer(""),
    "/metadata": redirect("http://169.254.169.254/latest/meta-data/"),
}


class Sites:
    """Two servers: http://localhost and https://127.0.0.1, each with a redirect to the other."""

    def __init__(self, http: int, https: int) -> None:
        self.http, self.https = f"http://localhost:{http}", f"https://127.0.0.1:{https}"

    @property
    def pages(self) -> dict[str, Answer]:
        pages = {
            f"{site}{path}": page
            for site in (self.http, self.https)
            for path, page in PAGES.items()
        }
        return {**pages, **self.across}

    @property
    def across(self) -> Mapping[str, Answer]:
        return {
            f"{self.http}/across": redirect(f"{self.https}/facts"),
            f"{self.https}/across": redirect(f"{self.http}/twice", 307),
        }

    @property
    def allowed(self) -> list[str]:
        hosts = (site.partition("//")[2] for site in (self.http, self.https))
        return [part for host in hosts for part in ("--allow-host", host)]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def sites(authority: trustme.CA) -> Iterator[Sites]:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    plain: dict[str, Answer] = dict(PAGES)
    secure: dict[str, Answer] = dict(PAGES)
    with serving(plain) as http, serving(secure, tls) as https:
        found = Sites(http, https)
        for url, page in found.across.items():
            (plain if url.startswith(found.http) else secure)["/across"] = page
        yield found


@pytest.fixture
def trust(authority: trustme.CA, tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(path)
    return {"SSL_CERT_FILE": str(path)}


def write_run(folder: Path, sites: Sites) -> None:
    write_lines(folder / "tasks.jsonl", TASK)
    facts = (
        "Larch needles fall in autumn.",
        "Mélèze needles fall in autumn.",
        "Larch needles fall.",
    )
    records = [
        {"item": {"fact": fact}, "url": url, "excerpts": [fact], "answer": {"fact": fact}}
        for url in sites.pages
        for fact in facts
    ]
    write_lines(folder / "run.jsonl", {"task": "facts", "records": records})


def verdicts(path: Path) -> list[Any]:
    rows = read_lines(path)
    for row in rows:
        page = row["page"]
        del page["via"], page["fetched_at"]
        if page["state"] == "dead" and page["status"] is None:
            del page["final_url"]
    return rows


def test_pages_from_servers_and_from_an_archive_give_the_same_verdicts(
    assay: Command, folder: Path, sites: Sites, trust: Mapping[str, str]
) -> None:
    write_run(folder, sites)
    # Online, the guard refuses the private address. So the archive must not contain it.
    pages = {url: page for url, page in sites.pages.items() if not url.endswith("/metadata")}
    write_archive(folder / "pages.warc.gz", pages)
    grade = ("grade", "run.jsonl", "--tasks", "tasks.jsonl")

    online = assay(*grade, *sites.allowed, "--out", "online", "--cache", "a", env=trust)
    assert online.returncode == 0, online.stderr
    archived = assay(
        *grade, "--pages", "pages.warc.gz", *sites.allowed,
        "--out", "archived", "--cache", "b", env=trust,
    )  # fmt: skip
    assert archived.returncode == 0, archived.stderr

    found = verdicts(folder / "online" / "records.jsonl")
    assert found == verdicts(folder / "archived" / "records.jsonl")
    states = {row["url"].rpartition("/")[2]: row["page"]["state"] for row in found}
    assert states == {
        "facts": "ok", "latin": "ok", "plain": "ok", "data": "ok", "moved": "ok", "twice": "ok",
        "across": "ok", "loop": "dead", "gone": "dead", "empty": "dead",
        "metadata": "refused",
    }  # fmt: skip
    full = [row["verdict_full"] for row in found if row["url"].endswith(("/facts", "/across"))]
    assert full == [True, False, False] * 4
    latin = [row["verdict_full"] for row in found if row["url"].endswith("/latin")]
    assert latin == [False, True, False] * 2


def test_an_exported_cache_gives_the_same_results_offline(
    assay: Command, folder: Path, sites: Sites, trust: Mapping[str, str]
) -> None:
    write_run(folder, sites)
    grade = ("grade", "run.jsonl", "--tasks", "tasks.jsonl", "--cache")
    assert assay(*grade, "a", *sites.allowed, "--out", "one", env=trust).returncode == 0
    assert assay("cache", "export", "moved.warc.gz", "--cache", "a").returncode == 0
    assert assay("cache", "import", "moved.warc.gz", "--cache", "b").returncode == 0
    assert assay("cache", "verify", "--cache", "b").returncode == 0
    again = assay(*grade, "b", *sites.allowed, "--offline", "--out", "two")
    # The redirect to a private address was refused. A refusal is not cached.
    assert again.returncode == 1
    before, after = (
        [row for row in read_lines(folder / out / "records.jsonl") if "/metadata" not in row["url"]]
        for out in ("one", "two")
    )
    assert before == after


def test_pages_with_an_untrusted_certificate_or_a_host_not_allowed_are_not_read(
    assay: Command, sites: Sites
) -> None:
    urls = f"{sites.https}/facts", f"{sites.http}/facts"
    done = assay("fetch", *urls, "--allow-host", sites.https.partition("//")[2])
    assert done.returncode == 1
    untrusted, refused = map(json.loads, done.stdout.splitlines())
    assert untrusted["state"] == "unreachable"
    assert "certificate" in untrusted["reason"]
    assert refused["state"] == "refused"
