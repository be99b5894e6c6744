"""Which values of an axis are one: identity policies and the resolver that needs no model.

Values are brought to a standard form (`canonicalise`); those of an axis that asks for meaning
(`semantic`) are then named by the cluster they belong to (`cluster`). The lexical clusters made
here join values that differ in form alone (`fold`). (WANDR, section 5 and appendix F.)
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from judges.records.record import Record
from judges.text.dates import Format, parse_date

_LONGEST = 500
"""Characters. What is longer names nothing, and is compared as it stands: normalising takes
quadratic time on hostile text, and caches would hold it."""


# Policies


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Exact(_Policy):
    """Equal after Unicode and white-space normalisation."""

    how: Literal["exact"] = "exact"


class Semantic(_Policy):
    """Do two values name one entity; `scope` says what counts as one."""

    how: Literal["semantic"] = "semantic"
    scope: str = ""


class Date(_Policy):
    """Dates to one precision. What is no date, or says less than that, is outside."""

    how: Literal["date"] = "date"
    format: Format


class Closed(_Policy):
    """A whole roster; `aliases` are other names of its members. Other values are outside."""

    how: Literal["closed"] = "closed"
    members: Annotated[tuple[str, ...], Field(min_length=1)]
    aliases: Mapping[str, tuple[str, ...]] = {}

    @model_validator(mode="after")
    def _unambiguous(self) -> Self:
        if strangers := self.aliases.keys() - set(self.members):
            raise ValueError(f"aliases: {min(strangers)!r} is no member")
        owners: dict[str, str] = {}
        for field, member, name in self._names():
            if not form(name):
                raise ValueError(f"{field}: an empty name")
            owner = owners.setdefault(fold(name), member)
            if owner != member:
                raise ValueError(f"{field}: {name!r} cannot be told from a name of {owner!r}")
        if len(set(self.members)) < len(self.members):
            raise ValueError("members: a name stands twice")
        return self

    def _names(self) -> Iterator[tuple[str, str, str]]:
        yield from (("members", member, member) for member in self.members)
        for member, aliases in self.aliases.items():
            yield from (("aliases", member, alias) for alias in aliases)

    @cached_property
    def roster(self) -> Mapping[str, str]:
        """The member of every name, by its folded form."""
        return {fold(name): member for _, member, name in self._names()}


def _how(policy: Any) -> Any:
    if isinstance(policy, Mapping):
        return policy.get("how", "semantic")
    return getattr(policy, "how", None)


Identity = Annotated[
    Annotated[Exact, Tag("exact")]
    | Annotated[Semantic, Tag("semantic")]
    | Annotated[Date, Tag("date")]
    | Annotated[Closed, Tag("closed")],
    Discriminator(
        _how,
        custom_error_type="how",
        custom_error_message="how is one of exact, semantic, closed, date",
    ),
]


# Values


def canonicalise(identity: Identity, value: str) -> str | None:
    """The standard form of a value under a policy, which may be the value itself; None where it
    has none: outside a closed roster, no date of the precision asked for, or empty."""
    match identity:
        case Closed():
            return identity.roster.get(fold(value))
        case Date():
            date = parse_date(value)
            return date.format(identity.format) if date else None
        case _:
            return form(value) or None


def form(value: str) -> str:
    """A value in NFKC, single spaces between its words, without invisible characters.

    A raised, lowered, circled or broken number next to a digit stays as it is: 10² is not 102.
    """
    if len(value) > _LONGEST or (value.isascii() and value.isprintable()):
        return " ".join(value.split())
    tables = _tables()
    parts = tables.raised.split(value.translate(tables.invisible))
    parts[::2] = [unicodedata.normalize("NFKC", part) for part in parts[::2]]
    return " ".join("".join(parts).split())


def fold(value: str, company: bool = False) -> str:
    """What is left of a value without its case, accents (Latin, Greek, stress in Cyrillic),
    punctuation, spacing and legal forms of companies; equal for two values only if they have the
    same words and numbers in the same order. `company` says that it is meant as a company's name.

    Signs that tell names apart stay (C, C++ and C#; A and A-; 5 and -5; 35 and 3.5), as do the
    points, dashes and slashes between digits; only commas that group thousands go. "&" is "and".
    Nothing distinguishing is taken: of "Limited" or "!!!" all stays.
    """
    return form(value) if len(value) > _LONGEST else _fold(value, company)


@lru_cache(maxsize=1 << 14)
def _fold(value: str, company: bool) -> str:
    forms = _forms()
    if _PLAIN.fullmatch(value):  # most names are, and need none of the rest
        words = value.lower().split(" ")
        company = company and not _PLACE_CODE.search(value)
    else:
        words, company = _words(value, company)
    return _JOIN.sub("", " ".join(forms.strip(words, company))) or form(value)


def _words(value: str, company: bool) -> tuple[list[str], bool]:
    """The words of a value, and whether it is a company's name."""
    tables, forms = _tables(), _forms()
    whole = form(_TRADE_MARKS.sub("", value))
    text = _without_attached(whole.casefold(), forms.attached)
    company = bool(_DOTTED_END.search(text)) or (company and not _PLACE_CODE.search(whole))
    if not text.isascii():
        text = _without_accents(text).translate(tables.punctuation)
        text = _MIXED.sub(lambda word: word[0].translate(_LOOKALIKES), text)
    text = text.translate(_ASCII_PUNCTUATION).replace("&", " and ")
    text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
    text = _INITIALS.sub("", _SLASHED_FORM.sub(r"\1\2", _APOSTROPHE.sub("", text)))
    return _TOKEN.findall(text), company


_PLAIN = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_TRADE_MARKS = re.compile("[™®©℠]")
_APOSTROPHE = re.compile(r"(?<![\d'])'+|'+(?![\d'])")  # but for those between digits
_ASCII_PUNCTUATION = {ord(mark): " " for mark in '"!();?[\\]_{}'} | {ord("`"): "'"}
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
# "J. P. Morgan", "S.p.A.": the dots, and the space, between single letters.
_INITIALS = re.compile(r"(?<![^\W_][^\W_])(?<=[a-zа-яα-ω])\.\s?(?=[a-zа-яα-ω](?![^\W_]))")
_SLASHED_FORM = re.compile(r"\b([akpi])/(s)\b")
_PLACE_CODE = re.compile(r",\s*[A-Za-z]{2}$|(?<=[a-z]\s)CO$")
_DOTTED_END = re.compile(r"(?:\b[a-z]\.\s?){2,}$|\b(?:co|cie)\.$|\b[ak]/s$")
# A word or number with its sign, what joins its digits, and signs at its end.
_TOKEN = re.compile(
    r"(?:(?<![\w.-])-?\.?(?=\d))?[^\s.,:/'-]+(?:(?<=\d)[.,:/'-](?=\d)[^\s.,:/'-]+)*"
    r"|(?<=[^\s-])-+(?![\w-])"
)
_CJK = "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
# Spacing is a matter of taste beside Hangul, Han and Kana, and of a number and a letter or unit.
_JOIN = re.compile(
    rf"(?<=[{_CJK}]) (?=[^\W\d_])|(?<=[^\W\d_]) (?=[{_CJK}])"
    r"|(?<=\d) (?=[^\W\d_])|(?<=[^\W\d_]) (?=\d)"
    r"|(?<=\d) (?=[%‰°€])|(?<=[$€£¥₩]) (?=\d)"
)
_ACCENTS = re.compile("(?<=[a-z\u00df-\u02af\u0370-\u03ff])[\u0300-\u036f]+|(?<=[аеиоуыэюя])\u0301")
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ё": "е"}
)


