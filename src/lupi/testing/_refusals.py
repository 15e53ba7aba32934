"""Checks that invalid input raises a ValueError with an informative message."""

from __future__ import annotations

from typing import Any

import numpy as np

from lupi.testing._material import (
    Task,
    assert_refuses,
    classifiers_only,
    fitted,
    lupi_tags,
    outputs,
    task,
)


def _refuses_privileged(
    estimator: Any, data: Task, P: Any, what: str, words: tuple[str, ...]
) -> None:
    assert_refuses(estimator, f"privileged {what}", words, data.X, data.y, privileged=P)


def check_refuses_wrong_length(estimator: Any) -> None:
    """Check that an X* with one row too few or too many is refused."""
    data = task(estimator)
    words = ("rows", "length", "samples")
    longer = np.vstack([data.P, data.P[:1]])
    _refuses_privileged(estimator, data, data.P[:-1], "one row too short", words)
    _refuses_privileged(estimator, data, longer, "one row too long", words)


def check_refuses_one_dimension(estimator: Any) -> None:
    """Check that a one-dimensional privileged array is refused."""
    data = task(estimator)
    words = ("1-D", "1D", "2-D", "2D", "dimension")
    _refuses_privileged(estimator, data, data.P[:, 0], "of one dimension", words)


def check_refuses_partly_missing_rows(estimator: Any) -> None:
    """Check that a row with some NaN is refused by number, or used if tags allow it."""
    data = task(estimator)
    P = data.P.copy()
    P[7] = np.nan
    P[13, 1] = np.nan
    if lupi_tags(estimator).takes_missing_cells:
        values = outputs(fitted(estimator, data, privileged=P), data.X_new)
        assert np.isfinite(values).all(), (
            "With a missing value in X*, some outputs are not finite."
        )
        return
    _refuses_privileged(estimator, data, P, "with NaN in part of row 13", ("13",))


def check_refuses_infinite_values(estimator: Any) -> None:
    """Check that infinite values are refused; they do not count as missing."""
    data = task(estimator)
    for value in (np.inf, -np.inf):
        P = data.P.copy()
        P[5, 1] = value
        _refuses_privileged(estimator, data, P, f"with {value}", ("inf",))


def check_refuses_text(estimator: Any) -> None:
    """Check that text is refused, including text that could be read as numbers."""
    data = task(estimator)
    words = ("number", "numeric", "string", "text")
    _refuses_privileged(estimator, data, data.P.astype(str), "of strings", words)
    mixed = data.P.astype(object)
    mixed[4, 0] = "high"
    _refuses_privileged(estimator, data, mixed, "with one string in it", words)


def check_refuses_bad_weights(estimator: Any) -> None:
    """Check that negative and missing weights, and one too few, are refused."""
    data = task(estimator)
    for what, words, change in (
        ("a negative weight", ("negative",), lambda weight: weight - 1.5),
        ("a weight that is NaN", ("nan",), lambda weight: weight * np.nan),
        ("one weight too few", ("weight",), lambda weight: weight[1:]),
    ):
        assert_refuses(
            estimator,
            what,
            words,
            data.X,
            data.y,
            privileged=data.P,
            sample_weight=change(np.ones(len(data.y))),
        )


def check_refuses_empty_data(estimator: Any) -> None:
    """Check that data without rows and an X* without columns are refused."""
    data = task(estimator)
    none = data.take(np.array([], dtype=int))
    words = ("0 sample", "no row", "0 row", "empty")
    assert_refuses(estimator, "no rows", words, none.X, none.y, privileged=none.P)
    words = ("0 column", "0 feature", "no column", "no feature")
    _refuses_privileged(estimator, data, data.P[:, :0], "of no columns", words)


@classifiers_only
def check_refuses_one_class(estimator: Any) -> None:
    """Check that one class among the rows of positive weight is refused."""
    data = task(estimator)
    one = np.zeros_like(data.y)
    assert_refuses(
        estimator, "y of one class", ("class",), data.X, one, privileged=data.P
    )
    assert_refuses(
        estimator,
        "one class among the rows of positive weight",
        ("class",),
        data.X,
        data.y,
        privileged=data.P,
        sample_weight=(data.y == 1).astype(float),
    )
