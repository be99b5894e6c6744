"""The final answer of a raw response, and whether it is the gold answer (answers.md, items 1 and 2;
K-BrowseComp, section 4).

`read` finds the final answer and the confidence. `decide` compares the answer with the gold answer.
No model is asked here; an `undecided` answer goes to a judge, if there is one.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judges.values import surface

Outcome = Literal["correct", "wrong", "no_answer", "undecided"]


@dataclass(frozen=True, slots=True)
class Reading:
    """The final answer of a response.

    `answer` is empty if the response gives none. If no label, field or box marks an answer,
    `marked` is false and `answer` is the whole response, in which a judge may find one.
    `confidence` is a fraction from 0 to 1. `beside` is the text around and after the answer.
    """

    answer: str
    confidence: float = 1.0
    beside: str = ""
    marked: bool = True


def read(response: str) -> Reading:
    """Read the final answer of a response: the last one after a label, in a JSON field or in a box
    (answers.md, item 1). Never raises; reads the last REACH characters, in linear time."""
    text = _final_part(response)
    labels, fields, box = _Labels(text), _Fields(text), text.rfind(_BOX)
    confidence = _fraction(fields.confidence or labels.confidence)
    if max(labels.start, fields.start, box) < 0:
        return Reading(text.strip(), confidence, marked=False)
    if fields.end > max(labels.start, box):
        return Reading(fields.answer, confidence, text[fields.end :])
    if box > labels.end:  # the answer is the line with the box
        start, end = text.rfind("\n", 0, box) + 1, _find(text, "\n", _box_end(text, box))
    else:
        start, end = labels.start, labels.end
    answer, around = _unboxed(text[start:end])
    return Reading(answer.strip(_EDGES), confidence, around + text[end:])


def _find(text: str, part: str, start: int) -> int:
    """The position of `part` in the text from `start` on, or the end of the text."""
    place = text.find(part, start)
    return place if place >= 0 else len(text)


def decide(reading: Reading, gold: str, *aliases: str) -> Outcome:
    """Whether the answer of a response is the gold answer or one of its aliases (answers.md, item
    2).

    An answer is `wrong` if that needs no knowledge of the world: it offers alternatives, is
    withdrawn, or has another value (`surface.differ`). It is `undecided` if other words may name
    the same thing, or if the response denies the answer elsewhere.
    """
    answer, golds = surface.clean(reading.answer), [surface.clean(g) for g in (gold, *aliases)]

    def right(part: str) -> bool:
        return any(surface.same(part, gold) for gold in golds)

    if right(answer):
        if _RETRACTED.search(reading.beside) or _replaced(reading.beside, golds):
            return "wrong"
        return "undecided" if _denied(reading.answer, reading.beside) else "correct"
    if gives_none(answer) or (not reading.marked and _is_call(reading.answer)):
        return "no_answer"
    if not reading.marked:
        return "undecided"
    if any(_denied(gold, answer) or surface.differ(answer, gold) for gold in golds):
        return "wrong"
    return _among_alternatives(answer, golds, right)


def _among_alternatives(answer: str, golds: Sequence[str], right: Callable[[str], bool]) -> Outcome:
    """Decide an answer that may offer alternatives. All of them must be right. A gold answer that
    reads like alternatives itself leaves the answer undecided."""
    if any(len(surface.candidates(gold)) > 1 for gold in golds):
        return "undecided"
    parts = surface.candidates(answer)
    if len(parts) == 1 and not any(map(right, parts := answer.split("/"))):
        return "undecided"
    return "correct" if all(map(right, parts)) else "wrong"


# ----------------------------------------------------------------------------------------- labels

_ANSWER = r"exact\s{1,3}answer|final\s{1,3}answer|최종\s{0,3}(?:답변|정답|답)|정답"
_CONFIDENCE = r"confidence(?:\s(?:score|level))?|신뢰도|확신도"
_OTHER = (
    r"explanation|reasoning|rationale|evidence|sources?|notes?|설명|해설|풀이|근거|이유|출처|참고"
)
# A label ends in a colon, or is alone on its line.
_LABEL = re.compile(
    rf"""(?P<start>^[ \t\#*_>•-]{{0,12}})?(?<![^\W_])
    (?:(?P<answer>{_ANSWER})|(?P<confidence>{_CONFIDENCE})|(?P<other>{_OTHER}))
    (?:[ \t]?[*_`]{{0,4}}[ \t]?(?:\([^()\n]{{0,40}}\))?[ \t]?[*_`]{{0,4}}[:\uff1a]
    |(?P<alone>[ \t*_]{{0,8}}$))""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_BLANK = re.compile(r"\n[ \t]*\n")
_FENCE = re.compile(r"```[\w+-]*\n?")
_EDGES = " \t\n*_`"
_LONGEST_CONFIDENCE = 60  # characters


class _Labels:
    """The last labelled answer, as `start` and `end` in the text (-1 if there is none), and the
    text of the last stated confidence."""

    def __init__(self, text: str) -> None:
        self.start = self.end = -1
        self.confidence = ""
        stop: int | None = None
        for label in _LABEL.finditer(text):
            at_start = label["start"] is not None
            if not at_start and (label["other"] or label["alone"] is not None):
                continue
            if label["answer"]:
                self.start, stop = label.end(), None
            elif stop is None:
                stop = label.start()
            if label["confidence"]:
                stated = text[label.end() : label.end() + _LONGEST_CONFIDENCE]
                self.confidence = stated.strip().split("\n")[0]
        if self.start >= 0:
            self._settle(text, len(text) if stop is None else stop)

    def _settle(self, text: str, stop: int) -> None:
        """Skip the space or fence before the answer. End at a blank line or a closing fence."""
        body = text[self.start : stop]
        opening = len(body) - len(body.lstrip(" \t\n*_"))
        if fence := _FENCE.match(body, opening):
            opening = fence.end()
            closing = _find(body, "```", opening)
        else:
            blank = _BLANK.search(body, opening)
            closing = blank.start() if blank else len(body)
        self.end = self.start + closing
        self.start += opening


REACH = 1_000_000
"""The characters at the end of a response that are read. An answer that has more text than that
after it is not final."""


def _final_part(response: str) -> str:
    """The response after the `<think>` part, with `\\n` as line ends. Empty if the part is open."""
    text = response.rpartition("</think>")[2].partition("<think>")[0][-REACH:]
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ----------------------------------------------------------------------------------- JSON and LaTeX

_FIELD = re.compile(
    rf"""(?<!\\)"(?:(?P<answer>(?:final[_ ])?answer|{_ANSWER})|(?P<confidence>{_CONFIDENCE}))"
    \s{{0,20}}:\s{{0,20}}""",
    re.VERBOSE | re.IGNORECASE,
)
# Numbers stay as they are written: "0.70" must not become 0.7, nor "1" the fraction 1.0.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


class _Fields:
    """The value of the last JSON field `answer` in a text, with its `start` and `end` (-1 if there
    is none), and of the last field `confidence`."""

    def __init__(self, text: str) -> None:
        self.start = self.end = -1
        self.answer = self.confidence = ""
        answer = confidence = -1
        for field in _FIELD.finditer(text):
            if field["answer"]:
                self.start, answer = field.start(), field.end()
            else:
                confidence = field.end()
        if answer >= 0:
            self.answer, self.end = _value(text, answer)
        if confidence >= 0:
            self.confidence, _ = _value(text, confidence)


def _value(text: str, start: int) -> tuple[str, int]:
    """The JSON value at `start`, as text, and its end. Empty if the value is cut off."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (json.JSONDecodeError, RecursionError):
        return "", start
    parts = value if isinstance(value, list) else [value]
    answer = ", ".join(_scalar(part) for part in parts if part is not None)
    return answer.encode("utf-8", "replace").decode(), end  # \\u escapes may hold lone surrogates


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_BOX = r"\boxed{"
_BRACE = re.compile(r"[{}]")


def _box_end(text: str, start: int) -> int:
    """The end of the box that starts at `start`, or of the text if the box is not closed."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def _unboxed(body: str) -> tuple[str, str]:
    """The content of the only box in an answer, and the text around it. An answer with several
    boxes offers several answers: it is returned whole."""
    if body.count(_BOX) != 1:
        return body, ""
    start = body.index(_BOX)
    end = _box_end(body, start)
    if body[end - 1] != "}":
        return "", ""  # cut off
    inside = body[start + len(_BOX) : end - 1]
    return inside, f"{body[:start]}{inside}{body[end:]}"


# -------------------------------------------------------------------------------------- no answer

_NONE = re.compile(
    r"""none|null|nil|n/?a|nan|idk|tbd|unknown|unclear|undetermined
    |not\ ?(?:found|available|known|sure)
    |no\ (?:(?:exact|final|definitive)\ )?answer(?:\ (?:found|available|could\ be\ \w+))?
    |(?:sorry,?\ )?i\ (?:do\ not|don't|did\ not|didn't|cannot|can't|could\ not|couldn't
      |(?:am|was)\ (?:unable|not\ able)\ to)\ (?:know|find|determine|answer|identify|say)
      (?:\ (?:the|an|this|it|any|that))?(?:\ (?:exact|final|correct))?(?:\ (?:answer|question))?
    |(?:unable\ to|can(?:not|'t)\ be|could\ not\ be)\ (?:determined?|found|find|answer(?:ed)?)
    |insufficient\ (?:information|evidence|data)
    |(?:정확한\ |정확히\ )?(?:(?:정답|답변?)[을은]?\ )?(?:잘\ )?
      (?:모르겠(?:습니다|어요|음|다)|모름|모릅니다|몰라요?
      |(?:알|찾을|확인할|특정할|답할|알아낼|판단할|답변할)\ ?수\ ?(?:가\ )?
        없(?:음|습니다|었습니다|다|어요)
      |(?:찾지|확인하지|알아내지|특정하지)\ ?못(?:함|했습니다|하였습니다|했다))
    |(?:답변|확인|판단|특정)\ ?불가(?:능)?|(?:정답|답|정보|해당)?\ ?없음|불명|미상
    |不知道|不清楚|未知|无法(?:确定|回答)|無法(?:確定|回答)|找不到|没有答案|沒有答案
    |[分わ]かりません|知りません|不明|なし|特定できません(?:でした)?|見つかりません(?:でした)?""",
    re.VERBOSE,
)
_CALL_TAG = re.compile(
    r"<(?P<closing>/)?\|?(?:tool|function|invoke)[^<>]{0,80}>?|\[TOOL_CALLS?\]"
    r'|"(?:arguments|tool_calls?|function_call|parameters)"\s{0,9}:'
)
_CALL = re.compile(r"""[A-Za-z_][A-Za-z0-9_.]*\(\s{0,9}(?:["'“{\[]|[A-Za-z_]+\s{0,9}=)""")
_CALL_REACH = 4000  # characters at the end of a response that are searched for a tool call


def gives_none(answer: str) -> bool:
    """Whether an answer only says that there is no answer, or is a tool call."""
    if len(answer) > surface.LONGEST:
        return False
    text = surface.clean(answer).replace("’", "'").strip(" .,!?~<>[](){}\"'“”-*_`")
    return not text or bool(_NONE.fullmatch(text)) or _is_call(answer)


def _is_call(text: str) -> bool:
    """Whether a text ends in a tool call, whole or cut off."""
    text = text[-_CALL_REACH:].rstrip(" \n`;")
    for tag in reversed(list(_CALL_TAG.finditer(text))):
        return not tag["closing"] or not text[tag.end() :].strip()
    calls = list(_CALL.finditer(text))
    rest = text[calls[-1].end() :] if calls else ")."
    return ")" not in rest or rest.endswith(")")


# ---------------------------------------------------------------------------------------- withdrawn

_RETRACTED = re.compile(
    r"""(?:답변?|정답|결론)[을를]?\s?(?:바꿉|바꾸|변경|수정|정정|철회|취소)|(?:수정|정정|철회|취소)합니다
    |(?:위|이|앞|제)\s?(?:의\s)?(?:답변?|정답)[은는이가]\s?(?:틀|잘못|아[니닙닌님])
    |\bi\s(?:retract|withdraw|take\s(?:it|that|this)\sback|was\swrong|change\smy|changed\smy)
    |\b(?:scratch|strike|disregard|ignore)\s(?:that|the\sabove|my)\b|\bcorrection\s?:
    |\bon\s(?:second\sthought|reflection)\b
    |\b(?:this|that|the\sabove|(?:my|the)(?:\s\w+)?\sanswer)\s(?:above\s)?(?:is|was)\s
      (?:wrong|incorrect|not\s(?:right|correct|it))
    |\bnot\s(?:the|my)\s(?:correct\s|right\s|final\s)?answer\b
    |更正|撤回|收回|答案不是|訂正""",
    re.VERBOSE | re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"""(?:\b(?:wait|no|actually|hmm)\b[\s,.…:;!—-]{1,9}|(?:아니|아뇨|잠깐|다시\s생각해\s?보니)[\s,.…!]{1,9})
    (?:(?:the|my)\s(?:\w{1,9}\s)?answer\s(?:is|should\sbe|must\sbe)\s|(?:최종\s)?(?:정답|답)[은이]\s)
    (?P<answer>[^\n]{1,200})""",
    re.VERBOSE | re.IGNORECASE,
)


def _replaced(text: str, golds: Sequence[str]) -> bool:
    """Whether a text replaces the answer by another one ("Wait, the answer is ...")."""
    given = (surface.clean(found["answer"]) for found in _INSTEAD.finditer(text))
    return any(all(gold not in answer for gold in golds) for answer in given)


_LONGEST_NAME = 100


def _denied(name: str, text: str) -> bool:
    """Whether a text denies `name` ("not X", "X is wrong")."""
    name = name.strip(_EDGES)
    if not name or len(name) > _LONGEST_NAME:
        return False
    named = rf"""["'“”‘’「『*_]{{0,3}}{re.escape(name)}(?![0-9])["'“”‘’」』*_]{{0,3}}"""
    return bool(
        re.search(
            rf"""(?:\b(?:not|isn't|rather\ than|instead\ of)\s|不是|并非|並非|而非){named}
            |{named}\s?(?:[은는이가을를]\s?)?(?:아[니닙닌님]|틀[렸리린])
            |{named}\s?(?:(?:is|was)(?:\s(?:not|wrong|incorrect)\b|n't)|(?:では|じゃ)(?:な|あり))""",
            text,
            re.VERBOSE | re.IGNORECASE,
        )
    )


# ------------------------------------------------------------------------------------- confidence

_STATED = re.compile(
    r"(?<![\d.,-])(?P<number>\d{1,9}(?:[.,]\d{1,9})?|\.\d{1,9})\s*"
    r"(?:(?P<percent>%|percent|퍼센트)|(?:/|out of|of)\s*(?P<of>\d{1,9}))?",
    re.IGNORECASE,
)


def _fraction(stated: str) -> float:
    """A stated confidence as a fraction from 0 to 1 (answers.md, item 1). A number is out of 100,
    unless it names another base or is a decimal up to 1. Without a valid number it is 1."""
    match = _STATED.search(unicodedata.normalize("NFKC", stated[:_LONGEST_CONFIDENCE]))
    if match is None:
        return 1.0
    value = float(match["number"].replace(",", "."))
    fraction_form = not match["number"].isdigit() and value <= 1 and not match["percent"]
    of = float(match["of"]) if match["of"] else 1.0 if fraction_form else 100.0
    return value / of if value <= of and of else 1.0
