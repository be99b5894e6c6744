"""Which judge a model at an address is."""

import pytest

from judges.endpoint.identity import base_url, judge_identity
from judges.endpoint.questions import ModelUnusable


def identity(monkeypatch: pytest.MonkeyPatch, url: str, judge_id: str | None = None) -> str:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    return judge_identity("m", judge_id)


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://models.example/v1", "m at https://models.example/v1"),
        (" https://models.example/v1/ ", "m at https://models.example/v1"),
        ("HTTPS://Models.Example:443/v1", "m at https://models.example/v1"),
        ("https://me:secret@models.example/v1?key=secret#secret", "m at https://models.example/v1"),
        ("http://models.example/v1", "m at http://models.example/v1"),
        ("http://models.example:80", "m at http://models.example"),
        ("https://models.example:80/v1", "m at https://models.example:80/v1"),
        ("https://models.example/V1", "m at https://models.example/V1"),
        ("http://[::1]:8000/v1", "m at http://[::1]:8000/v1"),
        ("", "m at https://api.openai.com/v1"),
        ("  ", "m at https://api.openai.com/v1"),
    ],
)
def test_a_judge_is_a_model_at_an_address(
    monkeypatch: pytest.MonkeyPatch, url: str, same: str
) -> None:
    assert identity(monkeypatch, url) == same


def test_without_an_address_it_is_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert base_url() is None
    assert judge_identity("m") == "m at https://api.openai.com/v1"


def test_an_id_names_the_judge_whatever_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    one = identity(monkeypatch, "https://one.example/v1", "ours")
    assert one == identity(monkeypatch, "https://other.example/v1", "ours") == "id ours"


def test_an_id_is_never_taken_for_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    named = identity(monkeypatch, "", "m at https://api.openai.com/v1")
    assert named != identity(monkeypatch, "")


@pytest.mark.parametrize(
    "url",
    [
        *("localhost:8000/v1", "ftp://a.example", "https://", "http://:80/v1", "http://a:x/"),
        *("http://[a", "http://a.example:0/v1", "https://me:secret@/v1", "http://a.example:99999/"),
    ],
)
def test_an_address_that_is_not_one_is_named_without_its_secrets(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    with pytest.raises(ModelUnusable, match="OPENAI_BASE_URL is not a URL") as unusable:
        identity(monkeypatch, url)
    assert "secret" not in str(unusable.value)
