"""The solvers touch their matrices by the operations of linalg and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lupi._convex import Tuning, linalg, solve
from lupi._convex.proximal.faces import unsuited
from tests.convex.made import problems
from tests.convex.strict import Strict, strictly

SIZES = {
    "small": Tuning(),
    "large": replace(
        Tuning(), single_size=1, polished_size=0, small_leaf=0, rows_per_change=10**6
    ),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", problems())
@pytest.mark.parametrize("solver", ["interior", "proximal", "auto"])
def test_same_answer_on_matrices_of_another_kind(name, solver, size):
    problem = problems(n=40)[name]
    if solver == "proximal" and unsuited(problem) is not None:
        pytest.skip("the proximal method does not take this problem")
    tuning = SIZES[size]
    expected = solve(problem, solver="interior", tol=1e-8)
    found = solve(strictly(problem), solver=solver, tol=1e-8, tuning=tuning)
    assert found.converged
    assert found.relative_gap <= 1e-8
    np.testing.assert_allclose(found.primal_value, expected.primal_value, rtol=1e-6)


def test_the_stand_in_refuses_what_is_not_an_operation():
    matrix = Strict(np.eye(3))
    with pytest.raises(TypeError):
        matrix @ np.ones(3)
    with pytest.raises(TypeError):
        matrix[0]
    with pytest.raises(TypeError, match="taken for a NumPy array"):
        np.asarray(matrix)
    with pytest.raises(TypeError, match="NumPy matrix"):
        linalg.put(matrix, slice(0, 3), slice(0, 3), np.eye(3))
