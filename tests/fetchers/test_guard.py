import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from servers import NO_SUCH_NAME, PUBLIC, Names

from fetchers.guard import Guard, closed
from fetchers.page import Dead, Refused, Unreachable

WRAPPING = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
PUBLIC_V6 = "2606:2800:21f:cb07::1"


NO_RESOLVER = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

CLOSED = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
    "127.0.0.1", "127.255.0.1", "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255",
    "192.0.0.1", "192.0.0.170", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1",
    "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255",
    "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8",
    "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1",
    "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "2001:470::5efe:127.0.0.1",
    "2001:470::200:5efe:10.0.0.1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1",
    "fe80::1%eth0", "fec0::1", "ff02::1",
]  # fmt: skip

OPEN = [
    PUBLIC, PUBLIC_V6, "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255",
    "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1", "198.17.0.1", "198.20.0.1",
    "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:4860:4860::8888",
]  # fmt: skip

REFUSED = [
    "http://2130706433/", "http://0x7f000001/", "http://017700000001/", "http://127.1/",
    "http://0177.0.0.1:8000/", "http://0x7f.0.0x0.1/", "http://127.0.0.1./", "http://0/",
    "http://%31%32%37.0.0.1/", "http://１２７.０.０.１/", "http://127。0。0。1/", "http://⑩.0.0.1/",
    "http://example.com@127.0.0.1/", "http://example.com:80@127.0.0.1:81/",
    "http://127.0.0.1#@example.com/", "http://127.0.0.1\\@example.com/", "http:127.0.0.1/",
    "http:\\\\127.0.0.1/", "ht\ttp://127.0.0.1/", "http://127.0.\n0.1/", "\x00http://127.0.0.1/",
    "https://good.example@127.0.0.1/", "https://a@good.example@127.0.0.1/",
    "https://good.example%2F@127.0.0.1/", "https://good.example:443@[::1]/",
    "https://good.example%40127.0.0.1/", "https://:@localhost/", "https://@127.1/",
    "https:good.example@0x7f.1", "https://good.example\t@127.0.0.1/",
    "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::]/",
    "http://[fe80::1%25eth0]/", "http://[v1.a]/",
    "http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://ｌｏｃａｌｈｏｓｔ/",
    "http://printer.local/", "http://metadata.google.internal/", "http://a.internal./",
    "http://router.lan/", "http://nas.home.arpa/", "http://wiki.corp/", "http://intranet/",
    "http://a.localdomain/", "http://facebookcorewwwi.onion/", "http://com/",
    "http://a..example.com/", f"http://{'a' * 64}.example.com/", f"http://{'a.' * 130}com/",
    "http://1.2.3.4.5/", "http://256.1.1.1/", "http://example.com:99999/",
    "http://example.com:22/", "https://example.com:25/", "http://example.com:6379/",
    "http://example.com:0/",
    "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x",
    "about:blank", "gopher://127.0.0.1/_x", "view-source:http://example.com/", "ws://example.com/",
    "blob:http://example.com/1", "example.com", "//example.com/", "http://", "", "\ud800",
    "http://example.com/" + "a" * 20_000,
]  # fmt: skip


@pytest.mark.parametrize("address", CLOSED)
def test_closed_addresses(address: str) -> None:
    assert closed(ip_address(address))


@pytest.mark.parametrize("address", OPEN)
def test_open_addresses(address: str) -> None:
    assert closed(ip_address(address)) == ""


@given(st.ip_addresses())
@example(IPv4Address("192.0.0.9"))
def test_an_open_address_is_global_in_the_registry(address: IPv4Address | IPv6Address) -> None:
    if not address.is_global or address.is_multicast or address.is_reserved:
        wraps = isinstance(address, IPv6Address) and any(address in block for block in WRAPPING)
        assert closed(address) or wraps


@pytest.mark.parametrize("url", REFUSED)
def test_refused_before_any_resolving(url: str) -> None:
    with pytest.raises(Refused):
        Guard().target(url)


def _spellings(address: IPv4Address) -> st.SearchStrategy[str]:
    """The ways in which a browser lets this address be written."""
    number = st.sampled_from(["{:d}", "0x{:x}", "0X{:X}", "0{:o}", "0x00{:x}", "000{:o}"])
    a, b, c, d = address.packed
    counts = st.sampled_from(
        [(a, b, c, d), (a, b, c << 8 | d), (a, b << 16 | c << 8 | d), (int(address),)]
    )
    dot = st.sampled_from([".", "。", "．", "｡", "%2E", "%2e"])

    def wide(text: str) -> str:
        return "".join(chr(ord(c) + 0xFEE0) if c.isdecimal() else c for c in text)

    @st.composite
    def spelling(draw: st.DrawFn) -> str:
        text = draw(number).format((numbers := draw(counts))[0])
        for value in numbers[1:]:
            text += draw(dot) + draw(number).format(value)
        if "%" not in text and draw(st.booleans()):
            text = wide(text)
        before = draw(st.sampled_from(["", "user@", "user:pw@", "example.com@", "a%40b:@"]))
        return before + text + draw(st.sampled_from(["", "."])) + draw(st.sampled_from(["", ":80"]))

    return spelling()


@given(st.sampled_from(CLOSED[:26]).map(IPv4Address).flatmap(_spellings))
def test_every_spelling_of_a_closed_address_is_refused(spelling: str) -> None:
    with pytest.raises(Refused):
        Guard().target(f"http://{spelling}/")


