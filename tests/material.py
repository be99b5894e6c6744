"""Test pages, in archives and behind servers, and files of JSON lines."""

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Event, Semaphore, Thread
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

WARC_DATE = "2026-09-01T12:00:00Z"

PROSE = (
    "This page was written for a test. It has a few sentences of plain prose, so that a reader "
    "finds something to read here, and nothing on it is hidden, blocked or sold. "
)


@dataclass(frozen=True)
class Answer:
    """The response of a server to a request for a page."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"}
    )

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


def article(title: str, *sentences: str) -> Answer:
    """A page with enough prose, and the given sentences."""
    text = "".join(f"<p>{sentence}</p>" for sentence in (PROSE * 2, *sentences))
    return Answer(f"<!doctype html><title>{title}</title><h1>{title}</h1>{text}")


def redirect(target: str, status: int = 302) -> Answer:
    return Answer("", status, {"Location": target})


def write_archive(path: Path, pages: Mapping[str, Answer]) -> Path:
    """A WARC with a response for every URL."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=path.suffix == ".gz")
        for url, answer in pages.items():
            head = StatusAndHeaders(
                f"{answer.status} Reason",
                [*answer.headers.items(), ("Content-Length", str(len(answer.content)))],
                protocol="HTTP/1.1",
            )
            writer.write_record(
                writer.create_warc_record(
                    url,
                    "response",
                    payload=BytesIO(answer.content),
                    http_headers=head,
                    warc_headers_dict={"WARC-Date": WARC_DATE},
                )
            )
    return path


def write_lines(path: Path, *lines: Any) -> Path:
    """A file of JSON lines; bytes are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    path.write_bytes(b"".join(line + b"\n" for line in raw))
    return path


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


class Gate:
    """Holds requests back until it is opened, and waits for requests to arrive."""

    def __init__(self) -> None:
        self._opened = Event()
        self._came = Semaphore(0)

    def wait(self, path: str) -> None:
        self._came.release()
        self._opened.wait(30)

    def open(self) -> None:
        self._opened.set()

    def see(self, requests: int) -> None:
        """Return when this many requests have arrived."""
        for _ in range(requests):
            assert self._came.acquire(timeout=30)


@contextmanager
def serving(
    pages: Mapping[str, Answer], tls: ssl.SSLContext | None = None, gate: Gate | None = None
) -> Iterator[int]:
    """Serve pages by path on a port of 127.0.0.1, over https if `tls` is given. Other paths get a
    404. With a `gate`, responses wait until it is open."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if gate:
                gate.wait(self.path)
            answer = pages.get(self.path, Answer("<h1>Not found</h1>", 404))
            self.send_response(answer.status)
            for name, value in (*answer.headers.items(), ("Content-Length", len(answer.content))):
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that goes away, which is its right

    with Server(("127.0.0.1", 0), Handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            if gate:
                gate.open()
            server.shutdown()
            thread.join()