# A word of Latin letters and of others that look like them is spelt so to pass for another.
_MIXED = re.compile(r"(?=[а-яѐ-џԁһα-ω]*[a-z])[a-zа-яѐ-џԁһα-ω]*[а-яѐ-џԁһα-ω][a-zа-яѐ-џԁһα-ω]*")
_LOOKALIKES = str.maketrans("авеіјкмнорстухѕԁһαβεηικνορτυχ", "abeijkmhopctyxsdhabehikvoptyx")


def _without_accents(text: str) -> str:
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text.translate(_LETTERS)))
    return unicodedata.normalize("NFC", bare)


def _without_attached(text: str, attached: re.Pattern[str]) -> str:
    bare = attached.sub("", text).strip()
    return bare if any(map(str.isalnum, bare)) else text


@dataclass(frozen=True, slots=True)
class _Tables:
    invisible: Mapping[int, str | None]
    punctuation: Mapping[int, str]
    raised: re.Pattern[str]


@cache
def _tables() -> _Tables:
    """What the character database says of the basic plane, and of the few characters elsewhere
    that do not show, or that NFKC turns into digits as it does ² and ½."""
    hidden = (0x034F, 0x115F, 0x1160, 0x3164, *range(0xFE00, 0xFE10), *range(0xE0000, 0xE01F0))
    invisible: dict[int, str | None] = dict.fromkeys(hidden)
    punctuation = {0x2212: "-", **dict.fromkeys(map(ord, "‘’ʼʹ′"), "'")}
    numbers = "⁺⁻₊₋"
    for code in (*range(0x10000), *range(0x1F100, 0x1F110)):
        char, category = chr(code), unicodedata.category(chr(code))
        if category in ("Cf", "Cc") and not char.isspace():
            invisible[code] = None
        elif category == "Cs":
            invisible[code] = f"\ufffd{code:x}"  # files are UTF-8, which cannot hold these
        elif char.isascii():
            continue
        elif category[0] == "P" and char not in "‰‱″":
            punctuation.setdefault(code, "-" if category == "Pd" else " ")
        elif category != "Nd" and any(map(str.isdigit, unicodedata.normalize("NFKC", char))):
            numbers += char
    raised = re.compile(rf"((?<=[\d{numbers}])[{numbers}]|[{numbers}](?=[\d{numbers}]))")
    return _Tables(invisible, punctuation, raised)


