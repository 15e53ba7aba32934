"""Refusals of tables that hold text or dates, and of single columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lupi.base._rows import is_data_frame


def refuse_series(privileged: Any, name: str) -> None:
    """Refuse a single column of pandas or Polars."""
    if hasattr(privileged, "to_frame") and len(np.shape(privileged)) == 1:
        raise ValueError(
            f"{name} expected privileged to be a table, one row per training row and "
            "one column per privileged feature, but got a Series. Pass "
            "privileged.to_frame()."
        )


def refuse_text(privileged: Any, name: str) -> None:
    """Refuse text, including text that could be read as numbers, and dates."""
    if sp.issparse(privileged):
        return
    if hasattr(privileged, "columns"):
        columns = [c for c in privileged.columns if _holds_text(privileged[c])]
        found = f"the column {columns[0]!r} holds something else" if columns else ""
    else:
        if not hasattr(privileged, "dtype"):
            privileged = np.asarray(privileged, dtype=object)
        found = "it holds text or dates" if _holds_text(privileged) else ""
    if found:
        raise ValueError(
            f"{name} expected privileged to hold numbers only, but {found}. Encode it "
            "first, or wrap the estimator in lupi.compose.TransformedPrivileged with a "
            "transformer that encodes it."
        )


def refuse_text_columns(
    X: Any, name: str, error: Exception, *, fitted: bool = False
) -> None:
    """Raise an error that names the first column of text in a data frame, if any.

    Parameters
    ----------
    X : object
        The table that could not be read.
    name : str
        Name of the estimator in error messages.
    error : Exception
        The error of reading it, which becomes the cause.
    fitted : bool, default=False
        Whether the column held numbers in ``fit``.
    """
    if not is_data_frame(X):
        return
    for column in X.columns:
        values = np.asarray(X[column])
        if not _holds_text(values):
            continue
        try:
            values.astype(float)
        except (TypeError, ValueError):
            shown = next(one for one in values if one is not None and one == one)
            remedy = (
                "It held numbers in fit."
                if fitted
                else "Encode it first: sklearn.pipeline.make_pipeline("
                f"skrub.TableVectorizer(), {name}(...)) encodes text, categories and "
                "dates."
            )
            raise ValueError(
                f"{name} expected X to hold numbers only, but the column {column!r} "
                f"holds {str(shown)!r}. {remedy}"
            ) from error


def _holds_text(values: Any) -> bool:
    values = np.asarray(values)
    if values.dtype.kind == "O":
        return any(isinstance(value, str | bytes) for value in values.ravel())
    return values.dtype.kind in "SUMm"
