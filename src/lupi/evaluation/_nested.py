"""Nested cross-validation: parameters on inner folds, scores on outer folds.

The inner search is scikit-learn's `GridSearchCV`, one inner fold at a time, so that all
candidates of a fold share its Gram matrices. There is one selection by each metric,
with ties broken by the other metrics in order; this is the protocol of O. Thomas,
"Learning Using Privileged Information: A Unified Approach", University of Sussex, 2017,
chapter 6.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.utils import check_consistent_length, column_or_1d

from lupi._gram_cache import gram_cache
from lupi.base._metadata import fit_arguments, seeded
from lupi.base._rows import read_groups, take_rows
from lupi.evaluation._methods import Task
from lupi.evaluation._prepare import as_table
from lupi.evaluation._running import fingerprint, run_all
from lupi.evaluation._scoring import choose_scorer
from lupi.evaluation._splits import Splits, check_class_sizes, inner_splits

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
# Number of Gram matrices in the cache: three spaces with three kernels each.
KERNELS_AT_ONCE = 9


@dataclass
class NestedResult:
    """Result of `nested_cross_validate`.

    Attributes
    ----------
    folds : pandas.DataFrame
        One row per selection and outer fold: ``select_by``, ``split``, ``params``,
        the outer score of each metric under its name, and the inner score of the
        chosen candidate as ``inner_<metric>``.
    metrics : list of str
        The metrics, in the order in which they break ties.
    candidates : list of dict
        The candidates, in the order of ``inner_scores``.
    inner_scores : ndarray of shape (n_outer, n_candidates, n_metrics)
        Mean inner scores.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from lupi.evaluation import NestedResult
    >>> folds = pd.DataFrame({"select_by": ["f1"] * 2, "f1": [0.5, 0.7]})
    >>> NestedResult(folds, ["f1"], [{"C": 1}], np.zeros((2, 1, 1))).table["f1"][0]
    np.float64(0.6)
    """

    folds: pd.DataFrame
    metrics: list[str]
    candidates: list[dict[str, Any]]
    inner_scores: np.ndarray = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """One row per selection: mean and standard deviation of every metric."""
        groups = self.folds.groupby("select_by", sort=False)[self.metrics]
        spread = groups.std().add_suffix("_std")
        return groups.mean().join(spread).reset_index()


def nested_cross_validate(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    privileged: Any = None,
    *,
    param_grid: Grid | Iterable[Mapping[str, Any]],
    scoring: str | Sequence[str] = ("accuracy", "f1"),
    cv: int = 10,
    inner_cv: int = 5,
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
        A classifier or regressor, or a pipeline that ends in one.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Decision features.
    y : array-like of shape (n_samples,)
        Labels or targets.
    privileged : {array-like, sparse matrix, data frame} of shape \
(n_samples, n_privileged), default=None
        Privileged features; None for estimators that take none.
    param_grid : dict, list of dict, ParameterGrid or ParameterSampler
        The candidates, as in scikit-learn's searches.
    scoring : str or sequence of str, default=("accuracy", "f1")
        Metrics. There is one selection by each of them, with ties broken by the others
        in order, and all are reported. ``"f1"`` is the F-score of the last of two
        classes.
    cv : int, default=10
        Number of outer folds, stratified for classifiers.
    inner_cv : int, default=5
        Number of inner folds, stratified for classifiers.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are in the same fold.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights for fitting.
    checkpoint : path-like, default=None
        File of finished outer folds, from which an interrupted run continues.
    n_jobs : int, default=None
        Number of parallel outer folds, as in joblib.
    random_state : int, default=0
        Seed of folds and estimators.
    progress : bool, default=None
        Whether to show a progress bar; by default if the standard error is a terminal.

    Returns
    -------
    result : NestedResult
        Scores of every selection.

    Examples
    --------
    >>> from lupi.datasets import make_plane
    >>> from lupi.evaluation import nested_cross_validate
    >>> from lupi.svm import SVCPlus
    >>> data = make_plane("separable", 40, random_state=0)
    >>> result = nested_cross_validate(
    ...     SVCPlus(kernel="linear"), data.data, data.target, data.privileged,
    ...     param_grid={"C": [0.1, 1]}, cv=2, inner_cv=2,
    ... )
    >>> list(result.table["accuracy"])
    [1.0, 1.0]
    """
    X, y = as_table(X, "X"), column_or_1d(y)
    if privileged is not None:
        privileged = as_table(privileged, "privileged")
    check_consistent_length(X, y, privileged, groups, sample_weight)
    strata = None if is_regressor(estimator) else y
    if groups is not None:
        groups = np.unique(read_groups(groups, len(y)), return_inverse=True)[1]
    if strata is not None and groups is None:
        check_class_sizes(strata, cv)
    grid: Any = param_grid
    if isinstance(param_grid, Mapping | Sequence):
        grid = ParameterGrid(param_grid)
    metrics = [scoring] if isinstance(scoring, str) else list(scoring)
    task: Task = "regression" if strata is None else "classification"
    estimator = seeded(estimator, random_state)
    work = _Work(
        estimator=estimator,
        X=X,
        y=y,
        given=fit_arguments(
            estimator,
            privileged=privileged,
            sample_weight=None if sample_weight is None else np.asarray(sample_weight),
        ),
        candidates=[dict(candidate) for candidate in grid],
        scorers={name: choose_scorer(name, task, y)[1] for name in metrics},
        splits=inner_splits(strata, len(y), groups, cv, random_state),
        inner_cv=inner_cv,
        strata=strata,
        groups=groups,
        seed=random_state,
    )
    results = run_all(
        partial(_run_fold, work),
        [_OuterFold(split) for split in range(len(work.splits))],
        identity=None if checkpoint is None else fingerprint(*vars(work).values()),
        fields=("inner_scores", "chosen", "outer_scores"),
        checkpoint=checkpoint,
        n_jobs=n_jobs,
        progress=progress,
        title=f"{len(work.candidates)} candidates",
    )
    inner = np.array([part["inner_scores"] for part in results.values()], dtype=float)
    lines = [
        {"select_by": metric, "split": split}
        | part["outer_scores"][place]
        | dict(zip([f"inner_{name}" for name in metrics], inner[split, i], strict=True))
        | {"params": work.candidates[i]}
        for place, metric in enumerate(metrics)
        for split, part in enumerate(results.values())
        for i in [part["chosen"][place]]
    ]
    return NestedResult(pd.DataFrame(lines), metrics, work.candidates, inner)


