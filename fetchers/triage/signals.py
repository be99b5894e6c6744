"""The signals of a page: counts and marks from which triage names its state."""

from collections import Counter
from dataclasses import dataclass, replace

from fetchers.triage.markers import MARKERS_DIGEST

# Part of the key of every extraction. Raise the number if the same page gives other signals.
SIGNALS_VERSION = f"3.{MARKERS_DIGEST}"


@dataclass(frozen=True, slots=True)
class Signals:
    """The numbers of words and elements on a page, and the marks that it has.

    All but the last seven fields count words:
    `prose`: running text outside links, site navigation, controls, and paragraphs that only say
    what a mark says. Reading stops at `ENOUGH` of these.
    `legal`: paragraphs of legal text, unless the page is about them.
    `teasers`: texts under the linked titles of other pages.
    `links`: links in the content. `chrome`: all other visible words (navigation, controls).
    `seen`: all words that were read, with those of paragraphs that only say what a mark says.

    `marks` are "place:name" of markers.toml, as often as they were met, up to three times. `fields`
    counts inputs other than passwords. `empty_roots` counts the elements that an application fills
    and that are empty. `redirects` says that a script or a refresh leads to another address.
    """

    prose: int = 0
    legal: int = 0
    teasers: int = 0
    links: int = 0
    chrome: int = 0
    seen: int = 0
    marks: tuple[str, ...] = ()
    scripts: int = 0
    fields: int = 0
    passwords: int = 0
    empty_roots: int = 0
    skeletons: int = 0
    frames: int = 0
    redirects: bool = False


def without_hidden_text(read: Signals, visible: Signals) -> Signals:
    """Merge the signals of a whole page with those of its visible elements only.

    Hidden text does not outweigh a mark, and is not a mark. Scripts, frames and fields, and the
    marks in them, are counted on the whole page.
    """
    of_text = ("headline:", "word:", "phrase:", "cut:")
    marks = Counter(mark for mark in read.marks if not mark.startswith(of_text))
    return replace(
        visible,
        marks=tuple(sorted((marks | Counter(visible.marks)).elements())),
        scripts=read.scripts,
        fields=max(read.fields, visible.fields),
        passwords=max(read.passwords, visible.passwords),
        empty_roots=max(read.empty_roots, visible.empty_roots),
        skeletons=max(read.skeletons, visible.skeletons),
        frames=read.frames,
        redirects=read.redirects,
    )