@pytest.mark.parametrize("user", ["u@", "u:p@", ":p@", "@", "127.0.0.1@", "a@b:c@", "u%40h:%2F@"])
def test_a_target_has_no_credentials(user: str) -> None:
    assert Guard().target(f"https://{user}good.example/@a").url == "https://good.example/@a"


@given(st.text())
def test_any_text_is_a_target_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"http://{text}.example.com/", f"http://a.b:{text}/"):
        with suppress(Refused):
            assert Guard().target(url).url.startswith(("http://", "https://"))


def test_a_target_is_the_address_as_a_browser_reads_it() -> None:
    target = Guard().target(" HTTPS://user:pw@WWW.Bücher.example/a b?q=%zz|#x ")
    assert target.url == "https://www.xn--bcher-kva.example/a%20b?q=%zz|"
    assert (target.host, target.port) == ("www.xn--bcher-kva.example", 443)
    assert Guard().target(f"http://[{PUBLIC_V6}]:8080/").host == PUBLIC_V6


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("127.0.0.1", "http://2130706433:9/"),
        ("127.1", "http://127.0.0.1/"),
        ("localhost", "https://LocalHost.:22/"),
        ("localhost:80", "http://localhost/"),
        ("[::1]:8000", "http://[0::1]:8000/"),
        ("::1", "http://[::1]:1/"),
        ("wiki", "http://wiki/"),
        ("Bücher.local", "http://xn--bcher-kva.local/"),
    ],
)
def test_an_allowed_host_is_open(allowed: str, url: str) -> None:
    Guard([allowed]).target(url)


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8001/"),
        ("127.0.0.1:8000", "http://localhost:8000/"),
        ("localhost:8000", "http://127.0.0.1:8000/"),
        ("localhost:8000", "http://a.localhost:8000/"),
        ("127.0.0.1", "http://127.0.0.2/"),
        ("127.0.0.1", "file://127.0.0.1/x"),
    ],
)
def test_an_allowed_host_opens_no_other(allowed: str, url: str) -> None:
    with pytest.raises(Refused):
        Guard([allowed]).target(url)


@pytest.mark.parametrize("entry", ["", "http://a/", "a:b", "a:99999", "a/b", "u@h", "a:b:c", "a b"])
def test_text_that_is_not_a_host_cannot_be_allowed(entry: str) -> None:
    with pytest.raises(ValueError, match="not a host"):
        Guard([entry])


async def test_public_names_resolve() -> None:
    guard = Guard(lookup=Names(example_org=[PUBLIC, PUBLIC_V6]))
    assert await guard.addresses("example.org", 443) == [PUBLIC, PUBLIC_V6]


@pytest.mark.parametrize("address", CLOSED)
async def test_one_closed_address_among_the_answers_refuses_the_name(address: str) -> None:
    guard = Guard(lookup=Names(example_org=[PUBLIC, address, PUBLIC_V6]))
    with pytest.raises(Refused):
        await guard.addresses("example.org", 80)


async def test_every_answer_of_the_resolver_is_checked() -> None:
    names = Names(example_org=[PUBLIC])
    names.answers["example.org"].append(["127.0.0.1"])
    guard = Guard(lookup=names)
    assert await guard.addresses("example.org", 80) == [PUBLIC]
    with pytest.raises(Refused):
        await guard.addresses("example.org", 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
async def test_a_host_is_checked_even_if_it_was_never_a_target(host: str) -> None:
    names = Names(localhost=[PUBLIC])
    with pytest.raises(Refused):
        await Guard(lookup=names).addresses(host, 80)
    assert names.asked == []


async def test_an_allowed_name_may_have_a_private_address() -> None:
    guard = Guard(["wiki:8000"], Names(wiki=["10.0.0.7"]))
    assert await guard.addresses("wiki", 8000) == ["10.0.0.7"]


async def test_no_such_host_by_a_resolver_that_has_answered() -> None:
    names = Names(example_org=[PUBLIC])
    guard = Guard(lookup=names)
    await guard.addresses("example.org", 80)
    with pytest.raises(Dead, match="no such host"):
        await guard.addresses("gone.example.org", 80)
    assert names.asked == ["example.org", "gone.example.org"]


async def test_no_such_host_by_a_resolver_that_answers_when_asked() -> None:
    names = Names(example_com=[PUBLIC])
    with pytest.raises(Dead):
        await Guard(lookup=names).addresses("gone.example.org", 80)


@pytest.mark.parametrize("answer", [NO_SUCH_NAME, NO_RESOLVER, OSError("broken"), []])
async def test_no_name_is_dead_if_the_resolver_answers_for_no_name(
    answer: OSError | list[str],
) -> None:
    names = Names(gone_example_org=answer, wiki=["10.0.0.7"])
    guard = Guard(["wiki"], names)
    await guard.addresses("wiki", 80)  # perhaps from /etc/hosts: no proof that the resolver works
    with pytest.raises(Unreachable):
        await guard.addresses("gone.example.org", 80)


async def test_a_name_is_not_dead_if_the_resolver_fails_for_it() -> None:
    guard = Guard(lookup=Names(slow_example_org=NO_RESOLVER, example_com=[PUBLIC]))
    with pytest.raises(Unreachable):
        await guard.addresses("slow.example.org", 80)


async def test_a_resolver_that_hangs_times_out() -> None:
    async def never(host: str) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(Unreachable):
        await Guard(lookup=never, timeout=0.01).addresses("example.org", 80)


async def test_the_resolver_of_the_system_is_used() -> None:
    assert "127.0.0.1" in await Guard(["localhost"]).addresses("localhost", 80)
