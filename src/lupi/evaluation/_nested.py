"""Nested cross-validation: parameters on inner folds, scores on outer folds.

The protocol is that of O. Thomas, "Learning Using Privileged Information: A Unified
Approach", University of Sussex, 2017, chapter 6: ten outer and five inner folds, every
candidate on the inner folds, the best by accuracy (ties: F-score) refitted and scored
on the outer fold, and the same once more for the best by F-score (ties: accuracy).
The folds are stratified, which the source leaves open.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator

from lupi.evaluation._nested_work import (
    Grid,
    NestedResult,
    NestedWork,
    Strategy,
    run_outer_fold,
)
from lupi.evaluation._protocol import coarse_grid
from lupi.evaluation._running import run_all


def nested_cross_validate(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    privileged: Any = None,
    *,
    param_grid: Grid | None = None,
    scoring: Sequence[str] = ("accuracy", "f1"),
    outer: int = 10,
    inner: int = 5,
    search: Strategy = "grid",
    n_candidates: int | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool | None = None,
) -> NestedResult:
    """Choose parameters on inner folds and score the choice on outer folds.

    Parameters
    ----------
    estimator : estimator
        A classifier of this library, or a pipeline that ends in one.
    X : array-like, sparse matrix or data frame
        Decision features.
    y : array-like of shape (n_samples,)
        Labels.
    privileged : array-like, sparse matrix or data frame, optional
        Privileged features; None for models that take none.
    param_grid : dict or list of dict, optional
        As in :class:`sklearn.model_selection.ParameterGrid`. For the classifiers of
        the source it may be left out: all combinations of linear, quadratic and
        Gaussian kernels, 0.1, 1 and 10 for every other parameter, Δ = 10.
    scoring : sequence of str, default=("accuracy", "f1")
        Metrics. Each one selects in turn, ties broken by the others in order, and
        all are reported. ``"f1"`` is the F-score of the last class for two classes
        and the mean over classes for more.
    outer, inner : int, default=10 and 5
        Numbers of folds.
    search : {"grid", "random", "halving"}, default="grid"
        All candidates; ``n_candidates`` drawn from the grid; or successive halving,
        which tries all on few rows and keeps the best third each time it triples
        the rows.
    n_candidates : int, optional
        Candidates of the random search.
    groups : array-like, optional
        Rows of one group stay in one fold.
    sample_weight : array-like, optional
        Weights for fitting.
    checkpoint : path-like, optional
        File that keeps finished outer folds.
    n_jobs : int, optional
        Parallel outer folds, as in joblib.
    random_state : int, default=0
        Seed of folds, random search and estimators.
    progress : bool, optional
        Show a bar with the time left.

    Returns
    -------
    result : NestedResult
        Scores by both selections.

    Examples
    --------
    >>> from lupi.datasets import make_plane
    >>> from lupi.evaluation import nested_cross_validate
    >>> from lupi.svm import SVCPlus
    >>> data = make_plane("separable", 40, random_state=0)
    >>> result = nested_cross_validate(
    ...     SVCPlus(kernel="linear"), data.data, data.target, data.privileged,
    ...     param_grid={"C": [0.1, 1]}, outer=2, inner=2,
    ... )
    >>> list(result.table["accuracy"])
    [1.0, 1.0]
    """
    work = NestedWork.prepare(
        "",
        estimator,
        X,
        y,
        privileged,
        param_grid=coarse_grid(estimator) if param_grid is None else param_grid,
        scoring=scoring,
        outer=outer,
        inner=inner,
        search=search,
        n_candidates=n_candidates,
        groups=groups,
        sample_weight=sample_weight,
        random_state=random_state,
    )
    results = run_all(
        partial(run_outer_fold, {"": work}),
        work.pieces(),
        identity=work.identity(),
        checkpoint=checkpoint,
        n_jobs=n_jobs,
        progress=progress,
        title=f"{len(work.candidates)} candidates",
    )
    return work.assemble(results)
