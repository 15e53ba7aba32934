"""What must hold of a fitted model, judged by the independent solver alone.

The estimator's word is not taken for anything: f is rebuilt from ``support_``,
``dual_coef_`` and ``intercept_``, fixed in the primal, and the rest minimised anew.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tests.oracle import conic
from tests.oracle.conic import Fixed, bias_interval
from tests.oracle.models import teacher_problem

RELATIVE = 1e-6
VALUES = 1e-4


def fitted(case, drawn, **changes):
    """The model of the case on the drawn rows; trivial solutions may warn."""
    estimator = case.make(drawn).set_params(**changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", ConvergenceWarning)
        return case.fit(estimator, drawn)


def assert_optimal(case, drawn, model):
    """Objective, certificate and functions of the model against the oracle."""
    drawn = case.after_first_stage(drawn, model)
    primal = case.primal(drawn)
    best = primal.solve()
    shape, squared_norm, rounding = drawn.rebuilt(model)
    bias = float(model.intercept_[0])
    assert_consistent(case, drawn, model, shape + bias)

    squared_norm += bias**2 if case.penalised_bias else 0.0
    priced = case.primal(drawn, Fixed(shape, squared_norm, bias)).solve()
    scale = max(abs(best), 1e-9 * drawn.cost.sum())
    room = RELATIVE * scale + rounding
    assert priced <= best + room, f"priced {priced}, optimal {best}"
    assert_kept(drawn, shape + bias)

    # Only then what the model says of itself.
    assert model.converged_
    assert abs(model.objective_ - best) <= RELATIVE * scale
    assert model.objective_ - model.duality_gap_ <= best + RELATIVE * scale
    certified = max(model.objective_, 1e-7 * drawn.cost.sum())
    assert 0 <= model.duality_gap_ <= 1e-6 * certified
    if drawn.moderate:
        assert_same_functions(case, drawn, primal, model)


def assert_consistent(case, drawn, model, rebuilt):
    """Predictions are those of the public attributes."""
    predict = model.predict if case.regression else model.decision_function
    size = max(1.0, np.abs(rebuilt).max())
    np.testing.assert_allclose(predict(drawn.X), rebuilt, rtol=0, atol=1e-7 * size)


def assert_kept(drawn, f):
    """Constraints on f alone, which pricing cannot see."""
    if drawn.Z is not None:
        covariance = np.abs(conic.covariances(drawn) @ f).max()
        assert covariance <= drawn.threshold + 1e-6
    if drawn.slacks is not None:
        assert (drawn.y * f - 1 + drawn.slacks).min() >= -1e-6


def assert_same_functions(case, drawn, primal, model):
    """w·x and w*·x* are unique; a bias lies in its optimal interval."""
    theirs = np.asarray(primal.shape.value)
    size = max(1.0, np.abs(theirs).max())
    ours, *_ = drawn.rebuilt(model)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=VALUES * size)
    bias = float(model.intercept_[0])
    if case.penalised_bias:
        low = high = float(primal.b.value)
    elif drawn.slacks is not None:
        # Largest and smallest b with y(w·x + b) ≥ 1 − ξ.
        ends = drawn.y * (1 - drawn.slacks) - theirs
        low, high = ends[drawn.y > 0].max(), ends[drawn.y < 0].min()
    else:
        low, high = bias_interval(case.primal, primal)
    assert low - VALUES * size <= bias <= high + VALUES * size, (low, bias, high)
    if case.teacher_C is not None:
        assert_same_teacher(case, drawn)
    elif primal.corrections:
        assert_same_corrections(case, drawn, primal, model)


def assert_same_corrections(case, drawn, primal, model):
    """w*·x* is unique, b* need not be."""
    values = model.correction(drawn.P).reshape(len(drawn.y), -1)
    assert np.isnan(values[drawn.lacks]).all()
    for one, other in zip(values[drawn.has].T, primal.corrections, strict=True):
        other = np.asarray(other.value)
        shift = 0.0 if case.penalised_bias else (one - other).mean()
        size = max(1.0, np.abs(other).max())
        np.testing.assert_allclose(one - shift, other, rtol=0, atol=VALUES * size)


def assert_same_teacher(case, drawn):
    """The first stage is the SVM on X*."""
    problem = teacher_problem(case, drawn)
    if abs(problem.y.sum()) == len(problem.y):
        np.testing.assert_array_equal(drawn.teacher, problem.y)
        return
    primal = conic.svm(problem)
    primal.solve()
    theirs = np.asarray(primal.shape.value)
    low, high = bias_interval(conic.svm, primal)
    bias = (drawn.teacher - theirs).mean()
    size = max(1.0, np.abs(theirs).max())
    np.testing.assert_allclose(drawn.teacher - bias, theirs, rtol=0, atol=VALUES * size)
    assert low - VALUES * size <= bias <= high + VALUES * size
