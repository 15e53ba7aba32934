"""The classifiers of the two-stage protocol, their kernels and their grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.model_selection import ParameterGrid
from sklearn.svm import SVC

KERNELS: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "quadratic": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "gaussian": {"kernel": "rbf"},
}
CLASS_OF = {
    "SVM": "SVC",
    "SVM+": "SVCPlus",
    "MT": "MarginTransferSVC",
    "SVMd+": "SVCDeltaPlus",
    "SVMu": "UnifiedSVC",
    "KT": "KnowledgeTransferClassifier",
}
SPACES = ("X", "X*", "X**")
COARSE = (0.1, 1.0, 10.0)
WIDE = (0.001, 0.1, 10.0, 1000.0)


@dataclass(frozen=True)
class ProtocolClassifier:
    """One classifier of the protocol: its kernels and its parameters.

    ``prefixes`` are those of the kernel parameters of each space it has a kernel in;
    ``searched`` are the parameters that take every value of the grid, ``delta`` is
    the one that is fixed at the largest value unless it is searched too.
    """

    name: str
    prefixes: tuple[str, ...]
    searched: tuple[str, ...]
    delta: str | None = None
    privileged: bool = True

    def build(self) -> BaseEstimator:
        """Return a fresh estimator."""
        if not self.privileged:
            return SVC()
        import lupi

        if self.name == "KT":
            return lupi.KnowledgeTransferClassifier(final_estimator=lupi.SVCDeltaPlus())
        return getattr(lupi, CLASS_OF[self.name])()

    def kernel_choices(self) -> list[tuple[str, ...]]:
        """Return every combination of kernel names, one per space."""
        return list(product(KERNELS, repeat=len(self.prefixes)))

    def grid(
        self,
        values: Sequence[float],
        delta: float | None,
        kernels: Sequence[tuple[str, ...]] | None = None,
    ) -> list[dict[str, list[Any]]]:
        """Return one grid per kernel combination.

        Parameters
        ----------
        values : sequence of float
            Values of every searched parameter.
        delta : float or None
            Fixed value of Δ; None searches it as well.
        kernels : sequence of tuple of str, optional
            Kernel combinations; all by default.
        """
        grids = []
        for choice in self.kernel_choices() if kernels is None else kernels:
            grid = {name: list(values) for name in self.searched}
            if self.delta is not None:
                grid[self.delta] = list(values) if delta is None else [delta]
            for prefix, kernel in zip(self.prefixes, choice, strict=True):
                for name, value in KERNELS[kernel].items():
                    grid[prefix + name] = [value]
            grids.append(grid)
        return grids


CLASSIFIERS: tuple[ProtocolClassifier, ...] = (
    ProtocolClassifier("SVM", ("",), ("C",), privileged=False),
    ProtocolClassifier("SVM+", ("", "privileged_"), ("C", "privileged_reg")),
    ProtocolClassifier("MT", ("", "privileged_"), ("C",), "delta"),
    ProtocolClassifier("SVMd+", ("", "privileged_"), ("C", "privileged_reg"), "delta"),
    ProtocolClassifier(
        "SVMu",
        ("", "privileged_", "similarity_"),
        ("C", "privileged_reg", "similarity_reg"),
        "delta",
    ),
    ProtocolClassifier(
        "KT",
        ("final_estimator__", "privileged_"),
        ("final_estimator__C",),
        "final_estimator__delta",
    ),
)


def count_candidates(
    values: Sequence[float] = COARSE,
    *,
    classifiers: Sequence[str] | None = None,
    delta: float | None = None,
) -> dict[str, int]:
    """Count the candidates of a full grid over all kernels.

    Parameters
    ----------
    values : sequence of float
        Values of every parameter.
    classifiers : sequence of str, optional
        Names of the classifiers; all six by default.
    delta : float, optional
        Fix Δ at this value. None searches it like the other parameters.

    Returns
    -------
    dict of str to int
        The number of candidates of each classifier.

    Examples
    --------
    >>> from lupi.evaluation import count_candidates
    >>> seven = (0.001, 0.01, 0.1, 1, 10, 100, 1000)
    >>> count_candidates(seven, classifiers=["SVM+", "SVMd+", "SVMu"])
    {'SVM+': 441, 'SVMd+': 3087, 'SVMu': 64827}
    """
    return {
        each.name: len(ParameterGrid(each.grid(values, delta)))
        for each in choose_classifiers(classifiers)
    }


def choose_classifiers(names: Sequence[str] | None) -> list[ProtocolClassifier]:
    """Return the classifiers of these names, all six for None."""
    if names is None:
        return list(CLASSIFIERS)
    known = {each.name: each for each in CLASSIFIERS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"There is no classifier {unknown[0]!r} in this protocol; choose from "
            f"{', '.join(known)}."
        )
    return [known[name] for name in names]


def coarse_grid(estimator: BaseEstimator) -> list[dict[str, list[Any]]]:
    """Return the first grid of the protocol for one of its classifiers."""
    for each in CLASSIFIERS:
        if type(estimator).__name__ == CLASS_OF[each.name]:
            return each.grid(COARSE, max(COARSE))
    raise ValueError(
        f"The protocol has no grid for {type(estimator).__name__}; give param_grid."
    )
