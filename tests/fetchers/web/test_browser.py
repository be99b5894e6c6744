import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import psutil
import pytest
import pytest_asyncio
from servers import Request, Server, answer, serving

from fetchers.guard import Guard
from fetchers.page import Dead, Refused, Response, Unreachable
from fetchers.reading.extract import extract
from fetchers.web import browser as browser_module
from fetchers.web import chromium
from fetchers.web.browser import Browser
from fetchers.web.launch import NoBrowser, find
from fetchers.web.page_load import Limits

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(find() is None, reason="no browser is installed"),
]

LIMITS = Limits(total=15, read=3, patience=1.2, memory=400_000_000)
SHORT_LIMITS = replace(LIMITS, total=1.5, read=0.5)
PROSE = " ".join(f"word{number}" for number in range(200))
HTML = "Content-Type: text/html; charset=utf-8"
Body = str | bytes | Callable[[Request, asyncio.StreamWriter], object]

# The host of the test server.
SITE = "site.example"


async def local(host: str) -> list[str]:
    """Resolve every name to 127.0.0.1. The guard allows only the hosts of the test site."""
    if host == "nowhere.example":
        raise socket.gaierror(socket.EAI_NONAME, "no such name")
    return ["127.0.0.1"]


class Site:
    """A site with pages by path, and the browser that renders them."""

    def __init__(self, browser: Browser, server: Server, pages: dict[str, Body]) -> None:
        self.browser, self.server, self.pages = browser, server, pages

    async def visit(self, path: str = "/", **pages: Body) -> Response:
        """Render `path`. `pages` are the replies by path; `root` is the reply for `/`."""
        self.pages.clear()
        self.pages.update({f"/{name}": body for name, body in pages.items() if name != "root"})
        self.pages["/"] = pages.get("root", "")
        self.server.requests.clear()
        return await self.browser.render(f"http://{SITE}:{self.server.port}{path}")

    async def text(self, path: str = "/", **pages: Body) -> str:
        return text(await self.visit(path, **pages))


def text(response: Response) -> str:
    return extract(response.body, response.headers["content-type"]).text


@asynccontextmanager
async def open_site(limits: Limits, workers: int = 4) -> AsyncIterator[Site]:
    pages: dict[str, Body] = {}

    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        body = pages.get(request.path.partition("?")[0])
        if callable(body):
            reply = body(request, writer)
            if asyncio.iscoroutine(reply):
                reply = await reply
            if isinstance(reply, bytes):
                writer.write(reply)
        elif isinstance(body, bytes):
            writer.write(body)
        elif body is None:
            writer.write(answer(b"", 404))
        else:
            writer.write(answer(body.encode(), 200, HTML))

    async with serving(handler) as server:
        guard = Guard([f"{SITE}:{server.port}", f"other.example:{server.port}"], lookup=local)
        async with Browser(guard, limits, workers) as browser:
            yield Site(browser, server, pages)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def site() -> AsyncIterator[Site]:
    async with open_site(LIMITS) as made:
        yield made


