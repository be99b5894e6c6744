import asyncio
import gzip
import re
import time
import zlib
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohappyeyeballs
import brotli  # type: ignore[import-untyped]
import pytest
from aiohappyeyeballs import AddrInfoType
from servers import (
    NO_SUCH_NAME,
    PUBLIC,
    Authority,
    Handler,
    Names,
    Request,
    Server,
    answer,
    serving,
)

from fetchers.guard import Guard
from fetchers.page import Dead, Refused, Response, Unreachable
from fetchers.web.coding import zstd
from fetchers.web.http import Http, Limits  # type: ignore[attr-defined]

QUICK = Limits(total=0.3, connect=0.3, idle=0.3, size=100_000)


def saying(*replies: bytes) -> Handler:
    """A handler that sends these bytes as the reply to every request."""

    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.writelines(replies)

    return handler


def routes(**replies: bytes) -> Handler:
    """A handler with one reply for each path. `root` is the reply for `/`."""

    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(replies[request.path[1:] or "root"])

    return handler


async def visit(handler: Handler, path: str = "/", limits: Limits = QUICK) -> Response:
    async with serving(handler) as server:
        return await visit_at(server, path, limits)


async def visit_at(server: Server, path: str = "/", limits: Limits = QUICK) -> Response:
    async with Http(Guard([f"127.0.0.1:{server.port}"]), limits) as http:
        return await http.fetch(f"http://127.0.0.1:{server.port}{path}")


async def test_a_response_has_its_status_url_headers_body_and_time() -> None:
    sent = answer(
        b"\xff\x00page", 200, "Content-Type: Text/HTML; charset=EUC-KR", "X-A: 1", "x-a: 2"
    )
    async with serving(saying(sent)) as server:
        response = await visit_at(server, "/a?b=%zz|c#d")
        assert response.final_url == f"http://127.0.0.1:{server.port}/a?b=%zz|c"
    assert (response.status, response.body, response.via) == (200, b"\xff\x00page", "http")
    assert response.headers == {"content-type": "Text/HTML; charset=EUC-KR", "x-a": "1, 2"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", response.fetched_at)
    assert server.paths == ["/a?b=%zz|c"]
    assert "Mozilla/5.0" in server.requests[0].headers["user-agent"]
    assert "Assay" in server.requests[0].headers["user-agent"]
    assert {"accept", "accept-language", "accept-encoding"} <= server.requests[0].headers.keys()
    assert {"cookie", "authorization", "referer"}.isdisjoint(server.requests[0].headers)


@pytest.mark.parametrize("status", [204, 304, 400, 401, 403, 404, 410, 451, 999])
async def test_other_statuses_are_responses(status: int) -> None:
    assert (await visit(saying(answer(b"", status)))).status == status


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 520, 599])
async def test_429_and_5xx_are_unreachable_and_keep_the_response(status: int) -> None:
    with pytest.raises(Unreachable, match=str(status)) as raised:
        await visit(saying(answer(b"a wall", status, "Retry-After: 7")))
    assert raised.value.retry_after == 7
    assert raised.value.response is not None
    assert (raised.value.response.status, raised.value.response.body) == (status, b"a wall")


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        (timedelta(seconds=600), 500, 600),
        (timedelta(days=-9), 0, 0),
        ("0", 0, 0),
        ("9" * 5000, 86_400, 86_400),
    ],
)
async def test_retry_after_is_a_number_of_seconds_or_a_date(
    value: str | timedelta, least: float, most: float
) -> None:
    if isinstance(value, timedelta):
        value = format_datetime(datetime.now(UTC) + value, usegmt=True)
    with pytest.raises(Unreachable) as raised:
        await visit(saying(answer(b"", 503, f"Retry-After: {value}")))
    assert raised.value.retry_after is not None
    assert least <= raised.value.retry_after <= most


