"""Find an installed Chromium, and start it with the flags that close its ways around the proxy."""

import os
import shutil
from pathlib import Path

from playwright.async_api import Browser, Error, Playwright, ProxySettings

# The shells without windows come first: they render a page in a third of the time.
_NAMES = (
    "chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser",
    "google-chrome", "google-chrome-stable", "chrome",
)  # fmt: skip
_PLAYWRIGHT_BUILDS = "chromium*-*/chrome-*/*"
_START_TIMEOUT = 30_000  # milliseconds
_FLAGS = (
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-gpu",
    "--disable-remote-fonts",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    # A page and all its frames run in one process, so one process is read and one is killed. Site
    # isolation protects nothing here: every context holds only one page.
    "--disable-site-isolation-trials",
    "--js-flags=--max-old-space-size=512",
)
# Playwright passes these flags by default. They disable protections against hostile pages.
_REMOVED_DEFAULT_FLAGS = ("--disable-popup-blocking", "--disable-ipc-flooding-protection")


class NoBrowser(Exception):
    """No browser is installed, or it does not start. The message says what to do."""


def find() -> str | None:
    """Return the path of a Chromium or Chrome, or None if there is none.

    Browsers on the PATH come first, then the builds that Playwright installed.
    """
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    default = Path.home() / ".cache" / "ms-playwright"
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default)
    builds = [p for p in root.glob(_PLAYWRIGHT_BUILDS) if p.name in ("chrome", "headless_shell")]
    return str(max(builds)) if builds else None


async def launch(playwright: Playwright, path: str, proxy: ProxySettings) -> Browser:
    """Start the browser at `path`. All its traffic goes through `proxy`.

    Raises playwright's Error if it does not start.
    """
    return await playwright.chromium.launch(
        executable_path=path,
        args=_FLAGS,
        ignore_default_args=_REMOVED_DEFAULT_FLAGS,
        chromium_sandbox=os.geteuid() != 0,  # the sandbox does not work for root
        proxy=proxy,
        timeout=_START_TIMEOUT,
    )


def first_line(error: Error) -> str:
    """Return the first line of an error's message, cut to 200 characters."""
    return error.message.partition("\n")[0][:200]
