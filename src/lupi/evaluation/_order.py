"""Times of rows, columns that depend on the order of the rows, and X* implied by X.

`order_of_rows` tests a column for a trend (Spearman's correlation with the number of
the row) and for autocorrelation (of the ranks of neighbouring rows), and a column of
categories by the indicators of its categories.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from joblib import parallel_config
from scipy import stats
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from lupi._words import listed_columns
from lupi.base._rows import dense, take_rows, with_iso_date
from lupi.evaluation._prepare import make_transformer

DATE = re.compile(
    r"\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?"
    r"|\d{4}-\d{2}|[A-Za-z]{3,9}[- ]\d{4})\s*"
)
SHORT_YEAR = re.compile(r"\s*\d{1,2}[-/.]\d{1,2}[-/.]\d{2}(?!\d)")
# Years, or years with a fraction, have such names.
YEAR = re.compile(r"year|yr|date", re.IGNORECASE)
FIRST_YEAR, LAST_YEAR = 1800, 2100
# Columns with such names can identify groups of rows, and are no times.
NAMED_ID = re.compile(r"(?:id|key|code)$|^id[\W_]", re.IGNORECASE)
# Rank correlation with the number of the row above which a column is in their order.
IN_ORDER = 0.9
# Values of a column with ties by which the rows are sorted; fewer are categories.
FEWEST_TIMES = 5
OFFSET = re.compile(r"[T ]\d{1,2}.*?(?:[+-]\d{2}(?::?\d{2})?|Z)\s*$")
EPOCH = pd.Timestamp("1970-01-01", tz="UTC")
MOST_CATEGORIES = 30
# Smallest correlation that matters, and the level of the tests of all columns together.
SMALLEST, LEVEL = 0.1, 0.01
FEWEST_ROWS = 30
# Folds in which it is tried to compute X* from X.
N_FOLDS = 5
# Expected pairs of neighbouring rows of a category, from which their number is tested.
FEWEST_PAIRS = 5
# Rows from which X* is predicted; R² above which it follows from X, and above which
# trees are tried, with the features of the largest rank correlations.
MOST_ROWS, MOST_FEATURES = 2000, 10
COMPUTABLE, PROMISING = 0.99, 0.8


def is_text(column: pd.Series) -> bool:
    """Return whether a column can hold text: objects are not looked at."""
    return pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)


def as_dates(column: pd.Series) -> pd.Series | None:
    """Return a column as dates; None if its values are not dates."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    if not is_text(column):
        return None
    words = column.dropna().astype(str).map(with_iso_date).reset_index(drop=True)
    if words.empty or not words.str.fullmatch(DATE).all():
        return None
    # The day comes first where a first number cannot be a month.
    first = pd.to_numeric(words.str.extract(r"^\s*(\d{1,2})[-/.]")[0]).max() > 12
    options: dict[str, Any] = {"format": "mixed", "errors": "coerce"}
    # Offsets may differ, as in summer and in winter.
    options["utc"] = bool(words.str.contains(OFFSET).any())
    iso = words.str.match(r"\s*\d{4}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        years_first = pd.to_datetime(words[iso], **options)
        others = pd.to_datetime(words[~iso], dayfirst=bool(first), **options)
    parts = [part for part in (years_first, others) if len(part)]
    dates = pd.concat(parts).sort_index()
    if dates.isna().any():
        return None
    places = pd.Series(np.flatnonzero(column.notna()))
    return dates.set_axis(places).reindex(range(len(column))).set_axis(column.index)


def with_short_year(column: pd.Series) -> str | None:
    """Return a date whose year has two digits, so that its century is not known."""
    words = column.dropna().astype(str) if is_text(column) else ()
    return next((word for word in words if SHORT_YEAR.match(word)), None)


def read_time(values: Any, n_rows: int, name: str) -> tuple[np.ndarray, bool]:
    """Return times as numbers, NaN where there is none, and whether they are dates."""
    column = pd.Series(values).reset_index(drop=True)
    if len(column) != n_rows:
        raise ValueError(
            f"{name} has {len(column)} values and X has {n_rows} rows; give one time "
            "per row."
        )
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(float, na_value=np.nan), False
    short = with_short_year(column)
    if short is not None:
        raise ValueError(
            f"{name} contains {short}, whose year may have two digits, so that its "
            "century is not known; write dates as 1976-03-31."
        )
    dates = as_dates(column)
    if dates is None:
        example = next(iter(column.dropna()), None)
        raise ValueError(
            f"{name} contains {example!s}, which is neither a number nor a date; write "
            "dates as 2026-03-31."
        )
    return _days(dates), True


def _days(dates: pd.Series) -> np.ndarray:
    days = (pd.to_datetime(dates, utc=True) - EPOCH) / pd.Timedelta(days=1)
    return days.to_numpy(float)


def is_date(name: Any, column: pd.Series) -> bool:
    """Return whether a column has dates, also such as 20190131, or years of the rows.

    Numbers are years if this is their whole name: those of a study may begin with 0.
    Others, as those of construction, are only years of the rows if these are in their
    order.
    """
    if not pd.api.types.is_numeric_dtype(column):
        return as_dates(column) is not None and with_short_year(column) is None
    values = column.dropna()
    if values.empty:
        return False
    first, last = FIRST_YEAR * 10_000, (LAST_YEAR + 1) * 10_000
    if values.between(first, last).all() and not (values % 1).any():
        words = values.astype("int64").astype(str)
        return bool(
            pd.to_datetime(words, format="%Y%m%d", errors="coerce").notna().all()
        )
    if YEAR.fullmatch(str(name)):
        return values.nunique() > 1
    calendar = values.between(FIRST_YEAR, LAST_YEAR).all()
    return bool(YEAR.search(str(name)) and calendar and times_rows(name, column))


def times_rows(name: Any, column: pd.Series) -> bool:
    """Return whether dates or years are times of the rows, by their name or order.

    Others, such as dates of birth and years of construction, are features.
    """
    return bool(YEAR.fullmatch(str(name))) or _in_order(column)


def _in_order(column: pd.Series) -> bool:
    """Return whether the rows are nearly in the order of a column."""
    ranks = pd.Series(_codes(column)).rank()
    place = pd.Series(np.arange(len(ranks), dtype=float))
    return bool(ranks.nunique() > 1 and abs(ranks.corr(place)) > IN_ORDER)


def times_of_rows(
    columns: Mapping[str, pd.Series], sorting: Mapping[str, pd.Series]
) -> tuple[list[str], bool, list[str]]:
    """Return columns that can be times of the rows, the best ones first.

    They have no gaps. Dates and years in the order of the rows come first, then the
    earliest dates, then years, the finest first. The second value is whether the number
    of the row can be a time: where rows are sorted, by a time or by a column that
    numbers them. The third one are dates that are no times of the rows by name or
    order.
    """

    def place(name: str) -> tuple[bool, float, int]:
        times, dated = read_time(columns[name], len(columns[name]), name)
        start = float(np.median(times)) if dated else np.inf
        return not _in_order(columns[name]), start, -len(np.unique(times))

    dates = [name for name, column in columns.items() if is_date(name, column)]
    unordered = [name for name in dates if not times_rows(name, columns[name])]
    complete = [name for name in columns if columns[name].notna().all()]
    found = [name for name in dates if name in complete and name not in unordered]
    times = [name for name, column in sorting.items() if _may_be_time(name, column)]
    by_number = bool(times) or any(map(numbers_rows, sorting.values()))
    return sorted(found, key=place), by_number or not sorting, unordered


def unordered_words(names: list[str]) -> str:
    """Return a sentence on columns of dates in which the rows are not ordered."""
    has, its = ("has", "its") if len(names) == 1 else ("have", "their")
    return (
        f"{listed_columns(names, most=4)} {has} dates, and the rows are not in {its} "
        "order: if a date is the time of a row, and not, say, a date of birth, it can "
        "make splits by time."
    )


def ordered_columns(columns: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the columns that depend on the order of the rows, and those that are it.

    The level is that of the tests of all columns together.
    """
    found = {name: order_of_rows(column) for name, column in columns.items()}
    ordered = [
        name
        for name, (size, p, _) in found.items()
        if size > SMALLEST and p * len(columns) < LEVEL
    ]
    return ordered, [name for name, each in found.items() if each[2]]


def order_of_rows(column: pd.Series) -> tuple[float, float, bool]:
    """Return the correlation of a column with the order of the rows, and its p-value.

    The third value is whether the column is the order.
    """
    values = _codes(column)
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < FEWEST_ROWS or np.ptp(values[known]) == 0:
        return 0.0, 1.0, False
    ranks = stats.rankdata(values[known])
    levels = np.unique(ranks)
    parts = ranks[:, None]
    named = not pd.api.types.is_numeric_dtype(column) and as_dates(column) is None
    if named and len(levels) <= MOST_CATEGORIES:
        # One of two categories is known from the other.
        parts = (parts == levels[: len(levels) if len(levels) > 2 else 1]).astype(float)
    # The rows of a rare category follow one another by chance.
    often = parts.mean(axis=0) ** 2 * len(parts) >= FEWEST_PAIRS
    parts = parts - parts.mean(axis=0)
    pairs, squares = np.sum(parts[1:] * parts[:-1], axis=0), np.sum(parts**2, axis=0)
    nearby = np.append(pairs[often] / squares[often], pairs.sum() / squares.sum())
    near = np.abs(nearby).max()
    trends = (known - known.mean()) @ parts / np.linalg.norm(parts, axis=0)
    trend = np.abs(trends).max() / np.linalg.norm(known - known.mean())
    size = max(trend, near)
    # Tests of two sides, of every category and of all.
    n_tests = 2 if parts.shape[1] == 1 else 2 * parts.shape[1] + 1
    p = 2 * n_tests * stats.norm.sf(size * np.sqrt(len(known)))
    # The ranks of few values with ties are not close to the numbers of the rows.
    steps = np.sign(np.diff(ranks))
    is_order = len(levels) >= FEWEST_TIMES and np.ptp(steps[steps != 0]) == 0
    is_order |= abs(np.corrcoef(ranks, known)[0, 1]) > COMPUTABLE
    return float(size), float(min(1.0, p)), bool(is_order)


def in_runs(groups: np.ndarray) -> bool:
    """Return whether the rows of every group follow one another."""
    starts = np.append(True, groups[1:] != groups[:-1])
    return bool(starts.sum() == len(np.unique(groups)))


def numbers_rows(column: pd.Series) -> bool:
    """Return whether a column by which rows are sorted can be their number."""
    return column.is_unique and _may_be_time("", column)


def _may_be_time(name: str, column: pd.Series) -> bool:
    """Return whether a column by which rows are sorted can be a time.

    Times are dates, or whole numbers that increase and are no identifiers by name.
    """
    if NAMED_ID.search(name):
        return False
    if not pd.api.types.is_numeric_dtype(column):
        return as_dates(column) is not None and with_short_year(column) is None
    values = column.dropna()
    return bool((values % 1 == 0).all() and values.iloc[-1] > values.iloc[0])


def _codes(column: pd.Series) -> np.ndarray:
    """Return a column as numbers: dates as times, text as its place in the alphabet."""
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(float, na_value=np.nan)
    dates = as_dates(column)
    if dates is not None:
        return _days(dates)
    codes = pd.factorize(column.astype(str).where(column.notna()), sort=True)[0]
    return np.where(codes < 0, np.nan, codes)


def columns_of(table: Any, names: list[str]) -> Iterator[tuple[str, pd.Series]]:
    """Yield the columns of a table with their names; none of a sparse matrix."""
    if table is None or sp.issparse(table):
        return
    frame = pd.DataFrame(table)
    for number, name in enumerate(names):
        yield name, frame.iloc[:, number]


def computable_columns(
    X: Any, privileged: Any, names: list[str], groups: np.ndarray | None
) -> dict[str, float]:
    """Return the privileged columns that follow from X, with their R².

    The R² is cross-validated, on folds of whole groups. Text is left out.
    """
    if sp.issparse(X):
        return {}
    rows = np.random.default_rng(0).permutation(X.shape[0])[:MOST_ROWS]
    features, found = None, {}
    for name, column in columns_of(take_rows(privileged, rows), names):
        if not pd.api.types.is_numeric_dtype(column):
            if column.nunique() > MOST_CATEGORIES:
                continue
            column = pd.get_dummies(column).where(column.notna(), np.nan)
        values = column.to_numpy(dtype=float, na_value=np.nan).reshape(len(rows), -1)
        known = np.flatnonzero(~np.isnan(values).any(axis=1))
        values = values[known]
        if len(known) < FEWEST_ROWS or not np.ptp(values, axis=0).all():
            continue
        if features is None:
            table = take_rows(X, rows)
            features = dense(make_transformer(table).fit_transform(table))
        own = None if groups is None else groups[rows[known]]
        if own is not None and len(np.unique(own)) < N_FOLDS:
            continue
        score = _score(Ridge(1e-6), features[known], values, own)
        if PROMISING <= score < COMPUTABLE and values.shape[1] == 1:
            trees = ExtraTreesRegressor(50, random_state=0)
            ranks = stats.rankdata(np.hstack([values, features[known]]), axis=0)
            ranks -= ranks.mean(axis=0)
            size = np.maximum(np.linalg.norm(ranks, axis=0), 1e-9)
            related = np.argsort(-np.abs(ranks[:, 0] @ ranks / size)[1:])
            near = features[np.ix_(known, related[:MOST_FEATURES])]
            score = max(score, _score(trees, near, values.ravel(), own))
        if score >= COMPUTABLE:
            found[name] = score
    return found


def _score(
    model: Any, X: np.ndarray, values: np.ndarray, groups: np.ndarray | None
) -> float:
    cv = KFold(N_FOLDS) if groups is None else GroupKFold(N_FOLDS)
    # Not on a cluster: the data are small, and sent anew for each column.
    with warnings.catch_warnings(), parallel_config("sequential"):
        warnings.simplefilter("ignore")
        predicted = cross_val_predict(model, X, values, cv=cv, groups=groups)
    return float(np.min(r2_score(values, predicted, multioutput="raw_values")))