@pytest.mark.parametrize("value", ["", "soon", "-1", "1e5", "Mon, 99 Foo 2020"])
async def test_a_malformed_retry_after_is_ignored(value: str) -> None:
    with pytest.raises(Unreachable) as raised:
        await visit(saying(answer(b"", 503, f"Retry-After: {value}")))
    assert raised.value.retry_after is None


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(status: int) -> None:
    handler = routes(
        **{
            "root": answer(b"", status, "Location: /a/b"),
            "a/b": answer(b"", status, "Location: ../c#x"),
        },
        c=answer(b"end"),
    )
    async with serving(handler) as server:
        response = await visit_at(server)
        assert response.final_url == f"http://127.0.0.1:{server.port}/c"
    assert response.body == b"end"


async def test_a_location_may_have_non_ascii_characters_and_bytes_that_are_not_utf_8() -> None:
    handler = routes(
        **{
            "root": answer(b"", 302, "Location: /é").replace("é".encode("latin-1"), "é".encode()),
            "%C3%A9": answer(b"", 302, "Location: /\xe9"),
            "%E9": answer(b"end"),
        }
    )
    assert (await visit(handler)).body == b"end"


async def test_a_redirect_without_a_location_is_a_response() -> None:
    assert (await visit(saying(answer(b"x", 302)))).status == 302


async def test_the_body_of_a_redirect_is_not_read() -> None:
    endless = b"HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 99999999\r\n\r\n..."
    assert (await visit(routes(root=endless, end=answer(b"end")))).body == b"end"


async def test_a_redirect_loop_is_dead_after_10_redirects() -> None:
    async with serving(saying(answer(b"", 302, "Location: /"))) as server:
        with pytest.raises(Dead, match="redirect loop"):
            await visit_at(server, limits=Limits())
    assert len(server.requests) == 11


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:1/", "//127.0.0.1/", "http://2130706433/", "http://169.254.169.254/latest",
        "http://[::1]/", "http://localhost/", "http://user@10.0.0.1/", "file:///etc/passwd",
        "javascript:alert(1)", "intent://x", "http://", "http://[", "http://a..b/",
    ],
)  # fmt: skip
async def test_the_guard_checks_every_redirect(location: str) -> None:
    with pytest.raises(Refused):
        await visit(saying(answer(b"", 302, f"Location: {location}")))


async def test_a_redirect_may_change_scheme_and_host() -> None:
    authority = Authority()
    async with (
        serving(saying(answer(b"end")), authority.server("site.example.org")) as secure,
        serving(
            saying(answer(b"", 301, f"Location: https://site.example.org:{secure.port}/"))
        ) as plain,
    ):
        guard = Guard(
            [f"127.0.0.1:{plain.port}", f"site.example.org:{secure.port}"],
            names := Names(site_example_org=["127.0.0.1"]),
        )
        async with Http(guard, QUICK, authority.client()) as http:
            response = await http.fetch(f"http://127.0.0.1:{plain.port}/")
            assert response.final_url == f"https://site.example.org:{secure.port}/"
    assert response.body == b"end"
    assert names.asked == ["site.example.org"]  # no second DNS look-up after the check
    assert secure.requests[0].headers["host"] == f"site.example.org:{secure.port}"


async def test_an_untrusted_certificate_is_unreachable() -> None:
    async with (
        serving(saying(answer(b"x")), Authority().server("127.0.0.1")) as server,
        Http(Guard(["127.0.0.1"]), QUICK) as http,
    ):
        with pytest.raises(Unreachable, match="certificate"):
            await http.fetch(f"https://127.0.0.1:{server.port}/")
    assert server.requests == []


async def test_the_client_connects_to_the_address_that_the_guard_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    async def start_connection(addr_infos: list[AddrInfoType], **_: object) -> None:
        tried.extend(info[4][0] for info in addr_infos)
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(aiohappyeyeballs, "start_connection", start_connection)
    names = Names(rebind_example_org=[PUBLIC])
    names.answers["rebind.example.org"].append(["127.0.0.1"])
    async with Http(Guard(lookup=names), QUICK) as http:
        with pytest.raises(Unreachable):
            await http.fetch("http://rebind.example.org/")
    assert set(tried) == {PUBLIC}
    assert names.asked == ["rebind.example.org"]
    async with Http(Guard(lookup=names), QUICK) as http:
        with pytest.raises(Refused):
            await http.fetch("http://rebind.example.org/")
    assert set(tried) == {PUBLIC}