@pytest.fixture
def impatient(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The same site with short timeouts."""
    monkeypatch.setattr(site.browser, "_limits", SHORT_LIMITS)
    return site


# ------------------------------------------------------------------------------- what is rendered


async def test_a_page_that_a_script_builds_is_rendered(site: Site) -> None:
    response = await site.visit(
        root=answer(
            b"<title>Shell</title><div id=root></div><script src=/app></script>",
            200,
            "Content-Type: text/html; charset=euc-kr",
            "X-Robots: none",
        ),
        app=f"root.innerHTML = '<h1>\\ub77c\\uba74</h1><p>{PROSE}'",
    )
    assert (response.status, response.via) == (200, "browser")
    assert response.final_url == f"http://{SITE}:{site.server.port}/"
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["x-robots"] == "none"
    assert text(response) == f"라면\n{PROSE}"


async def test_the_browser_waits_for_text_that_loads_later(site: Site) -> None:
    drawn = await site.text(
        root="<p id=p>Loading</p><script>setTimeout(() => fetch('/late').then(r => r.text())"
        ".then(t => p.textContent = t), 700)</script>",
        late=PROSE,
    )
    assert drawn == PROSE


async def test_a_challenge_that_passes_gives_the_page_behind_it(site: Site) -> None:
    def gate(request: Request, writer: asyncio.StreamWriter) -> bytes:
        if "passed=1" in request.headers.get("cookie", ""):
            return answer(f"<p>{PROSE}".encode(), 200, HTML)
        return answer(
            b"<p>Checking your browser<script>setTimeout(() => {"
            b"document.cookie = 'passed=1'; location.reload()}, 1000)</script>",
            503,
            HTML,
        )

    response = await site.visit(root=gate)
    assert (response.status, text(response)) == (200, PROSE)


async def test_a_challenge_that_does_not_pass_is_returned_with_its_status(site: Site) -> None:
    response = await site.visit(root=answer(b"<p>Are you human?", 403, HTML))
    assert (response.status, text(response)) == (403, "Are you human?")
    with pytest.raises(Unreachable, match="status 503") as caught:
        await site.visit(root=answer(b"<p>Are you human?", 503, HTML))
    assert caught.value.response is not None
    assert text(caught.value.response) == "Are you human?"


async def test_a_page_that_sends_requests_without_end_is_read(site: Site) -> None:
    drawn = await site.text(
        root=f"<p>{PROSE}</p><p id=clock></p><script>"
        "setInterval(() => { clock.textContent = Date.now(); fetch('/?' + Date.now()) }, 20)"
        "</script>"
    )
    assert drawn.startswith(PROSE)


async def test_the_start_of_a_page_that_never_finishes_is_read(site: Site) -> None:
    async def stalls(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\n{HTML}\r\n\r\n<p>{PROSE}</p>".encode())
        await asyncio.Event().wait()

    assert await site.text(root=stalls) == PROSE


async def test_frames_and_open_shadow_roots_are_read_at_their_places(site: Site) -> None:
    drawn = await site.text(
        root=f"""<p>first</p><my-card><b slot=name>given</b>unseen</my-card>
            <iframe src=http://other.example:{site.server.port}/frame></iframe>
            <iframe src=/frame?hidden style='display:none'></iframe><p>last</p>
            <script>
            customElements.define('my-card', class extends HTMLElement {{
              connectedCallback() {{
                this.attachShadow({{mode: 'open'}}).innerHTML =
                  '<p>before <slot name=name>unnamed</slot> after</p><my-inner></my-inner>';
              }}
            }});
            customElements.define('my-inner', class extends HTMLElement {{
              connectedCallback() {{
                this.attachShadow({{mode: 'open'}}).innerHTML = '<p>inner</p>';
              }}
            }});
            </script>""",
        frame="<title>no</title><p>framed</p><iframe srcdoc='<p>twice &amp;lt;b&amp;gt;'></iframe>",
    )
    assert drawn.split("\n") == [
        "first", "before given after", "inner", "framed", "twice <b>", "last",
    ]  # fmt: skip


async def test_framesets_are_read(site: Site) -> None:
    drawn = await site.text(
        root="<frameset cols='50%,50%'><frame src=/a><frame src=/b></frameset>",
        a="<p>left</p>",
        b="<p>right</p>",
    )
    assert drawn == "left\nright"


async def test_a_page_cannot_interfere_with_its_reading(site: Site) -> None:
    drawn = await site.text(
        root=f"""<form><input name=childNodes><input name=localName><input name=getAttributeNames>
            <p>in the form</p></form><img name=documentElement><img name=body><p>{PROSE}</p>
            <p title='"><script>'>5 &lt; 6 &amp;amp;</p><script>
            Object.defineProperty(Node.prototype, 'childNodes', {{get: () => []}});
            Element.prototype.getAttributeNames = String.prototype.replace = () => 'fooled';
            Array.prototype.push = null;
            const odd = document.createElement('script');
            odd.textContent = '<' + '/script><p>smuggled</p><' + '!--<' + 'script>';
            document.querySelector('p').after(odd, '\\ud800');
            </script>"""
    )
    assert drawn.split("\n") == ["in the form", "\ufffd", PROSE, "5 < 6 &amp;"]


async def test_images_media_and_fonts_are_not_loaded(site: Site) -> None:
    await site.visit(
        root=f"""<style>@font-face {{ font-family: f; src: url(/font.woff2) }}
            p {{ font-family: f }}</style><img src=/image.png>
            <video src=/video.mp4 autoplay></video>
            <audio src=/audio.mp3 preload=auto></audio><p>{PROSE}<script src=/script></script>""",
        script="new Image().src = '/pixel.gif'; fetch('/data')",
    )
    assert {"/", "/script", "/data"} <= set(site.server.paths) <= {
        "/", "/script", "/data", "/favicon.ico",
    }  # fmt: skip


# ------------------------------------------------------------------------------------- failures


async def test_a_server_that_does_not_reply_is_unreachable(impatient: Site) -> None:
    async def hangs(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    with pytest.raises(Unreachable, match="timed out"):
        await impatient.visit(root=hangs)


async def test_a_dropped_connection_is_unreachable(site: Site) -> None:
    with pytest.raises(Unreachable):
        await site.visit(root=b"")


async def test_a_redirect_loop_is_dead(site: Site) -> None:
    with pytest.raises(Dead, match="redirect loop"):
        await site.visit(root=answer(b"", 302, "Location: /"))
    with pytest.raises(Dead, match="redirect loop"):
        await site.visit(root="<p>wait<script>location.replace('/?' + Math.random())</script>")


async def test_a_script_that_loops_for_ever_ends_only_its_page(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.browser, "_limits", SHORT_LIMITS)
    with pytest.raises(Unreachable, match="timed out"):
        await site.visit(root=f"<p>{PROSE}</p><script>while (true) {{}}</script>")
    monkeypatch.setattr(site.browser, "_limits", LIMITS)
    assert await site.text(root=f"<p>{PROSE}") == PROSE


async def test_a_page_over_the_memory_limit_is_killed(site: Site) -> None:
    with pytest.raises(Unreachable, match="crashed"):
        await site.visit(
            root="<script>const all = []; setInterval(() => "
            "all.push(new Uint8Array(50_000_000).fill(1)), 20)</script>"
        )


async def test_a_page_of_500_mb_is_cut_off(impatient: Site) -> None:
    sent = 0

    async def floods(request: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(f"HTTP/1.1 200 OK\r\n{HTML}\r\nContent-Length: 500000000\r\n\r\n".encode())
        part = b"<p>flood</p>" * 10_000
        while sent < 500_000_000:
            writer.write(part)
            await writer.drain()
            sent += len(part)

    try:
        response = await impatient.visit(root=floods)
    except Unreachable:
        pass
    else:
        assert len(response.body) <= LIMITS.size
    assert sent < 100_000_000


async def test_dialogs_pop_ups_and_beforeunload_do_not_block_a_page(site: Site) -> None:
    drawn = await site.text(
        root=f"""<p>{PROSE}</p><p id=said></p><script>
            addEventListener('beforeunload', event => event.preventDefault());
            alert('stop'); said.textContent = confirm('sure?') + ' ' + prompt('name?');
            print();
            for (let i = 0; i < 20; i++) window.open('/pop-up');
            </script>"""
    )
    assert drawn == f"{PROSE}\nfalse null"


async def test_a_download_is_unreachable_and_does_not_replace_its_page(site: Site) -> None:
    file = answer(b"x" * 1000, 200, "Content-Type: application/zip")
    with pytest.raises(Unreachable, match="download"):
        await site.visit(root=file)
    drawn = await site.text(root=f"<p>{PROSE}<script>location = '/file'</script>", file=file)
    assert drawn == PROSE


async def test_an_unknown_host_is_dead(site: Site) -> None:
    with pytest.raises(Dead, match="no such host"):
        await site.browser.render("http://nowhere.example/")
    with pytest.raises(Dead, match="no such host"):
        await site.visit(root="<script>location = 'https://nowhere.example/'</script>")


# -------------------------------------------------------------------------------------- the guard


async def test_a_page_cannot_reach_an_address_that_the_guard_refuses(site: Site) -> None:
    reached: list[str] = []

    async def inside(request: Request, writer: asyncio.StreamWriter) -> None:
        reached.append(request.path)
        writer.write(answer(b"secret", 200, "Access-Control-Allow-Origin: *", HTML))

    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))
    datagrams.setblocking(False)
    async with serving(inside) as server:
        hosts = ("127.0.0.1", "[::ffff:127.0.0.1]", "inside.example")
        tries = "".join(
            f"""
            reach('http://{host}:{server.port}', 'ws://{host}:{server.port}');
            """
            for host in hosts
        )
        drawn = await site.text(
            root=f"""<p>{PROSE}</p><p id=got></p><script>
              const attempt = work => {{ try {{ work() }} catch {{}} }};
              const element = (name, fields) =>
                document.body.append(Object.assign(document.createElement(name), fields));
              function reach(base, socket) {{
                attempt(() => fetch(base + '/fetch').then(r => r.text()).then(t => got.append(t)));
                attempt(() => fetch('/away?' + base).then(r => r.text()).then(t => got.append(t)));
                attempt(() => navigator.sendBeacon(base + '/beacon', 'x'));
                attempt(() => new WebSocket(socket + '/socket'));
                attempt(() => new EventSource(base + '/events'));
                attempt(() => new Worker(URL.createObjectURL(new Blob([
                  `fetch('${{base}}/worker'); importScripts('${{base}}/import')`]))));
                attempt(() => window.open(base + '/window'));
                element('iframe', {{src: base + '/frame'}});
                element('img', {{src: base + '/image'}});
                element('script', {{src: base + '/script'}});
                element('object', {{data: base + '/object'}});
                for (const rel of ['prefetch', 'preconnect', 'dns-prefetch', 'stylesheet', 'icon',
                                   'prerender', 'modulepreload', 'manifest'])
                  element('link', {{rel, href: base + '/' + rel}});
                element('script', {{type: 'speculationrules', textContent: JSON.stringify({{
                  prefetch: [{{source: 'list', urls: [base + '/speculation']}}]}})}});
              }}
              attempt(() => navigator.serviceWorker.register('/worker'));
              attempt(() => {{
                const peer = new RTCPeerConnection({{iceServers: [
                  {{urls: 'stun:127.0.0.1:{datagrams.getsockname()[1]}'}},
                  {{urls: 'turn:127.0.0.1:{server.port}?transport=tcp',
                    username: 'u', credential: 'c'}}]}});
                peer.createDataChannel('x');
                peer.createOffer().then(offer => peer.setLocalDescription(offer));
              }});
              attempt(() => new WebTransport('https://127.0.0.1:{datagrams.getsockname()[1]}/'));
              {tries}
              </script>""",
            away=lambda request, _: answer(
                b"", 302, f"Location: {request.path.partition('?')[2]}/redirected"
            ),
            worker="fetch('/from-the-service-worker')",
        )
    assert drawn == PROSE
    assert "/away" in " ".join(site.server.paths)
    assert (reached, server.most_connections) == ([], 0)
    with datagrams, pytest.raises(BlockingIOError):
        datagrams.recv(1)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9999/", "https://inside.example/"])
async def test_a_page_that_redirects_to_a_private_address_is_refused(
    site: Site, address: str
) -> None:
    with pytest.raises(Refused):
        await site.browser.render(address)
    with pytest.raises(Refused):
        await site.visit(root=answer(b"", 302, f"Location: {address}"))
    with pytest.raises(Refused):
        await site.visit(root=f"<script>location = '{address}'</script>")


# ----------------------------------------------------------------------------- restarts


@asynccontextmanager
async def no_process_left() -> AsyncIterator[Callable[[], psutil.Process]]:
    """Give a function that finds the browser started inside. No process may be left at the end."""
    us = psutil.Process()
    before = set(us.children(recursive=True))

    def browser() -> psutil.Process:
        found = []
        for process in set(us.children(recursive=True)) - before:
            with suppress(psutil.Error):
                line = process.cmdline()
                if "--remote-debugging-pipe" in line and "--type=" not in " ".join(line):
                    found.append(process)
        return max(found, key=lambda process: process.pid)  # its launch script started earlier

    yield browser
    assert set(us.children(recursive=True)) <= before


async def test_a_browser_that_dies_is_replaced_and_its_pages_are_retried() -> None:
    async with no_process_left() as browser, open_site(LIMITS) as site:
        pages = [f"<p>{PROSE}"]

        def kill_once(request: Request, writer: asyncio.StreamWriter) -> bytes:
            if len(site.server.requests) == 1:
                browser().kill()
            return answer(pages[0].encode(), 200, HTML)

        assert await site.text(root=kill_once) == PROSE
        assert site.server.paths.count("/") == 2
        browser().kill()
        assert await site.text(root=pages[0]) == PROSE


async def test_a_playwright_driver_that_dies_is_replaced() -> None:
    async with no_process_left() as browser, open_site(LIMITS) as site:
        assert await site.text(root=f"<p>{PROSE}") == PROSE
        driver = [p for p in browser().parents() if p.ppid() == psutil.Process().pid]
        driver[0].kill()
        assert await site.text(root=f"<p>{PROSE}") == PROSE


async def test_a_browser_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "_COMMAND_TIMEOUT", 1)
    async with no_process_left() as browser, open_site(LIMITS) as site:
        assert await site.text(root=f"<p>{PROSE}") == PROSE
        browser().suspend()
        assert await site.text(root=f"<p>{PROSE}") == PROSE


async def test_a_browser_is_replaced_after_its_number_of_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(browser_module, "_MAX_PAGES", 2)
    async with no_process_left() as browser, open_site(LIMITS) as site:
        assert await site.text(root=f"<p>{PROSE}") == PROSE
        first = browser()
        url = f"http://{SITE}:{site.server.port}/"
        responses = await asyncio.gather(site.browser.render(url), site.browser.render(url))
        assert [text(response) for response in responses] == [PROSE] * 2
        assert browser() != first


async def test_a_missing_browser_is_an_error_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(browser_module, "find", lambda: None)
    with pytest.raises(NoBrowser, match="install chromium"):
        async with Browser(Guard()):
            pass
    monkeypatch.setattr(browser_module, "find", lambda: "/bin/false")
    async with Browser(Guard(lookup=local, allow=[SITE])) as browser:
        for _ in range(2):
            with pytest.raises(NoBrowser, match="does not start"):
                await browser.render(f"http://{SITE}/")
