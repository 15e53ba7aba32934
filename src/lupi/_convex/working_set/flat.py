"""`Flat`: the multipliers of a problem, their classes and circuits, and a start."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lupi._convex.linalg import is_on_host
from lupi._convex.problem import Gram, Problem

__all__ = ["Flat", "circuits", "feasible", "unsuited"]

MOST_CLASSES = 16


def unsuited(problem: Problem) -> str | None:
    """Return what the working-set method needs and a problem lacks; None if nothing."""
    if not all(isinstance(f.space, Gram) for f in problem.functions):
        return "a Gram matrix for every function"
    if not all(is_on_host(space.matrix) for space in problem.spaces.values()):
        return "Gram matrices in the memory of the CPU: device='cpu'"
    if problem.global_rows:
        return "constraints on single rows only, and this problem has global ones"
    if problem.is_equality.any():
        return "inequalities only, and this problem has equality constraints"
    if problem.curvature.any():
        return "linear slacks only, and this problem has squared ones"
    if any(len(sharing) > 1 for sharing in problem.sharing):
        return "a slack of its own for each family, and here two families share one"
    if len(_classes(problem.balance_columns())[0]) > MOST_CLASSES:
        return (
            f"at most {MOST_CLASSES} different columns in the balance equations, and "
            "this problem has more"
        )
    return None


def _classes(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct columns, and the number of each column among them."""
    members = np.zeros(columns.shape[1], dtype=np.int64)
    for row in columns:
        values, codes = np.unique(row, return_inverse=True)
        _, members = np.unique(members * len(values) + codes, return_inverse=True)
    first = np.unique(members, return_index=True)[1]
    return columns[:, first].T, members


def circuits(signatures: np.ndarray) -> np.ndarray:
    """Return the minimal linear dependences between signatures, with both signs.

    The smallest coefficient of each is 1 in absolute value. A row of zeros is a
    dependence by itself: its multipliers can change without others.

    Examples
    --------
    >>> import numpy as np
    >>> circuits(np.array([[1.0, 1.0], [-1.0, 1.0], [0.0, 1.0]]))
    array([[ 1.,  1., -2.],
           [-1., -1.,  2.]])
    """
    n_classes, n_balances = signatures.shape
    found = []
    for size in range(1, n_balances + 2):
        for support in combinations(range(n_classes), size):
            rows = signatures[list(support)]
            _, values, right = np.linalg.svd(rows.T, full_matrices=True)
            rank = int((values > 1e-10 * max(np.abs(rows).max(initial=0), 1)).sum())
            if rank != size - 1:
                continue
            weights = right[-1]
            if np.abs(weights).min() < 1e-10:
                continue  # a dependence of smaller support
            weights = weights / np.abs(weights).min() * np.sign(weights[0])
            whole = np.zeros(n_classes)
            near = np.round(weights)
            whole[list(support)] = np.where(
                np.abs(weights - near) < 1e-9, near, weights
            )
            found += [whole, -whole]
    return np.array(found).reshape(-1, n_classes)


