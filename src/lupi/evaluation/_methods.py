"""The methods of `compare` and ``lupi methods``, derived from the models.

A method is an estimator with the parameters to search without X* (``space``), those to
search only with X* (``privileged_space``), and its ``family``. Methods of one family
are the same model when ``privileged=None``, so that their arms *without* and *oracle*
are computed once and shared. All of this is declared by the class of the model: see
`lupi.base.ModelInfo`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator, is_regressor

from lupi.base._info import load_models
from lupi.evaluation._method import Method, Task, kebab, method_of

# With more training rows the default set has linear models instead of kernel models:
# their cost is linear in the number of rows, not cubic.
MOST_KERNEL_ROWS = 400


def all_methods() -> list[Method]:
    """Return a method for every declared model except wrappers of an estimator.

    Returns
    -------
    list of Method
        The methods, ordered by rank.

    Examples
    --------
    >>> from lupi.evaluation._methods import all_methods
    >>> "SVCPlus" in [method.name for method in all_methods()]
    True
    """
    found = [method_of(kind) for kind in load_models()]
    return [method for method in found if method.needs != "an estimator"]


def default_methods(task: Task, n_train: float = 0) -> list[Method]:
    """Return the methods that are compared by default.

    Parameters
    ----------
    task : {"classification", "regression"}
        The task.
    n_train : float, default=0
        Number of training rows; above 400, kernel models are replaced by linear ones.

    Returns
    -------
    list of Method
        The methods, ordered by rank.
    """
    many = n_train > MOST_KERNEL_ROWS
    chosen = []
    for method in all_methods():
        if method.info.default and method.task == task:
            other = method.info.many_rows if many else ""
            chosen.append(find_method(other) if other else method)
    return chosen


def find_method(name: str, task: Task = "classification") -> Method:
    """Return the method with a class name or its kebab form.

    ``Classifier`` and ``Regressor`` may be left out: ``"ipl"`` is the classifier or
    the regressor of that name, depending on the task.

    Examples
    --------
    >>> from lupi.evaluation._methods import find_method
    >>> find_method("svc-plus").name
    'SVCPlus'
    >>> find_method("ipl", "regression").name
    'IPLRegressor'
    """
    ending = {"classification": "Classifier", "regression": "Regressor"}[task]
    for method in all_methods():
        short = kebab(method.name.removesuffix(ending))
        if name in (method.name, method.kebab, short, method.name.removesuffix(ending)):
            return method
    methods = all_methods()
    known = [method.name for method in methods] + [method.kebab for method in methods]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    names = ", ".join(method.kebab for method in methods if method.comparable)
    raise ValueError(f"There is no method {name!r}.{hint} The methods are {names}.")


def choose_methods(
    methods: str | Method | BaseEstimator | Iterable[Any],
    task: Task,
    n_train: float = 0,
) -> list[Method]:
    """Return the methods of the argument ``methods``, checked against the task."""
    listed: list[Method] = []
    suitable = [each for each in all_methods() if each.task == task and each.comparable]
    for each in as_list(methods):
        if isinstance(each, str) and each in ("default", "all"):
            named = default_methods(task, n_train) if each == "default" else suitable
            listed += [method for method in named if method not in listed]
        elif not (isinstance(each, str) and find_method(each, task) in listed):
            listed.append(_as_method(each, task))
    chosen = _with_distinct_names(listed)
    if not chosen:
        raise ValueError("methods is empty; name at least one, or use 'default'.")
    for method in chosen:
        if method.task != task:
            raise ValueError(
                f"{method.name} is for {method.task}, but the task is {task}; leave it "
                f'out, or set task="{method.task}" if the target was misread.'
            )
        if not method.comparable:
            raise ValueError(
                f"{method.name} cannot be compared: it needs {method.needs}. Leave it "
                "out."
            )
    return chosen


def as_list(methods: Any) -> list[Any]:
    """Return the argument ``methods`` as a list."""
    if isinstance(methods, str | Method | BaseEstimator | type):
        return [methods]
    return list(methods)


def _as_method(given: Any, task: Task) -> Method:
    if isinstance(given, Method):
        return given
    if isinstance(given, str):
        return find_method(given, task)
    if isinstance(given, type) and hasattr(given, "__lupi_info__"):
        return method_of(given)
    if not hasattr(given, "fit"):
        raise TypeError(
            f"methods takes names, estimators and Method objects, not {given!r}."
        )
    kind: Task = "regression" if is_regressor(given) else "classification"
    return Method(type(given).__name__, kind, estimator=given)


def _with_distinct_names(methods: list[Method]) -> list[Method]:
    seen: dict[str, int] = {}
    distinct = []
    for method in methods:
        seen[method.name] = count = seen.get(method.name, 0) + 1
        if count > 1:
            method = replace(
                method,
                name=f"{method.name} ({count})",
                estimator=method.build(),
                family=f"{method.baseline} ({count})",
            )
        distinct.append(method)
    return distinct
