"""Checks of rows in which y is missing.

Estimators with the tag `uses_unlabelled` use them, all others refuse them. Most checks
apply to the former only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from lupi._optional import installed
from lupi.base import uses_unlabelled
from lupi.testing._material import (
    Task,
    assert_refuses,
    assert_same,
    classifiers_only,
    fitted,
    outputs,
    ready,
    task,
)

# The rows in which only X* is missing, only y, and both.
_NO_X_STAR = np.array([2, 13, 30])
_NO_Y = np.array([0, 5, 6, 17, 21, 22, 33, 34, 41, 48, 50, 59])
_NEITHER = np.array([9, 25, 44])


def _task(estimator: Any, **how: Any) -> Task:
    """Return the task with y missing in some rows, as NaN."""
    data = task(estimator, **how).without_P_in(_NO_X_STAR)
    y = data.y.astype(float)
    y[_NO_Y] = np.nan
    return replace(data, y=y)


def _labelled(data: Task) -> Task:
    return data.take(np.flatnonzero(~np.isnan(data.y)))


def _containers(y: np.ndarray, classifier: bool) -> Iterator[tuple[str, Any, type]]:
    """Yield y in containers with missing values, and the type of its values."""
    absent = np.isnan(y)
    objects = y.astype(object)
    objects[absent] = None
    yield "an array of floats with NaN", y, float
    yield "an array of objects with None", objects, float
    yield "a list with None", objects.tolist(), float
    yield "a masked array", np.ma.masked_array(np.nan_to_num(y), absent), float
    yield from _series(objects.tolist(), "Float64", float)
    if not classifier:
        return
    codes = np.nan_to_num(y).astype(int)
    whole = [None if gone else int(c) for c, gone in zip(codes, absent, strict=True)]
    yield "a list of integers with None", whole, int
    yield "a masked array of integers", np.ma.masked_array(codes, absent), int
    yield from _series(whole, "Int64", int)
    words = np.array(["", "nan", "z"], dtype=object)[codes]
    words[absent] = None
    yield "an array of words with None", words, str
    yield from _series(words.tolist(), "string", str)
    yield from _series(words.tolist(), "category", str)
    words = words.copy()
    words[absent] = np.nan
    yield "a list of words with NaN", words.tolist(), str


def _series(
    values: list[Any], dtype: str, kind: type
) -> Iterator[tuple[str, Any, type]]:
    """Yield a series of each library that is installed."""
    if installed("pandas"):
        import pandas as pd

        index = np.arange(len(values))[::-1]
        yield f"pandas' {dtype}", pd.Series(values, dtype=dtype, index=index), kind
    if installed("polars"):
        import polars as pl

        yield "a series of Polars", pl.Series(values), kind


def check_unlabelled_rows_are_refused_or_used(estimator: Any) -> None:
    """Check that rows without y have an effect, or are refused with their number."""
    data = _task(estimator)
    if not uses_unlabelled(estimator):
        for what, y, _ in _containers(data.y, is_classifier(estimator)):
            assert_refuses(
                estimator,
                f"y that is missing in {len(_NO_Y)} rows of {what}",
                (f"missing in {len(_NO_Y)}", "contains nan", "unlabelled"),
                data.X,
                y,
                privileged=data.P,
            )
        return
    used = outputs(fitted(estimator, data), data.X_new)
    assert np.isfinite(used).all(), "With rows without y, some outputs are not finite."
    left_out = outputs(fitted(estimator, _labelled(data)), data.X_new)
    assert not np.allclose(used, left_out, rtol=1e-6, atol=1e-8), (
        "Rows without y that have X* have no effect, despite the tag uses_unlabelled."
    )


def check_unlabelled_rows_in_any_order(estimator: Any) -> None:
    """Check that the position of the rows without y does not matter."""
    if not uses_unlabelled(estimator):
        return
    data = _task(estimator)
    expected = outputs(fitted(estimator, data), data.X_new)
    absent = np.isnan(data.y)
    for order in (
        np.argsort(absent, kind="stable"),
        np.argsort(~absent, kind="stable"),
    ):
        assert_same(
            outputs(fitted(estimator, data.take(order)), data.X_new),
            expected,
            estimator,
            "Rows without y sorted to one end",
        )


def check_unlabelled_rows_have_weights(estimator: Any) -> None:
    """Check that weight 2 equals the row twice and weight 0 no row, without y too."""
    if not uses_unlabelled(estimator):
        return
    data = _task(estimator)
    times = np.random.default_rng(4).integers(0, 4, size=len(data.y))
    times[_NO_Y[:2]] = 0, 3
    rows = np.repeat(np.arange(len(data.y)), times)
    assert_same(
        outputs(fitted(estimator, data, sample_weight=times.astype(float)), data.X_new),
        outputs(fitted(estimator, data.take(rows)), data.X_new),
        estimator,
        "Weights and repeated rows, some of them without y",
    )


def check_unlabelled_rows_without_privileged_change_nothing(estimator: Any) -> None:
    """Check that a row with neither y nor X* changes nothing."""
    if not uses_unlabelled(estimator):
        return
    data = _task(estimator).without_P_in(_NEITHER)
    data.y[_NEITHER] = np.nan
    kept = np.setdiff1d(np.arange(len(data.y)), _NEITHER)
    assert_same(
        outputs(fitted(estimator, data), data.X_new),
        outputs(fitted(estimator, data.take(kept)), data.X_new),
        estimator,
        "Rows with neither y nor X*, and without these rows",
    )
    assert_same(
        outputs(fitted(estimator, data, privileged=None), data.X_new),
        outputs(fitted(estimator, _labelled(data), privileged=None), data.X_new),
        estimator,
        "privileged=None with rows without y, and without these rows",
    )


def check_missing_y_in_any_container(estimator: Any) -> None:
    """Check that NaN, None, NA and masks give the same model and types of classes."""
    if not uses_unlabelled(estimator):
        return
    data = _task(estimator)
    classifier = is_classifier(estimator)
    expected = outputs(fitted(estimator, data), data.X_new)
    for what, y, kind in _containers(data.y, classifier):
        model = ready(estimator).fit(data.X, y, privileged=data.P)
        assert_same(outputs(model, data.X_new), expected, estimator, f"y as {what}")
        if classifier:
            labels = np.asarray(model.classes_).tolist()
            assert len(labels) == 2, f"classes_ is {labels} for y as {what}."
            assert all(type(label) is kind for label in labels), (
                f"classes_ is {labels} for y as {what}, expected are labels of type "
                f"{kind.__name__}."
            )


def check_complete_y_in_any_container(estimator: Any) -> None:
    """Check that a nullable container without missing values changes no bit."""
    data = task(estimator, n_rows=30)
    y = data.y.astype(float)
    expected = outputs(fitted(estimator, data), data.X_new)
    for what, given, _ in _containers(y, is_classifier(estimator)):
        model = ready(estimator).fit(data.X, given, privileged=data.P)
        assert np.array_equal(outputs(model, data.X_new), expected), (
            f"y as {what}, with nothing missing, changes the model."
        )


def check_unlabelled_rows_with_sparse_X(estimator: Any) -> None:
    """Check that a sparse X, if allowed, gives the model of a dense one."""
    if not uses_unlabelled(estimator) or not get_tags(estimator).input_tags.sparse:
        return
    data = _task(estimator)
    data.X[np.abs(data.X) < 0.3] = 0.0
    model = ready(estimator).fit(sp.csr_matrix(data.X), data.y, privileged=data.P)
    assert_same(
        outputs(model, sp.csr_matrix(data.X_new)),
        outputs(fitted(estimator, data), data.X_new),
        estimator,
        "Sparse and dense X with rows without y",
    )


def check_refuses_y_without_any_value(estimator: Any) -> None:
    """Check that a y without any known value is refused."""
    data = task(estimator)
    nothing = np.full(len(data.y), np.nan)
    words = ("any of", "no row", "contains nan", "every row", "all rows")
    assert_refuses(
        estimator, "y without any value", words, data.X, nothing, privileged=data.P
    )


def check_refuses_infinite_y(estimator: Any) -> None:
    """Check that infinite y is refused, with and without missing values."""
    if is_classifier(estimator):
        return
    data = task(estimator)
    for missing in (False, uses_unlabelled(estimator)):
        y = data.y.astype(float)
        y[3] = np.inf
        if missing:
            y[_NO_Y] = np.nan
        assert_refuses(estimator, "infinite y", ("inf",), data.X, y, privileged=data.P)


@classifiers_only
def check_unlabelled_rows_of_many_classes(estimator: Any) -> None:
    """Check that rows without y add no class to three classes."""
    many = get_tags(estimator).classifier_tags.multi_class
    if not uses_unlabelled(estimator) or not many:
        return
    data = _task(estimator, n_classes=3)
    model = fitted(estimator, data)
    assert list(model.classes_) == [0, 1, 2], f"classes_ is {list(model.classes_)}."
    order = np.random.default_rng(1).permutation(len(data.y))
    assert_same(
        outputs(fitted(estimator, data.take(order)), data.X_new),
        outputs(model, data.X_new),
        estimator,
        "Three classes and rows without y in another order",
    )
