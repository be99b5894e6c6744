"""Which elements a reader can open or will see, although CSS hides them when the page loads.

The boundary between hidden text and folded text:

1. The reader has a desktop browser with a window of 1280 x 800 px, a mouse, and JavaScript. Nobody
   sees a page without style, so what the style sheets of the page hide is hidden.
2. Text counts as shown if something on the page can show it. These are signs of that:
   - a CSS rule shows it after a change of state: `:hover`, `:focus`, `:checked`, `:target`,
     `[open]`, a class that says a state (`.open`) or that no element has yet, or a condition that
     only a browser can decide;
   - the rule that hides it depends on such a state: `:not(.active)`, `.loading`, `[v-cloak]`;
   - HTML itself opens it: `details`, `dialog`, `popover`;
   - a transition or an animation brings it in;
   - the page has scripts, and a control refers to it (`href="#id"`, `aria-controls`, `data-target`,
     `for`), an inline script names its id or class, its name or role or that of an element around
     it is one of widgets (tab, accordion, carousel, menu, dialog, "read more" …), or it holds
     most of the text of the page: it is shown when the page has loaded.
3. Some ways to hide are not used to fold content: clipping to a pixel (for screen readers), a far
   indent, letters of no size, the colour of the background. For them only CSS rules count.
4. Everything that cannot be decided counts as shown: style sheets that are not in the page, values
   that are not understood, style sheets that take too much work.

An author who wants hidden text to count can add a script and a class "tab". That is no gain: the
same author can show the text to everybody. The rule protects against text that an author hides
from readers without building a way to it, and against those who may write into a page (comments,
wikis) but not its scripts.
"""

import re
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser, LexborNode

from fetchers.reading.css.cascade import Cascade, Values
from fetchers.reading.css.document import Element
from fetchers.reading.visibility.ways import Way

_MOTION = ("transition", "animation", "will-change", "-webkit-transition", "-webkit-animation")
_STILL = frozenset(("", "none", "auto", "initial", "inherit", "unset", "0s", "all 0s", "all"))
_WHOLE = ("html", "body")  # their names say something about the page, not about a part

_WIDGETS = re.compile(
    r"accord|carousel|collaps|dropdown|expand|toggl|modal|dialog|pop-?(?:up|over)|tooltip|lightbox"
    r"|slid(?:e|ing)|swiper|slick|splide|flickity|glide|owl|marquee|ticker|sub-?menu|drawer"
    r"|off-?canvas|spoiler|unfold|fold(?!er)|read-?more|show-?(?:more|all)|load-?more|see-?more"
    r"|view-?more|more-?(?:text|content|info|less)|hamburger|flyout|overlay|tabs|tabbed"
    r"|(?:\btab|nav|menu)-|tab-?(?:panel|pane|content|item|body|section)|wizard|gallery|toast|snackbar",
    re.I,
)
_WIDGET_WORDS = frozenset((
    "tab", "menu", "nav", "navbar", "navigation", "faq", "faqs", "panel", "pane", "more", "answer",
    "step", "steps", "details", "summary", "hover", "sheet", "search", "cookie", "consent",
))  # fmt: skip
_FADES = re.compile(
    r"\baos|\bwow\b|fade|reveal|lazy|animat|\bsal\b|scroll-?(?:in|trigger|effect)|in-?view|appear"
    r"|motion|parallax|waypoint|fx-|elementor-invisible|uk-scrollspy|typewrit",
    re.I,
)
_ROLES = frozenset((
    "tabpanel", "tab", "tablist", "menu", "menubar", "menuitem", "navigation", "dialog",
    "alertdialog", "listbox", "option", "tooltip", "tree", "combobox", "treeitem", "alert",
))  # fmt: skip
_NATIVE = ("details", "dialog", "nav", "menu")
_FOR_SCREEN_READERS = re.compile(
    r"sr-?only|screen-?reader|visually-?hidden|hidden-?(?:visually|accessible)|off-?screen"
    r"|assistive|a11y|accessib",
    re.I,
)
_UNTIL_LOADED = re.compile(r"cloak|loading|preload|fouc|async-hide|lazy|pending|no-?js", re.I)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NAMES = 500  # characters of class, id and role that are read
_LOOKED_FOR = 100  # names that are looked for in scripts
_PLACES = 50  # of a name in scripts that are looked at
_BEFORE_NAME = ("'", '"', ".", "#", "`")
_MOST = 16  # elements whose share of the text is measured