class Flat:
    """The multipliers of a problem, sorted by class, as arrays for compiled code."""

    def __init__(self, problem: Problem):
        self.problem = problem
        columns = problem.balance_columns()
        signatures, members = _classes(columns)
        self.order = np.argsort(members, kind="stable")
        self.signatures = signatures
        counts = np.bincount(members, minlength=len(signatures))
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.circuits = circuits(signatures)
        self.columns = columns.T[self.order]
        lengths = [problem.length(k) for k in range(len(problem.functions))]
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])
        self.grams = tuple(_by_rows(s.matrix) for s in problem.spaces.values())
        # Code is compiled for every number of matrices, which takes seconds.
        spare = [self.grams[0]] * (3 - len(self.grams))
        self.compiled_grams = (*self.grams, *spare)
        self.scale = np.array([1.0 / f.weight for f in problem.functions])
        most = max(len(family.on) for family in problem.families)
        size = problem.size
        fn, pos = np.zeros((2, most, size), dtype=np.int64)
        a = np.zeros((most, size))
        upper = np.full(size, np.inf)
        for limit, sharing in zip(problem.limits, problem.sharing, strict=True):
            upper[problem.slices[sharing[0]]] = limit
        for q, (part, family) in enumerate(
            zip(problem.slices, problem.families, strict=True)
        ):
            for j, (k, coefficient) in enumerate(sorted(family.on.items())):
                fn[j, part] = k
                pos[j, part] = np.arange(lengths[k])[problem.positions(q, k)]
                a[j, part] = coefficient
        self.fn, self.pos = fn[:, self.order].copy(), pos[:, self.order].copy()
        self.a = a[:, self.order].copy()
        self.lower, self.upper = problem.lower[self.order], upper[self.order]
        self.at = self.offsets[self.fn] + self.pos
        self.rhs = problem.at_least[self.order]
        used = (self.a != 0).sum(axis=0)
        self.width = np.array(
            [
                used[start:stop].max(initial=1)
                for start, stop in zip(self.starts, self.starts[1:], strict=False)
            ]
        )
        diagonals = np.concatenate(
            [
                space.diagonal / problem.functions[k].weight
                for k, space in problem.spaces.items()
            ]
        )
        self.diagonal = (self.a**2 * diagonals[self.at]).sum(axis=0)

    def gradient(self, value: np.ndarray) -> np.ndarray:
        """Return ``Σ_k a_k f_k − r`` for every multiplier."""
        return (self.a * value[self.at]).sum(axis=0) - self.rhs

    def spread(self, multipliers: np.ndarray) -> np.ndarray:
        """Return ``Σ a∘λ`` on the rows of all functions, as one vector."""
        return np.bincount(
            self.at.ravel(),
            (self.a * multipliers).ravel(),
            minlength=self.offsets[-1],
        )

    def apply(self, expansion: np.ndarray) -> np.ndarray:
        """Return ``K_k v_k/ρ_k`` of all functions, as one vector."""
        return np.concatenate(
            [
                gram @ v * scale
                for gram, v, scale in zip(
                    self.grams, self.split(expansion), self.scale, strict=True
                )
            ]
        )

    def split(self, flat: np.ndarray) -> list[np.ndarray]:
        """Split a vector over the rows of all functions by function."""
        return np.split(flat, self.offsets[1:-1])


def _by_rows(gram: np.ndarray) -> np.ndarray:
    """Return a symmetric matrix with contiguous rows, copied only if necessary."""
    if gram.dtype == np.float64:
        if gram.flags.c_contiguous:
            return gram
        if gram.flags.f_contiguous:
            return gram.T
    return np.ascontiguousarray(gram, dtype=np.float64)


def feasible(flat: Flat) -> np.ndarray:
    """Return a point that satisfies all bounds and balance equations.

    If possible, ``v_k = 0`` for the functions with a cost, by the multipliers that act
    on them only (α = 0, β = C for SVM+); otherwise the point is found by class totals.
    """
    costs = flat.problem.balance_targets
    multipliers = np.clip(0.0, flat.lower, flat.upper)
    residual = flat.columns.T @ multipliers - costs
    size = np.abs(costs) + np.abs(flat.columns).T @ np.abs(multipliers)
    if (np.abs(residual) <= 1e-12 * size).all():
        return multipliers
    return _by_totals(flat, costs)


def _by_totals(flat: Flat, costs: np.ndarray) -> np.ndarray:
    from scipy.optimize import linprog

    spans = [slice(a, b) for a, b in zip(flat.starts, flat.starts[1:], strict=False)]
    least = [flat.lower[span].sum() for span in spans]
    most = [flat.upper[span].sum() for span in spans]
    bounds = [
        (low, None if np.isinf(high) else high)
        for low, high in zip(least, most, strict=True)
    ]
    found = linprog(
        np.ones(len(spans)), A_eq=flat.signatures.T, b_eq=costs, bounds=bounds
    )
    if found.status != 0:
        raise ValueError(
            "No multipliers satisfy the bounds and the balance equations of this "
            "problem: its primal is unbounded. Check the costs of the functions."
        )
    multipliers = np.empty(len(flat.rhs))
    for span, total, low, high in zip(spans, found.x, least, most, strict=True):
        reach = flat.upper[span] - flat.lower[span]
        open_ended = np.isinf(reach)
        share = (
            open_ended / max(open_ended.sum(), 1)
            if np.isinf(high)
            else reach / (high - low or 1.0)
        )
        multipliers[span] = flat.lower[span] + (total - low) * share
    return multipliers
