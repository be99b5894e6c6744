"""URLs: which of them are one, and whose they are."""

import re
from functools import cache

from ada_url import URL, normalize_url
from publicsuffixlist import PublicSuffixList

# Parameters that say where a click came from and never what is shown.
_TRACKING = frozenset((
    "_ga", "_gl", "_hsenc", "_hsmi", "__hsfp", "__hssc", "__hstc", "_openstat", "dclid", "epik",
    "fbclid", "gad_campaignid", "gad_source", "gbraid", "gclid", "gclsrc", "hsctatracking",
    "igsh", "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "msclkid", "oly_anon_id",
    "oly_enc_id", "rb_clickid", "srsltid", "ttclid", "twclid", "vero_conv", "vero_id", "wbraid",
    "wickedid", "yclid", "ysclid",
))  # fmt: skip
_TRACKING_PREFIXES = ("utm_", "mtm_", "hsa_")

# A stray `%` before an escape would make a new one out of what is decoded: such a one is left.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


def canonical(url: str) -> str:
    """The one form of all URLs that are the same address (scoring.md, section 3).

    Text that is no http(s) URL comes back without surrounding white space. Never raises, and
    `canonical(canonical(x)) == canonical(x)`.
    """
    text = url.strip()
    try:
        href = normalize_url(text)
    except ValueError:
        # Lone surrogates are read as U+FFFD, as a browser does; else it is no URL.
        scalars = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text if scalars == text else canonical(scalars)
    if not href.startswith(("http://", "https://")):
        return text
    if "%" in href:
        href = _ESCAPE.sub(lambda escape: _unescape(escape[0]), href)
    rest, _, fragment = href.partition("#")
    if "?" in rest:
        rest = _without_tracking(rest)
    return f"{rest}#{fragment}" if fragment.startswith(("!", "/")) else rest


@cache
def _unescape(escape: str) -> str:
    """The character where it is an unreserved one, else the escape in upper case (RFC 3986)."""
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


def hostname(url: str) -> str:
    """The host as a browser reads it (lower case, IDNA, no port); empty where there is none."""
    try:
        return URL(url).hostname
    except ValueError:
        return ""


def host_matches(url: str, domain: str) -> bool:
    """Whether the host of `url` is `domain` or one under it. `domain` may be in any script or
    case, or a URL whose host is meant."""
    wanted = hostname(domain if "://" in domain else f"http://{domain.strip().lstrip('*.')}")
    host, wanted = hostname(url).rstrip("."), wanted.rstrip(".")
    return bool(wanted) and (host == wanted or host.endswith(f".{wanted}"))


def registrable_domain(host: str) -> str:
    """The name that its owner registered (`bbc.co.uk` of `www.bbc.co.uk`), by the public suffix
    list; empty for an address, a public suffix and anything else that has none."""
    name = hostname(f"http://{host}/").rstrip(".")
    if name.startswith("[") or name.rpartition(".")[2].isdecimal():
        return ""
    return _suffixes().privatesuffix(name) or ""


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()  # 35 ms: not at import
