"""`check_labels`: which labels of a table are probably wrong, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.preprocessing import QuantileTransformer

from lupi._words import percent
from lupi.base import missing_targets
from lupi.base._rows import aligned, dense
from lupi.evaluation._order import as_dates
from lupi.evaluation._prepare import (
    as_table,
    check_lengths,
    column_names,
    make_transformer,
)
from lupi.transfer import NoisyLabelClassifier

# Distinct values of a column of names: whole numbers, if not told, and text.
MOST_NUMBERS, MOST_NAMES = 30, 300
N_RANGES = 4  # of a column of numbers, each with as many rows
LEVEL = 0.95
OTHERWISE = "unlike similar rows"


@dataclass(frozen=True)
class LabelCheck:
    """The result of `check_labels`.

    Attributes
    ----------
    labels : pandas.DataFrame
        One row per labelled row, most suspicious first, with the index of X: the
        ``label``, the ``suggestion`` (the most probable other class), the
        ``probability`` that the label is wrong, and the main ``reason``.
    rates : pandas.DataFrame
        One row per name or range of values in a privileged column: ``column``,
        ``group``, ``n_rows``, the ``rate`` of wrong labels, and ``low`` and ``high``,
        its interval at 95 % (NaN if there are too many parameters).
    model : NoisyLabelClassifier
        The fitted model.

    See Also
    --------
    check_labels : Makes it.

    Examples
    --------
    >>> from lupi.datasets import make_noisy_labels
    >>> from lupi.evaluation import check_labels
    >>> data = make_noisy_labels(200, rates=(0.02, 0.4), random_state=0)
    >>> found = check_labels(data.data, data.target, data.privileged)
    >>> list(found.labels.columns)
    ['label', 'suggestion', 'probability', 'reason']
    """

    labels: pd.DataFrame
    rates: pd.DataFrame
    model: NoisyLabelClassifier


@dataclass(frozen=True)
class _Column:
    """A column of X* as columns of numbers, and as groups of rows."""

    name: str
    design: np.ndarray
    group: pd.Series
    order: tuple[str, ...] = ()  # of ranges of values


def check_labels(
    X: Any,
    y: Any,
    privileged: Any,
    *,
    noise: Literal["symmetric", "classwise"] = "symmetric",
    names: Iterable[str] | None = None,
    clean: Any = None,
    groups: Any = None,
    student: Any = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> LabelCheck:
    """List the labels that are probably wrong, most suspicious first, with reasons.

    :class:`lupi.transfer.NoisyLabelClassifier` is fitted to prepared tables: text,
    categories, dates and missing values are encoded; numbers of X* are replaced by
    their ranks.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        What the classes depend on.
    y : array-like of shape (n_samples,)
        The labels; rows in which they are missing are left out.
    privileged : array-like or data frame of n_samples rows
        How each label was made: who gave it, from which source, after how many seconds.
    noise : {"symmetric", "classwise"}, default="symmetric"
        As in :class:`lupi.transfer.NoisyLabelClassifier`.
    names : iterable of str, default=None
        Privileged columns of numbers that are names, such as numbers of people. By
        default those with at most 30 distinct values, all of them whole numbers.
    clean : array-like of bool of shape (n_samples,), default=None
        True in rows whose label is known to be right.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are kept together in every fold.
    student : estimator, default=None
        As in :class:`lupi.transfer.NoisyLabelClassifier`.
    n_jobs : int, default=None
        As in joblib.
    random_state : int, default=0
        Seed of the folds and of the student.

    Returns
    -------
    LabelCheck
        The labels and the rates of errors.

    See Also
    --------
    lupi.transfer.NoisyLabelClassifier : The model, and what it assumes.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from lupi.datasets import make_noisy_labels
    >>> from lupi.evaluation import check_labels
    >>> data = make_noisy_labels(600, rates=(0.02, 0.4, 0.1), random_state=0)
    >>> people = np.array(["Ada", "Ben", "Cem"])[data.privileged.argmax(axis=1)]
    >>> found = check_labels(data.data, data.target, pd.DataFrame({"who": people}))
    >>> found.rates.sort_values("rate")["group"].tolist()
    ['Ada', 'Cem', 'Ben']
    >>> worst = found.labels.head(30)
    >>> bool((data.target != data.truth)[worst.index].mean() > 0.7)
    True
    """
    table = as_table(X, "X")
    later = aligned(table, as_table(privileged, "privileged"))
    if not isinstance(later, pd.DataFrame):
        later = pd.DataFrame(dense(later), columns=column_names(later, "x*"))
    y = np.asarray(y)
    check_lengths(table.shape[0], y=y, privileged=later, clean=clean)
    later = later.reset_index(drop=True)
    columns = [_read(later[name], names) for name in later]
    design = np.hstack([column.design for column in columns])
    design[later.isna().all(axis=1).to_numpy()] = np.nan
    rates = None if clean is None else np.where(clean, 0.0, np.nan)
    model = NoisyLabelClassifier(
        student, noise=noise, rates=rates, n_jobs=n_jobs, random_state=random_state
    )
    prepared = make_transformer(table).fit_transform(table)
    model.fit(prepared, y, privileged=design, groups=groups)
    kept = np.flatnonzero(~missing_targets(y))
    f, design = model.predict_proba(prepared)[kept], design[kept]
    effects = model.noise_effects(design)
    ends = np.cumsum([column.design.shape[1] for column in columns])[:-1]
    # P(wrong) of each row given X and X*, and the ends of its interval.
    if hasattr(model, "noise_covariance_"):
        parts = model.label_noise(design, level=LEVEL)
    else:
        rate = model.label_noise(design)
        parts = (rate, np.nan * rate, np.nan * rate)
    wrong = [p if p.ndim == 1 else (f * p).sum(axis=1) for p in parts]
    found = _rates(columns, kept, np.column_stack(wrong))
    reasons = _reasons(
        [part.sum(axis=1) for part in np.split(effects, ends, axis=1)],
        [column.group.iloc[kept] for column in columns],
        found,
    )
    place = np.searchsorted(model.classes_, y[kept].astype(model.classes_.dtype))
    np.put_along_axis(f, place[:, None], -1.0, axis=1)
    labels = pd.DataFrame(
        {
            "label": y[kept],
            "suggestion": model.classes_[f.argmax(axis=1)],
            "probability": 1 - model.label_quality_[kept],
            "reason": reasons,
        },
        index=(table.index if isinstance(table, pd.DataFrame) else later.index)[kept],
    )
    order = np.argsort(-labels["probability"].to_numpy(), kind="stable")
    return LabelCheck(labels.iloc[order], found, model)


def _read(column: pd.Series, names: Iterable[str] | None) -> _Column:
    """Return numbers and groups of a privileged column."""
    name, known = str(column.name), column.notna()
    if pd.api.types.is_datetime64_any_dtype(column):
        dates = column.dt.strftime("%Y-%m-%d")
        return _of_numbers(name, column.astype("int64").where(known), dates)
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.astype(float)
        whole = bool((values[known] % 1 == 0).all())
        named = whole and values.nunique() <= MOST_NUMBERS
        if not (named if names is None else name in names):
            return _of_numbers(name, values, values.map("{:.4g}".format))
        column = values.map(lambda v: str(int(v) if v % 1 == 0 else v)).where(known)
    text = column.astype(object).where(known, "missing").astype(str)
    if text.nunique() <= MOST_NAMES:
        return _Column(name, pd.get_dummies(text).to_numpy(dtype=float), text)
    dates = as_dates(column)
    dates = column if dates is None else dates
    dates = pd.to_datetime(dates, errors="coerce", format="mixed", utc=True)
    if dates[known].notna().all():
        return _read(dates, names)
    raise ValueError(
        f"The privileged column {name!r} has {text.nunique()} different values such as "
        f"{text.iloc[0]!r}, too many for names of people or sources. Leave it out, or "
        "replace it by a number or a category."
    )


def _of_numbers(name: str, values: pd.Series, words: pd.Series) -> _Column:
    """Return ranks, and ranges of values with as many rows each."""
    known = values.notna().to_numpy()
    ranks = np.zeros((len(values), 1))  # the median, where a value is missing
    if known.any():
        scale = QuantileTransformer(
            n_quantiles=min(1000, int(known.sum())),
            output_distribution="normal",
            random_state=0,
        )
        ranks[known] = scale.fit_transform(values[known].to_numpy(float)[:, None])
    part = pd.qcut(values[known], N_RANGES, labels=False, duplicates="drop")
    group = pd.Series("missing", index=values.index, dtype=object)
    order = []
    for _, rows in part.groupby(part):
        low, high = (values[rows.index].idxmin(), values[rows.index].idxmax())
        said = words[low] if words[low] == words[high] else None
        order.append(said or f"{words[low]} to {words[high]}")
        group[rows.index] = order[-1]
    return _Column(name, ranks, group, (*order, "missing"))


def _rates(columns: list[_Column], kept: np.ndarray, wrong: Any) -> pd.DataFrame:
    """Return the mean rates of groups; names in the order of their rates."""
    parts = []
    for column in columns:
        rows = pd.DataFrame(wrong, columns=["rate", "low", "high"])
        by = rows.groupby(column.group.to_numpy()[kept], sort=False)
        part = by.mean().assign(n_rows=by.size())
        part = part.sort_values("rate", ascending=False, kind="stable")
        if column.order:
            part = part.loc[[name for name in column.order if name in part.index]]
        part = part.rename_axis("group").reset_index()
        parts.append(part.assign(column=column.name))
    found = pd.concat(parts, ignore_index=True)
    return found[["column", "group", "n_rows", "rate", "low", "high"]]


def _reasons(
    effects: list[np.ndarray], groups: list[pd.Series], rates: pd.DataFrame
) -> list[str]:
    """Return the group with the largest contribution to the noise of each row."""
    known = rates.set_index(["column", "group"])["rate"].to_dict()
    names = rates["column"].unique()
    average = np.average(rates["rate"], weights=rates["n_rows"])
    said = []
    for i, effect in enumerate(np.column_stack(effects)):
        main = int(np.argmax(np.nan_to_num(effect, nan=-np.inf)))
        group = groups[main].iloc[i]
        rate = known[names[main], group]
        worse = effect[main] > 0 and rate > average
        reason = f"{names[main]} {group}: {percent(rate)} wrong"
        said.append(reason if worse else OTHERWISE)
    return said
