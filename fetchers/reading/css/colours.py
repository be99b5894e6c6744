"""Colours: read from CSS values and old attributes, mixed, and compared."""

import re
from dataclasses import dataclass

import tinycss2
from tinycss2 import color4

NEAR = 16 / 255
"""Two colours look the same if no channel differs by more than this."""


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour; channels and alpha are from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0

    def over(self, below: "Colour") -> "Colour":
        """This colour painted on an opaque one."""
        rest = 1 - self.alpha
        return Colour(
            self.red * self.alpha + below.red * rest,
            self.green * self.alpha + below.green * rest,
            self.blue * self.alpha + below.blue * rest,
        )

    def is_near(self, other: "Colour") -> bool:
        """Whether this opaque colour looks the same as the other one."""
        pairs = ((self.red, other.red), (self.green, other.green), (self.blue, other.blue))
        return all(abs(mine - yours) <= NEAR for mine, yours in pairs)


WHITE = Colour(1, 1, 1)
BLACK = Colour(0, 0, 0)
_HEX = re.compile(r"[0-9a-f]{3}|[0-9a-f]{6}", re.I)


def read_colour(value: str, current: Colour | None = None) -> Colour | None:
    """The first colour in a CSS value; `current` for `currentcolor`; None if there is none."""
    for token in tinycss2.parse_component_value_list(value):
        if token.type not in ("ident", "hash", "function"):
            continue
        try:
            found = color4.parse_color(token)
        except (ValueError, TypeError, AttributeError, OverflowError, ZeroDivisionError):
            continue
        if found == "currentcolor":
            return current
        if found is not None:
            try:
                channels = [min(max(float(part or 0), 0), 1) for part in found.to("srgb")]
                return Colour(*channels)
            except (ValueError, TypeError, NotImplementedError, OverflowError):
                return None
    return None


def read_legacy_colour(value: str) -> Colour | None:
    """The colour of an attribute such as `bgcolor`, which may lack its `#`."""
    value = value.strip()[:40]
    return read_colour(f"#{value}" if _HEX.fullmatch(value) else value)
