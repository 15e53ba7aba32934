"""The oracle check sees what it is there to see: wrong code must not pass it."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lupi.svm import SVCDeltaPlus, SVCPlus
from tests.marks import slow
from tests.oracle.checks import assert_optimal, fitted
from tests.oracle.models import CASES

MUTATED = ["SVCPlus", "SVRPlus"]
MUTATED += slow("SVCDeltaPlus-signed", "UnifiedSVC", "L2SVCPlus")


@cache
def problem_with(name, *, weights=False, missing=False):
    """A moderate problem of the case in which costs and norms both count."""
    case = CASES[name]
    for seed in range(300):
        drawn = case.draw(seed)
        if (
            drawn.moderate
            and 15 < len(drawn.y) < 90
            and not 0.5 < drawn.C / drawn.reg < 2
            and (np.ptp(drawn.weight) > 0) == weights
            and (0 < len(drawn.lacks) < len(drawn.y) / 2) == missing
        ):
            primal = case.primal(drawn)
            best = primal.solve()
            costs = sum(primal.terms).value / best
            if 0.1 < costs < 0.9 and np.ptp(primal.shape.value) > 0.1:
                return case, drawn
    raise AssertionError("no such problem among the seeds")


def assert_caught(case, drawn, model):
    with pytest.raises(AssertionError):
        assert_optimal(case, drawn, model)


@pytest.mark.parametrize("name", MUTATED)
@pytest.mark.parametrize("shift", [1e-2, -1e-2])
def test_wrong_bias(name, shift):
    case, drawn = problem_with(name)
    model = fitted(case, drawn)
    assert_optimal(case, drawn, model)
    model.intercept_ = model.intercept_ + shift
    # Consistently so, as if the solver had returned it.
    wrong = replace(model._models[0].decision, bias=float(model.intercept_[0]))
    model._models[0].decision = wrong
    assert_caught(case, drawn, model)


@pytest.mark.parametrize("name", MUTATED)
def test_swapped_C_and_privileged_reg(name):
    case, drawn = problem_with(name)
    model = fitted(case, drawn, C=drawn.reg, privileged_reg=drawn.C)
    assert_caught(case, drawn, model)


@pytest.mark.parametrize("name", MUTATED)
def test_dropped_weights(name):
    case, drawn = problem_with(name, weights=True)
    assert_optimal(case, drawn, fitted(case, drawn))
    blind = fitted(case, replace(drawn, weight=np.ones(len(drawn.y))))
    assert_caught(case, drawn, blind)


@pytest.mark.parametrize("name", MUTATED)
def test_missing_row_taken_as_present(name):
    case, drawn = problem_with(name, missing=True)
    assert_optimal(case, drawn, fitted(case, drawn))
    filled = np.where(np.isnan(drawn.P), 0.0, drawn.P)
    assert_caught(case, drawn, fitted(case, replace(drawn, P=filled)))


@pytest.mark.parametrize(
    ("name", "estimator"), [("SVCPlus", SVCPlus), ("SVCDeltaPlus-hinge", SVCDeltaPlus)]
)
def test_wrong_sign_of_a_constraint(name, estimator, monkeypatch):
    """f* ≤ 0 in the place of f* ≥ 0; [−y f*]₊ in the place of [y f*]₊."""
    case, drawn = problem_with(name)
    right = estimator._problem

    def wrong(self, data):
        problem = right(self, data)
        *others, sign = problem.families
        flipped = replace(sign, on={k: -a for k, a in sign.on.items()})
        return replace(problem, families=[*others, flipped])

    monkeypatch.setattr(estimator, "_problem", wrong)
    monkeypatch.setattr(estimator, "_check_solved", _accept)
    assert_caught(case, drawn, fitted(case, drawn))


def _accept(self, solution):
    """Neither warn of a solution nor refuse it."""


def test_dropped_constraint(monkeypatch):
    """Without f* ≥ 0 the slacks may be negative, and the minimum is lower."""
    case, drawn = problem_with("SVCPlus")
    right = SVCPlus._problem

    def wrong(self, data):
        problem = right(self, data)
        return replace(problem, families=problem.families[:-1])

    monkeypatch.setattr(SVCPlus, "_problem", wrong)
    monkeypatch.setattr(SVCPlus, "_check_solved", _accept)
    assert_caught(case, drawn, fitted(case, drawn))


def test_too_early_a_stop():
    """An unfinished solution is seen, whatever the model says of it."""
    case, drawn = problem_with("SVCPlus")
    coarse = case.make(drawn).set_params(max_iter=1)
    with pytest.warns(UserWarning, match="stopped after"):
        case.fit(coarse, drawn)
    coarse.converged_ = True
    assert_caught(case, drawn, coarse)