# Legal forms


@dataclass(frozen=True, slots=True)
class _Forms:
    """The legal forms of company_forms.toml, as words; `endings` by their last word."""

    endings: Mapping[str, Sequence[tuple[tuple[str, ...], bool]]]
    leading: frozenset[str]
    attached: re.Pattern[str]
    company_word: re.Pattern[str]

    def strip(self, words: list[str], company: bool) -> list[str]:
        """`words` without legal forms at their ends, so long as something tells them apart."""
        if len(words) > 1 and words[0] in self.leading:
            words = words[1:]
        while ending := self._ending(words, company):
            words = words[:-ending]
        return words

    def _ending(self, words: list[str], company: bool) -> int:
        """The length in words of the longest legal form that ends a name."""
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
def _forms() -> _Forms:
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
    return _Forms(
        endings,
        frozenset(data["leading"]),
        re.compile(rf"^(?:{either})|(?:{either})$"),
        re.compile(
            rf"(?<![^\W_])(?:{'|'.join(starts)})|{'|'.join(data['company_words_anywhere'])}"
        ),
    )


# Axes


class Key(Protocol):
    """What the resolver reads of a task's key."""

    @property
    def name(self) -> str:
        """Its axis."""

    @property
    def fields(self) -> Sequence[str]:
        """The fields of a record's item that make up its value."""

    @property
    def identity(self) -> Identity:
        """When two values of it are one."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Values that are compared with one another, throughout a task and its subtasks: those of a
    key, or of a composite key's field that is no key itself (`key.field`)."""

    name: str
    field: str
    identity: Identity

    @property
    def of_companies(self) -> bool:
        """Whether its name, or the first words of its scope, say that its values are companies."""
        scope = getattr(self.identity, "scope", "").split(maxsplit=4)[:4]
        return bool(_forms().company_word.search(" ".join((self.field, *scope)).casefold()))


def cluster(axis: Axis, values: Iterable[str]) -> dict[str, str]:
    """The lexical clusters of an axis: for each standard form the name of its cluster, which is
    the folded form that its members share and so depends on no order."""
    company = axis.of_companies
    return {value: fold(value, company) for value in values}


@dataclass(frozen=True, slots=True)
class Names:
    """What a row of records.jsonl says of a record's place: the standard form of each key whose
    value it changes, and the cluster of each where it is another (None: outside, or missing)."""

    canonical: dict[str, str]
    identity: dict[str, str | None]


Standard = Mapping[str, str | None]
"""The standard form of each of a record's values, by its axis' name; None: outside or missing."""


