"""Readings over characters may be quoted or left out."""

import time

import pytest

from fetchers.reading import ruby
from fetchers.reading.extract import extract
from judges.records.excerpts import PageText, faithful


def page(body: str) -> str:
    return extract(f"<!doctype html>{body}".encode(), "text/html; charset=utf-8").text


TOKYO = [
    "東京は首都です",
    "東京とうきょうは首都です",
    "東京（とうきょう）は首都です",
    "東京(とうきょう)は首都です",
]
PAIRS = [
    "漢字を読む",
    "漢かん字じを読む",
    "漢（かん）字（じ）を読む",
    "漢字（かんじ）を読む",
    "漢字かんじを読む",
]


@pytest.mark.parametrize(
    ("body", "excerpts"),
    [
        ("<p><ruby>東京<rt>とうきょう</rt></ruby>は首都です</p>", TOKYO),
        ("<p><ruby>東京<rp>（</rp><rt>とうきょう</rt><rp>）</rp></ruby>は首都です</p>", TOKYO),
        ("<p><ruby><rb>東京</rb><rt>とうきょう</rt></ruby>は首都です</p>", TOKYO),
        ("<p><ruby>東京<rp>(<rt>とうきょう<rp>)</ruby>は首都です</p>", TOKYO),
        ("<p><ruby><rb>東京<rt>とうきょう</ruby>は首都です", TOKYO),
        ("<p><ruby><rb>東京<rtc>とうきょう</rtc></ruby>は首都です", TOKYO),
        ("<p><ruby><rb>東京</rb><rtc><rt>とうきょう</rt></rtc></ruby>は首都です", TOKYO),
        ("<p><ruby> 東京 <rt> とうきょう </rt> </ruby>は首都です", TOKYO),
        ("<p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>を読む", PAIRS),
        ("<p><ruby><rb>漢<rt>かん<rb>字<rt>じ</ruby>を読む", PAIRS),
        ("<p><ruby>漢<rp>(<rt>かん<rp>)<rt></rt>字<rp>(<rt>じ<rp>)</ruby>を読む", PAIRS),
        ("<p><ruby><rb>漢<rb>字<rt>かん<rt>じ</ruby>を読む", [PAIRS[0], PAIRS[3], PAIRS[4]]),
        ("<table><tr><td>a<td><ruby>東京<rt>とうきょう</ruby>は首都です", TOKYO),
        ("<p>a<ruby>b<rt>c</ruby></p><p><ruby>東京<rt>とうきょう</ruby>は首都です", TOKYO),
    ],
)  # fmt: skip
def test_an_excerpt_is_found_with_readings_and_without(body: str, excerpts: list[str]) -> None:
    text = PageText(page(body))
    for excerpt in excerpts:
        assert faithful(excerpt, text).faithful, (excerpt, page(body))
    assert not faithful("東きょうは首都です", text).faithful


def test_passages_adjoin_without_readings() -> None:
    text = page("<p>一</p><p><ruby>二<rt>に</ruby></p><p>三</p>")
    assert text == "一\n二\n三\n二に\n二(に)"


def test_readings_do_not_count_as_words() -> None:
    body = "<p><ruby>東京<rt>とうきょう</rt></ruby>は首都です"
    got = extract(body.encode(), "text/html; charset=utf-8")
    assert got.words == extract("<p>東京は首都です".encode(), "text/html; charset=utf-8").words


def test_what_is_no_reading_stays() -> None:
    assert page("<p>a <rt>b</rt> c") == "a b c"
    assert page("<p><ruby>a</ruby> b") == "a b"
    assert ruby.without_readings("a b") == "a b"
    assert list(ruby.with_readings("a b")) == []


@pytest.mark.parametrize(
    "body",
    [
        "<ruby>a<rt>b</rt></ruby>" * 30_000,
        "<ruby>" * 30_000 + "a<rt>b",
        "<ruby>" + "a<rt>b" * 30_000,
        "<ruby><rtc>" * 30_000 + "a",
        "<ruby>" + "&#xfdd0;&#xfdd2;" * 100_000,
        "<ruby><rt>" + "<p>a</p>" * 30_000,
    ],
    ids=lambda body: body[:30],
)
def test_no_ruby_takes_long(body: str) -> None:
    start = time.process_time()
    page(body)
    assert time.process_time() - start < 4
