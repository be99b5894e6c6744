"""Made-up names of companies, some of them more than once in other words."""

import random
from collections.abc import Iterator

_SYLLABLES = [c + v for c in (*"bcdfghjklmnprstvwz", "br", "st", "tr", "ch") for v in "aeiou"]
_KINDS = (
    *("energy", "solutions", "systems", "partners", "foods", "pharma", "capital", "robotics"),
    *("labs", "media", "motors", "software", "networks", "materials", "health", "insurance"),
)


def companies(count: int, seed: int = 1) -> list[str]:
    """Different names, folded: one or two made-up words and mostly what the company does."""
    drawn = random.Random(seed)

    def names() -> Iterator[str]:
        while True:
            words = [
                "".join(drawn.choices(_SYLLABLES, k=drawn.randint(2, 4)))
                for _ in range(drawn.choice((1, 1, 2)))
            ]
            yield " ".join(words + drawn.sample(_KINDS, drawn.choice((0, 1, 1, 2))))

    found: dict[str, None] = {}
    source = names()
    while len(found) < count:
        found[next(source)] = None
    return list(found)


def aliased_companies(count: int, aliases: int) -> dict[str, str]:
    """`count` names, of which about `aliases` are other names of a company that is among them:
    each with the company that it names."""
    drawn = random.Random(2)
    plain = companies(count)
    truth = {name: name for name in plain[: count - aliases]}
    several = [name for name in truth if " " in name]
    while len(truth) < count:
        company = drawn.choice(several)
        words = company.split()
        alias = drawn.choice(
            (
                " ".join(words[:-1]) if len(words) > 2 else f"{company} group",
                f"{company} holdings",
                f"the {company} of {words[0][::-1]}",
                "".join(words),
                company.replace("c", "k", 1).replace("st", "sht", 1),
            )
        )
        truth.setdefault(alias, company)
    return truth
