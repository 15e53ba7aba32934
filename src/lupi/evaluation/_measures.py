"""Measures beside `compare`: single columns, nested searches, canonical correlations.

`column_scores` finds columns that predict the target much better than the others: these
are often known too late, only after the time of prediction. As features they would be a
leak; they can be used as privileged information.

`nested_cross_validate` follows O. Thomas, "Learning Using Privileged Information: A
Unified Approach", University of Sussex, 2017, chapter 6: parameters are chosen on inner
folds, scores are those of outer folds, and there is one selection by each metric, with
ties broken by the other metrics in order.

`cca_quality` follows X. Li, B. Du, Y. Zhang, C. Xu, D. Tao: Iterative Privileged
Learning, section V-B-3. Canonical correlation analysis maps X and X* linearly to tables
whose k-th columns have the largest possible correlation, and whose columns all have
variance 1. In this common space models are trained on X (GB_EF), on X* (GB_PF) or on
the rows of both (GB_CCA), and tested on X. If GB_PF is close to GB_EF, X* contains what
X contains about y, in the same directions.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import linalg
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import (
    ParameterGrid,
    ShuffleSplit,
    StratifiedShuffleSplit,
    check_cv,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_consistent_length, check_X_y, column_or_1d

from lupi.base import check_privileged, missing_targets, read_target
from lupi.base._metadata import fit_arguments, seeded
from lupi.base._rows import dense, read_groups, take_rows
from lupi.evaluation._methods import Task, read_task
from lupi.evaluation._order import (
    LAST_YEAR,
    MOST_CATEGORIES,
    NAMED_ID,
    as_dates,
    is_date,
    is_text,
    ordered_columns,
)
from lupi.evaluation._prepare import (
    as_table,
    check_lengths,
    column_names,
    make_transformer,
)
from lupi.evaluation._running import fingerprint, run_all
from lupi.evaluation._scoring import (
    Scorer,
    best_score,
    choose_scorer,
    class_auc_scorers,
    constant_model,
    named_scorer,
)
from lupi.evaluation._splits import Pairs, Rows, check_class_sizes, inner_splits
from lupi.kernels import gram_cache

# Thresholds between chance (0) and a perfect score (1): an AUC of 0.9, an R² of 0.6.
# For two normal distributions of equal variance, that AUC is an R² of 0.45.
SUSPICIOUS = {"classification": 0.8, "regression": 0.6}
CELLS_FOR_PROCESSES = 500_000
MOST_ROWS = 20_000
MOST_LEAVES = 32
# A column of whole numbers is an identifier if they are all different and within this
# multiple of their number.
FEWEST_IDENTIFIERS, MOST_SPREAD = 20, 10
# Whole numbers or text with such a name, and words with any name, identify groups of
# rows if this share of the values is distinct. Numbers with other names are measures.
IDENTIFIER = re.compile(
    r"(?:^|[\W_])(?i:id|key|code|uuid|guid|number|nr|no)$|^(?i:id)[\W_]|[a-z]I[Dd]$"
)
SHARE_NAMED, SHARE_OF_WORDS = 0.1, 0.5
# Least number of groups in a panel.
FEWEST_GROUPS = 10
# Rows of a class whose own AUC can mark a column.
FEWEST_OF_CLASS = 20
ALMOST_ONE = 1 - 1e-9
# Rows in which a column must have the content of the target, unless it has no gaps.
FEWEST_SAME = 20
# Notes on columns; those that no model should use.
EMPTY, CONSTANT, UNIQUE = "empty", "always the same", "different in every row"
FOLLOWS_ROWS = "numbers the rows"
SORTED = ("the rows are sorted by it", "the rows are nearly sorted by it")
SAME_CONTENT = "has the same content as the target"
GROUPS = "identifies groups of rows"
DATES = ("a date", "a year")
WRITTEN, LIMITS = "numbers written as text", "numbers and limits such as"
USELESS = (EMPTY, CONSTANT, UNIQUE, FOLLOWS_ROWS, SAME_CONTENT)
# Numbers and words that often mean missing; largest share, and number, of words in a
# column of numbers.
SENTINELS = {sign * (10**k - 1) for k in range(2, 8) for sign in (-1, 1)} | {-9, -1}
MISSING_WORDS = {".", "-", "--", "?", "unknown", "missing", "not available", "n.a."}
MOSTLY, MOST_WORDS = 0.5, 3
# A number that is known to be larger or smaller than this.
LIMIT = r"[<>≤≥]"
# A number that may have a currency, thousands and a unit, which is the group, and the
# type of text that is mostly such numbers.
_SIGN = r"(?:[-+−]\s*)?"
NUMBER = re.compile(
    rf"^{_SIGN}(?:(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY)\s*)?{_SIGN}"
    r"\d+(?:[.,'’\s]\d{3})*(?:[.,]\d+)?"
    r"\s*((?:(?:[^\W\d_]|[$€£¥₹%‰°])[^\s\d]{0,9}[23]?)?)\Z"
)
NUMBERS = "numbers"
# Number of Gram matrices in the cache: three spaces with three kernels each.
KERNELS_AT_ONCE = 9

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


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
    With more than two classes, the default score is the mean over the classes of the
    AUC of each against all others, and a column is suspicious if the AUC of one class
    with at least 20 rows is 0.9.

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
        ``missing`` (a share of all rows), ``score`` (NaN for identifiers and
        constants, and if there are too few rows), ``std`` over the folds, ``note``
        (columns that have the same content as y, that number the rows or have a
        different number in every row, by which the rows are sorted, that identify
        groups of rows, dates, and numbers that are written as text, with a currency, a
        unit or thousands: they are scored as text), ``means_missing`` (values that
        probably mean missing, such as ``.`` among numbers or −99), ``best_class`` and
        ``best_class_score`` (with more than two classes and the AUC: the class that the
        column predicts best, and its AUC), ``suspicious``. ``attrs`` has
        ``n_folds``, the number of folds, and ``scoring``, the name of the score.

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
    table = as_table(X, "X")
    names = column_names(table, "x")
    check_lengths(table.shape[0], y=y)
    if not isinstance(table, pd.DataFrame):
        table = pd.DataFrame(dense(table))
    table = table.set_axis(names, axis=1)
    known = ~missing_targets(y)
    if not known.any():
        raise ValueError(
            "y has no value in any row, so that there is nothing to predict. Check "
            "that the target was read."
        )
    missing = table.isna().mean().tolist()
    read = read_target(y, len(known), "column_scores", numeric=False, missing=True)
    table, y = table[known], read.values[known]
    task = task or read_task(y)
    y = y.astype(float) if task == "regression" else y
    groups = None if groups is None else read_groups(groups, len(known))[known]
    rows = np.arange(len(y))
    if len(y) > MOST_ROWS:
        rng = np.random.default_rng(random_state)
        rows = np.sort(rng.choice(len(y), MOST_ROWS, replace=False))
    name, scorer = choose_scorer(scoring, task, y)
    scorers = {"score": scorer}
    of_class: dict[str, Scorer] = {}
    if name == "roc_auc_ovr" and len(np.unique(y)) > 2:
        of_class = class_auc_scorers(y[rows], FEWEST_OF_CLASS)
        scorers |= {f"class {label}": each for label, each in of_class.items()}
    every = Rows(len(y), None if task == "regression" else y, groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of one row has no scores
        folds = inner_splits(every.take(rows), cv, random_state)
    X_none = np.zeros((len(rows), 1))
    constant = _mean_scores(constant_model(task), X_none, y[rows], scorers, folds)
    chance = constant["score"][0]
    kinds = [_column_type(table[column]) for column in names]
    # Starting processes takes longer than scoring a small table.
    small = len(rows) * len(names) < CELLS_FOR_PROCESSES
    scores = Parallel(n_jobs=1 if small else n_jobs)(
        delayed(_column_score)(
            table[column].iloc[rows], kind, y[rows], task, scorers, folds
        )
        for column, kind in zip(names, kinds, strict=True)
    )
    lines = []
    for column, kind, share, own in zip(names, kinds, missing, scores, strict=True):
        score, std = own.get("score", (np.nan, np.nan))
        of_each = ((own[f"class {label}"][0], label) for label in of_class if own)
        top, label = max(of_each, default=(np.nan, ""))
        lines.append(
            {
                "column": column,
                "type": "text" if kind == NUMBERS else kind,
                "n_values": int(table[column].nunique()),
                "missing": share,
                "score": score,
                "std": std,
                "note": _note(table[column], kind, y, task),
                "means_missing": ", ".join(means_missing(table[column])),
                "best_class": label,
                "best_class_score": top,
            }
        )
    panel = group_columns(table, kinds)
    for line in lines:
        if line["column"] in panel and line["note"] in ("", *SORTED):
            line["note"] = GROUPS
    found = pd.DataFrame(lines).sort_values(
        "score", ascending=False, kind="stable", ignore_index=True
    )
    highest = found[["score", "best_class_score"]].max(axis=1)
    way = (highest - chance) / (best_score(scorer) - chance)
    found = found.assign(suspicious=way >= SUSPICIOUS[task])
    found.attrs |= {"n_folds": len(folds), "scoring": name}
    return found


def _column_type(column: pd.Series) -> str:
    """Return the type of a column in one word."""
    values = column.dropna()
    n_values, flags = values.nunique(), pd.api.types.is_bool_dtype(column)
    if n_values == 0 or (n_values == 1 and len(values) == len(column)):
        return "constant"
    if pd.api.types.is_numeric_dtype(column) and not flags:
        return "number"
    if as_dates(column) is not None:
        return "date"
    if flags or n_values <= MOST_CATEGORIES:
        return "category"
    if mostly_numbers(values) is not None:
        return NUMBERS
    spaced = values.astype(str).str.contains(r"\s").any()
    return "identifier" if n_values == len(values) and not spaced else "text"


def mostly_numbers(values: pd.Series) -> str | None:
    """Return a note on text that is mostly numbers of one unit; None on other text."""
    words = values.astype(str).str.strip()
    plain, units = pd.to_numeric(words, errors="coerce").notna(), _units(words)
    most = units.value_counts().max()
    if plain.all() or not most > MOSTLY * len(words) or _is_named(values):
        return None
    limits = words[words.str.match(LIMIT)]
    if len(limits):
        return f"{LIMITS} {limits.iloc[0]}"
    return WRITTEN if units[~plain].notna().any() else ""


def _units(words: pd.Series) -> pd.Series:
    """Return the units of words that are numbers, which may be empty, NaN of others."""
    units = words.str.extract(NUMBER, expand=False)
    return units.mask(pd.to_numeric(words, errors="coerce").notna(), "")


def _is_named(values: pd.Series) -> bool:
    """Return whether the name of a column is that of an identifier."""
    return bool(IDENTIFIER.search(str(values.name)))


def _note(column: pd.Series, kind: str, y: np.ndarray, task: Task) -> str:
    """Return a remark on the content of a column, if there is one to make."""
    values = column.dropna()
    if kind == "constant":
        return EMPTY if values.empty else CONSTANT
    if has_same_content(column, y, task):
        return SAME_CONTENT
    dated = kind == "number" and is_date(column.name, column)
    if kind == "date" or (dated and values.min() > LAST_YEAR):
        return DATES[0]
    if kind in ("category", NUMBERS) and (said := mostly_numbers(values)):
        return said
    unique = kind == "identifier"
    if kind == "number" and len(values) >= FEWEST_IDENTIFIERS:
        numbers = values.to_numpy(float)
        whole = not (numbers % 1).any() and len(np.unique(numbers)) == len(numbers)
        unique = whole and np.ptp(numbers) < MOST_SPREAD * len(numbers)
        steps = np.diff(numbers)
        unique |= bool(steps[0]) and np.allclose(steps, steps[0])
    rows = ordered_columns({"column": column.reset_index(drop=True)})[1]
    # Names of the rows in alphabetical order, nearly.
    unique |= kind == "text" and bool(rows) and values.is_unique
    if unique:
        return FOLLOWS_ROWS if rows else UNIQUE
    if dated:
        return DATES[1]
    if _identifies_groups(values, kind):
        return GROUPS
    increasing = values.is_monotonic_increasing or values.is_monotonic_decreasing
    return SORTED[not increasing] if rows else ""


def _identifies_groups(values: pd.Series, kind: str) -> bool:
    """Return whether most values are of one row or few rows, by content and name."""
    n_values = values.nunique()
    if not MOST_CATEGORIES < n_values < len(values):
        return False
    share = n_values / len(values)
    named = _is_named(values) and share >= SHARE_NAMED
    if kind == "number":
        return named and bool((values % 1 == 0).all())
    words = values.astype(str)
    if kind != "text" or words.str.contains(r"\s").any():
        return False
    numbers = pd.to_numeric(words, errors="coerce").notna().mean()
    return named or (share >= SHARE_OF_WORDS and bool(numbers <= MOSTLY))


def group_columns(table: pd.DataFrame, kinds: Sequence[str] | None = None) -> list[Any]:
    """Return the columns that identify groups of rows.

    They do by content and name, or by two of these: the rows of a group follow one
    another, they have different dates, years or times, which other groups have as
    well, and the name is that of an identifier.
    """
    kinds = kinds or [_column_type(column) for _, column in table.items()]
    times = [c for n, c in table.items() if str(n).lower() == "time" or is_date(n, c)]
    times = [time for time in times if 2 * time.nunique() <= len(time)]

    def identifies(column: pd.Series, kind: str) -> bool:
        if _identifies_groups(column.dropna(), kind):
            return True
        few = FEWEST_GROUPS <= column.nunique() <= len(column) / 2
        if column.isna().any() or not few:
            return False
        whole = not pd.api.types.is_numeric_dtype(column) or (column % 1 == 0).all()
        named = whole and NAMED_ID.search(str(column.name)) is not None
        runs = (column != column.shift()).sum() == column.nunique()
        pairs = (pd.DataFrame({"group": column, "time": time}) for time in times)
        apart = any(not pair.duplicated().any() for pair in pairs)
        group = int(named) + int(runs) + int(apart) > 1
        return group and mostly_numbers(column) is None

    columns = zip(table.items(), kinds, strict=True)
    return [name for (name, column), kind in columns if identifies(column, kind)]


def has_same_content(column: pd.Series, y: np.ndarray, task: Task) -> bool:
    """Return whether a column determines y and is determined by it, where it is.

    Few values can do so by chance.
    """
    values, y = column.dropna(), y[column.notna().to_numpy()]
    if len(values) < min(len(column), FEWEST_SAME):
        return False
    if task == "regression":
        if not pd.api.types.is_numeric_dtype(values):
            return False
        numbers = values.to_numpy(float)
        vary = len(y) > 2 and bool(np.ptp(numbers) and np.ptp(y))
        return vary and bool(abs(np.corrcoef(numbers, y)[0, 1]) > ALMOST_ONE)
    pairs = pd.DataFrame({"value": values.to_numpy(), "y": y}).drop_duplicates()
    return len(pairs) > 1 and not (
        pairs["value"].duplicated().any() or pairs["y"].duplicated().any()
    )


def means_missing(column: pd.Series) -> list[str]:
    """Return the values of a column that probably mean missing.

    Few words in a column of numbers, words such as "unknown" among others, and repeated
    numbers such as −99 or 9999 far away from all others.
    """
    values = column.dropna()
    if pd.api.types.is_bool_dtype(column) or values.empty:
        return []
    if pd.api.types.is_numeric_dtype(column):
        numbers = np.unique(values.to_numpy(float))
        found = []
        for end, inner in ((numbers[0], numbers[1:]), (numbers[-1], numbers[:-1])):
            if end not in SENTINELS or len(inner) < 2 or (values == end).sum() < 2:
                continue
            gap = np.abs(inner - end).min()
            far = gap > max(np.ptp(inner), 1.0)
            # Ages do not begin at 18 and have -1 as well, counts may.
            far |= end < 0 <= inner[0] and (end < -1 or gap > 2 * np.diff(inner).max())
            if far:
                found.append(f"{end:.0f}")
        return found
    if not is_text(column):
        return []
    words = values.astype(str).str.strip()
    text = words[_units(words).isna()]
    if text.str.match(LIMIT).any():
        return []
    if 0 < len(text) <= MOSTLY * len(words) and text.nunique() <= MOST_WORDS:
        return sorted(text.unique())
    return sorted(word for word in words.unique() if word.lower() in MISSING_WORDS)


def _column_score(
    column: pd.Series,
    kind: str,
    y: np.ndarray,
    task: Task,
    scorers: dict[str, Scorer],
    folds: Pairs,
) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of the scores of one column, if it has any."""
    if kind in ("constant", "identifier"):
        return {}
    table: Any
    tree: Any = DecisionTreeClassifier
    if task == "regression":
        tree = DecisionTreeRegressor
    leaves = {"max_leaf_nodes": MOST_LEAVES, "min_samples_leaf": max(5, len(y) // 200)}
    model = tree(**leaves, random_state=0)
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(float, na_value=np.nan)[:, None]
        table = np.where(np.isinf(values), np.nan, values)
    elif pd.api.types.is_datetime64_any_dtype(column):
        days = (column - column.min()) / pd.Timedelta(days=1)
        table = days.to_numpy(float)[:, None]
    elif kind == "category":
        # An indicator per category, and one of missing values, need no folds.
        table = pd.get_dummies(column, dummy_na=True).to_numpy(float)
    else:
        table = column.to_frame()
        if kind == "date" and column.isna().any():
            table = table.assign(missing=column.isna().to_numpy(float))
        model = make_pipeline(make_transformer(table), model)
    return _mean_scores(model, table, y, scorers, folds)


def _mean_scores(
    model: Any, X: Any, y: np.ndarray, scorers: dict[str, Scorer], folds: Pairs
) -> dict[str, tuple[float, float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cross_validate(model, X, y, scoring=scorers, cv=folds)
        return {
            name: (float(np.nanmean(each)), float(np.nanstd(each)))
            for name, each in ((name, found[f"test_{name}"]) for name in scorers)
        }


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
        As in `compare`.

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
    model = seeded(estimator, random_state)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    given = fit_arguments(model, privileged=privileged, sample_weight=weight)
    candidates = [dict(candidate) for candidate in grid]
    scorers = [named_scorer(name, task, y) for name in metrics]
    every = Rows(len(y), strata, groups)
    splits = inner_splits(every, cv, random_state)

    def score(candidate: int, train: np.ndarray, test: np.ndarray) -> list[float]:
        fitted = clone(model).set_params(**candidates[candidate])
        more = {name: take_rows(table, train) for name, table in given.items()}
        fitted.fit(take_rows(X, train), y[train], **more)
        return [scorer(fitted, take_rows(X, test), y[test]) for scorer in scorers]

    def run(split: int) -> dict[str, Any]:
        """Search on the training rows of one outer fold, refit and score."""
        train, test = splits[split]
        folds = inner_splits(every.take(train), inner_cv, random_state + split)
        scores = []
        with config_context(enable_metadata_routing=False):
            with warnings.catch_warnings():
                # Only the warnings of the chosen candidates are reported.
                warnings.simplefilter("ignore")
                for fold in folds:
                    # All candidates of a fold share its Gram matrices.
                    with gram_cache(KERNELS_AT_ONCE):
                        rows = [train[part] for part in fold]
                        scores.append([score(i, *rows) for i in range(len(candidates))])
            means = np.mean(scores, axis=0)
            chosen = [_best_candidate(means, first) for first in range(len(metrics))]
            outer = {i: score(i, train, test) for i in set(chosen)}
        tested = [dict(zip(metrics, outer[i], strict=True)) for i in chosen]
        return {"inner_scores": means, "chosen": chosen, "outer_scores": tested}

    identity = None
    if checkpoint is not None:
        tables = (X, y, given, strata, groups)
        rest = (model, candidates, scorers, splits, inner_cv, random_state)
        identity = fingerprint(*tables, *rest)
    results = run_all(
        run,
        {str(split): split for split in range(len(splits))},
        identity=identity,
        fields=("inner_scores", "chosen", "outer_scores"),
        checkpoint=checkpoint,
        n_jobs=n_jobs,
        progress=progress,
        title=f"{len(candidates)} candidates",
    )
    inner = np.array([part["inner_scores"] for part in results.values()], dtype=float)
    lines = [
        {"select_by": metric, "split": split}
        | part["outer_scores"][number]
        | dict(zip([f"inner_{name}" for name in metrics], inner[split, i], strict=True))
        | {"params": candidates[i]}
        for number, metric in enumerate(metrics)
        for split, part in enumerate(results.values())
        for i in [part["chosen"][number]]
    ]
    return NestedResult(pd.DataFrame(lines), metrics, candidates, inner)


def _best_candidate(scores: np.ndarray, first: int) -> int:
    """Return the best candidate by one metric, with ties broken by the others."""
    others = [metric for metric in range(scores.shape[1]) if metric != first]
    # Rounding errors of the means must not break a tie.
    ranked = np.nan_to_num(scores[:, [first, *others]], nan=-np.inf).round(12)
    return max(range(len(ranked)), key=lambda i: tuple(ranked[i]))


@dataclass(frozen=True)
class CCAQuality:
    """Scores in the common space of X and X*.

    Attributes
    ----------
    scores : DataFrame
        One row per split, one column per model: "GB_EF", "GB_PF", "GB_CCA" and the
        models of `also`.
    correlations : ndarray of shape (n_splits, n_components)
        Canonical correlations on the training rows of each split.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from lupi.evaluation import CCAQuality
    >>> scores = pd.DataFrame({"GB_EF": [0.8, 0.9], "GB_PF": [0.7, 0.8]})
    >>> CCAQuality(scores, np.array([[0.9], [0.8]])).summary()["mean"]["GB_PF"]
    np.float64(0.75)
    """

    scores: pd.DataFrame
    correlations: np.ndarray

    def summary(self) -> pd.DataFrame:
        """Return mean and standard deviation over the splits.

        Returns
        -------
        pandas.DataFrame
            One row per model, with the columns ``mean`` and ``std``.
        """
        return pd.DataFrame(
            {"mean": self.scores.mean(), "std": self.scores.std(ddof=0)}
        )


def cca_quality(
    X: Any,
    y: Any,
    privileged: Any,
    *,
    estimator: Any = None,
    also: Mapping[str, Any] | None = None,
    n_components: int | None = None,
    cv: Any = None,
    scoring: Any = None,
    random_state: Any = None,
) -> CCAQuality:
    """Score models in the common space of X and X*.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Decision features.
    y : array-like of shape (n_samples,)
        Class labels or targets.
    privileged : {array-like, sparse matrix, data frame} of shape \
(n_samples, n_privileged)
        Privileged features. Rows in which every value is NaN are left out where X* is
        needed.
    estimator : estimator, default=None
        Model trained in the common space. None is the boosting of `IPLClassifier` or
        `IPLRegressor` without X*.
    also : dict of str to estimator, default=None
        Estimators that are fitted with ``privileged`` on the original tables, for
        comparison: ``{"IPL": IPLClassifier()}``.
    n_components : int, default=None
        Number of columns of the common space; None is the largest possible number.
    cv : int, splitter or None, default=None
        None is five random splits, 80 % for training, as in the paper (stratified for
        classes).
    scoring : str or callable, default=None
        As in scikit-learn; None is the ``score`` method of the estimator.
    random_state : int, RandomState or None, default=None
        Seed of the splits and of the default estimator.

    Returns
    -------
    CCAQuality
        Scores per split and canonical correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.evaluation import cca_quality
    >>> rng = np.random.default_rng(0)
    >>> state = rng.normal(size=(200, 2))
    >>> X, P = state + rng.normal(size=(2, 200, 2))
    >>> quality = cca_quality(X, state[:, 0] > 0, P, random_state=0)
    >>> list(quality.scores.columns)
    ['GB_EF', 'GB_PF', 'GB_CCA']
    >>> quality.correlations.shape
    (5, 2)
    """
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
    X = dense(X)
    read = check_privileged(privileged, len(y), "cca_quality")
    if read is None:
        raise ValueError(
            "cca_quality compares X with X*, but privileged is None or has no value. "
            "Give privileged features for at least some rows."
        )
    table, has = read.dense_full(), read.available
    classes = read_task(y) == "classification"
    if estimator is None:
        from lupi.boosting import IPLClassifier, IPLRegressor

        kind = IPLClassifier if classes else IPLRegressor
        estimator = kind(random_state=random_state)
    if cv is None:
        splitter = StratifiedShuffleSplit if classes else ShuffleSplit
        cv = splitter(n_splits=5, test_size=0.2, random_state=random_state)
    score = check_scoring(estimator, scoring)
    rows, correlations = [], []
    for train, test in check_cv(cv, y, classifier=classes).split(X, y):
        both = train[has[train]]
        ef, pf, found = _common_space(X, table, both, n_components)
        parts = {
            "GB_EF": (ef[train], y[train]),
            "GB_PF": (pf[both], y[both]),
            "GB_CCA": (
                np.vstack([ef[train], pf[both]]),
                np.concatenate([y[train], y[both]]),
            ),
        }
        row = {
            name: score(clone(estimator).fit(*part), ef[test], y[test])
            for name, part in parts.items()
        }
        for name, model in (also or {}).items():
            model = clone(model).fit(X[train], y[train], privileged=table[train])
            row[name] = check_scoring(model, scoring)(model, X[test], y[test])
        rows.append(row)
        correlations.append(found)
    # In some splits, a table of few distinct rows may have a lower rank.
    width = min(map(len, correlations))
    scores = pd.DataFrame(rows).rename_axis(index="split", columns="trained on")
    return CCAQuality(scores, np.array([c[:width] for c in correlations]))


def _common_space(
    X: np.ndarray, P: np.ndarray, rows: np.ndarray, n_components: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the canonical variates of X and of X*, of variance 1, from some rows.

    With X = UΣVᵀ and X* = U*Σ*V*ᵀ (centered, truncated at their ranks) and
    UᵀU* = RCSᵀ, the variates are √n UR and √n U*S, and C has their correlations, which
    are returned as well.
    """
    center_x, to_x, left = _whiten(X[rows])
    center_p, to_p, right = _whiten(P[rows])
    turn_x, found, turn_p = linalg.svd(left.T @ right, full_matrices=False)
    found, scale = np.minimum(found[:n_components], 1.0), np.sqrt(len(rows))
    to_x = scale * to_x @ turn_x[:, : len(found)]
    to_p = scale * to_p @ turn_p[: len(found)].T
    return (X - center_x) @ to_x, (P - center_p) @ to_p, found


def _whiten(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the column means, the map VΣ⁻¹ and the orthonormal columns U."""
    center = table.mean(axis=0)
    # Columns are standardized, so that the rank does not depend on their units.
    spread = table.std(axis=0)
    spread[spread <= 1e-12 * np.abs(center)] = np.inf
    u, singular, vt = linalg.svd((table - center) / spread, full_matrices=False)
    kept = singular > singular[0] * max(table.shape) * np.finfo(float).eps
    if not kept.any():
        raise ValueError(
            "cca_quality needs columns that vary, but in a training split every column "
            "of X or of privileged is constant. Give other columns or more rows."
        )
    return center, vt[kept].T / singular[kept] / spread[:, None], u[:, kept]
