"""One method as `compare` runs it: an estimator and what a fair comparison needs."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sklearn.base import BaseEstimator, clone

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Method:
    """One method as `compare` runs it.

    Parameters
    ----------
    name : str
        The name it is shown under, usually that of the class.
    task : {"classification", "regression"}
        What it predicts.
    home : str, optional
        Module of the class, for methods of the library.
    estimator : estimator, optional
        The estimator itself, for methods from elsewhere.
    fixed : dict, optional
        Parameters that differ from the class's defaults. A string that starts with
        ``lupi.`` stands for an estimator of that name with its defaults.
    space, privileged_space : dict, optional
        What to search in every row, and what to search only with X*. Values are
        lists or `scipy.stats` distributions.
    family : str, optional
        Methods of one family are the same model without X*. The name by default.
    paper, needs : str
        Where it comes from, and what it needs besides X and y.
    comparable : bool
        Whether `compare` can run it on any table with privileged columns.

    Examples
    --------
    >>> from lupi import SVCPlus
    >>> from lupi.evaluation import Method
    >>> linear = Method(
    ...     "linear SVM+",
    ...     "classification",
    ...     estimator=SVCPlus(kernel="linear"),
    ...     space={"C": [0.1, 1, 10]},
    ...     privileged_space={"privileged_reg": [0.1, 1, 10]},
    ... )
    >>> linear.build()
    SVCPlus(kernel='linear')
    """

    name: str
    task: Task
    home: str | None = None
    estimator: BaseEstimator | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)
    privileged_space: Mapping[str, Any] = field(default_factory=dict)
    family: str = ""
    paper: str = ""
    needs: str = "privileged"
    comparable: bool = True

    @property
    def kebab(self) -> str:
        """The name on the command line: ``svc-plus`` for ``SVCPlus``."""
        return kebab(self.name)

    @property
    def baseline(self) -> str:
        """Key under which the model without X* is shared."""
        return self.family or self.name

    def build(self) -> BaseEstimator:
        """Return a fresh, unfitted estimator.

        Returns
        -------
        estimator
            With the parameters of ``fixed``.
        """
        if self.estimator is not None:
            return clone(self.estimator)
        kind = _class(f"{self.home}.{self.name}")
        fixed = {}
        for name, value in self.fixed.items():
            if isinstance(value, str) and value.startswith("lupi."):
                value = _class(value)()
            fixed[name] = clone(value) if isinstance(value, BaseEstimator) else value
        return kind(**fixed)


def _class(path: str) -> Any:
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def kebab(name: str) -> str:
    """Return the kebab form of a class name.

    Examples
    --------
    >>> from lupi.evaluation._method import kebab
    >>> kebab("SVCDeltaPlus"), kebab("L2SVCPlus"), kebab("GBPlusClassifier")
    ('svc-delta-plus', 'l2-svc-plus', 'gb-plus-classifier')
    """
    words = re.findall(r"LUFe|[A-Z]\d|[A-Z]+(?=[A-Z][a-z]|$|\d)|[A-Z][a-z]+", name)
    return "-".join(words).lower()
