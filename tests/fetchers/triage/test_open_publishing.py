"""Which pages anyone could have published within a minute."""

import pytest

from fetchers.triage.open_publishing import OPEN_PUBLISHING_HOSTS, is_open_publishing
from fetchers.urls import hostname


@pytest.mark.parametrize(
    "url",
    [
        "https://pastebin.com/raw/a1b2c3",
        "https://gist.github.com/someone/0123",
        "https://telegra.ph/Paris-05-06",
        "https://rentry.co/paris",
        "https://dpaste.org/abc",
        "https://someone.notion.site/Paris-0123",
        "https://docs.google.com/document/d/e/2PACX/pub",
        "https://sites.google.com/view/paris",
        "https://bit.ly/3abc",
        "https://tinyurl.com/paris",
        "https://codepen.io/someone/full/abc",
        "https://jsfiddle.net/abc/show",
        "https://paris-facts.netlify.app/",
        "https://someone.github.io/paris/",
        "https://a.b.c.d.e.pages.dev/",
        "https://httpbin.org/base64/UGFyaXM=",
        "https://1234.ngrok-free.app/paris",
    ],
)
def test_a_page_that_anyone_can_publish_is_found(url: str) -> None:
    assert is_open_publishing(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://en.wikipedia.org/wiki/Pastebin.com",
        "https://github.com/python/cpython",
        "https://medium.com/@someone/paris",
        "https://www.youtube.com/watch?v=1",
        "https://www.reddit.com/r/paris/",
        "https://stackoverflow.com/questions/1",
        "https://www.google.com/search?q=docs.google.com",
        "https://news.example/https://pastebin.com/raw/a",
        "https://bucket.s3.amazonaws.com/report.pdf",
        "https://com/",
        "https://127.0.0.1/",
        "no address",
        "",
    ],
)
def test_a_page_that_somebody_checks_is_not_found(url: str) -> None:
    assert not is_open_publishing(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTPS://PASTEBIN.COM/a", True),
        ("https://www.pastebin.com./a", True),
        ("http://someone:secret@pastebin.com:8080/a", True),
        ("https://ｐastebin。com/a", True),  # a browser reads full-width letters as ASCII
        ("https://pastebin.com@news.example/a", False),
        ("https://notpastebin.com/a", False),
        ("https://pastebin.com.news.example/a", False),
        ("https://com.pastebin/a", False),
    ],
)
def test_the_host_is_read_as_a_browser_reads_it(url: str, expected: bool) -> None:
    assert is_open_publishing(url) is expected


def test_every_listed_host_covers_itself_and_the_hosts_under_it() -> None:
    for host in OPEN_PUBLISHING_HOSTS:
        assert is_open_publishing(f"https://{host}/a")
        assert is_open_publishing(f"https://a.{host}/a")


def test_the_list_has_each_host_once_in_the_form_in_which_hosts_are_compared() -> None:
    assert len(set(OPEN_PUBLISHING_HOSTS)) == len(OPEN_PUBLISHING_HOSTS)
    for host in OPEN_PUBLISHING_HOSTS:
        assert "." in host
        assert hostname(f"https://{host}/") == host
        above = {host.split(".", n)[-1] for n in range(1, host.count("."))}
        assert above.isdisjoint(OPEN_PUBLISHING_HOSTS), f"{host} is covered by another entry"


def test_a_host_of_very_many_labels_takes_no_longer() -> None:
    assert is_open_publishing("https://" + "a." * 5_000 + "pastebin.com/")
