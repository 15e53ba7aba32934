"""What must hold of a fitted model, judged by the independent solver alone.

The estimator's word is not taken for anything: f is rebuilt from ``support_``,
``dual_coef_`` and ``intercept_``, fixed in the primal, and the rest minimised anew.
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .conic import Fixed, bias_interval
from .models import CASES
from .problems import draw

RELATIVE = 1e-6
VALUES = 1e-4


def fitted(case, drawn, **changes):
    """The model of the case on the drawn rows; trivial solutions may warn."""
    estimator = case.make(drawn).set_params(**changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", ConvergenceWarning)
        return estimator.fit(
            drawn.X, drawn.y, privileged=drawn.P, sample_weight=drawn.weight
        )


@lru_cache(maxsize=64)
def oracle(name, seed):
    """The drawn problem, its primal solved, and the minimum."""
    case = CASES[name]
    drawn = draw(seed, regression=case.regression)
    primal = case.primal(drawn)
    return drawn, primal, primal.solve()


def price(case, drawn, model):
    """The cheapest value of the primal with the decision function of the model."""
    shape = drawn.rebuilt_without_bias(model)
    coefficients, bias = model.dual_coef_[0], float(model.intercept_[0])
    norm = coefficients @ drawn.K[np.ix_(model.support_, model.support_)] @ coefficients
    norm += bias**2 if case.penalised_bias else 0.0
    return case.primal(drawn, Fixed(shape, float(norm), bias)).solve()


def assert_optimal(name, seed, model):
    """Objective, certificate and functions of the model against the oracle."""
    case = CASES[name]
    drawn, primal, best = oracle(name, seed)
    scale = max(abs(best), 1e-9 * drawn.cost.sum())
    priced = price(case, drawn, model)
    assert model.converged_
    assert priced <= best + RELATIVE * scale, f"priced {priced}, optimal {best}"
    assert abs(model.objective_ - best) <= RELATIVE * scale
    # The certificate brackets the minimum of the oracle.
    assert model.objective_ - model.duality_gap_ <= best + RELATIVE * scale
    assert (
        0 <= model.duality_gap_ <= 1e-6 * max(model.objective_, 1e-7 * drawn.cost.sum())
    )
    decision = (
        model.predict(drawn.X) if case.regression else model.decision_function(drawn.X)
    )
    rebuilt = drawn.rebuilt(model)
    size = max(1.0, np.abs(rebuilt).max())
    np.testing.assert_allclose(decision, rebuilt, rtol=0, atol=1e-7 * size)
    if drawn.moderate:
        assert_same_functions(case, drawn, primal, model)


def assert_same_functions(case, drawn, primal, model):
    """w·x and w*·x* are unique; a bias lies in its optimal interval."""
    shape = np.asarray(primal.shape.value)
    size = max(1.0, np.abs(shape).max())
    ours = drawn.rebuilt_without_bias(model)
    np.testing.assert_allclose(ours, shape, rtol=0, atol=VALUES * size)
    theirs = [np.asarray(t.value) for t in primal.corrections]
    if theirs:
        values = model.correction(drawn.P).reshape(len(drawn.y), -1)
        assert np.isnan(values[drawn.lacks]).all()
        for one, other in zip(values[drawn.has].T, theirs, strict=True):
            shift = 0.0 if case.penalised_bias else (one - other).mean()
            size = max(1.0, np.abs(other).max())
            np.testing.assert_allclose(one - shift, other, rtol=0, atol=VALUES * size)
    bias = float(model.intercept_[0])
    if case.penalised_bias:
        low = high = float(primal.b.value)
    else:
        low, high = bias_interval(case.primal, primal)
    assert low - VALUES * size <= bias <= high + VALUES * size, (low, bias, high)
