import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fetchers.urls import (
    canonical,
    host_matches,
    hostname,
    registrable_domain,
    without_credentials,
)

ONE = [
    ("HTTPS://Example.COM/a", "https://example.com/a"),
    ("https://example.com", "https://example.com/"),
    ("https://example.com:443/", "https://example.com/"),
    ("http://example.com:80/x", "http://example.com/x"),
    ("https://example.com:8443/", "https://example.com:8443/"),
    ("https://Bücher.example/", "https://xn--bcher-kva.example/"),
    ("https://한국.example/가", "https://xn--3e0b707e.example/%EA%B0%80"),
    ("https://example.com/a/./b/../c", "https://example.com/a/c"),
    ("https://example.com/%2e%2E/c", "https://example.com/c"),
    ("https://example.com/%7Euser/%41", "https://example.com/~user/A"),
    ("https://example.com/%e2%82%ac", "https://example.com/%E2%82%AC"),
    ("https://example.com/€", "https://example.com/%E2%82%AC"),
    ("https://example.com/a%2fb", "https://example.com/a%2Fb"),
    ("https://example.com/100%", "https://example.com/100%"),
    ("https://example.com/a#top", "https://example.com/a"),
    ("https://example.com/a#:~:text=word", "https://example.com/a"),
    ("https://example.com/#!/a", "https://example.com/#!/a"),
    ("https://example.com/#/a?b=1", "https://example.com/#/a?b=1"),
    ("  https://example.com/a\n", "https://example.com/a"),
    ("\u3000https://example.com/a\xa0", "https://example.com/a"),
    ("https://example.com/?utm_source=x", "https://example.com/"),
    ("https://example.com/?a=1&utm_source=x&b=2#c", "https://example.com/?a=1&b=2"),
    ("https://example.com/?UTM_Medium=x&fbclid&gclid=&a", "https://example.com/?a"),
    ("https://example.com/?%75tm_source=x", "https://example.com/"),
    ("https://example.com/?msclkid=1&mc_cid=2&mc_eid=3", "https://example.com/"),
    ("https://example.com/?a=&b&a=+%20;x&&", "https://example.com/?a=&b&a=+%20;x&&"),
    ("https://example.com/?utmost=1&ref=2", "https://example.com/?utmost=1&ref=2"),
    ("https://example.com/?", "https://example.com/?"),
    ("https://user@example.com/", "https://example.com/"),
    ("https://user:secret@example.com/a?b=1", "https://example.com/a?b=1"),
    ("https://:secret@example.com/", "https://example.com/"),
    ("https://@example.com/", "https://example.com/"),
    ("https://a@b:c@example.com/", "https://example.com/"),
    ("https://a%40b:%3A@example.com/", "https://example.com/"),
    ("https://good.example@example.com:443\\a", "https://example.com/a"),
    ("https://example.com\\@good.example/", "https://example.com/@good.example/"),
    ("https://example.com/@user:a", "https://example.com/@user:a"),
    ("https://example.com/?to=a@b", "https://example.com/?to=a@b"),
    ("https://ex%61mple.com/", "https://example.com/"),
    ("https://ｅxample。com/", "https://example.com/"),
    ("https:\\\\example.com\\a", "https://example.com/a"),
    ("https:example.com/a", "https://example.com/a"),
    ("https:///example.com/a", "https://example.com/a"),
    ("https://example.com:/a", "https://example.com/a"),
    ("https://example.com:00443/a", "https://example.com/a"),
    ("https://exam\tple.com/\na", "https://example.com/a"),
    ("https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://[0:0::1]/", "http://[::1]/"),
    ("https://example.com/.%2e/%2E/a", "https://example.com/a"),
    ("https://example.com/..", "https://example.com/"),
    ("https://example.com/?a=%7e%e2%82%ac", "https://example.com/?a=~%E2%82%AC"),
    ("https://example.com/#/a:~:text=word", "https://example.com/#/a"),
    ("https://example.com/#", "https://example.com/"),
    ("https://example.com/?_ga=1&yclid=2&hsa_acc=3&mtm_kwd=4", "https://example.com/"),
    ("ftp://Example.com/", "ftp://Example.com/"),
    (" no address ", "no address"),
    ("http://", "http://"),
    ("", ""),
]

