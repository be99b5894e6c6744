"""The parts of a row's value that the cache reads."""

import orjson
import pytest

from cache.responses import StoredResponse, bodies_needed, stored_response

BODY, TEXT = "a" * 64, "0123456789abcdef" * 4
RESPONSE = {
    "final_url": "https://example.org/a",
    "status": 200,
    "headers": {"content-type": "text/html"},
    "sha256": BODY,
    "via": "http",
    "fetched_at": "2026-01-01T00:00:00Z",
}


def test_the_bodies_that_a_value_names() -> None:
    assert bodies_needed(orjson.dumps({"sha256": BODY, "text": TEXT})) == [BODY, TEXT]
    assert bodies_needed(orjson.dumps({"text": TEXT, "other": BODY})) == [TEXT]
    assert bodies_needed(orjson.dumps({"sha256": "", "text": "A" * 64})) == []
    assert bodies_needed(orjson.dumps({"sha256": 5, "text": BODY + "a"})) == []
    assert bodies_needed(orjson.dumps([BODY])) == []
    assert bodies_needed(b"\xff") == []


def test_a_response_in_a_value() -> None:
    assert stored_response(orjson.dumps(RESPONSE)) == StoredResponse(
        url="https://example.org/a",
        status=200,
        headers={"content-type": "text/html"},
        sha256=BODY,
        rendered=False,
        fetched_at="2026-01-01T00:00:00Z",
    )
    rendered = stored_response(orjson.dumps(RESPONSE | {"via": "browser"}))
    assert rendered is not None
    assert rendered.rendered


@pytest.mark.parametrize("change", [{"sha256": ""}, {"status": None}, {"headers": []}])
def test_a_value_without_a_response(change: dict[str, object]) -> None:
    assert stored_response(orjson.dumps(RESPONSE | change)) is None
    assert stored_response(orjson.dumps({"text": TEXT})) is None