@dataclass(frozen=True)
class _OuterFold:
    split: int

    @property
    def key(self) -> str:
        """The name of the fold in a checkpoint."""
        return str(self.split)


@dataclass
class _Work:
    """The data, folds and candidates of one nested cross-validation."""

    estimator: BaseEstimator
    X: Any
    y: np.ndarray
    given: dict[str, Any]
    candidates: list[dict[str, Any]]
    scorers: dict[str, Any]
    splits: Splits
    inner_cv: int
    strata: np.ndarray | None
    groups: np.ndarray | None
    seed: int

    def fit(self, candidate: Mapping[str, Any], rows: np.ndarray) -> BaseEstimator:
        model = clone(self.estimator).set_params(**candidate)
        return model.fit(take_rows(self.X, rows), self.y[rows], **self.taken(rows))

    def taken(self, rows: np.ndarray) -> dict[str, Any]:
        return {name: take_rows(table, rows) for name, table in self.given.items()}

    def search(self, train: np.ndarray, split: int) -> np.ndarray:
        """Return the mean inner scores, one row per candidate."""
        strata, groups = (
            None if column is None else column[train]
            for column in (self.strata, self.groups)
        )
        folds = inner_splits(
            strata, len(train), groups, self.inner_cv, self.seed + split
        )
        scores = []
        for fold in folds:
            search = GridSearchCV(
                self.estimator,
                [{name: [v] for name, v in each.items()} for each in self.candidates],
                scoring=self.scorers,
                refit=False,
                cv=[fold],
                error_score="raise",
            )
            with gram_cache(KERNELS_AT_ONCE):
                search.fit(take_rows(self.X, train), self.y[train], **self.taken(train))
            means = [search.cv_results_[f"mean_test_{name}"] for name in self.scorers]
            scores.append(np.column_stack(means))
        return np.mean(scores, axis=0)


def _run_fold(work: _Work, piece: _OuterFold) -> dict[str, Any]:
    """Search on the training rows of one outer fold, refit and score."""
    train, test = work.splits[piece.split]
    with config_context(enable_metadata_routing=False):
        with warnings.catch_warnings():
            # Only the warnings of the chosen candidates are reported.
            warnings.simplefilter("ignore")
            scores = work.search(train, piece.split)
        chosen = [best_candidate(scores, first) for first in range(len(work.scorers))]
        models = {i: work.fit(work.candidates[i], train) for i in set(chosen)}
        X, y = take_rows(work.X, test), work.y[test]
        outer = [
            {name: scorer(models[i], X, y) for name, scorer in work.scorers.items()}
            for i in chosen
        ]
    return {"inner_scores": scores, "chosen": chosen, "outer_scores": outer}


def best_candidate(scores: np.ndarray, first: int) -> int:
    """Return the best candidate by one metric, with ties broken by the others.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.evaluation._nested import best_candidate
    >>> scores = np.array([[0.9, 0.1], [0.9, 0.5], [0.8, 0.7]])
    >>> best_candidate(scores, first=0), best_candidate(scores, first=1)
    (1, 2)
    """
    others = [metric for metric in range(scores.shape[1]) if metric != first]
    # Rounding errors of the means must not break a tie.
    ranked = np.nan_to_num(scores[:, [first, *others]], nan=-np.inf).round(12)
    return max(range(len(ranked)), key=lambda i: tuple(ranked[i]))
