"""The rule that decides between classification and regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor

from lupi.evaluation._methods import Method, Task, as_list, find_method

# Largest number of distinct whole numbers that are classes: more are grades or counts.
MOST_CLASSES = 10


def read_task(y: np.ndarray, methods: Any = "default") -> Task:
    """Return the task of the methods if they have only one, else that of the target.

    Text, booleans and up to 10 distinct whole numbers are classes; all other numbers
    are regression targets.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.evaluation._task import read_task
    >>> read_task(np.array([0, 1, 1])), read_task(np.array([0.5, 1.5]))
    ('classification', 'regression')
    >>> read_task(np.array([0, 1, 1]), ["svr-plus"])
    'regression'
    """
    tasks = (_task_of(each) for each in as_list(methods))
    asked = {task for task in tasks if task is not None}
    if len(asked) == 1:
        return asked.pop()
    if y.dtype.kind not in "fiu":
        return "classification"
    whole = np.array_equal(y, np.round(y))
    many = len(np.unique(y)) > MOST_CLASSES
    return "regression" if many or not whole else "classification"


def advice_on_task(classes: Any) -> str:
    """Return advice for classes that may be numbers; empty for other classes.

    Examples
    --------
    >>> from lupi.evaluation._task import advice_on_task
    >>> advice_on_task([0, 1, 2, 3])
    ', or treat them as numbers with task="regression"'
    >>> advice_on_task(["mild", "severe", "none"])
    ''
    """
    classes = np.asarray(classes)
    if classes.dtype.kind not in "iuf" or len(classes) < 3:
        return ""
    return ', or treat them as numbers with task="regression"'


def _task_of(method: Any) -> Task | None:
    """Return the task of one method; None for names of both tasks and for sets."""
    if isinstance(method, Method):
        return method.task
    if isinstance(method, BaseEstimator):
        return "regression" if is_regressor(method) else "classification"
    name = method.__name__ if isinstance(method, type) else method
    if not isinstance(name, str) or name in ("default", "all"):
        return None
    tasks: set[Task] = set()
    for task in ("classification", "regression"):
        try:
            tasks.add(find_method(name, task).task)
        except ValueError:
            continue
    return tasks.pop() if len(tasks) == 1 else None