class Opening:
    """Decides what can be opened on one page. Made before the tree is changed."""

    def __init__(self, tree: LexborHTMLParser, cascade: Cascade) -> None:
        self._tree = tree
        self._cascade = cascade
        self._shown: dict[int, bool] = {}
        self._looked_for = 0
        self._measured = 0

    def is_folded(self, element: Element, way: Way) -> bool:
        """Whether HTML or a script of the page unfolds an element that `way` may hide. Only the
        names and the place of the element are read, so this is fast."""
        if not way.is_toggled or _FOR_SCREEN_READERS.search(_names(element)):
            return False
        return self._is_native(element) or (
            self._has_scripts
            and (self._is_in_widget(element) or (way.is_faded and _is_faded(element)))
        )

    def can_show(self, element: Element, way: Way, values: Values, is_stable: bool) -> bool:
        """Whether a reader can come to see an element that `way` hides with these `values`, though
        it is not one that `is_folded`. If not `is_stable`, the rule that hides it depends on a
        state."""
        return (
            (way.is_toggled and self._has_scripts and self._can_unfold(element, way, is_stable))
            or (way.is_faded and self._moves(element, values))
            or any(
                not way.hides({**values, **change})
                for change in self._cascade.after_changes(element, way.properties)
            )
        )

    def _can_unfold(self, element: Element, way: Way, is_stable: bool) -> bool:
        """Whether a script of the page may unfold the element."""
        if _FOR_SCREEN_READERS.search(_names(element)):
            return False
        return (
            not is_stable
            or self._is_controlled(element)
            or self._is_named_in_scripts(element)
            or (self._can_be_whole(element, way) and self._holds_most(element))
        )

    def _moves(self, element: Element, values: Values) -> bool:
        """Whether the element has a transition or an animation, or a shift with an opacity: such a
        block fades in while it moves."""
        motion = self._cascade.values(element, _MOTION)
        if any(value not in _STILL for value in motion.values()):
            return True
        inline = element.style.lower()
        return "opacity" in values and bool(re.search(r"transform\s*:|translate\s*:", inline))

    @cached_property
    def _has_scripts(self) -> bool:
        for script in self._tree.css("script"):
            attributes = script.attributes
            kind = (attributes.get("type") or "").lower()
            if "json" not in kind and ("src" in attributes or script.text().strip()):
                return True
        return False

    @cached_property
    def _scripts(self) -> str:
        """The code of the inline scripts, without data."""
        scripts = self._tree.css("script:not([type*=json i])")
        return "\n".join(script.text() for script in scripts)[:2_000_000]

    @cached_property
    def _controls(self) -> frozenset[str]:
        """The ids and classes that controls refer to, as "#id" and ".class"."""
        found: set[str] = set()
        for node in self._tree.css(_CONTROLS):
            for name, value in node.attributes.items():
                if not value or name not in _REFERRING or len(value) > _NAMES:
                    continue
                if name in ("href", "data-target", "data-bs-target", "data-href"):
                    found.update(part for part in value.split() if part[0] in "#.")
                found.update(f"#{part}" for part in value.split())
        return frozenset(found)

    def _is_controlled(self, element: Element) -> bool:
        names = {f"#{element.id}", *(f".{name}" for name in element.classes)}
        return not names.isdisjoint(self._controls) and bool(element.id or element.classes)

    def _is_native(self, element: Element) -> bool:
        """Whether HTML opens the element, or an element around it, without a script."""
        at: Element | None = element
        while at is not None:
            if at.tag in ("details", "dialog") or "popover" in at.attributes:
                return True
            at = at.parent
        return False

    def _is_in_widget(self, element: Element) -> bool:
        """Whether the element or one around it is named like something that opens."""
        path = []
        at: Element | None = element
        answer = False
        while at is not None and at.tag not in _WHOLE:
            if at.key in self._shown:
                answer = self._shown[at.key]
                break
            path.append(at.key)
            if _is_widget(at) or (at is element and _has_widget_word(at)):
                answer = True
                break
            at = at.parent
        self._shown.update(dict.fromkeys(path, answer))
        return answer

    def _is_named_in_scripts(self, element: Element) -> bool:
        """Whether an inline script speaks of the id or a class, as a selector or as a string."""
        for name in (element.id, *sorted(element.classes)):
            if len(name) < 3 or self._looked_for >= _LOOKED_FOR:
                continue
            self._looked_for += 1
            at = self._scripts.find(name)
            for _ in range(_PLACES):
                if at < 0:
                    break
                before, after = (
                    self._scripts[max(at - 1, 0) : at],
                    self._scripts[at + len(name) : at + len(name) + 1],
                )
                if before in _BEFORE_NAME and not (after.isalnum() or after in ("-", "_")):
                    return True
                at = self._scripts.find(name, at + 1)
        return False

    def _can_be_whole(self, element: Element, way: Way) -> bool:
        """Whether pages are hidden in this way until they have loaded. Nobody moves a page off the
        screen for that, or folds it by an inline style."""
        inline = "display" in self._cascade.inline(element)
        return way.name in ("visibility", "opacity") or (way.name == "display" and not inline)

    @cached_property
    def _size(self) -> int:
        body = self._tree.body
        return _text_size(body) if body is not None else 0

    def _holds_most(self, element: Element) -> bool:
        """Whether an element holds more than half of the text of the page."""
        if self._measured >= _MOST:
            return True
        is_most = 2 * _text_size(element.node) > self._size
        self._measured += is_most
        return is_most


