"""Checks of the interface: arguments, state, copies."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lupi.testing._material import assert_same, fitted, outputs, ready, task

_PREDICTING = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "score",
)


def check_fit_signature(estimator: Any) -> None:
    """Check ``fit(X, y, *, privileged=None, sample_weight=None)``.

    The third positional argument of ``fit`` is ``sample_weight`` in scikit-learn.
    """
    parameters = inspect.signature(estimator.fit).parameters
    names = list(parameters)
    assert names[:2] == ["X", "y"], f"fit should take X, y first, but takes {names}."
    for name in ("privileged", "sample_weight"):
        assert name in parameters, f"fit does not take {name}."
        assert parameters[name].default is None, f"fit should have {name}=None."
    assert parameters["privileged"].kind is inspect.Parameter.KEYWORD_ONLY, (
        "fit takes privileged by position, where scikit-learn's estimators take "
        "sample_weight. Make it keyword-only: fit(self, X, y, *, privileged=None, ...)."
    )


def check_predicting_takes_no_privileged(estimator: Any) -> None:
    """Check that no prediction method needs or accepts X*."""
    data = task(estimator)
    model = fitted(estimator, data)
    for name in _PREDICTING:
        if not hasattr(model, name):
            continue
        method = getattr(model, name)
        parameters = inspect.signature(method).parameters
        assert "privileged" not in parameters, f"{name} takes privileged."
        kinds = [parameter.kind for parameter in parameters.values()]
        assert inspect.Parameter.VAR_KEYWORD not in kinds, (
            f"{name} accepts any keyword, and hence privileged."
        )
        if name != "score":
            assert len(method(data.X_new)) == len(data.X_new)
    wide = np.hstack([data.X, data.P])
    try:
        model.predict(wide)
    except ValueError:
        return
    raise AssertionError(
        "predict accepts a table with the privileged features appended; it should "
        f"refuse {wide.shape[1]} features after a fit on {data.X.shape[1]}."
    )


def check_trains_without_privileged(estimator: Any) -> None:
    """Check that ``fit(X, y)`` equals ``fit(X, y, privileged=None)``."""
    data = task(estimator)
    model = fitted(estimator, data, privileged=None)
    assert np.isfinite(outputs(model, data.X_new)).all(), "Some outputs are not finite."
    same = ready(estimator).fit(data.X, data.y)
    assert_same(
        outputs(same, data.X_new),
        outputs(model, data.X_new),
        estimator,
        "fit(X, y) and fit(X, y, privileged=None)",
    )


def check_privileged_has_an_effect(estimator: Any) -> None:
    """Check that an X* with more information than X changes the model."""
    data = task(estimator)
    with_P = outputs(fitted(estimator, data), data.X)
    without = outputs(fitted(estimator, data, privileged=None), data.X)
    assert not np.allclose(with_P, without, rtol=1e-6, atol=1e-8), (
        "The models with and without privileged information are the same."
    )


def check_fit_changes_nothing_it_is_given(estimator: Any) -> None:
    """Check that ``fit`` does not change parameters and data."""
    data = task(estimator)
    data = data.without_P_in(np.array([0, 7]))
    given = {"X": data.X, "y": data.y, "P": data.P, "weight": np.ones(len(data.y))}
    before = {name: array.copy() for name, array in given.items()}
    model = ready(estimator)
    parameters = {name: repr(value) for name, value in model.get_params().items()}
    objects = model.get_params(deep=False)
    model.fit(data.X, data.y, privileged=data.P, sample_weight=given["weight"])
    for name, array in given.items():
        assert np.array_equal(array, before[name], equal_nan=True), (
            f"fit changed {name}."
        )
    for name, value in model.get_params(deep=False).items():
        assert value is objects[name], f"fit replaced the parameter {name}."
    for name, value in model.get_params().items():
        assert repr(value) == parameters[name], f"fit changed the parameter {name}."


def check_fit_is_repeatable(estimator: Any) -> None:
    """Check that the same data give the same model, whatever was fitted before."""
    data = task(estimator)
    model = fitted(estimator, data)
    expected = outputs(model, data.X_new)
    again = outputs(fitted(estimator, data), data.X_new)
    assert np.allclose(again, expected, rtol=1e-10, atol=1e-12), (
        "Two fits on the same data with the same random_state differ."
    )
    model.fit(data.X[:, :2], data.y)
    assert getattr(model, "n_privileged_features_in_", 0) == 0, (
        "n_privileged_features_in_ survives a fit without privileged information."
    )
    model.fit(data.X, data.y, privileged=data.P)
    assert np.allclose(outputs(model, data.X_new), expected, rtol=1e-10, atol=1e-12), (
        "A second fit depends on what was fitted before."
    )


def check_failed_refit_keeps_the_model(estimator: Any) -> None:
    """Check that a ``fit`` that raises leaves the estimator unchanged."""
    data = task(estimator)
    infinite = data.P.copy()
    infinite[0] = np.inf
    narrow = data.X[:, :2]
    for arguments in (
        {"privileged": data.P[1:]},
        {"privileged": infinite},
        {"privileged": data.P, "sample_weight": np.full(len(data.y), -1.0)},
    ):
        model = fitted(estimator, data)
        expected, before = outputs(model, data.X_new), dict(vars(model))
        try:
            model.fit(narrow, data.y, **arguments)
        except Exception:  # of any type
            pass
        else:
            continue  # other checks refuse these arguments
        after = vars(model)
        changed = sorted(
            name
            for name in before.keys() | after.keys()
            if before.get(name) is not after.get(name)
        )
        assert not changed, (
            f"A fit that raised has changed {changed}. Set the fitted state in one "
            "step at the end of fit, for example with lupi.base.atomic_fit."
        )
        assert np.array_equal(outputs(model, data.X_new), expected), (
            "A fit that raised has changed the predictions."
        )


def check_clone_and_pickle(estimator: Any) -> None:
    """Check that a clone is unfitted with equal parameters, and a pickle predicts."""
    data = task(estimator)
    model = fitted(estimator, data)
    copy = clone(model)
    try:
        check_is_fitted(copy)
    except ValueError:  # NotFittedError
        pass
    else:
        raise AssertionError("A clone of a fitted estimator counts as fitted.")
    assert_same(
        outputs(copy.fit(data.X, data.y, privileged=data.P), data.X_new),
        outputs(model, data.X_new),
        estimator,
        "A fitted clone and the estimator",
    )
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(outputs(back, data.X_new), outputs(model, data.X_new)), (
        "The estimator predicts differently after pickling."
    )
