"""Every model against an independent conic solver on its primal."""

import pytest

from tests.oracle.checks import assert_optimal, fitted, oracle
from tests.oracle.models import CASES

HUNDRED = 100
PROBLEMS = [
    pytest.param(name, seed, marks=() if seed % 10 == 3 else pytest.mark.slow)
    for name in CASES
    for seed in range(2 * HUNDRED if name == "SVCPlus" else HUNDRED)
]


@pytest.mark.parametrize(("name", "seed"), PROBLEMS)
def test_optimal(name, seed):
    drawn, _, _ = oracle(name, seed)
    assert_optimal(name, seed, fitted(CASES[name], drawn))
