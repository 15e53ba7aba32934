"""One method as `compare` runs it: an estimator and what a fair comparison needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pkgutil import resolve_name
from typing import Any, Literal

from sklearn.base import BaseEstimator, RegressorMixin, clone

from lupi.base import ModelInfo

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Method:
    """One method as `compare` runs it.

    Parameters
    ----------
    name : str
        Name in tables and reports, usually that of the class.
    task : {"classification", "regression"}
        The task.
    estimator : estimator, default=None
        The estimator; not needed if ``kind`` is given.
    space, privileged_space : dict, default={}
        Parameters to search in every arm, and parameters to search only with X*.
        Values are lists or `scipy.stats` distributions.
    family : str, default=""
        Methods of one family are the same model without X*. Empty means the name.
    paper : str, default=""
        The paper of the method.
    needs : str, default="privileged"
        What the method needs besides X and y.
    kind : type, default=None
        The class, if no ``estimator`` is given.
    fixed : dict, default={}
        Parameters of ``kind`` that differ from its defaults. A string that starts with
        ``lupi.`` is replaced by an estimator of that name with its defaults.

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
    estimator: BaseEstimator | None = None
    space: Mapping[str, Any] = field(default_factory=dict)
    privileged_space: Mapping[str, Any] = field(default_factory=dict)
    family: str = ""
    paper: str = ""
    needs: str = "privileged"
    kind: type | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kebab(self) -> str:
        """The name on the command line: ``svc-plus`` for ``SVCPlus``."""
        return kebab(self.name)

    @property
    def baseline(self) -> str:
        """Key under which the model without X* is shared."""
        return self.family or self.name

    @property
    def comparable(self) -> bool:
        """Whether `compare` can run it on any table with privileged columns."""
        return self.needs == "privileged"

    @property
    def info(self) -> ModelInfo:
        """The declaration of the class."""
        return getattr(self.kind, "__lupi_info__", ModelInfo(self.name, self.paper))

    @property
    def summary(self) -> str:
        """First line of the description of the class."""
        kind = self.kind or type(self.estimator)
        return (kind.__doc__ or "").strip().partition("\n")[0]

    def build(self) -> BaseEstimator:
        """Return a fresh, unfitted estimator.

        Returns
        -------
        estimator
            The estimator, with the parameters of ``fixed``.
        """
        if self.estimator is not None:
            return clone(self.estimator)
        assert self.kind is not None
        model = self.kind()
        # In alphabetical order an estimator comes before its own parameters.
        for name, value in sorted(self.fixed.items()):
            if isinstance(value, str) and value.startswith("lupi."):
                value = resolve_name(value)()
            is_estimator = isinstance(value, BaseEstimator)
            model.set_params(**{name: clone(value) if is_estimator else value})
        return model


@cache
def method_of(kind: type) -> Method:
    """Return the method that a class declares in its ``__lupi_info__``.

    Parameters
    ----------
    kind : type
        Class of a model.

    Returns
    -------
    Method
        The same object for the same class.
    """
    info: ModelInfo = kind.__lupi_info__  # type: ignore[attr-defined]
    return Method(
        kind.__name__,
        "regression" if issubclass(kind, RegressorMixin) else "classification",
        space=info.space,
        privileged_space=info.privileged_space,
        family=info.family,
        paper=info.paper,
        needs=info.needs,
        kind=kind,
        fixed=info.fixed,
    )


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
