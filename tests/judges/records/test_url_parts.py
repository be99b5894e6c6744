"""The parts of a URL as words."""

import pytest

from judges.records.url_parts import Part, is_short_claim, parts_of, weight, words


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://a.example/one-two-three-four", [("one two three four", False)]),
        ("https://a.example/one-two-three", []),
        ("https://a.example/one_two/three.html", [("one two three html", False)]),
        ("https://one.two.three.four.example/", []),
        ("https://a.example/?q=one+two%20three%2520four", [("one two three four", True)]),
        ("https://a.example/?q=one+2", [("one 2", True)]),
        ("https://a.example/?q=one+two", []),
        ("https://a.example/one-2", []),
        ("https://a.example/?title=one+two+three+four", [("one two three four", False)]),
        ("https://a.example/?title=one+2", []),
        ("https://a.example/?one+two+three+4=5", [("one two three 4", True)]),
        ("https://a.example/?a=one+2;b=two+3", [("one 2", True), ("two 3", True)]),
        ("https://a.example/search/one+2", [("one 2", True)]),
        ("https://a.example/search/x/one+2", [("search x one 2", False)]),
        ("https://a.example/#one-two-three-four", [("one two three four", False)]),
        ("https://a.example/#/x?q=one+2", [("one 2", True)]),
        ("https://a.example/#q=one+2", [("one 2", True)]),
        ("https://a.example/#:~:text=one+two+three+four", []),
        ("https://a.example/#one-two-three-four:~:text=x", [("one two three four", False)]),
        ("https://a.example?q=one+2", [("one 2", True)]),
        ("a.example/?q=10.9+million", [("10.9 million", True)]),
        ("https://a.example/?q=巴黎有109万人", [("巴 黎 有 109 万 人", True)]),
        ("https://a.example/?q=%FF+one+2", [("one 2", True)]),
        ("", []),
    ],
)
def test_parts(url: str, parts: list[tuple[str, bool]]) -> None:
    assert parts_of([url]) == [Part(tuple(text.split()), typed) for text, typed in parts]


def test_the_same_words_are_typed_if_one_url_has_them_in_its_query() -> None:
    urls = ["https://a.example/one-two-three-four", "https://a.example/?q=one+two+three+four"]
    assert parts_of(urls) == [Part(("one", "two", "three", "four"), typed=True)]


def test_many_parts_become_one() -> None:
    url = "https://a.example/?" + "&".join(f"q={n}+x" for n in range(100))
    parts = parts_of([url])
    assert [part.words for part in parts[:32]] == [(str(n), "x") for n in range(32)]
    assert parts[32:] == [Part(tuple(w for n in range(32, 100) for w in (str(n), "x")), True)]


@pytest.mark.parametrize(
    ("text", "found", "count"),
    [
        ("It’s 1,250.5 m—so!", ["it", "s", "1,250.5", "m", "so"], 5),
        ("ＦＵＬＬ Stra\u00adße", ["full", "strasse"], 2),
        ("巴黎 iPhone15", ["巴", "黎", "iphone", "15"], 3),
        ("e\u0301t\u0301e", ["\u00e9t\u0301e"], 1),
        ("\u200b", [], 0),
    ],
)
def test_words(text: str, found: list[str], count: float) -> None:
    assert [word.text for word in words(text)] == found
    assert all(text[word.start : word.end] for word in words(text))
    assert weight(found) == count


def test_a_short_claim_has_two_words_and_a_number() -> None:
    assert is_short_claim(["10", "million"])
    assert not is_short_claim(["ten", "million"])
    assert not is_short_claim(["10"])
    assert not is_short_claim(["10", "万"])
    assert is_short_claim(["10", "万", "人"])
