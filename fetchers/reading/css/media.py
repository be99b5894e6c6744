"""Media queries, answered for the reader of a page: a desktop window of 1280 x 800 px."""

import re

_WIDTH, _HEIGHT, _EM = 1280, 800, 16  # the window of a desktop reader, in px
_LENGTH = r"(-?[\d.]{1,9})(px|r?em|)"
_BOUND = re.compile(rf"(min|max)-(?:device-)?(width|height)\s*:\s*{_LENGTH}")
_RANGE = re.compile(rf"(width|height)\s*(<=?|>=?)\s*{_LENGTH}")
_RANGE_BEFORE = re.compile(rf"{_LENGTH}\s*(<=?|>=?)\s*(width|height)(?:\s*(<=?|>=?)\s*{_LENGTH})?")
_FACTS = {
    "orientation: landscape": True,
    "orientation: portrait": False,
    "hover": True,
    "hover: hover": True,
    "hover: none": False,
    "any-hover: hover": True,
    "pointer: fine": True,
    "pointer: coarse": False,
    "pointer: none": False,
    "any-pointer: fine": True,
    "prefers-color-scheme: light": True,
    "prefers-color-scheme: dark": False,
    "prefers-reduced-motion: no-preference": True,
    "prefers-reduced-motion": False,
    "prefers-reduced-motion: reduce": False,
    "scripting: enabled": True,
    "scripting: none": False,
    "color": True,
}
_TYPES = {"": True, "all": True, "screen": True}


def media_matches(query: str) -> bool | None:
    """Whether a media query list matches a desktop window of 1280 x 800 px; None if unknown."""
    answers = [_query_matches(part) for part in query[:1000].lower().split(",")]
    return True if True in answers else None if None in answers else False


def _query_matches(query: str) -> bool | None:
    query = query.strip()
    is_negated = query.startswith("not ")
    query = re.sub(r"^(?:not|only)\s+", "", query)
    answers: list[bool | None] = []
    for part in re.split(r"\s+and\s+|\s*\band(?=\()", query):
        if part.startswith("(") and part.endswith(")"):
            answers.append(_feature_matches(part[1:-1].strip()))
        else:
            answers.append(_TYPES.get(part, False if re.fullmatch(r"[a-z-]+", part) else None))
    answer = False if False in answers else None if None in answers else True
    return answer if answer is None or not is_negated else not answer


def _feature_matches(feature: str) -> bool | None:
    if found := _BOUND.fullmatch(feature):
        end, side, number, unit = found.groups()
        return _compare(side, ">=" if end == "min" else "<=", number, unit)
    if found := _RANGE.fullmatch(feature):
        side, sign, number, unit = found.groups()
        return _compare(side, sign, number, unit)
    if found := _RANGE_BEFORE.fullmatch(feature):
        number, unit, sign, side, upper, limit, limit_unit = found.groups()
        first = _compare(side, sign.translate(str.maketrans("<>", "><")), number, unit)
        return first and _compare(side, upper, limit, limit_unit) if upper else first
    return _FACTS.get(re.sub(r"\s*:\s*", ": ", feature))


def _compare(side: str, sign: str, number: str, unit: str) -> bool | None:
    try:
        limit = float(number) * (_EM if "em" in unit else 1)
    except ValueError:
        return None
    size = _WIDTH if side == "width" else _HEIGHT
    return {">": size > limit, ">=": size >= limit, "<": size < limit, "<=": size <= limit}[sign]
