"""Checks of rows: missing X*, order, weights.

Where sums over the rows are taken in another order, models are compared on training
rows: of two splits of a tree that part these rows alike, the last digit decides, and
new rows between them may be parted differently.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lupi.testing._material import assert_same, fitted, outputs, task

_MISSING = np.array([1, 2, 11, 30, 31, 47])


def _order(n_rows: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(n_rows)


def check_all_rows_missing_equals_none(estimator: Any) -> None:
    """Check that an X* of NaN in every row equals no X*."""
    data = task(estimator)
    nothing = fitted(estimator, data.without_P_in(np.arange(len(data.y))))
    none = fitted(estimator, data, privileged=None)
    assert_same(
        outputs(nothing, data.X_new),
        outputs(none, data.X_new),
        estimator,
        "privileged of NaN throughout and privileged=None",
    )
    assert getattr(nothing, "n_privileged_features_in_", 0) == getattr(
        none, "n_privileged_features_in_", 0
    ), "n_privileged_features_in_ differs between privileged of NaN and None."


def check_missing_rows_are_legal(estimator: Any) -> None:
    """Check that rows of NaN in X* are allowed, and that the other rows are used."""
    data = task(estimator)
    without = outputs(fitted(estimator, data, privileged=None), data.X)
    for missing in (_MISSING, np.arange(0, len(data.y), 3)):
        model = fitted(estimator, data.without_P_in(missing))
        values = outputs(model, data.X)
        assert np.isfinite(values).all(), (
            "With missing rows in X*, some outputs are not finite."
        )
        assert not np.allclose(values, without, rtol=1e-6, atol=1e-8), (
            "With some rows of X* missing, the other rows of X* have no effect."
        )


def check_missing_rows_in_any_order(estimator: Any) -> None:
    """Check that the position of the rows without X* does not matter."""
    data = task(estimator).without_P_in(_MISSING)
    here = np.isnan(data.P).any(axis=1)
    expected = outputs(fitted(estimator, data), data.X)
    for order in (np.argsort(here, kind="stable"), np.argsort(~here, kind="stable")):
        assert_same(
            outputs(fitted(estimator, data.take(order)), data.X),
            expected,
            estimator,
            "Rows without X* sorted to one end",
        )


def check_permuted_rows(estimator: Any) -> None:
    """Check that the order of the training rows does not matter."""
    data = task(estimator)
    assert_same(
        outputs(fitted(estimator, data.take(_order(len(data.y)))), data.X),
        outputs(fitted(estimator, data), data.X),
        estimator,
        "The same rows in another order",
    )


def check_privileged_rows_follow_their_rows(estimator: Any) -> None:
    """Check that permuting X*, but not X and y, gives another model."""
    data = task(estimator)
    straight = outputs(fitted(estimator, data), data.X)
    crossed = fitted(estimator, data, privileged=data.P[_order(len(data.y))])
    assert not np.allclose(outputs(crossed, data.X), straight, rtol=1e-6, atol=1e-8), (
        "Permuting the rows of privileged, but not those of X and y, changes nothing: "
        "rows of X* are not matched with rows of X."
    )


def check_weights_of_one_change_nothing(estimator: Any) -> None:
    """Check that weight 1 for every row equals no weights."""
    data = task(estimator)
    assert_same(
        outputs(fitted(estimator, data, sample_weight=np.ones(60)), data.X_new),
        outputs(fitted(estimator, data), data.X_new),
        estimator,
        "sample_weight of ones and none",
    )


def check_weight_two_is_a_repeated_row(estimator: Any) -> None:
    """Check that weights 2 and 3 equal rows that are repeated, with or without X*."""
    data = task(estimator).without_P_in(_MISSING)
    times = np.random.default_rng(2).integers(1, 4, size=len(data.y))
    rows = np.repeat(np.arange(len(data.y)), times)
    assert_same(
        outputs(fitted(estimator, data, sample_weight=times.astype(float)), data.X),
        outputs(fitted(estimator, data.take(rows)), data.X),
        estimator,
        "Weights and repeated rows",
    )


def check_weight_zero_is_an_absent_row(estimator: Any) -> None:
    """Check that weight 0 equals leaving out the row, with or without X*."""
    data = task(estimator).without_P_in(_MISSING)
    weight = (np.random.default_rng(3).random(len(data.y)) > 0.3).astype(float)
    weight[_MISSING[:3]] = 0.0
    kept = data.take(np.flatnonzero(weight))
    assert_same(
        outputs(fitted(estimator, data, sample_weight=weight), kept.X),
        outputs(fitted(estimator, kept), kept.X),
        estimator,
        "Weights of zero and rows left out",
    )
