"""Classes or numbers: the one rule by which the task is read off."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor

from lupi.evaluation._methods import Method, Task, find_method

# Grades from 0 to 20, and counts, are numbers; so many classes are rarely meant.
MOST_CLASSES = 10


def read_task(y: np.ndarray, methods: Any = "default") -> Task:
    """Tell classification from regression, by the methods when they settle it.

    Otherwise by the target: text, booleans and up to 10 different whole numbers are
    classes, all other numbers are measurements.

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
    """Return what to do with classes that may be numbers; nothing for others.

    Examples
    --------
    >>> from lupi.evaluation._task import advice_on_task
    >>> advice_on_task([0, 1, 2, 3])
    ', or take them as the numbers they are with task="regression"'
    >>> advice_on_task(["mild", "severe", "none"])
    ''
    """
    classes = np.asarray(classes)
    if classes.dtype.kind not in "iuf" or len(classes) < 3:
        return ""
    return ', or take them as the numbers they are with task="regression"'


def as_list(methods: Any) -> list[Any]:
    """Return what was asked for as a list."""
    if isinstance(methods, str | Method | BaseEstimator | type):
        return [methods]
    return list(methods)


def _task_of(method: Any) -> Task | None:
    """Return the task of one method; None where it has two, or is a set of them."""
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
