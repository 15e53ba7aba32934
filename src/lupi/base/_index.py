"""The index of a pandas table: which rows of X and X* belong together."""

from __future__ import annotations

from typing import Any


def has_index(table: Any) -> bool:
    """Return whether an object is a pandas table, whose rows have labels."""
    index = getattr(table, "index", None)
    return hasattr(table, "reindex") and hasattr(index, "equals")


def refuse_other_index(X: Any, privileged: Any, name: str) -> None:
    """Refuse a privileged table whose index differs from that of X.

    Parameters
    ----------
    X, privileged : object
        Arguments of ``fit``. They are compared if both are pandas tables.
    name : str
        Name of the estimator in error messages.

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
            f"{_shown(absent[0])} for one. Pass privileged.reindex(X.index), which "
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
            " If the rows are in the same order despite their labels, pass "
            "privileged.set_axis(X.index)."
        )
    raise ValueError(
        f"{name} got privileged with another index than X: {_difference(ours, theirs)} "
        f"{remedy}"
    )


def aligned(X: Any, privileged: Any) -> Any:
    """Return the privileged table with the rows of X, matched by their labels.

    A row of X whose label is not in the privileged table becomes a row of NaN, that is,
    a row without privileged information.

    Parameters
    ----------
    X, privileged : object
        Any tables. They are matched by position unless both are pandas tables.

    Returns
    -------
    object
        ``privileged``, its rows in the order of X.

    Raises
    ------
    ValueError
        If the labels do not determine which rows belong together.

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
                f"labelled {_shown(again)}, so that rows cannot be matched by label. "
                "Make the labels unique, or pass privileged.set_axis(X.index) if the "
                "rows are in the same order."
            )
    found = ours.isin(theirs)
    if not found.all() and not theirs.isin(ours).all():
        raise ValueError(
            f"X and privileged have different indexes: {_difference(ours, theirs)} "
            f"{int((~found).sum())} labels of X are not in privileged, and others of "
            "privileged are not in X. Pass privileged.reindex(X.index) to match rows "
            "by label (those that are not found have no privileged information), or "
            "privileged.set_axis(X.index) if the rows are in the same order."
        )
    return privileged.reindex(ours)


def _difference(ours: Any, theirs: Any) -> str:
    """Return a sentence that states the first difference of two indexes."""
    if len(ours) != len(theirs):
        return f"{len(theirs)} rows for {len(ours)} rows of X."
    row, mine, other = next(
        (row, mine, other)
        for row, (mine, other) in enumerate(zip(ours, theirs, strict=True))
        if type(mine) is not type(other) or bool(mine != other)
    )
    return f"row {row} is {_shown(mine)} in X and {_shown(other)} in privileged."


def _shown(label: Any) -> str:
    return repr(label.item() if hasattr(label, "item") else label)
