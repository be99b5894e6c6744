"""The legal forms of companies ("Inc.", "GmbH"), as `company_forms.toml` lists them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class LegalForms:
    """The lists of company_forms.toml, ready for matching.

    `endings` has, by its last word, each legal form that ends a name: its words, and whether it is
    ambiguous (it drops off company names only). `leading` has the forms that begin a name.
    `attached` matches the forms that join a name without a space. `company_word` matches the words
    by which the name or scope of a key says that its values are companies.
    """

    endings: Mapping[str, Sequence[tuple[tuple[str, ...], bool]]]
    leading: frozenset[str]
    attached: re.Pattern[str]
    company_word: re.Pattern[str]

    def strip(self, words: list[str], company: bool) -> list[str]:
        """The words of a name without the legal forms at both ends. Ambiguous forms are dropped
        if `company` is true. At least one word that is not an article always stays."""
        if len(words) > 1 and words[0] in self.leading:
            words = words[1:]
        while ending := self._ending(words, company):
            words = words[:-ending]
        return words

    def _ending(self, words: list[str], company: bool) -> int:
        """The number of words in the longest legal form that may be dropped from the end."""
        for ending, ambiguous in self.endings.get(words[-1], ()) if words else ():
            rest = words[: -len(ending)]
            if (
                tuple(words[-len(ending) :]) == ending
                and (company or not ambiguous)
                and any(word not in _ARTICLES for word in rest)
            ):
                return len(ending)
        return 0


_ARTICLES = frozenset(("a", "an", "and", "der", "die", "el", "la", "le", "les", "los", "of", "the"))


@cache
def legal_forms() -> LegalForms:
    """The legal forms, read once."""
    data = tomllib.loads(files("judges.names").joinpath("company_forms.toml").read_text("utf-8"))
    endings: dict[str, list[tuple[tuple[str, ...], bool]]] = {}
    for name in ("anywhere", "of_companies"):
        for entry in data[name]:
            words = tuple(entry.split())
            endings.setdefault(words[-1], []).append((words, name == "of_companies"))
    for group in endings.values():
        group.sort(key=lambda entry: -len(entry[0]))
    starts = map(re.escape, data["company_words"])
    either = "|".join(map(re.escape, sorted(data["attached"], key=len, reverse=True)))
    return LegalForms(
        endings,
        frozenset(data["leading"]),
        re.compile(rf"^(?:{either})|(?:{either})$"),
        re.compile(
            rf"(?<![^\W_])(?:{'|'.join(starts)})|{'|'.join(data['company_words_anywhere'])}"
        ),
    )
