"""Which judge gives the verdicts: a model at an address. It is part of the cache keys."""

import os
from urllib.parse import urlsplit

from judges.endpoint.questions import ModelUnusable

OPENAI = "https://api.openai.com/v1"
"""The address if `OPENAI_BASE_URL` is not set or empty."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


def base_url() -> str | None:
    """The value of `OPENAI_BASE_URL`, None if it is not set or empty. Raises ModelUnusable if it is
    not an http or https URL with a host; the message does not repeat it, as it may hold a key."""
    url = os.environ.get("OPENAI_BASE_URL", "").strip()
    if not url:
        return None
    try:
        parts = urlsplit(url)
        valid = parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ModelUnusable(
            "OPENAI_BASE_URL is not a URL that begins with http:// or https:// and names a host"
        )
    return url


def judge_identity(model: str, judge_id: str | None = None) -> str:
    """The identity of a judge: `judge_id` if it is given, or else the model and the base URL of its
    endpoint. The same model name at another address is another judge.

    The URL is normalised: scheme and host in lower case, no default port, no slash at the end, and
    no user, password, query or fragment, since these may hold credentials. Raises ModelUnusable as
    `base_url` does.
    """
    if judge_id:
        return f"id {judge_id}"
    parts = urlsplit(base_url() or OPENAI)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{model} at {parts.scheme}://{host}{port}{parts.path.rstrip('/')}"
