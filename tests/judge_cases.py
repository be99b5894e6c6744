"""Records, pages and specs for the tests of a model judge."""

import json
import re
from typing import Any

from judges.endpoint.questions import Request
from judges.records.by_model import prompt
from judges.records.by_rules import JudgedPage
from judges.records.excerpts import PageText
from judges.records.facts import Facts, find_facts
from judges.records.record import Record
from judges.records.spec import JudgeSpec

SPEC = JudgeSpec.model_validate(
    {
        "instructions": "Only announcements by the company itself count.",
        "validity": [{"id": "in_europe", "text": "The company is based in Europe."}],
        "requirements": [
            {"id": "names_both", "text": "The page names company and appointee."},
            {"id": "dated", "text": "The appointment is dated."},
        ],
    }
)
RULED = JudgeSpec.model_validate(
    {
        "validity": [
            {"id": "has_year", "rule": {"regex": "20[0-9][0-9]"}},
            {"id": "in_europe", "text": "The company is based in Europe."},
        ],
        "requirements": [
            {"id": "named", "rule": {"contains": "{item.appointee}"}},
            {"id": "dated", "text": "The appointment is dated."},
        ],
    }
)
TEXT = (
    "Fjordkraft Works names new finance chief\n"
    "Bergen, 4 March 2025. Fjordkraft Works today appointed Solveig Nygard as CFO. "
    "She will not join the board. Revenue was 120 million kroner."
)
EXCERPT = "Fjordkraft Works today appointed Solveig Nygard as CFO."


def record(*excerpts: str, answer: Any = "Solveig Nygard became CFO", **item: str) -> Record:
    item = item or {"company": "Fjordkraft Works", "appointee": "Solveig Nygard"}
    return Record(0, None, item, "https://fjordkraft.example/news", excerpts, answer)


def seen(text: str = TEXT, state: Any = "ok", reason: str = "") -> JudgedPage:
    return JudgedPage(state, reason, "https://www.fjordkraft.example/news", PageText(text))


def known(*excerpts: str, spec: JudgeSpec = SPEC, text: str = TEXT, **more: Any) -> Facts:
    return find_facts(spec, record(*excerpts, **more), seen(text))


def saying(spec: JudgeSpec = SPEC, **said: Any) -> dict[str, Any]:
    """What a model says that finds nothing wrong, but for what is given."""
    return {
        "reason": "The second sentence says so.",
        "page_content_usable": True,
        "answer_intent_clear": True,
        "excerpts_faithful": True,
        "validity": {check.id: True for check in spec.validity if not check.rule},
        "requirements": {
            requirement.id: {"satisfied": True, "supported": True}
            for requirement in spec.requirements
            if not requirement.rule
        },
        "confidence": 3,
        **said,
    }


def asked(spec: JudgeSpec, found: Facts) -> Request:
    return prompt(spec, found, "m", "medium")


_FRAME = re.compile(
    r"\A<page ([0-9a-f]{32})>\n(.*)\n</page \1>\n\n"
    r"<record ([0-9a-f]{32})>\n(.*)\n</record \3>\n\nFacts:\n(\{[^\n]*\})\Z",
    re.DOTALL,
)


def taken_apart(user: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Page, record and facts of a user message, in which every mark stands twice."""
    frame = _FRAME.match(user)
    assert frame
    page_mark, page, record_mark, record, stated = frame.groups()
    assert user.count(page_mark) == user.count(record_mark) == 2
    return page, json.loads(record), json.loads(stated)
