"""Each binary problem of more than two classes against an independent solver."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tests.oracle.checks import RELATIVE, fitted
from tests.oracle.conic import Fixed
from tests.oracle.models import CASES

NAMES = ["SVCPlus", "SVCDeltaPlus-hinge", "UnifiedSVC", "L2SVCPlus", "LinearSVCPlus"]
SETTINGS = [
    pytest.param(name, scheme, seed, marks=() if seed == 0 else pytest.mark.slow)
    for name in NAMES
    for scheme in ("ovr", "ovo")
    for seed in range(10)
]


def three_classes(case, seed):
    """A drawn problem of at least 12 rows, with three classes in the place of two."""
    drawn = case.draw(seed)
    while len(drawn.y) < 12 or len(np.unique(drawn.X[:, 0])) < 3:
        seed += 1000
        drawn = case.draw(seed)
    ranks = drawn.X[:, 0].argsort().argsort()
    labels = 3 * ranks // len(ranks)
    return replace(drawn, y=labels.astype(float), class_weight=None)


def binary_problems(drawn, scheme):
    """Yield rows and signs of the binary problems, in the order of the columns."""
    rows = np.arange(len(drawn.y))
    if scheme == "ovr":
        for label in range(3):
            yield rows, np.where(drawn.y == label, 1.0, -1.0)
    else:
        for one, other in combinations(range(3), 2):
            pair = rows[np.isin(drawn.y, (one, other))]
            yield pair, np.where(drawn.y[pair] == other, 1.0, -1.0)


def function_of(model, drawn, k):
    """``w·x`` of column k on all rows, ``‖w‖²`` and b, from public attributes."""
    if not hasattr(model, "support_"):
        w = model.coef_[k]
        return drawn.X @ w, float(w @ w), float(model.intercept_[k])
    columns = drawn.K[:, model.support_]
    shape = columns @ model.dual_coef_[k]
    norm = float(model.dual_coef_[k] @ shape[model.support_])
    return shape, norm, float(model.intercept_[k])


@pytest.mark.parametrize(("name", "scheme", "seed"), SETTINGS)
def test_every_binary_problem_is_optimal(name, scheme, seed):
    case = CASES[name]
    drawn = three_classes(case, seed)
    model = fitted(case, drawn, multi_class=scheme)
    for k, (rows, signs) in enumerate(binary_problems(drawn, scheme)):
        shape, norm, bias = function_of(model, drawn, k)
        norm += bias**2 if case.penalised_bias else 0.0
        problem = replace(
            drawn,
            X=drawn.X[rows],
            y=signs,
            P=drawn.P[rows],
            weight=drawn.weight[rows],
        )
        best = case.primal(problem).solve()
        room = RELATIVE * max(abs(best), 1e-9 * problem.cost.sum())
        priced = case.primal(problem, Fixed(shape[rows], norm, bias)).solve()
        # ‖w‖² = aᵀKa is known to a few times its rounding.
        assert priced <= best + room + 1e-13 * norm * len(rows), (k, priced, best)
        assert abs(model.objective_[k] - best) <= room
