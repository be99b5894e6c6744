"""What triage needs to know of a page beyond its words, read once a body."""

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser


@dataclass(frozen=True, slots=True)
class Signals:
    """What a reader would meet on a page, in numbers, and the marks of walls that it carries.

    `prose` counts the words of running text outside links, site navigation, controls and blocks
    that a mark explains; `links` those in links of the content; `chrome` all other visible words.
    `marks` are "where:name" of markers.toml (where: headline, phrase, script, element), each once.
    """

    prose: int = 0
    links: int = 0
    chrome: int = 0
    marks: tuple[str, ...] = ()
    scripts: int = 0
    fields: int = 0
    passwords: int = 0
    empty_roots: int = 0
    skeletons: int = 0
    frames: int = 0
    redirects: bool = False


def read_signals(tree: LexborHTMLParser | None, text: str, title: str) -> Signals:
    """The signals of one body. `tree` is None where the body is not HTML; `text` is then read."""
    return Signals(prose=len(text.split()))
