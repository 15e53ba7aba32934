"""Every model against an independent conic solver on its primal."""

import pytest

from tests.oracle.checks import assert_optimal, fitted
from tests.oracle.models import CASES

PROBLEMS = [
    pytest.param(name, seed, marks=() if seed % 25 == 3 else pytest.mark.slow)
    for name in CASES
    for seed in range(200 if name == "SVCPlus" else 100)
]


@pytest.mark.parametrize(("name", "seed"), PROBLEMS)
def test_optimal(name, seed):
    case = CASES[name]
    drawn = case.draw(seed)
    assert_optimal(case, drawn, fitted(case, drawn))


@pytest.mark.parametrize(
    ("name", "seed"),
    [("SVCDeltaPlus-hinge", 36), ("SVCDeltaPlus-signed", 36), ("L2SVCPlus", 2)],
)
def test_small_problems_end_near_their_vertex(name, seed):
    """The proximal method stops short of it here; a gap bounds values by its root."""
    case = CASES[name]
    model = fitted(case, case.draw(seed))
    assert model.duality_gap_[0] <= 1e-9 * model.objective_[0]
