"""Every parameter of every estimator is constrained; `fit` names what it refuses."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils._param_validation import Interval, StrOptions, make_constraint
from sklearn.utils.validation import has_fit_parameter

import lupi
import lupi.dask

ESTIMATORS = [
    kind
    for package in (lupi, lupi.dask)
    for kind in (getattr(package, name) for name in package.__all__)
    if isinstance(kind, type) and issubclass(kind, BaseEstimator)
]
LOCAL = [one for one in ESTIMATORS if not one.__module__.startswith("lupi.dask")]
VALUES = (np.nan, np.inf, -1, "a", None, True)


def made(kind):
    needs = "estimator" in kind._get_param_names() and kind is not lupi.LUFeClassifier
    return kind(estimator=lupi.LinearSVCPlus()) if needs else kind()


def data():
    X = np.repeat([[-2.0, 0.5], [2.0, -0.5]], 6, axis=0)
    X += np.random.default_rng(0).normal(scale=0.1, size=X.shape)
    return {"X": X, "y": np.repeat([0.0, 1.0], 6), "privileged": X.copy()}


def fitted(model, **given):
    given = data() | given
    if not has_fit_parameter(model, "privileged"):
        del given["privileged"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(**given)


def plain_parameters(kind):
    """Constraints of the parameters that are numbers, strings or flags, by name."""
    for name in kind._get_param_names():
        given = kind._parameter_constraints[name]
        found = [] if given == "no_validation" else list(map(make_constraint, given))
        if "boolean" in given or any(
            isinstance(one, Interval | StrOptions) for one in found
        ):
            yield name, found


@pytest.mark.parametrize(
    "kind", ESTIMATORS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}"
)
def test_values_outside_of_the_constraints_are_refused_by_name(kind):
    refused = 0
    for name, constraints in plain_parameters(kind):
        for value in VALUES:
            model = made(kind).set_params(**{name: value})
            if any(constraint.is_satisfied_by(value) for constraint in constraints):
                continue
            refused += 1
            with pytest.raises((ValueError, TypeError), match=rf"\b{name}\b") as caught:
                fitted(model)
            assert repr(value) in str(caught.value)
            assert not hasattr(model, "n_features_in_")
    assert refused > 5 or kind.__module__.startswith("lupi.compose")


@pytest.mark.parametrize("kind", LOCAL)
def test_values_inside_of_the_constraints_fit_or_are_refused_by_name(kind):
    for name, constraints in plain_parameters(kind):
        for value in VALUES:
            model = made(kind)
            legal = any(constraint.is_satisfied_by(value) for constraint in constraints)
            if legal and value != getattr(model, name):
                message = name
                try:
                    fitted(model.set_params(**{name: value}))
                except (ValueError, TypeError) as error:
                    message = str(error)
                assert name in message


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_numbers_are_finite_and_no_flags(kind):
    assert {*kind._get_param_names()} <= kind._parameter_constraints.keys()
    for name, constraints in plain_parameters(kind):
        numbers = [one for one in constraints if isinstance(one, Interval)]
        flag = any(one.is_satisfied_by(np.True_) for one in constraints)
        for one in numbers:
            assert not one.is_satisfied_by(np.nan), name
            # An interval that is closed at infinity says so.
            infinite = one.right is None and one.closed in ("right", "both")
            assert one.is_satisfied_by(np.inf) == infinite, name
        if numbers and not flag:
            assert not any(one.is_satisfied_by(True) for one in constraints), name


def test_bounds_that_are_sentences():
    with pytest.raises(ValueError, match=r"'C' parameter of SVCPlus.*range \(0.0, inf"):
        fitted(lupi.SVCPlus(C=0.0))
    with pytest.raises(ValueError, match=r"'max_iter'.*\[1, inf\).*\{-1\}. Got 0"):
        fitted(lupi.SVCPlus(max_iter=0))
    with pytest.raises(ValueError, match=r"'deviation_kernel'.*Got 'precomputed'"):
        fitted(lupi.DeviationSVCPlus(deviation_kernel="precomputed"))
    with pytest.raises(ValueError, match="'advice_weight' parameter of Adviceptron"):
        lupi.Adviceptron(advice_weight=[1.0]).mistake_bound([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("kind", LOCAL)
def test_huge_numbers_are_refused_in_a_sentence(kind):
    model = made(kind)
    names = ["X"]
    names += ["privileged"] * has_fit_parameter(model, "privileged")
    names += ["y"] * is_regressor(model)
    for name in names:
        values = data()[name]
        values[3 if values.ndim == 1 else (3, 1)] = -1e160
        with pytest.raises(ValueError, match=rf"{name}.*(-1e\+160|too large)"):
            fitted(model, **{name: values})
