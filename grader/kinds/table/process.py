"""What runs in processes of their own for tables: reading and scoring responses, which are hostile
input."""

import pickle
from functools import lru_cache

from grader.kinds.table.judged import JudgedTable, Rulings, TableJudge
from grader.kinds.table.scoring import GradedTable


def grade_table(task: bytes, response: str) -> GradedTable:
    """The score of a response to a pickled TableTask."""
    return _table_judge(task).grade(response)


def judge_table(task: bytes, response: str, rulings: Rulings, source: int) -> JudgedTable:
    """Both scores of a response to a pickled TableTask, and what a model may decide of it."""
    return _table_judge(task).judge(response, rulings, source)


@lru_cache(maxsize=256)  # reading the gold takes longer than unpickling it
def _table_judge(task: bytes) -> TableJudge:
    return TableJudge(pickle.loads(task))
