"""A request, a good reply to it, and a client of a fake endpoint."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from modelserver import Answer, ModelServer, model_server

from judges.endpoint.dialect import Dialect
from judges.endpoint.endpoint import Endpoint
from judges.endpoint.questions import Request

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "sure": {"type": "integer", "enum": [1, 2, 3]},
        },
        "required": ["ok", "sure"],
        "additionalProperties": False,
    }
)
GOOD = '{"ok": true, "sure": 2}'
REQUEST = Request("judge", "m", "medium", "the rules", "the record", SCHEMA)


@asynccontextmanager
async def endpoint(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, dialects: dict[str, Dialect] | None = None
) -> AsyncIterator[tuple[Endpoint, ModelServer]]:
    async with model_server(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        async with Endpoint(64, dialects) as opened:
            yield opened, server
