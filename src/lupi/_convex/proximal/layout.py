"""`Layout`: families, matrices and the proximal term, which all faces share."""

from __future__ import annotations

import numpy as np

from lupi._convex.linalg import symmetric_product
from lupi._convex.problem import Gram, Problem
from lupi._convex.proximal.centered import Centered
from lupi._convex.proximal.leaf import FaceLeaf
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["Layout", "unsuited"]


def unsuited(problem: Problem) -> str | None:
    """Return what the proximal method needs and a problem lacks; None if nothing."""
    structure, spaces = problem.structure, problem.spaces
    if 0 not in spaces or not all(isinstance(s, Gram) for s in spaces.values()):
        return "a Gram matrix for every penalized function, the first among them"
    if structure.irregular:
        return (
            "families of constraints that act on one function, or on the first "
            "and one other"
        )
    groups = (*structure.private.values(), *structure.shared.values())
    if any(len(families) > 1 for families in groups):
        return "at most one family that acts on a function only, and one that shares it"
    if any(k in structure.leaves for row in problem.global_rows for k in row.on):
        return "global constraints on the first function only"
    if structure.crowded:
        return "a slack that two families share to have one sign in both"
    return None


class Layout:
    """The families by the functions they act on, the spaces and the proximal term."""

    def __init__(
        self,
        problem: Problem,
        ridge: np.ndarray,
        dtype: type,
        tuning: Tuning = DEFAULT,
    ):
        self.problem, self.tuning, self.dtype = problem, tuning, dtype
        structure = problem.structure
        self.spaces = {k: Centered(problem.functions[k], dtype) for k in problem.spaces}
        self.gram = self.spaces[0].matrix
        self.leaves: dict[int, FaceLeaf] = {}
        self.rooted, self.pairs = structure.root, structure.pairs
        self.private = {k: qs[0] for k, qs in structure.private.items() if qs}
        self.shared = {k: qs[0] for k, qs in structure.shared.items() if qs}
        self.set_ridge(ridge)
        self.start = problem.size - len(problem.global_rows)
        # a_k and e_k of every multiplier, zero if it does not act on function k.
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
        # Coefficients of the first function in global constraints, and K times them.
        self.weights = [row.on.get(0) for row in problem.global_rows]
        self.images = [
            None if g is None else symmetric_product(self.gram, g) for g in self.weights
        ]

    def set_ridge(self, ridge: np.ndarray) -> None:
        """Set the proximal term; inverses that do not depend on it are kept."""
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
                self.leaves[k] = FaceLeaf(self.spaces[k].matrix, own, self.tuning)

    def at(self, q: int, k: int) -> np.ndarray:
        """Return the positions of the rows of family q among those of function k."""
        at = self.problem.positions(q, k)
        return np.arange(self.problem.length(k)) if isinstance(at, slice) else at

    def reduce(
        self, vector: np.ndarray, free: np.ndarray, tied: dict[int, np.ndarray]
    ) -> np.ndarray:
        """Return a residual on a face: zero at bounds, differences for tied pairs."""
        out = np.where(free, vector, 0.0)
        for s, rows in tied.items():
            outer, inner = (self.problem.slices[q].start + rows for q in self.pairs[s])
            out[outer] = vector[outer] - vector[inner]
        return out
