"""Every model against an independent conic solver on its primal."""

import pytest

from tests.oracle.checks import assert_optimal, fitted
from tests.oracle.models import CASES

PROBLEMS = [
    pytest.param(name, seed, marks=() if seed % 10 == 3 else pytest.mark.slow)
    for name in CASES
    for seed in range(200 if name == "SVCPlus" else 100)
]


@pytest.mark.parametrize(("name", "seed"), PROBLEMS)
def test_optimal(name, seed):
    case = CASES[name]
    drawn = case.draw(seed)
    assert_optimal(case, drawn, fitted(case, drawn))
