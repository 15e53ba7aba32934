"""`column_scores`: how well each column of a table predicts the target on its own.

A column that predicts the target much better than the others is often known too late,
only after the time of prediction. As a feature it would be a leak; it can be used as
privileged information.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import column_or_1d

from lupi.base import missing_targets
from lupi.base._rows import dense, read_groups
from lupi.evaluation._methods import Task
from lupi.evaluation._prepare import as_table, column_names, make_transformer
from lupi.evaluation._scoring import (
    best_score,
    check_scorer,
    choose_scorer,
    constant_model,
)
from lupi.evaluation._task import read_task

# Thresholds between chance (0) and a perfect score (1): an AUC of 0.9, an R² of 0.6.
# For two normal distributions of equal variance, that AUC is an R² of 0.45.
SUSPICIOUS = {"classification": 0.8, "regression": 0.6}
CELLS_FOR_PROCESSES = 500_000
MOST_ROWS = 20_000
MOST_CATEGORIES = 30
MOST_LEAVES = 32
_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?")

COLUMNS = ("column", "type", "n_values", "missing", "score", "std", "suspicious")


def column_scores(
    X: Any,
    y: Any,
    *,
    scoring: str | Callable[..., float] | None = None,
    cv: int = 5,
    groups: Any = None,
    task: Task | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Score every column of a table on its own, and mark suspiciously good ones.

    The score is the cross-validated score of a small decision tree, for which a missing
    value is a value too. A column is suspicious if its score is at least 80 % of the
    way from chance to a perfect score (60 % in regression): an AUC of 0.9, an R² of
    0.6. If such a column is not known when predicting, it is privileged information.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The columns. A data frame may have text, categories, dates and missing values.
    y : array-like of shape (n_samples,)
        The target; rows in which it is missing are left out.
    scoring : str or callable, default=None
        As in `compare`.
    cv : int, default=5
        Number of folds.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are in the same fold.
    task : {"classification", "regression"}, default=None
        As in `compare`.
    n_jobs : int, default=None
        As in joblib.
    random_state : int, default=0
        Seed of the folds, and of the choice of 20 000 rows of a larger table.

    Returns
    -------
    pandas.DataFrame
        One row per column, the best first: ``column``, ``type`` ("number",
        "category", "text", "date", "identifier" or "constant"), ``n_values``,
        ``missing`` (a share), ``score`` (NaN for identifiers and constants), ``std``
        over the folds, ``suspicious``.

    See Also
    --------
    compare : Whether the privileged columns help.

    Examples
    --------
    The grade of the second period predicts the final one, and is known too late:

    >>> import numpy as np, pandas as pd
    >>> from lupi.evaluation import column_scores
    >>> rng = np.random.default_rng(0)
    >>> ability = rng.normal(size=300)
    >>> X = pd.DataFrame({
    ...     "study": ability + 3 * rng.normal(size=300),
    ...     "period 2": ability + 0.1 * rng.normal(size=300),
    ... })
    >>> found = column_scores(X, ability)
    >>> found.loc[found["suspicious"], "column"].tolist()
    ['period 2']
    """
    table, y = as_table(X, "X"), column_or_1d(y)
    names = column_names(table, "x")
    if len(y) != table.shape[0]:
        raise ValueError(
            f"y has {len(y)} values and X has {table.shape[0]} rows; they must "
            "describe the same samples, in the same order."
        )
    if not isinstance(table, pd.DataFrame):
        table = pd.DataFrame(dense(table))
    table = table.set_axis(names, axis=1)
    known = ~missing_targets(y)
    if not known.any():
        raise ValueError(
            "y has no value in any row, so that there is nothing to predict. Check "
            "that the target was read."
        )
    table, y = table[known], y[known]
    task = task or read_task(y)
    y = y.astype(float) if task == "regression" else y
    groups = None if groups is None else read_groups(groups, len(known))[known]
    rows = _drawn(len(y), random_state)
    name, scorer = choose_scorer(scoring, task, y)
    if not callable(scoring):
        check_scorer(name, scorer, task, y)
    folds = _folds(
        y[rows], task, None if groups is None else groups[rows], cv, random_state
    )
    X_none = np.zeros((len(rows), 1))
    chance = _score(constant_model(task), X_none, y[rows], scorer, folds)[0]
    kinds = [column_type(table[column]) for column in names]
    # Starting processes takes longer than scoring a small table.
    small = len(rows) * len(names) < CELLS_FOR_PROCESSES
    scores = Parallel(n_jobs=1 if small else n_jobs)(
        delayed(_column)(table[column].iloc[rows], kind, y[rows], task, scorer, folds)
        for column, kind in zip(names, kinds, strict=True)
    )
    found = pd.DataFrame(
        {
            "column": names,
            "type": kinds,
            "n_values": [int(table[column].nunique()) for column in names],
            "missing": [float(table[column].isna().mean()) for column in names],
            "score": [score for score, _ in scores],
            "std": [std for _, std in scores],
        }
    ).sort_values("score", ascending=False, kind="stable", ignore_index=True)
    way = (found["score"] - chance) / (best_score(scorer) - chance)
    return found.assign(suspicious=way >= SUSPICIOUS[task])[list(COLUMNS)]


