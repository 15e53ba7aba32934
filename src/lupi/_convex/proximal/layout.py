"""What every face of a problem shares: who touches what, and the proximal term.

A *private* family of constraints touches one function k ≥ 1 alone, a *shared* one that
function and the first, a *rooted* one the first alone. Two families that share a slack
are a *pair*.
"""

from __future__ import annotations

import numpy as np

from lupi._convex.linalg import symmetric_product
from lupi._convex.problem import Gram, Problem
from lupi._convex.proximal.centered import Centered
from lupi._convex.proximal.leaf import FaceLeaf

__all__ = ["Layout", "unsuited"]


def unsuited(problem: Problem) -> str | None:
    """Why the proximal method cannot take a problem; None if it can."""
    kernels = [f.space is not None for f in problem.functions]
    if not kernels[0] or not all(
        isinstance(f.space, Gram) for f in problem.functions if f.space is not None
    ):
        return "a Gram matrix for every penalized function, the first among them"
    private: list[int] = []
    shared: list[int] = []
    for family in problem.families:
        touched = sorted(k for k in family.on if kernels[k])
        if len(touched) == 1 and touched[0] > 0:
            private += touched
        elif len(touched) == 2 and touched[0] == 0:
            shared.append(touched[1])
        elif touched != [0]:
            return (
                "families of constraints that act on one function, or on the first "
                "and one other"
            )
    if len(set(private)) < len(private) or len(set(shared)) < len(shared):
        return (
            "at most one family that acts on a function alone, and one that shares it"
        )
    for row in problem.global_rows:
        if any(k > 0 and kernels[k] for k in row.on):
            return "global constraints on the first function only"
    for sharing in problem.sharing:
        if len(sharing) > 1 and _pair(problem, sharing) is None:
            return "a slack that two families share to have one sign in both"
    return None


def _pair(problem: Problem, sharing: list[int]) -> tuple[int, int] | None:
    """The family on the first function and the private one that share a slack."""
    if len(sharing) != 2:
        return None
    outer, inner = sorted(sharing, key=lambda q: 0 not in problem.families[q].on)
    first, second = problem.families[outer].on, problem.families[inner].on
    if 0 not in first or set(first) - {0} != set(second):
        return None
    same = all(np.array_equal(first[k], second[k]) for k in second)
    return (outer, inner) if same else None


class Layout:
    """The families by what they touch, the spaces, and the proximal term."""

    def __init__(self, problem: Problem, ridge: np.ndarray, dtype: type):
        self.problem = problem
        self.spaces = {k: Centered(problem.functions[k], dtype) for k in problem.spaces}
        self.gram = self.spaces[0].matrix
        self.rooted: list[int] = []  # families on the first function alone
        self.leaves: dict[int, FaceLeaf] = {}
        self.private: dict[int, int] = {}
        self.shared: dict[int, int] = {}
        for q, family in enumerate(problem.families):
            leaves = [k for k in family.on if k > 0 and self._is_kernel(k)]
            if not leaves:
                self.rooted.append(q)
            elif 0 in family.on:
                self.shared[leaves[0]] = q
            else:
                self.private[leaves[0]] = q
        self.set_ridge(ridge)
        self.pairs = {
            s: pair
            for s, sharing in enumerate(problem.sharing)
            if (pair := _pair(problem, sharing)) is not None
        }
        self.start = problem.size - len(problem.global_rows)
        # a_k and e_k of every multiplier, zero where it does not act on function k.
        shape = len(problem.functions), problem.size
        self.acting, self.bases = np.zeros(shape), np.zeros(shape)
        for q, (part, family) in enumerate(
            zip(problem.slices, problem.families, strict=True)
        ):
            for k, a in family.on.items():
                self.acting[k, part] = a
                basis = problem.functions[k].basis
                if basis is not None:
                    self.bases[k, part] = basis[problem.positions(q, k)]
        # The first function's share of the global constraints, and its images.
        self.weights = [row.on.get(0) for row in problem.global_rows]
        self.images = [
            None if g is None else symmetric_product(self.gram, g) for g in self.weights
        ]

    def set_ridge(self, ridge: np.ndarray) -> None:
        """Take another proximal term; inverses that do not feel it are kept."""
        problem, self.ridge = self.problem, ridge
        for k in self.spaces:
            if k == 0:
                continue
            own = np.full(problem.length(k), ridge.min())
            if k in self.private:
                q = self.private[k]
                family, part = problem.families[q], problem.slices[q]
                own[problem.positions(q, k)] = ridge[part] / family.on[k] ** 2
            leaf = self.leaves.get(k)
            if leaf is None or not np.array_equal(own, leaf.ridge):
                again = leaf is not None
                self.leaves[k] = FaceLeaf(self.spaces[k].matrix, own, again=again)

    def _is_kernel(self, k: int) -> bool:
        return k in self.spaces

    def at(self, q: int, k: int) -> np.ndarray:
        """Rows of family q among those of function k."""
        at = self.problem.positions(q, k)
        return np.arange(self.problem.length(k)) if isinstance(at, slice) else at

    def reduce(
        self, vector: np.ndarray, free: np.ndarray, tied: dict[int, np.ndarray]
    ) -> np.ndarray:
        """Forces as seen by what is free on a face: zero at bounds, tied as one."""
        out = np.where(free, vector, 0.0)
        for s, rows in tied.items():
            outer, inner = (self.problem.slices[q].start + rows for q in self.pairs[s])
            out[outer] = vector[outer] - vector[inner]
        return out
