"""Grade runs whose pages need a browser, with a real browser."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import Command
from material import Answer, article, read_lines, serving, write_lines

from fetchers.web.launch import find
from grader.grader import Grader
from grader.settings import Settings

pytestmark = pytest.mark.skipif(find() is None, reason="no browser is installed")

TASK = {
    "name": "facts",
    "kind": "collection",
    "keys": [
        {"name": "fact", "volume": 10, "identity": {"how": "exact"}},
        {"name": "url", "volume": 1},
    ],
    "judge": {"requirements": [{"id": "told", "rule": {"contains": "{item.fact}"}}]},
}
FACT = "Larch needles fall in autumn."
PROSE = " ".join(f"word{number}" for number in range(150))
DRAWN = f"document.getElementById('root').innerHTML = '<h1>Larch</h1><p>{FACT}</p><p>{PROSE}</p>'"


def shell(script: str) -> Answer:
    return Answer(f"<title>App</title><div id=root></div><script>{script}</script>")


def challenge(script: str, status: int = 403) -> Answer:
    return Answer(
        f"<title>Just a moment...</title><h1>Checking your browser</h1><script>{script}</script>",
        status,
    )


def site(inside: int) -> dict[str, Answer]:
    """Pages that need a browser. `inside` is the port of a server that no page may reach."""
    return {
        "/plain": article("Larch", FACT),
        "/drawn": shell(DRAWN),
        "/challenge": challenge("setTimeout(() => location.replace('/plain'), 1000)"),
        "/wall": challenge("", 403),
        "/inside": shell(
            f"fetch('http://127.0.0.1:{inside}/secret').then(r => r.text())"
            ".catch(() => 'nothing came').then(t => {"
            f"{DRAWN}; root.append(t)}})"
        ),
        "/frame": shell(
            f"{DRAWN}; root.innerHTML += '<iframe src=http://127.0.0.1:{inside}/secret>'"
        ),
        "/moves": shell(f"location.href = 'http://127.0.0.1:{inside}/secret'"),
    }


class RecordedPages(dict[str, Answer]):
    """Pages by path, and the paths that were requested."""

    def __init__(self, pages: Mapping[str, Answer]) -> None:
        super().__init__(pages)
        self.requested: list[str] = []

    def get(self, path: str, default: Any = None) -> Any:
        self.requested.append(path)
        return super().get(path, default)


class Sites:
    """A site that the guard allows, and a server with a secret that it refuses."""

    def __init__(self, port: int, pages: RecordedPages, secret: RecordedPages) -> None:
        self.base, self.pages, self.secret = f"http://127.0.0.1:{port}", pages, secret

    def write_run(self, folder: Path, *paths: str) -> list[object]:
        """Write a run that cites these paths. Return the arguments that grade it."""
        records = [
            {"item": {"fact": FACT}, "url": self.base + path, "excerpts": [FACT], "answer": "Yes"}
            for path in paths
        ]
        write_lines(folder / "tasks.jsonl", TASK)
        write_lines(folder / "run.jsonl", {"task": "facts", "records": records})
        host = self.base.partition("//")[2]
        return ["grade", "run.jsonl", "--tasks", "tasks.jsonl", "--allow-host", host]


@pytest.fixture
def sites() -> Iterator[Sites]:
    secret = RecordedPages({"/secret": article("Secret", "The key is 1234.")})
    with serving(secret) as inside:
        pages = RecordedPages(site(inside))
        with serving(pages) as port:
            yield Sites(port, pages, secret)


def outcomes(folder: Path) -> dict[str, tuple[str, str, bool]]:
    """The page state, `via` and full verdict of each path."""
    rows = read_lines(folder / "out" / "records.jsonl")
    return {
        "/" + row["url"].rpartition("/")[2]: (
            row["page"]["state"],
            row["page"]["via"],
            row["verdict_full"],
        )
        for row in rows
    }


EXPECTED = {
    "/plain": ("ok", "http", True),
    "/drawn": ("ok", "browser", True),
    "/challenge": ("ok", "browser", True),
    "/wall": ("blocked", "http", False),
    "/inside": ("ok", "browser", True),
    "/frame": ("ok", "browser", True),
    "/moves": ("unrendered", "http", False),
}


def test_rendered_pages_are_graded_and_cached(assay: Command, folder: Path, sites: Sites) -> None:
    grade = sites.write_run(folder, *EXPECTED)
    done = assay(*grade)
    assert done.returncode == 0, done.stderr
    assert outcomes(folder) == EXPECTED
    assert not sites.secret.requested
    rows = {row["url"].rpartition("/")[2]: row for row in read_lines(folder / "out/records.jsonl")}
    assert rows["challenge"]["page"]["final_url"] == f"{sites.base}/plain"
    assert rows["drawn"]["page"]["words"] > 150
    work = json.loads((folder / "out" / "summary.json").read_text())["work"]
    assert work["render"]["done"] >= 5

    # Offline, the cached pages are used and nothing is rendered.
    before, requests = (folder / "out" / "records.jsonl").read_bytes(), len(sites.pages.requested)
    again = assay(*grade, "--offline")
    assert again.returncode == 0, again.stderr
    assert len(sites.pages.requested) == requests
    assert (folder / "out" / "records.jsonl").read_bytes() == before


def test_without_a_browser_there_is_one_warning_and_pages_from_http_are_graded(
    assay: Command, folder: Path, sites: Sites
) -> None:
    env = {"PATH": str(folder), "PLAYWRIGHT_BROWSERS_PATH": str(folder)}
    done = assay(*sites.write_run(folder, *EXPECTED), env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no browser: install chromium") == 1
    assert outcomes(folder) == {
        path: (state, via, full) if via == "http" else (state_over_http(path), "http", False)
        for path, (state, via, full) in EXPECTED.items()
    }


def state_over_http(path: str) -> str:
    return "blocked" if path == "/challenge" else "unrendered"


def test_fetch_renders_a_page_with_the_flag_browser(
    assay: Command, folder: Path, sites: Sites
) -> None:
    host = sites.base.partition("//")[2]
    fetch = ("fetch", f"{sites.base}/drawn", "--allow-host", host)
    assert json.loads(assay(*fetch).stdout)["state"] == "unrendered"
    shown = json.loads(assay(*fetch, "--browser").stdout)
    assert (shown["state"], shown["via"]) == ("ok", "browser")


async def test_a_browser_that_is_killed_is_replaced(tmp_path: Path) -> None:
    """One page kills the browser while it is rendered. All pages are rendered all the same."""
    killed: list[int] = []

    class Killing(dict[str, Answer]):
        def get(self, path: str, default: Any = None) -> Any:
            if path == "/kill" and not killed:
                killed.extend(kill_browsers())
            return super().get(path, default)

    drawn = Answer(shell(DRAWN).body)
    pages = Killing({f"/{n}": drawn for n in range(3)})
    pages["/victim"] = shell("fetch('/kill').finally(() => {" + DRAWN + "})")
    with serving(pages) as port:
        base = f"http://127.0.0.1:{port}"
        settings = Settings(cache=tmp_path / "cache", allow_hosts=(f"127.0.0.1:{port}",))
        async with Grader(settings) as grader:
            found = await grader.pages([f"{base}{path}" for path in ("/0", "/victim", "/1", "/2")])
        assert killed
    assert [(page.state, page.via, page.reason) for page in found] == [("ok", "browser", "")] * 4


def kill_browsers() -> list[int]:
    """Kill the browsers that this process has started. Return their process ids."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # the process has ended
            name, *flags = process.cmdline() or [""]
            if "chrom" in Path(name).name and not any(flag.startswith("--type=") for flag in flags):
                found.append(process)
    for process in found:
        process.kill()
    return [process.pid for process in found]