async def test_errors_of_the_resolver_are_the_errors_of_the_visit() -> None:
    names = Names(gone_example_org=NO_SUCH_NAME, inside_example_org=[PUBLIC, "10.0.0.1"])
    async with Http(Guard(lookup=names), QUICK) as http:
        with pytest.raises(Unreachable):
            await http.fetch("http://gone.example.org/")
        with pytest.raises(Refused):
            await http.fetch("http://inside.example.org/")
        names.answers["example.com"] = [[PUBLIC]]
        with pytest.raises(Dead):
            await http.fetch("http://gone.example.org/")


async def test_credentials_in_the_url_are_not_sent() -> None:
    async with serving(saying(answer(b"x"))) as server, Http(Guard(["127.0.0.1"]), QUICK) as http:
        response = await http.fetch(f"http://user:pw@127.0.0.1:{server.port}/")
        assert response.final_url == f"http://127.0.0.1:{server.port}/"
    assert "authorization" not in server.requests[0].headers


async def test_cookies_are_kept_for_one_visit_only() -> None:
    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        if "cookie" in request.headers:
            writer.write(answer(request.headers["cookie"].encode()))
        else:
            writer.write(answer(b"", 302, "Location: /", "Set-Cookie: seen=1", "Set-Cookie: b=2"))

    async with serving(handler) as server, Http(Guard(["127.0.0.1"]), QUICK) as http:
        for _ in range(2):
            response = await http.fetch(f"http://127.0.0.1:{server.port}/")
            assert sorted(response.body.split(b"; ")) == [b"b=2", b"seen=1"]
    assert ["cookie" in request.headers for request in server.requests] == [False, True] * 2


def _deflate(body: bytes, window: int = 15) -> bytes:
    stream = zlib.compressobj(wbits=window)
    return stream.compress(body) + stream.flush()


PAGE = b"<p>" + b"words " * 1000


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(PAGE)),
        ("X-GZIP", gzip.compress(PAGE)),
        ("gzip", gzip.compress(PAGE) + b"\0\0 rubbish after the end"),
        ("deflate", _deflate(PAGE)),
        ("deflate", _deflate(PAGE, -15)),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstd.compress(PAGE)),
        ("gzip, br", brotli.compress(gzip.compress(PAGE))),
        ("deflate, gzip, gzip", gzip.compress(gzip.compress(_deflate(PAGE)))),
        ("utf-8", PAGE),
        ("identity", PAGE),
        ("", PAGE),
    ],
)
async def test_content_codings_are_decoded(coding: str, body: bytes) -> None:
    response = await visit(saying(answer(body, 200, f"Content-Encoding: {coding}")))
    assert response.body == PAGE
    assert "content-encoding" not in response.headers


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", b"not gzip"),
        ("br", b"not brotli"),
        ("zstd", b"not zstd"),
        ("deflate", b"\xff\xff"),
        ("gzip, gzip, gzip, gzip", gzip.compress(PAGE)),
    ],
)
async def test_a_body_that_cannot_be_decoded_is_unreachable(coding: str, body: bytes) -> None:
    with pytest.raises(Unreachable, match="encoding"):
        await visit(saying(answer(body, 200, f"Content-Encoding: {coding}")))


BOMB = bytes(50_000_000)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(BOMB)),
        ("deflate", _deflate(BOMB)),
        ("br", brotli.compress(BOMB, quality=3)),
        ("zstd", zstd.compress(BOMB)),
        ("gzip, gzip", gzip.compress(gzip.compress(BOMB))),
        ("gzip", gzip.compress(b"\0") * 5_000),
    ],
    ids=lambda value: value if isinstance(value, str) else "bomb",
)
async def test_a_decompression_bomb_is_cut(coding: str, body: bytes) -> None:
    response = await visit(saying(answer(body, 200, f"Content-Encoding: {coding}")), limits=LARGE)
    assert set(response.body) == {0}
    assert len(response.body) <= LARGE.size


