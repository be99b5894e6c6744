"""URLs: which spellings are one address, and which host and domain a URL has."""

import re
from functools import cache, lru_cache

from ada_url import URL, normalize_url
from publicsuffixlist import PublicSuffixList

# Query parameters that name the source of a click. They do not change the page.
_TRACKING = frozenset((
    "_ga", "_gl", "_hsenc", "_hsmi", "__hsfp", "__hssc", "__hstc", "_openstat", "dclid", "epik",
    "fbclid", "gad_campaignid", "gad_source", "gbraid", "gclid", "gclsrc", "hsctatracking",
    "igsh", "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "msclkid", "oly_anon_id",
    "oly_enc_id", "rb_clickid", "srsltid", "ttclid", "twclid", "vero_conv", "vero_id", "wbraid",
    "wickedid", "yclid", "ysclid",
))  # fmt: skip
_TRACKING_PREFIXES = ("utm_", "mtm_", "hsa_")

# An escape that follows a stray `%` is left as it is: decoded, it would form a new escape.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%[0-9A-Fa-f]{2}")
_TEXT_DIRECTIVE = ":~:"  # "#:~:text=..." marks text; the browser removes it from the fragment
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


def canonical(url: str) -> str:
    """Give the one form that all spellings of an address share (scoring.md, section 3).

    User name and password do not count, since no request sends them. Text that is not an http(s)
    URL is returned without surrounding white space. Never raises, and
    `canonical(canonical(x)) == canonical(x)`.
    """
    text = url.strip()
    try:
        href = normalize_url(text)
    except ValueError:
        # A browser reads a lone surrogate as U+FFFD.
        scalars = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text if scalars == text else canonical(scalars)
    if not href.startswith(("http://", "https://")):
        return text
    if "@" in href:
        href = without_credentials(href)
    if "%" in href:
        href = _ESCAPE.sub(lambda escape: _unescape(escape[0]), href)
    rest, _, fragment = href.partition("#")
    if "?" in rest:
        rest = _without_tracking(rest)
    route = fragment.partition(_TEXT_DIRECTIVE)[0]
    return f"{rest}#{route}" if route.startswith(("!", "/")) else rest


def without_credentials(url: str) -> str:
    """Give `url` without its user name and password; text that is not a URL unchanged.

    A URL that has credentials is returned in the form in which a browser writes it, so that
    `https://good.example@evil.example/` cannot be taken for a page of `good.example`.
    """
    try:
        parsed = URL(url)
    except ValueError:
        return url
    if not (parsed.username or parsed.password):
        return url
    parsed.username = parsed.password = ""
    return parsed.href


@cache
def _unescape(escape: str) -> str:
    """Decode the escape of an unreserved character; write any other in upper case (RFC 3986)."""
    character = chr(int(escape[1:], 16))
    return character if _UNRESERVED.match(character) else escape.upper()


def _without_tracking(url: str) -> str:
    base, _, query = url.partition("?")
    parameters = query.split("&")
    kept = [parameter for parameter in parameters if not _is_tracking(parameter)]
    if len(kept) == len(parameters):
        return url
    query = "&".join(kept)
    return f"{base}?{query}" if query else base


def _is_tracking(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


@lru_cache(maxsize=1_000)  # each page asks about its URL several times
def hostname(url: str) -> str:
    """Give the host as a browser reads it (lower case, IDNA, no port); empty if `url` has none."""
    try:
        return URL(url).hostname
    except ValueError:
        return ""


def host_matches(url: str, domain: str) -> bool:
    """Say if the host of `url` is `domain` or a host under it.

    `domain` may be a name in any script and letter case, or a URL: then its host is compared.
    """
    wanted = hostname(domain if "://" in domain else f"http://{domain.strip().lstrip('*.')}")
    host, wanted = hostname(url).rstrip("."), wanted.rstrip(".")
    return bool(wanted) and (host == wanted or host.endswith(f".{wanted}"))


def registrable_domain(host: str) -> str:
    """Give the domain that the owner registered (`bbc.co.uk` for `www.bbc.co.uk`).

    Uses the public suffix list. Empty for an IP address, a public suffix, and text that is not a
    host.
    """
    name = hostname(f"http://{host}/").rstrip(".")
    if name.startswith("[") or name.rpartition(".")[2].isdecimal():
        return ""
    return _suffixes().privatesuffix(name) or ""


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()  # takes 35 ms, so not at import
