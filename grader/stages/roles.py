"""What a model is asked about names, tables and short answers: a stage a role, whose answers are
kept."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import astuple
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import orjson

from cache.keys import digest
from grader.stages.spending import Spending
from grader.stages.stored import decoder
from judges.endpoint.questions import EFFORTS, Ask, Rejected, Trouble, Usage
from judges.names import sameness
from judges.names.sameness import Block, Merged, Placed, Stray
from judges.values import judged_answers, judged_cells
from judges.values.judged_answers import Decided, Doubt, Failed, Labelled
from judges.values.judged_cells import Found, Key, Pair, Ruled
from queues.node import Node
from queues.retry import DeadlinePassed
from queues.store import Memory, Store

WAITING = 1_000
"""Questions of one role that may wait for an answer at once; `ask` bounds what is asked."""


class Answered(Protocol):
    """An answer that tells what it took."""

    @property
    def usage(self) -> Usage:
        """Calls and tokens."""


In = TypeVar("In")
Out = TypeVar("Out", bound=Answered)
Name = TypeVar("Name")


class Role(Generic[In, Out]):
    """One role of a model: what it answers to a question, a `kind` of dataclass, is kept by all of
    `parts` of the question and by model, effort and prompt `version`, with what it took."""

    def __init__(
        self,
        name: str,
        answer: Callable[[In], Awaitable[Out]],
        kind: type[Out],
        *,
        parts: Callable[[In], tuple[object, ...]],
        model: str,
        version: str,
        store: Store,
        spending: Spending,
    ) -> None:
        self._model = model
        self._spending = spending
        self.node: Node[In, Out] = Node(
            name,
            answer,
            key=lambda question: digest(version, model, EFFORTS[name], *parts(question)),
            workers=WAITING,
            memory=Memory(store, orjson.dumps, decoder(kind)),
        )

    async def many(self, questions: Iterable[In]) -> list[Out | Exception]:
        """The answers, or in the place of one why there is none. Raises what concerns more than
        one question."""
        ends: list[Out | Exception] = []
        for end in await self.node.many(questions):
            if not isinstance(end, Exception):
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
        """As `many`, by name: the answers, and why others have none."""
        answers, errors = {}, {}
        for name, end in zip(questions, await self.many(questions.values()), strict=True):
            if isinstance(end, Exception):
                errors[name] = end
            else:
                answers[name] = end
        return answers, errors


class Roles:
    """The roles of one model. `canonicalise` places values in closed rosters, `dedupe` tells which
    values of an open axis are one; `keys` and `cells` decide what form does not of a table,
    `answer` of a short answer; `failure` labels attempts that failed."""

    def __init__(self, store: Store, ask: Ask, model: str, spending: Spending) -> None:
        shared: Any = {"model": model, "store": store, "spending": spending}
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