def column_type(column: pd.Series) -> str:
    """Return the type of a column in one word.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.evaluation._column_scores import column_type
    >>> column_type(pd.Series(["2024-03-01", None, "2024-04-01"]))
    'date'
    """
    values = column.dropna()
    n_values = values.nunique()
    if n_values == 0 or (n_values == 1 and len(values) == len(column)):
        return "constant"
    if pd.api.types.is_bool_dtype(column):
        return "category"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    words = values.astype(str)
    if words.str.fullmatch(_DATE).all():
        return "date"
    if n_values <= MOST_CATEGORIES:
        return "category"
    if n_values == len(values) and not words.str.contains(r"\s").any():
        return "identifier"
    return "text"


def _drawn(n_rows: int, seed: int) -> np.ndarray:
    """Return the rows that are scored: all, or a random sample of 20 000."""
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    chosen = np.random.default_rng(seed).choice(n_rows, MOST_ROWS, replace=False)
    return np.sort(chosen)


def _folds(
    y: np.ndarray, task: Task, groups: np.ndarray | None, cv: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    splitter: Any
    if task == "regression":
        shuffled = KFold(cv, shuffle=True, random_state=seed)
        splitter = shuffled if groups is None else GroupKFold(cv)
    else:
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = kind(cv, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # scikit-learn warns of a class with fewer rows than folds.
        warnings.simplefilter("ignore")
        return list(splitter.split(np.zeros((len(y), 1)), y, groups))


def _column(
    column: pd.Series,
    kind: str,
    y: np.ndarray,
    task: Task,
    scorer: Any,
    folds: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[float, float]:
    """Return mean and standard deviation of the score of one column."""
    if kind in ("constant", "identifier"):
        return np.nan, np.nan
    tree: type = (
        DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    )
    model = tree(
        max_leaf_nodes=MOST_LEAVES,
        min_samples_leaf=max(5, len(y) // 200),
        random_state=0,
    )
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(float, na_value=np.nan)[:, None]
        values = np.where(np.isinf(values), np.nan, values)
        return _score(model, values, y, scorer, folds)
    if pd.api.types.is_datetime64_any_dtype(column):
        days = (column - column.min()) / pd.Timedelta(days=1)
        return _score(model, days.to_numpy(float)[:, None], y, scorer, folds)
    table = column.to_frame()
    if kind != "text" and column.isna().any():
        # The indicator of missing values may be the best predictor.
        table = table.assign(missing=column.isna().to_numpy(float))
    return _score(
        make_pipeline(make_transformer(table), model), table, y, scorer, folds
    )


def _score(
    model: Any, X: Any, y: np.ndarray, scorer: Any, folds: Any
) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_val_score(model, X, y, scoring=scorer, cv=folds)
    return float(np.nanmean(scores)), float(np.nanstd(scores))
