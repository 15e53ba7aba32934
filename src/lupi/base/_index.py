"""The index of a pandas table: which rows of X and X* belong together."""

from __future__ import annotations

from typing import Any


def has_index(table: Any) -> bool:
    """Tell a pandas table, whose rows carry labels, from anything else."""
    index = getattr(table, "index", None)
    return hasattr(table, "reindex") and hasattr(index, "equals")


def refuse_other_index(X: Any, privileged: Any, name: str) -> None:
    """Refuse a privileged table whose rows are labelled otherwise than those of X.

    Parameters
    ----------
    X, privileged : object
        What ``fit`` was given. Only two pandas tables can disagree.
    name : str
        What error messages call the estimator.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.base._index import refuse_other_index
    >>> X = pd.DataFrame({"age": [31, 45]}, index=["Ann", "Bob"])
    >>> later = pd.DataFrame({"cd4": [300, 500]}, index=["Bob", "Ann"])
    >>> refuse_other_index(X, later.loc[X.index], "SVCPlus")
    >>> refuse_other_index(X, later, "SVCPlus")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: SVCPlus got privileged with another index than X: ...
    """
    if not (has_index(X) and has_index(privileged)):
        return
    ours, theirs = X.index, privileged.index
    if ours.equals(theirs):
        return
    absent = ours[~ours.isin(theirs)]
    if len(absent) == 0 and ours.is_unique and theirs.is_unique:
        remedy = "Pass privileged.loc[X.index]."
    elif 0 < len(absent) < len(ours) and theirs.is_unique:
        remedy = (
            f"{len(absent)} of the {len(ours)} labels of X are not in privileged, "
            f"{_plain(absent[0])!r} for one. Pass privileged.reindex(X.index), which "
            "makes them rows of NaN, without privileged information, or leave them out "
            "of X and pass privileged.loc[X.index]."
        )
    else:
        remedy = (
            "Give both the same labels, so that privileged.loc[X.index] finds each row "
            "once."
        )
    if len(ours) == len(theirs):
        remedy += (
            " If the rows are in the same order all the same, pass "
            "privileged.set_axis(X.index)."
        )
    raise ValueError(
        f"{name} got privileged with another index than X: {_difference(ours, theirs)} "
        f"{remedy}"
    )


def aligned(X: Any, privileged: Any) -> Any:
    """Return the privileged table with the rows of X, matched by their labels.

    A row of X whose label the privileged table does not have is a row of NaN: it has
    no privileged information.

    Parameters
    ----------
    X, privileged : object
        Any tables. Those that are not both of pandas are matched by position.

    Returns
    -------
    object
        ``privileged``, its rows in the order of X.

    Raises
    ------
    ValueError
        If the labels do not say which rows belong together.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.base._index import aligned
    >>> X = pd.DataFrame({"age": [31, 45, 52]}, index=["Ann", "Bob", "Eve"])
    >>> later = pd.DataFrame({"cd4": [300.0, 500.0]}, index=["Bob", "Ann"])
    >>> aligned(X, later)["cd4"].tolist()
    [500.0, 300.0, nan]
    """
    if not (has_index(X) and has_index(privileged)):
        return privileged
    ours, theirs = X.index, privileged.index
    if ours.equals(theirs):
        return privileged
    for name, index in (("X", ours), ("privileged", theirs)):
        if not index.is_unique:
            again = index[index.duplicated()][0]
            raise ValueError(
                f"X and privileged have different indexes, and {name} has two rows "
                f"labelled {_plain(again)!r}, so that rows cannot be matched by label. "
                "Make the labels unique, or pass privileged.set_axis(X.index) if the "
                "rows are in the same order."
            )
    known = ours.isin(theirs)
    if not known.all() and not theirs.isin(ours).all():
        raise ValueError(
            f"X and privileged have different indexes: {_difference(ours, theirs)} "
            f"{int((~known).sum())} labels of X are not in privileged, and others of "
            "privileged are not in X. Pass privileged.reindex(X.index) to match rows "
            "by label (those that are not found have no privileged information), or "
            "privileged.set_axis(X.index) if the rows are in the same order."
        )
    return privileged.reindex(ours)


def _difference(ours: Any, theirs: Any) -> str:
    """Say where two indexes differ first."""
    if len(ours) != len(theirs):
        return f"{len(theirs)} rows for {len(ours)} rows of X."
    place = next(
        row for row, pair in enumerate(zip(ours, theirs, strict=True)) if _other(*pair)
    )
    return (
        f"row {place} is {_plain(ours[place])!r} in X and {_plain(theirs[place])!r} in "
        "privileged."
    )


def _other(one: Any, other: Any) -> bool:
    return type(one) is not type(other) or bool(one != other)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
