"""Bounds of the work on the style sheets of one page."""

from dataclasses import dataclass

MAX_CSS = 2_000_000
"""Characters of all style sheets of a page that are read."""
MAX_RULES = 100_000


MAX_STEPS = 300_000
"""Steps of work on all style sheets of a page, such as one comparison of one simple selector with
one element. A step takes about three microseconds."""


class TooMuch(Exception):
    """The style sheets are larger, or take more work, than the budget allows."""


@dataclass(slots=True)
class Budget:
    """The work that may still be done on the style sheets of one page and of the documents in it:
    characters of CSS, rules, and steps."""

    css: int = MAX_CSS
    rules: int = MAX_RULES
    steps: int = MAX_STEPS

    def spend(self, *, css: int = 0, rules: int = 0, steps: int = 0) -> None:
        """Counts work. Raises TooMuch if nothing is left."""
        self.css -= css
        self.rules -= rules
        self.steps -= steps
        if self.css < 0 or self.rules < 0 or self.steps < 0:
            raise TooMuch
