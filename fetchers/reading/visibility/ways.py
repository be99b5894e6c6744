"""The ways in which CSS hides an element, other than by colour.

Each way names the properties that decide, a cheap test for blocks that may do it, and a test of the
values that an element gets.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from fetchers.reading.css.cascade import Values


@dataclass(frozen=True, slots=True)
class Way:
    """One way to hide an element.

    `properties` decide whether `hides` is true of the values of an element, and one of those that
    are `required` is set. Every block that can set such values has a match of one of the
    `suspects`, in lower case. If `is_inherited`, the way hides text, not boxes: an element inside
    can show itself again. If `is_toggled`, scripts use this way to fold and unfold content; if
    `is_faded`, they also use it to fade content in.
    """

    name: str
    properties: tuple[str, ...]
    suspects: tuple[re.Pattern[str], ...]
    hides: Callable[[Values], bool]
    is_inherited: bool = False
    is_toggled: bool = True
    is_faded: bool = False
    required: tuple[str, ...] = ()

    def suspects_style(self, style: str) -> bool:
        """Whether an inline style, in lower case, may hide in this way."""
        return any(pattern.search(style) for pattern in self.suspects)


_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?)(px|pt|r?em|vw|vh|%|)")
_FAR = {"px": 1_000, "": 1_000, "pt": 1_000, "em": 100, "rem": 100, "vw": 100, "vh": 100}
_SIDES = ("left", "top", "right", "bottom")


def length(value: str) -> tuple[float, str] | None:
    """The number and unit of a length, or None if the value is something else."""
    found = _LENGTH.fullmatch(value.strip()[:40])
    return (float(found[1]), found[2]) if found else None


def _is_zero(value: str | None, most: float = 0) -> bool:
    """Whether a value is a length of zero, or of at most `most` px."""
    read = length(value or "")
    return read is not None and 0 <= read[0] <= (most if read[1] == "px" else 0)


def _is_far(value: str) -> bool:
    """Whether a negative length leads more than a screen away; -100% is what drawers use."""
    read = length(value)
    return read is not None and read[1] in _FAR and -read[0] >= _FAR[read[1]]


def _display(values: Values) -> bool:
    return values.get("display") == "none"


def _visibility(values: Values) -> bool:
    return values.get("visibility") in ("hidden", "collapse")


def _opacity(values: Values) -> bool:
    value = values.get("opacity", "")
    read = length(value)
    return read is not None and (read[0] / 100 if read[1] == "%" else read[0]) < 0.05


def _font(values: Values) -> bool:
    return _is_zero(values.get("font-size"))


def _indent(values: Values) -> bool:
    return _is_far(values.get("text-indent", "").split(" ")[0])


def _out_of_flow(values: Values) -> bool:
    return values.get("position") in ("absolute", "fixed")


_SHIFT = re.compile(r"translate(?:x|y|3d)?\(([^()]{1,80})\)")


def _away(values: Values) -> bool:
    shifts = [values.get("translate", ""), *_SHIFT.findall(values.get("transform", "")[:200])]
    if any(_is_far(part) for shift in shifts for part in re.split(r"[\s,]+", shift)):
        return True
    return _out_of_flow(values) and any(_is_far(values.get(side, "")) for side in _SIDES)


_CLIPPED = re.compile(r"rect\((?:\s*[01](?:px|r?em|%)?[\s,)]\s*){4}")
_CLIP_PATH = re.compile(
    r"inset\(\s*(?:[5-9]\d|100)%\s*\)|(?:circle|ellipse)\(\s*0(?:px|%)?(?:\s+0(?:px|%)?)?\s*(?:at[^()]*)?\)"
    r"|polygon\(\s*(?:0(?:px|%)?[\s,]*){2,}\)"
)


def _clip(values: Values) -> bool:
    if _CLIP_PATH.match(values.get("clip-path", "")):
        return True
    return _out_of_flow(values) and bool(_CLIPPED.match(values.get("clip", "")))


def _size(values: Values) -> bool:
    overflow = {values.get(name, "").split(" ")[0] for name in _OVERFLOW}
    if not overflow & {"hidden", "clip"} or values.get("display") == "inline":
        return False
    tall, wide = _has_room(values, "height"), _has_room(values, "width")
    if _is_zero(values.get("height"), 1) and _is_zero(values.get("width"), 1):
        return not tall and not wide
    return (_is_folded(values, "height") and not tall) or (_is_folded(values, "width") and not wide)


def _is_folded(values: Values, side: str) -> bool:
    return _is_zero(values.get(side)) or _is_zero(values.get(f"max-{side}"))


def _has_room(values: Values, side: str) -> bool:
    """Whether padding or a least size keeps a box open whose `side` is zero."""
    ends = ("top", "bottom") if side == "height" else ("left", "right")
    room = [values.get(f"min-{side}"), *(values.get(f"padding-{end}") for end in ends)]
    return any(value and value != "auto" and not _is_zero(value) for value in room)


_OVERFLOW = ("overflow", "overflow-x", "overflow-y")
_NO_SCALE = re.compile(r"scale(?:x|y|3d)?\(\s*0(?:\.0*)?\s*[,)]|matrix\(\s*0(?:\.0*)?\s*,")


def _scale(values: Values) -> bool:
    own = values.get("scale", "").split(" ")[0]
    return _is_zero(own) or bool(_NO_SCALE.search(values.get("transform", "")[:200]))


def _suspects(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, patterns))


_NIL = r"\s*:\s*(?:[01](?:px|r?em|%|v[hw])?\s*(?:[;!}]|$)|0\.|\.|var)"
WAYS = (
    Way("display", ("display",), _suspects(r"display\s*:\s*(?:none|var)"), _display),
    Way(
        "visibility",
        ("visibility",),
        _suspects(r"visibility\s*:\s*(?:hidden|collapse|var)"),
        _visibility,
        is_inherited=True,
        is_faded=True,
    ),
    Way(
        "opacity",
        ("opacity",),
        _suspects(
            r"opacity\s*:\s*(?:0(?!\.(?:[1-9]|0[5-9]))|\.0[0-4]|[\d.]+e|[0-4](?:\.\d+)?%|var)"
        ),
        _opacity,
        is_faded=True,
    ),
    Way(
        "font",
        ("font-size", "font"),
        _suspects(
            r"font-size\s*:\s*(?:0(?!\.?\d*[1-9])|\.0|var)",
            r"font\s*:[^;}]{0,200}(?<![\w.])(?:0(?!\.?\d*[1-9])|\.0|var)",
        ),
        _font,
        is_inherited=True,
        is_toggled=False,
    ),
    Way(
        "indent",
        ("text-indent",),
        _suspects(r"text-indent\s*:\s*(?:-|var)"),
        _indent,
        is_toggled=False,
    ),
    Way(
        "away",
        (*_SIDES, "inset", "position", "translate", "transform"),
        _suspects(r"-(?:\d{3}|\d{1,2}(?:\.\d*)?e)"),
        _away,
        is_faded=True,
        required=("position", "transform", "translate"),
    ),
    Way(
        "clip",
        ("clip", "position"),
        _suspects(r"clip(?:-path)?\s*:"),
        _clip,
        is_toggled=False,
    ),
    Way(
        "size",
        (
            *_OVERFLOW, "height", "width", "max-height", "max-width", "min-height", "min-width",
            "padding", "display",
        ),
        _suspects("height" + _NIL, "width" + _NIL),
        _size,
        is_faded=True,
        required=("overflow",),
    ),
    Way(
        "scale",
        ("transform", "scale"),
        _suspects(r"scale(?:x|y|3d)?\s*[:(]\s*0", r"matrix\(\s*0"),
        _scale,
        is_faded=True,
    ),
)  # fmt: skip
BY_NAME = {way.name: way for way in WAYS}