_REFERRING = frozenset((
    "href", "aria-controls", "data-target", "data-bs-target", "data-href", "for", "popovertarget",
    "commandfor", "aria-owns", "data-toggle", "data-tab", "data-panel", "data-id", "data-open",
))  # fmt: skip
_CONTROLS = ", ".join(
    '[href^="#"]' if name == "href" else f"[{name}]" for name in sorted(_REFERRING)
)


def _text_size(node: LexborNode) -> int:
    """Characters of the text of a node, scripts and styles aside."""
    unread = node.css("script, style, noscript")
    return len(node.text()) - sum(len(each.text()) for each in unread)


def _names(element: Element) -> str:
    return f"{element.attributes.get('class', '')} {element.id}"[:_NAMES]


def _is_widget(element: Element) -> bool:
    if element.tag in _NATIVE or element.attributes.get("role", "") in _ROLES:
        return True
    return "aria-expanded" in element.attributes or bool(_WIDGETS.search(_names(element)))


def _has_widget_word(element: Element) -> bool:
    """Whether a word in an element's names is a word of widgets. In the names of an element around
    it, such a word does not say enough."""
    words = (word.lower() for word in _WORD.findall(_names(element)))
    return not _WIDGET_WORDS.isdisjoint(words)


def _is_faded(element: Element) -> bool:
    """Whether an element has a name that scripts give to content that they fade in."""
    named = bool(_FADES.search(_names(element)))
    return named or any(
        _FADES.search(name[5:]) for name in element.attributes if name[:5] == "data-"
    )


def hides_until_loaded(selector: str) -> bool:
    """Whether a selector speaks of a page that is still loading."""
    return bool(_UNTIL_LOADED.search(selector))
