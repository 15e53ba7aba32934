"""Plain SVMs by LIBSVM, through scikit-learn.

LIBSVM stores kernel rows in single precision, so that with large costs the relative gap
of its solution remains at 1e-5 or more, whatever its tolerance. If it is too large,
the solution is the start of the proximal method, which needs few steps from there.

References
----------
C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector machines", ACM
Transactions on Intelligent Systems and Technology 2(3), 2011.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lupi._convex.linalg import is_on_host
from lupi._convex.problem import Gram, Problem
from lupi._convex.proximal.outer import solve_proximal
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["plain_svm", "solve_libsvm"]

# Relative rounding error of the right-hand sides.
ROUNDING = 1e-12
MEBIBYTE = 2**20


class PlainSVM(NamedTuple):
    """An SVM with a free bias, as LIBSVM states it.

    ``members`` are the multipliers of the rows, in two columns for a regressor: those
    of ``f ≤ target + ε`` and of ``f ≥ target − ε``. ``epsilon`` is None for a
    classifier.
    """

    members: np.ndarray
    target: np.ndarray
    cost: np.ndarray
    epsilon: float | None


def plain_svm(problem: Problem) -> PlainSVM | None:
    """Return the problem as an SVM; None if LIBSVM does not solve it."""
    function, families = problem.functions[0], problem.families
    space, basis = function.space, function.basis
    if (
        len(problem.functions) > 1
        or problem.global_rows
        or problem.is_equality.any()
        or len(problem.slacks) < len(families)  # none, squared or shared
        or not (isinstance(space, Gram) and is_on_host(space.matrix))
        or function.weight != 1.0
        or function.cost is not None
        or basis is None
        or (basis != 1.0).any()
    ):
        return None
    every = np.arange(problem.n_rows)
    rows = np.concatenate([every if f.rows is None else f.rows for f in families])
    sign = np.concatenate([f.on[0] for f in families])
    cost, right = np.concatenate(problem.slack_costs), problem.at_least
    if (np.abs(sign) != 1.0).any() or not (cost > 0).all():
        return None
    order = np.lexsort((sign, rows))
    if np.array_equal(rows[order], every):
        plain = (right == 1.0).all() and abs(sign.sum()) < len(sign)
        return PlainSVM(order, sign[order], cost[order], None) if plain else None
    if not np.array_equal(rows[order], np.repeat(every, 2)):
        return None
    members = order.reshape(-1, 2)
    below, above = members.T
    target = 0.5 * (right[above] - right[below])
    epsilon = float(-0.5 * np.mean(right[above] + right[below]))
    missed = np.abs(right[above] - target + epsilon)
    plain = (
        (sign[above] > sign[below]).all()
        and (cost[above] == cost[below]).all()
        and epsilon >= 0.0
        and (missed <= ROUNDING * np.abs(right).max()).all()
    )
    return PlainSVM(members, target, cost[above], epsilon) if plain else None


def solve_libsvm(
    problem: Problem, *, tol: float, max_iter: int, tuning: Tuning = DEFAULT
) -> Solution:
    """Solve a plain SVM to a relative duality gap of tol."""
    svm = plain_svm(problem)
    if svm is None:
        raise ValueError("LIBSVM solves SVMs with a Gram matrix and a free bias only.")
    moderate = problem.relative_cost <= tuning.libsvm_cost
    enough = tuning.aim(problem.n_rows, tol)
    violation = tuning.libsvm_violation * enough if moderate else 0.0
    if violation < tuning.least_violation:
        violation = tuning.first_violation
    solution = _solved(problem, svm, min(violation, tuning.first_violation), max_iter)
    if not solution.is_optimal(enough):
        n_iter, limit = solution.n_iter, max_iter - solution.n_iter
        if limit > 0:
            solution = solve_proximal(
                problem,
                tol=tol,
                max_iter=min(limit, tuning.max_faces),
                tuning=tuning,
                start=solution,
            )
        solution.n_iter += n_iter
    solution.converged = solution.is_optimal(tol)
    return solution


def _solved(
    problem: Problem, svm: PlainSVM, violation: float, max_iter: int
) -> Solution:
    """Return the solution of LIBSVM."""
    from sklearn.svm import SVC, SVR

    gram = problem.spaces[0].matrix
    options = {
        "kernel": "precomputed",
        "tol": violation,
        "cache_size": 200 + gram.nbytes / 2 / MEBIBYTE,  # all rows
        "max_iter": max_iter,
    }
    classifies = svm.epsilon is None
    model = SVC(**options) if classifies else SVR(epsilon=svm.epsilon, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        gram = gram if gram.flags.c_contiguous else gram.T  # symmetric: no copy
        model.fit(gram, svm.target, sample_weight=svm.cost)
    members, coefficients = svm.members[model.support_], model.dual_coef_[0]
    multipliers = np.zeros(problem.size)
    if classifies:
        multipliers[members] = np.abs(coefficients)
    else:
        multipliers[members] = np.maximum(np.outer(coefficients, (-1.0, 1.0)), 0.0)
    return Solution(
        problem,
        multipliers,
        problem.coefficients(multipliers),
        np.array(model.intercept_, dtype=float),
        int(np.sum(model.n_iter_)),
        False,
        "libsvm",
    )
