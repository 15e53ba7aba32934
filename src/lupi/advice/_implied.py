"""Linear programs on the regions of rules.

They decide whether a region is empty and which hard rules are infeasible together, and
find the least value of w·x - b on a region and the tightest proof.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from lupi._convex.piecewise import diagonal
from lupi.advice._problem import NEGLIGIBLE, Array, Region
from lupi.advice._rule import Rule

_INFEASIBLE, _UNBOUNDED = 2, 3
_FREE = (None, None)


def is_empty(region: Region) -> bool:
    """Return whether no point satisfies D x <= d."""
    columns = region.mentioned
    if len(columns) == 0:
        return bool(np.any(region.d < 0))
    D = region.D[:, columns]
    return isinstance(_program(np.zeros(len(columns)), A_ub=D, b_ub=region.d), int)


def least_value(region: Region, w: Array, b: float) -> float:
    """Return min w·x - b over the region: ∞ if it is empty, -∞ if it is unbounded.

    The weights have the accuracy of the solver, and on an unbounded region an error of
    1e-12 decides between a finite minimum and -∞. Therefore ‖x‖₁ has a cost of
    `NEGLIGIBLE` times the largest weight: the result is -∞ if it is so for all weights
    within that distance.
    """
    if is_empty(region):
        return np.inf
    cost = NEGLIGIBLE * np.abs(w).max(initial=0.0)
    columns = region.mentioned
    if np.any(np.abs(np.delete(w, columns)) > cost):
        return -np.inf
    D, w = region.D[:, columns], w[columns]
    if not w.any():
        return -float(b)
    # x = plus - minus, so that ‖x‖₁ is linear.
    answer = _program(
        np.concatenate([w + cost, cost - w]),
        A_ub=np.hstack([D, -D]),
        b_ub=region.d,
        bounds=(0, None),
    )
    if isinstance(answer, int):
        return -np.inf
    plus, minus = np.split(answer, 2)
    return float(w @ (plus - minus) - b)


def tightest_proof(region: Region, u: Array) -> Array:
    """Return the proof with the same Dᵀu and the least d·u.

    -d·u is then the least value of -Dᵀu·x on the region, if that is not empty.
    """
    D = region.D[:, region.mentioned]
    answer = _program(region.d, A_eq=D.T, b_eq=D.T @ u, bounds=(0, None))
    return u if isinstance(answer, int) else answer


def warn_of_empty(rules: Sequence[Rule], regions: Sequence[Region]) -> list[int]:
    """Return the positions of the rules with a nonempty region; warn of the others."""
    empty = [i for i, region in enumerate(regions) if is_empty(region)]
    for i in empty:
        warnings.warn(
            f"No point satisfies the conditions of the rule {rules[i].title!r}. "
            "Correct or remove it.",
            UserWarning,
            stacklevel=4,
        )
    return [i for i in range(len(regions)) if i not in empty]


def conflict(regions: Sequence[Region], fit_intercept: bool) -> list[int]:
    """Return rules that no hyperplane satisfies together; none if there is one.

    The set is irreducible: without any one of its members the others are feasible. A
    deletion filter finds it: each rule is removed if the others remain infeasible.
    """
    kept = list(range(len(regions)))
    if _compatible([regions[i] for i in kept], fit_intercept):
        return []
    for i in list(kept):
        others = [j for j in kept if j != i]
        if not _compatible([regions[j] for j in others], fit_intercept):
            kept = others
    return kept


def _compatible(regions: Sequence[Region], fit_intercept: bool) -> bool:
    """Return whether D_iᵀu_i + z_i w = 0, d_i·u_i + z_i b <= -1, u >= 0 is feasible."""
    if not regions:
        return True
    p = regions[0].D.shape[1]
    sign = np.array([region.sign for region in regions])
    equal = sp.hstack(
        [
            sp.kron(sign[:, None], diagonal(np.ones(p))),
            sp.csr_array((p * len(regions), 1)),
            sp.block_diag([sp.csr_array(region.D.T) for region in regions]),
        ]
    )
    less = sp.hstack(
        [
            sp.csr_array((len(regions), p)),
            sp.csr_array(sign[:, None]),
            sp.block_diag([sp.csr_array(region.d[None, :]) for region in regions]),
        ]
    )
    n_u = equal.shape[1] - p - 1
    intercept = _FREE if fit_intercept else (0, 0)
    answer = _program(
        np.zeros(equal.shape[1]),
        A_eq=equal.tocsr(),
        b_eq=np.zeros(equal.shape[0]),
        A_ub=less.tocsr(),
        b_ub=-np.ones(len(regions)),
        bounds=[_FREE] * p + [intercept] + [(0, None)] * n_u,
    )
    return not isinstance(answer, int)


def _program(cost: Array, bounds: Any = _FREE, **constraints: Any) -> Array | int:
    """Return the solution of a linear program, or the status if there is none."""
    result = linprog(cost, bounds=bounds, method="highs", **constraints)
    if result.status not in (0, _INFEASIBLE, _UNBOUNDED):
        # Presolve may end with "infeasible or unbounded"; the simplex method decides.
        options = {"presolve": False}
        result = linprog(
            cost, bounds=bounds, method="highs-ds", options=options, **constraints
        )
    if result.status == 0:
        return result.x
    if result.status in (_INFEASIBLE, _UNBOUNDED):
        return int(result.status)
    raise RuntimeError(
        f"The linear program of a rule could not be solved: {result.message} Rescale "
        "the columns, for instance with standardize=True."
    )
