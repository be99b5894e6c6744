"""The signals of a page with hidden text."""

from fetchers.triage.signals import Signals, without_hidden_text


def test_hidden_text_is_left_out_and_scripts_are_kept() -> None:
    whole = Signals(
        prose=400, legal=9, teasers=8, links=7, chrome=6, seen=430,
        marks=("headline:login", "phrase:login", "hint:login", "script:paywall", "cut:paywall"),
        scripts=5, fields=2, passwords=1, empty_roots=1, skeletons=2, frames=4, redirects=True,
    )  # fmt: skip
    visible = Signals(
        prose=10, legal=1, teasers=2, links=3, chrome=4, seen=20,
        marks=("headline:captcha", "hint:login", "hint:login"), fields=3, empty_roots=0,
    )  # fmt: skip
    assert without_hidden_text(whole, visible) == Signals(
        prose=10, legal=1, teasers=2, links=3, chrome=4, seen=20,
        marks=("headline:captcha", "hint:login", "hint:login", "script:paywall"),
        scripts=5, fields=3, passwords=1, empty_roots=1, skeletons=2, frames=4, redirects=True,
    )  # fmt: skip
