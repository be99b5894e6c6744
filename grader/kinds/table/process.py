"""Functions of the worker processes for tables: they read and score responses, which are hostile
input."""

import pickle
from functools import lru_cache

from grader.kinds.table.judged import JudgedTable, Rulings, TableJudge
from grader.kinds.table.scoring import GradedTable


def grade_table(task: bytes, response: str) -> GradedTable:
    """The strict score of a response to a pickled TableTask."""
    return _table_judge(task).grade(response)


def judge_table(task: bytes, response: str, rulings: Rulings, source: int) -> JudgedTable:
    """The strict and the judged score of a response to a pickled TableTask, and the questions that
    are left for a model."""
    return _table_judge(task).judge(response, rulings, source)


@lru_cache(maxsize=256)  # reading the gold table takes longer than unpickling it
def _table_judge(task: bytes) -> TableJudge:
    return TableJudge(pickle.loads(task))