DIFFERENT = [
    ("https://example.com/?a=1&b=2", "https://example.com/?b=2&a=1"),
    ("http://example.com/", "https://example.com/"),
    ("https://www.example.com/", "https://example.com/"),
    ("https://example.com/a", "https://example.com/a/"),
    ("https://example.com/A", "https://example.com/a"),
    ("https://example.com/a%2Fb", "https://example.com/a/b"),
    ("https://example.com/#/a", "https://example.com/#/b"),
    ("https://example.com:8443/", "https://example.com/"),
    ("https://example.com./", "https://example.com/"),
    ("https://example.com/?a", "https://example.com/?a="),
    ("https://example.com/?A=1", "https://example.com/?a=1"),
    ("https://example.com/a//b", "https://example.com/a/b"),
]

# Text that is nearly always a URL, of the parts that normalisation looks at.
_pieces = st.sampled_from((
    "%", "%2", "5", "41", "%25", "%7e", "%2E", ".", "..", "/", "?", "&", "=", "#", "#!", "#/", ";",
    "utm_source", "gclid", "a", "é", "\ud800", "\x00", " ", "\t", "\\", "|", "@", ":", "[", "'",
    "u@", ":p@",
))  # fmt: skip
_nearly = st.builds(
    lambda scheme, pieces: scheme + "".join(pieces),
    st.sampled_from(["http://a.b", "HTTPS://é.ß/", "http:", "//", "http://[::1]", ""]),
    st.lists(_pieces, max_size=12),
)


@pytest.mark.parametrize(("url", "expected"), ONE)
def test_spellings_of_one_address_have_one_form(url: str, expected: str) -> None:
    assert canonical(url) == expected


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_addresses_have_different_forms(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@given(st.one_of(st.text(st.characters(max_codepoint=sys.maxunicode)), _nearly))
@example("http://a/%4%31")
@example("http://a/%%34%31")
@example("http://a/\udc80")
@example("\x1f\x00http://a/\x00\x1f")
def test_any_text_has_one_stable_form(text: str) -> None:
    once = canonical(text)
    assert canonical(once) == once
    once.encode()


def test_ten_megabytes_of_parameters_take_linear_time() -> None:
    assert canonical("http://a/?" + "utm_a=%41&" * 1_000_000) == "http://a/"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://user:secret@Example.com/a#b", "https://example.com/a#b"),
        ("https://good.example@evil.example/", "https://evil.example/"),
        ("https://Example.com/a", "https://Example.com/a"),
        ("https://Example.com\\@good.example/", "https://Example.com\\@good.example/"),
        ("someone@example.com", "someone@example.com"),
        ("", ""),
    ],
)
def test_a_user_name_and_a_password_are_removed(url: str, expected: str) -> None:
    assert without_credentials(url) == expected


@pytest.mark.parametrize(
    ("url", "domain", "expected"),
    [
        ("https://example.com/a", "example.com", True),
        ("https://www.example.com./", "Example.com", True),
        ("https://notexample.com/", "example.com", False),
        ("https://example.com.evil.org/", "example.com", False),
        ("https://example.com@evil.org/", "example.com", False),
        ("https://example.com/", "www.example.com", False),
        ("https://www.gov.uk/", ".gov.uk", True),
        ("https://xn--bcher-kva.example/", "bücher.example", True),
        ("https://shop.example.com/", "https://example.com/about", True),
        ("no address", "example.com", False),
        ("https://example.com/", "", False),
        ("no address", "", False),
    ],
)
def test_host_matches(url: str, domain: str, expected: bool) -> None:
    assert host_matches(url, domain) is expected


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("Example.com.", "example.com"),
        ("a.b.example.co.kr", "example.co.kr"),
        ("www.bücher.de", "xn--bcher-kva.de"),
        ("co.uk", ""),
        ("localhost", ""),
        ("127.0.0.1", ""),
        ("[::1]", ""),
        ("", ""),
        ("\x00", ""),
    ],
)
def test_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


@given(st.text(), st.text())
def test_hosts_are_read_from_any_text(one: str, other: str) -> None:
    hostname(one)
    registrable_domain(one)
    host_matches(one, other)
