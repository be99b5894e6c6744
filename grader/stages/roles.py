"""The roles of a model beside the judge of records: names, tables and short answers. Each role is a
stage whose answers are kept."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import astuple
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import orjson

from cache.digests import digest
from grader.stages.spending import Spending
from grader.stages.stored import decoder
from judges.endpoint.questions import EFFORTS, Rejected, Trouble, Usage
from judges.endpoint.until_usable import UntilUsable
from judges.names import sameness
from judges.names.sameness import Block, Merged, Placed, Stray
from judges.values import judged_answers, judged_cells
from judges.values.judged_answers import Decided, Doubt, Failed, Labelled
from judges.values.judged_cells import Found, Key, Pair, Ruled
from queues.node import Node
from queues.retry import DeadlinePassed
from queues.store import Memory, Store

MOST_OPEN = 1_000
"""Questions of one role without an answer at the same time. The stage `ask` bounds the calls."""


class Answered(Protocol):
    """An answer with its cost."""

    @property
    def usage(self) -> Usage:
        """The replies and tokens that the answer took."""


In = TypeVar("In")
Out = TypeVar("Out", bound=Answered)
Name = TypeVar("Name")


class Role(Generic[In, Out]):
    """One role of a model. `answer` gets the answer to a question, a dataclass of type `kind`.

    The key of an answer has all `parts` of the question, the identity of the judge, the effort and
    the prompt's `version`.
    """

    def __init__(
        self,
        name: str,
        answer: Callable[[In], Awaitable[Out]],
        kind: type[Out],
        *,
        parts: Callable[[In], tuple[object, ...]],
        model: str,
        identity: str,
        version: str,
        store: Store,
        spending: Spending,
        note_usable: Callable[[str], None],
    ) -> None:
        self._model = model
        self._spending = spending
        self._note_usable = note_usable
        self.node: Node[In, Out] = Node(
            name,
            answer,
            key=lambda question: digest(version, identity, EFFORTS[name], *parts(question)),
            workers=MOST_OPEN,
            memory=Memory(store, orjson.dumps, decoder(kind)),
        )

    async def many(self, questions: Iterable[In]) -> list[Out | Exception]:
        """The answers, in order, or the exception that says why a question has none. Raises an
        exception that concerns more than one question."""
        ends: list[Out | Exception] = []
        for end in await self.node.many(questions):
            if not isinstance(end, Exception):
                self._note_usable(self.node.name)
                self._spending.needed(self.node.name, self._model, end.usage)
                ends.append(end)
            elif isinstance(end, Trouble | Rejected | DeadlinePassed):
                ends.append(end)
            else:
                raise end
        return ends

    async def each(
        self, questions: Mapping[Name, In]
    ) -> tuple[dict[Name, Out], dict[Name, Exception]]:
        """The same for named questions: the answers by name, and the exceptions of the others."""
        answers, errors = {}, {}
        for name, end in zip(questions, await self.many(questions.values()), strict=True):
            if isinstance(end, Exception):
                errors[name] = end
            else:
                answers[name] = end
        return answers, errors


class Roles:
    """The roles of one model.

    `canonicalise` places values in closed rosters. `dedupe` finds the values of an open axis that
    name one thing. `keys` and `cells` decide the keys and cells of a table that the rules leave
    open, `answer` a short answer. `failure` labels attempts that failed.
    """

    def __init__(
        self, store: Store, ask: UntilUsable, model: str, identity: str, spending: Spending
    ) -> None:
        shared: Any = {
            "model": model,
            "identity": identity,
            "store": store,
            "spending": spending,
            "note_usable": ask.note_usable,
        }
        self.canonicalise: Role[Stray, Placed] = Role(
            "canonicalise",
            sameness.placing(ask, model, EFFORTS["canonicalise"]),
            Placed,
            parts=lambda stray: (_roster_digest(stray.roster), stray.value),
            version=sameness.CANONICALISE_VERSION,
            **shared,
        )
        self.dedupe: Role[Block, Merged] = Role(
            "dedupe",
            lambda block: sameness.merge(block, ask, model, EFFORTS["dedupe"]),
            Merged,
            parts=astuple,
            version=sameness.DEDUPE_VERSION,
            **shared,
        )
        self.keys: Role[Key, Found] = Role(
            "keys",
            judged_cells.finding_rows(ask, model, EFFORTS["keys"]),
            Found,
            parts=lambda key: (_roster_digest(key.roster), key.cells),
            version=judged_cells.KEYS_VERSION,
            **shared,
        )
        self.cells: Role[Pair, Ruled] = Role(
            "cells",
            judged_cells.judging_cells(ask, model, EFFORTS["cells"]),
            Ruled,
            parts=lambda pair: pair.parts,
            version=judged_cells.CELLS_VERSION,
            **shared,
        )
        self.answer: Role[Doubt, Decided] = Role(
            "answer",
            lambda doubt: judged_answers.judge(doubt, ask, model, EFFORTS["answer"]),
            Decided,
            parts=astuple,
            version=judged_answers.ANSWER_VERSION,
            **shared,
        )
        self.failure: Role[Failed, Labelled] = Role(
            "failure",
            lambda failed: judged_answers.label(failed, ask, model, EFFORTS["failure"]),
            Labelled,
            parts=astuple,
            version=judged_answers.FAILURE_VERSION,
            **shared,
        )
        self.nodes: list[Node[Any, Any]] = [
            self.canonicalise.node,
            self.dedupe.node,
            self.keys.node,
            self.cells.node,
            self.answer.node,
            self.failure.node,
        ]


@lru_cache(maxsize=256)
def _roster_digest(roster: judged_cells.Roster | sameness.Roster) -> str:
    return digest(*astuple(roster)).hex()