class Resolver:
    """The axes of one task, and what its records' values are called on them.

    Resolving a submission takes three steps, of which a model may take the second: `standardise`
    each record; make clusters of what is `left_over`, axis by axis (`cluster`); `name` each record
    by them.
    """

    def __init__(self, hierarchies: Mapping[str | None, Sequence[Key]]) -> None:
        """`hierarchies`: the keys of each, by the dotted name that records give, a subtask's
        parent key first."""
        keys = {key.name: key for levels in hierarchies.values() for key in levels}
        self._levels = {
            subtask: [(key.name, list(_axes(key, keys))) for key in levels if key.name != "url"]
            for subtask, levels in hierarchies.items()
        }
        self._axes = {
            subtask: list({axis.name: axis for _, axes in levels for axis in axes}.values())
            for subtask, levels in self._levels.items()
        }
        self._open_axes = {
            axis.name: axis
            for axes in self._axes.values()
            for axis in axes
            if isinstance(axis.identity, Semantic)
        }

    def standardise(self, record: Record) -> Standard:
        """The standard form of each of a record's values."""
        standard: dict[str, str | None] = {}
        for axis in self._axes[record.subtask]:
            value = record.item.get(axis.field)
            named = canonicalise(axis.identity, value) if isinstance(value, str) else None
            standard[axis.name] = named
        return standard

    def axes(self, record: Record) -> Sequence[Axis]:
        """The axes that a record has values on."""
        return self._axes[record.subtask]

    def outside(
        self, records: Iterable[Record], standards: Iterable[Standard]
    ) -> list[tuple[Axis, set[str]]]:
        """The values of each closed axis that are no name in its roster, as they were submitted."""
        values: dict[str, tuple[Axis, set[str]]] = {}
        for record, standard in zip(records, standards, strict=True):
            for axis in self._axes[record.subtask]:
                value = record.item.get(axis.field)
                if not isinstance(axis.identity, Closed) or not isinstance(value, str):
                    continue
                if standard[axis.name] is None:
                    values.setdefault(axis.name, (axis, set()))[1].add(value)
        return list(values.values())

    def placed(
        self,
        records: Iterable[Record],
        standards: Iterable[Standard],
        members: Mapping[tuple[str, str], str],
    ) -> list[Standard]:
        """The standards with the member that stands, by axis and submitted value, in `members`."""
        found: list[Standard] = []
        for record, standard in zip(records, standards, strict=True):
            values = ((axis.name, record.item.get(axis.field)) for axis in self.axes(record))
            known = {
                name: members[name, value]
                for name, value in values
                if isinstance(value, str) and (name, value) in members
            }
            found.append({**standard, **known} if known else standard)
        return found

    def left_over(self, standards: Iterable[Standard]) -> list[tuple[Axis, set[str]]]:
        """The distinct values of each axis whose sameness is a question of meaning."""
        values: dict[str, set[str]] = {name: set() for name in self._open_axes}
        for standard in standards:
            for name, value in standard.items():
                if value is not None and name in values:
                    values[name].add(value)
        return [(axis, values[name]) for name, axis in self._open_axes.items()]

    def name(
        self,
        record: Record,
        standard: Standard,
        clusters: Mapping[str, Mapping[str, str]],
        url: str,
    ) -> Names:
        """Call a record's values by their clusters: `clusters` has, by the name of each axis that
        was left over, each value's cluster. `url` is the record's canonical URL."""
        names = Names({"url": url}, {})
        for key, axes in self._levels[record.subtask]:
            forms = [form for axis in axes if (form := standard[axis.name]) is not None]
            if len(forms) < len(axes):
                names.identity[key] = None
                continue
            canonical = _compound(forms)
            same = _compound(
                [
                    clusters[axis.name][form] if axis.name in self._open_axes else form
                    for axis, form in zip(axes, forms, strict=True)
                ]
            )
            if len(axes) > 1 or canonical != record.item[axes[0].field]:
                names.canonical[key] = canonical
            if same != canonical:
                names.identity[key] = same
        return names


def _axes(key: Key, keys: Mapping[str, Key]) -> Iterator[Axis]:
    """The axes of a key, one a field; a field that is a key is resolved as that key is."""
    for field in key.fields:
        if field in keys and field != key.name:
            yield from _axes(keys[field], keys)
        else:
            name = key.name if len(key.fields) == 1 else f"{key.name}.{field}"
            yield Axis(name, field, key.identity)


def _compound(parts: Sequence[str]) -> str:
    """One name for a key's values, another for every other sequence of values."""
    if len(parts) == 1:
        return parts[0]
    return " | ".join([part.replace("\\", r"\\").replace("|", r"\|") for part in parts])
