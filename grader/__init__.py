"""Assay from Python. The names below are public. All other names may change.

    from grader import Grader, Settings, grade, load_tasks, read_submission

They are imported when they are first used, so that `import grader` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.grader import Grader, grade
    from grader.kinds.result import Result
    from grader.runs.submissions import Submission, read_submission
    from grader.settings import Settings
    from grader.tasks.packages import TaskError, load_tasks

_MODULES = {
    "Grader": "grader.grader",
    "Result": "grader.kinds.result",
    "Settings": "grader.settings",
    "Submission": "grader.runs.submissions",
    "TaskError": "grader.tasks.packages",
    "grade": "grader.grader",
    "load_tasks": "grader.tasks.packages",
    "read_submission": "grader.runs.submissions",
}

__all__ = [
    "Grader",
    "Result",
    "Settings",
    "Submission",
    "TaskError",
    "grade",
    "load_tasks",
    "read_submission",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
