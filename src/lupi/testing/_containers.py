"""Checks of the accepted data: width, containers, number types, names, labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from lupi._optional import installed
from lupi.testing._material import (
    assert_same,
    classifiers_only,
    fitted,
    outputs,
    ready,
    task,
)

_MISSING = np.array([3, 4, 20])


def check_free_width(estimator: Any) -> None:
    """Check that X* may have any width, which does not affect ``n_features_in_``."""
    data = task(estimator)
    for copies in (1, 3):
        P = np.hstack([data.P] * copies)[:, : 1 if copies == 1 else None]
        model = fitted(estimator, data, privileged=P)
        assert len(model.predict(data.X_new)) == len(data.X_new)
        assert model.n_features_in_ == data.X.shape[1], (
            f"n_features_in_ is {model.n_features_in_} after a fit on "
            f"{data.X.shape[1]} features and {P.shape[1]} privileged ones."
        )
        seen = getattr(model, "n_privileged_features_in_", None)
        assert seen == P.shape[1], (
            f"n_privileged_features_in_ is {seen} after a fit on {P.shape[1]} "
            "privileged features."
        )


def check_sparse_privileged_equals_dense(estimator: Any) -> None:
    """Check that a sparse X*, with rows of NaN, gives the model of a dense one."""
    data = task(estimator).without_P_in(_MISSING)
    data.P[np.abs(data.P) < 0.3] = 0.0
    expected = outputs(fitted(estimator, data), data.X_new)
    for container in (sp.csr_matrix, sp.csc_matrix, sp.coo_array):
        model = fitted(estimator, data, privileged=container(data.P))
        assert_same(
            outputs(model, data.X_new),
            expected,
            estimator,
            f"privileged as {container.__name__} and dense",
        )


def check_sparse_X_equals_dense(estimator: Any) -> None:
    """Check that a sparse X, if the tags allow it, gives the model of a dense one."""
    if not get_tags(estimator).input_tags.sparse:
        return
    data = task(estimator)
    data.X[np.abs(data.X) < 0.3] = 0.0
    model = ready(estimator).fit(sp.csr_matrix(data.X), data.y, privileged=data.P)
    assert_same(
        outputs(model, sp.csr_matrix(data.X_new)),
        outputs(fitted(estimator, data), data.X_new),
        estimator,
        "Sparse and dense X",
    )


def check_lists_and_data_frames(estimator: Any) -> None:
    """Check that lists and, if installed, pandas objects give the model of arrays."""
    data = task(estimator).without_P_in(_MISSING)
    expected = outputs(fitted(estimator, data), data.X_new)
    lists = ready(estimator).fit(
        data.X.tolist(), data.y.tolist(), privileged=data.P.tolist()
    )
    assert_same(outputs(lists, data.X_new), expected, estimator, "Lists and arrays")
    if not installed("pandas"):
        return
    import pandas as pd

    index = np.arange(len(data.y))[::-1]
    frames = ready(estimator).fit(
        pd.DataFrame(data.X, index=index),
        pd.Series(data.y, index=index),
        privileged=pd.DataFrame(data.P, index=index),
    )
    assert_same(outputs(frames, data.X_new), expected, estimator, "pandas and arrays")


def check_float32_input(estimator: Any) -> None:
    """Check that float32 and integer X* give the model of the same float64 values."""
    data = task(estimator).without_P_in(_MISSING)
    model = ready(estimator).fit(
        data.X.astype(np.float32), data.y, privileged=data.P.astype(np.float32)
    )
    assert_same(
        outputs(model, data.X_new.astype(np.float32)),
        outputs(fitted(estimator, data), data.X_new),
        estimator,
        "float32 and float64",
    )
    whole = np.rint(np.nan_to_num(data.P) * 4)
    assert_same(
        outputs(fitted(estimator, data, privileged=whole.astype(int)), data.X_new),
        outputs(fitted(estimator, data, privileged=whole), data.X_new),
        estimator,
        "Integers and the same numbers as float64",
    )


def check_readonly_input(estimator: Any) -> None:
    """Check that read-only arrays, such as joblib's memory maps, are accepted."""
    data = task(estimator)
    expected = outputs(fitted(estimator, data), data.X_new)
    weight = np.ones(len(data.y))
    for array in (data.X, data.y, data.P, data.X_new, weight):
        array.setflags(write=False)
    model = fitted(estimator, data, sample_weight=weight)
    assert_same(outputs(model, data.X_new), expected, estimator, "Read-only arrays")


def check_feature_names(estimator: Any) -> None:
    """Check that names of both tables are stored, and removed by the next fit."""
    if not installed("pandas"):
        return
    import pandas as pd

    data = task(estimator)
    X = pd.DataFrame(data.X, columns=[f"x{i}" for i in range(data.X.shape[1])])
    P = pd.DataFrame(data.P, columns=[f"later{i}" for i in range(data.P.shape[1])])
    model = ready(estimator).fit(X, data.y, privileged=P)
    for attribute, table in (
        ("feature_names_in_", X),
        ("privileged_feature_names_in_", P),
    ):
        names = list(getattr(model, attribute, []))
        assert names == list(table.columns), (
            f"{attribute} is {names}, expected {list(table.columns)}."
        )
    try:
        model.predict(X[X.columns[::-1]])
    except ValueError:
        pass
    else:
        raise AssertionError("predict accepts the columns of X in another order.")
    model.fit(data.X, data.y, privileged=data.P)
    assert not hasattr(model, "privileged_feature_names_in_"), (
        "privileged_feature_names_in_ survives a fit on a table without names."
    )


@classifiers_only
def check_labels_of_any_type(estimator: Any) -> None:
    """Check that strings, booleans and any integers as labels give the same model."""
    data = task(estimator)
    expected = outputs(fitted(estimator, data), data.X_new)
    for labels in (
        np.array(["ill", "well"]),
        np.array(["ill", "well"], dtype=object),
        np.array([False, True]),
        np.array([-7, 40]),
    ):
        model = ready(estimator).fit(data.X, labels[data.y], privileged=data.P)
        assert list(model.classes_) == list(labels), (
            f"classes_ is {list(model.classes_)} for labels {list(labels)}."
        )
        assert set(model.predict(data.X_new)) <= set(labels), (
            f"predict returns labels that are not among {list(labels)}."
        )
        assert_same(
            outputs(model, data.X_new), expected, estimator, f"Labels {list(labels)}"
        )


@classifiers_only
def check_many_classes(estimator: Any) -> None:
    """Check labels and shapes of the outputs with three classes."""
    if not get_tags(estimator).classifier_tags.multi_class:
        return
    data = task(estimator, n_classes=3).without_P_in(_MISSING)
    model = fitted(estimator, data)
    assert list(model.classes_) == [0, 1, 2], f"classes_ is {list(model.classes_)}."
    predicted = model.predict(data.X)
    assert set(predicted) <= {0, 1, 2}, f"predict returns {sorted(set(predicted))}."
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            values = getattr(model, method)(data.X)
            assert values.shape == (len(data.y), 3), (
                f"{method} has shape {values.shape} for {len(data.y)} rows, 3 classes."
            )
            assert np.array_equal(values.argmax(axis=1), predicted), (
                f"predict is not the class of the largest {method}."
            )
