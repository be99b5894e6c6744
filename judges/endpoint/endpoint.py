"""The client of an OpenAI-compatible endpoint: one request in, one checked reply out."""

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self

import httpx2
import openai

from judges.endpoint.dialect import (
    PATHS,
    Dialect,
    body_of,
    failure_of,
    message_of,
    next_dialect,
)
from judges.endpoint.identity import OPENAI, base_url
from judges.endpoint.questions import (
    ModelUnusable,
    Reply,
    Request,
    Trouble,
    UnusableReply,
    Usage,
)
from judges.endpoint.reply_bodies import read_body, text_of, usage_of
from judges.endpoint.reply_schema import answer_in

_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 15.0


class Endpoint:
    """A client of the endpoint that `OPENAI_BASE_URL` and `OPENAI_API_KEY` name; an async context
    manager, for one event loop. It never retries and has no deadline.

    At most `connections` are open at the same time. `dialects` holds what each model is known to
    accept; the endpoint's errors change it. `spent` counts every reply by role and model, also the
    unusable ones, since they are paid for.
    """

    def __init__(self, connections: int, dialects: Mapping[str, Dialect] | None = None) -> None:
        self.dialects: dict[str, Dialect] = dict(dialects or {})
        self.spent: defaultdict[tuple[str, str], Usage] = defaultdict(Usage)
        self._connections = connections
        self._unusable: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        """Raises ModelUnusable if `OPENAI_BASE_URL` is not an http or https URL, or if it is not
        set and there is no `OPENAI_API_KEY`."""
        own = base_url()
        try:
            self._client = openai.AsyncOpenAI(
                # The package wants a key, even for a server that needs none.
                api_key=os.environ.get("OPENAI_API_KEY") or ("none" if own else None),
                base_url=own or OPENAI,  # the package takes an empty variable for an address
                max_retries=0,
                timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
                http_client=openai.DefaultAioHttpClient(
                    limits=httpx2.Limits(
                        max_connections=self._connections,
                        max_keepalive_connections=self._connections,
                        keepalive_expiry=_IDLE_SECONDS,
                    ),
                    event_hooks={"response": [_take_as_utf8]},
                ),
            )
        except openai.OpenAIError as error:
            raise ModelUnusable(str(error)) from None
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.close()

    async def ask(self, request: Request) -> Reply:
        """Send a request once and return its reply.

        Raises Trouble or RateLimited for a transport fault, UnusableReply for a reply without a
        usable answer, Rejected or TooLong if the endpoint rejects this request, and ModelUnusable
        if it rejects all requests, now and later. An error about the dialect costs one more HTTP
        request.
        """
        while True:
            if why := self._unusable.get(request.model):
                raise ModelUnusable(why)
            dialect = self.dialects.get(request.model, Dialect())
            try:
                response = await self._client.post(
                    PATHS[dialect.api], cast_to=httpx2.Response, body=body_of(request, dialect)
                )
            except openai.APIStatusError as error:
                self._handle(request, dialect, error)
                continue
            except openai.APIConnectionError as error:
                raise Trouble(f"no answer: {error.__cause__ or error}") from error
            return self._read(request, dialect, response)

    def _read(self, request: Request, dialect: Dialect, response: httpx2.Response) -> Reply:
        body = read_body(response.content)
        usage = usage_of(body)
        text = ""
        try:
            text = text_of(dialect.api, body, response.content)
            value = answer_in(text, request)
        except UnusableReply as unusable:
            self.spent[request.role, request.model] += usage
            unusable.usage = usage
            unusable.said = unusable.said or text
            raise
        self.spent[request.role, request.model] += usage
        if not self.dialects.get(request.model, Dialect()).proven:
            self.dialects[request.model] = replace(dialect, proven=True)
        return Reply(value, usage)

    def _handle(self, request: Request, dialect: Dialect, error: openai.APIStatusError) -> None:
        """Return if the request can be sent again in another dialect. Raise the failure that the
        error stands for if it is not about the dialect."""
        known = self.dialects.get(request.model, Dialect())
        other = next_dialect(dialect, error, bounded=request.max_tokens is not None)
        if other and other.bound != dialect.bound:
            self.dialects[request.model] = replace(known, bound=other.bound)
            return
        if other and (known != dialect or not dialect.proven):
            if known == dialect:  # otherwise another request has changed it in the meantime
                self.dialects[request.model] = other
            return
        failure = Trouble(message_of(error)) if other else failure_of(error, known.proven)
        if isinstance(failure, ModelUnusable):
            self._unusable[request.model] = str(failure)
        raise failure from error


async def _take_as_utf8(response: httpx2.Response) -> None:
    """Ignore the charset of a response. JSON is always UTF-8. For a charset such as `hex`, which
    does not encode text, the package raises an error that is not an OpenAIError."""
    response.encoding = "utf-8"