LARGE = Limits(size=1_000_000)


@pytest.mark.parametrize("length", [99_999, 100_000, 100_001])
async def test_a_body_over_the_size_limit_is_cut(length: int) -> None:
    response = await visit(saying(answer(b"a" * length)))
    assert len(response.body) == min(length, QUICK.size)


def endlessly(head: bytes, piece: bytes, pause: float = 0) -> Handler:
    """A handler that sends `head`, then `piece` again and again until the client closes."""

    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return handler


OK = b"HTTP/1.1 200 OK\r\n"


async def test_a_body_without_an_end_is_cut() -> None:
    response = await visit(endlessly(OK + b"\r\n", b"a" * 10_000))
    assert len(response.body) == QUICK.size


@pytest.mark.parametrize(
    "handler",
    [
        endlessly(OK + b"\r\n", b"a", 0.01),
        endlessly(OK, b"A: b\r\n"),
        endlessly(OK + b"A: ", b"a" * 1000),
        endlessly(b"HTTP/1.1 200 ", b"a" * 1000),
        endlessly(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        endlessly(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 1000),
        endlessly(b"", b"", 0.01),
    ],
)
async def test_a_reply_without_an_end_times_out_or_is_too_long(handler: Handler) -> None:
    started = time.monotonic()
    with pytest.raises(Unreachable):
        await visit(handler)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\0\xff" * 100,
        b"<html>HTTP/0.9</html>",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"a" * 1_000_000 + b"\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n\0",
    ],
)
async def test_malformed_http_is_unreachable_or_a_response(sent: bytes) -> None:
    with suppress(Unreachable):
        assert isinstance(await visit(saying(sent)), Response)


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ],
)
async def test_a_body_that_stops_early_is_unreachable_and_keeps_its_start(sent: bytes) -> None:
    with pytest.raises(Unreachable, match="cut short") as raised:
        await visit(saying(sent))
    assert raised.value.response is not None
    assert raised.value.response.body == b"half"


async def test_http_1_0_is_read() -> None:
    response = await visit(saying(b"HTTP/1.0 200 OK\r\n\r\nold"))
    assert (response.body, dict(response.headers)) == (b"old", {})


@pytest.mark.parametrize(
    "cookie", ["", "=", "a", "a=\xff; Domain=com", "a=b; Max-Age=x; Path=", ";" * 9]
)
async def test_malformed_cookies_and_headers_do_not_fail_the_visit(cookie: str) -> None:
    response = await visit(saying(answer(b"x", 200, f"Set-Cookie: {cookie}", "X-B: \xff\xfe")))
    assert response.body == b"x"
    str(response.headers).encode()


async def test_a_refused_connection_is_unreachable() -> None:
    async with serving(saying(b"")) as server:
        pass
    with pytest.raises(Unreachable, match="Connection refused"):
        await visit_at(server)


async def test_connections_to_one_host_are_limited_and_the_wait_does_not_time_out() -> None:
    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        writer.write(answer(b"x"))

    limits = Limits(total=0.25, per_host=2)
    async with serving(handler) as server, Http(Guard(["127.0.0.1"]), limits) as http:
        url = f"http://127.0.0.1:{server.port}/"
        responses = await asyncio.gather(*(http.fetch(f"{url}{i}") for i in range(20)))
    assert len(responses) == 20
    assert server.most_connections == 2


async def test_all_connections_are_limited() -> None:
    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.01)
        writer.write(answer(b"x"))

    names = Names(**{f"h{i}": ["127.0.0.1"] for i in range(9)})
    limits = Limits(connections=3)
    async with serving(handler) as server, Http(Guard(names.answers, names), limits) as http:
        await asyncio.gather(
            *(http.fetch(f"http://{host}:{server.port}/") for host in names.answers)
        )
    assert server.most_connections == 3


async def test_a_visit_can_be_cancelled() -> None:
    reached = asyncio.Event()

    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with serving(handler) as server, Http(Guard(["127.0.0.1"])) as http:
        task = asyncio.create_task(http.fetch(f"http://127.0.0.1:{server.port}/"))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
