"""A browser says what it does not show, so that style sheets of other files count."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from servers import Request, answer, serving

from fetchers.guard import Guard
from fetchers.reading.extract import extract
from fetchers.reading.visibility.unseen import MARK
from fetchers.web.browser import Browser
from fetchers.web.launch import find
from fetchers.web.marks import MARKING

PROSE = " ".join(f"word{number}" for number in range(200))

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(find() is None, reason="no browser is installed"),
]

HIDING = {
    "display": "display: none",
    "visibility": "visibility: hidden",
    "opacity": "opacity: 0",
    "font": "font-size: 0",
    "indent": "text-indent: -9999px",
    "away": "position: absolute; left: -9999px",
    "shift": "transform: translateX(-9999px)",
    "clip": "position: absolute; clip: rect(0 0 0 0)",
    "clip-path": "clip-path: inset(50%)",
    "height": "height: 0; overflow: hidden",
    "pixel": "position: absolute; width: 1px; height: 1px; overflow: hidden",
    "scale": "transform: scale(0)",
    "white": "color: #fff",
    "nearly-white": "color: #fafafa",
    "transparent": "color: transparent",
    "same": "color: #123456; background: #123456",
}
SHOWING = {
    "contrast": "color: #fff; background: #000",
    "picture": "color: #fff; background-image: url(/a.png)",
    "gradient": "color: transparent; background: linear-gradient(red, blue); background-clip: text",
    "shadow": "color: #fff; text-shadow: 0 0 3px #000",
    "moving": "opacity: 0; transition: opacity 9s",
    "low": "height: 0",
    "left": "position: relative; left: -20px",
    "half": "opacity: .5",
}


class Site:
    """A site of one page and one style sheet, and the browser that visits it."""

    def __init__(self, browser: Browser, replies: dict[str, bytes], url: str) -> None:
        self.browser, self.replies, self.url = browser, replies, url


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def site() -> AsyncIterator[Site]:
    replies: dict[str, bytes] = {}

    async def handler(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(replies.get(request.path, answer(b"", 404)))

    async with serving(handler) as server:
        host = f"127.0.0.1:{server.port}"
        async with Browser(Guard([host])) as browser:
            yield Site(browser, replies, f"http://{host}/")


async def seen(site: Site, css: str, body: str) -> list[str]:
    """The lines that are read of a page whose style sheet is another file."""
    page = f"<!doctype html><link rel=stylesheet href=/sheet>{body}<p>{PROSE}</p>"
    site.replies["/"] = answer(page.encode(), 200, "Content-Type: text/html; charset=utf-8")
    site.replies["/sheet"] = answer(css.encode(), 200, "Content-Type: text/css")
    response = await site.browser.render(site.url)
    lines = extract(response.body, response.headers["content-type"]).text.split("\n")
    assert lines[-1] == PROSE
    return lines[:-1]


async def test_text_that_another_file_hides_is_not_read(site: Site) -> None:
    css = "".join(f".{name} {{ {block} }}" for name, block in {**HIDING, **SHOWING}.items())
    body = "".join(f"<p class={name}>{name}</p>" for name in (*HIDING, *SHOWING))
    assert await seen(site, css, body) == list(SHOWING)


async def test_text_inside_hidden_text_can_show_itself(site: Site) -> None:
    css = ".h { visibility: hidden } .v { visibility: visible }"
    css += ".t { font-size: 0 } .b { font-size: 9px }"
    body = "<div class=h>no<p class=v>yes</p>no</div><div class=t>no<p class=b>yes</p></div>"
    assert await seen(site, css, body) == ["yes", "yes"]


async def test_text_that_a_reader_opens_is_read(site: Site) -> None:
    css = ".x { display: none } .m:hover .x { display: block }"
    body = (
        "<div class=m>m<p class=x>hover</p></div><div class=tabs><p class=x>tab</p></div>"
        "<details><summary>s</summary><p>folded</p></details><div class=z><p class=x>no</p></div>"
        "<script>1</script>"
    )
    assert await seen(site, css, body) == ["m", "hover", "tab", "s", "folded"]


async def test_rules_that_a_script_adds_count(site: Site) -> None:
    body = (
        "<style id=s></style><p class=x>no</p><p class=y>yes</p><script>"
        "s.sheet.insertRule('.x { display: none }'); s.sheet.insertRule('.y { color: #fff }');"
        "s.sheet.insertRule('body { background: #000; color: #ccc }')</script>"
    )
    assert await seen(site, "", body) == ["yes"]


async def test_a_page_cannot_mark_itself(site: Site) -> None:
    body = (
        f"<p {MARK}=display>yes</p><p class=x>no</p><script>"
        "window.getComputedStyle = () => ({getPropertyValue: () => 'block'});"
        "Element.prototype.matches = () => true</script>"
    )
    assert await seen(site, ".x { display: none }", body) == ["yes"]
    assert "mark = element" in MARKING
