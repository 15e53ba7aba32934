"""Classification of the families of constraints by the functions that they act on.

All models of this library have the structure of a star: the first function is the
center, and every other function, a *leaf*, shares constraints with the center only. A
family of constraints is then one of

- a *root* family, on the first function only;
- a *private* family, on one leaf only;
- a *shared* family, on one leaf and the first function.

Two families that share a linear slack form a *pair* if one is shared, the other private
to the same leaf, and both act on that leaf with the same coefficients. A function
without a space (only a bias) is not a leaf and is ignored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lupi._convex.problem import Problem

__all__ = ["Structure"]


@dataclass(frozen=True)
class Structure:
    """The families of a problem by the functions that they act on.

    Attributes
    ----------
    root : list of int
        Families on the first function only.
    leaves : list of int
        The functions k ≥ 1 that have a space.
    private, shared : dict of list of int
        The private and the shared families of every leaf.
    irregular : list of int
        All other families.
    pairs : dict of tuple
        The shared and the private family of each pair, by the number of their slack.
    crowded : list of int
        Linear slacks that several families share without being a pair.
    """

    root: list[int]
    leaves: list[int]
    private: dict[int, list[int]]
    shared: dict[int, list[int]]
    irregular: list[int]
    pairs: dict[int, tuple[int, int]]
    crowded: list[int]

    @classmethod
    def of(cls, problem: Problem) -> Structure:
        """Classify the families of a problem."""
        leaves = [k for k in problem.spaces if k > 0]
        root, irregular = [], []
        private: dict[int, list[int]] = {k: [] for k in leaves}
        shared: dict[int, list[int]] = {k: [] for k in leaves}
        for q, family in enumerate(problem.families):
            match sorted(k for k in family.on if k in problem.spaces):
                case [0]:
                    root.append(q)
                case [k]:
                    private[k].append(q)
                case [0, k]:
                    shared[k].append(q)
                case _:
                    irregular.append(q)
        pairs, crowded = {}, []
        for s, sharing in enumerate(problem.sharing):
            pair = _pair(problem, sharing)
            if pair is not None:
                pairs[s] = pair
            elif len(sharing) > 1:
                crowded.append(s)
        return cls(root, leaves, private, shared, irregular, pairs, crowded)


def _pair(problem: Problem, sharing: Sequence[int]) -> tuple[int, int] | None:
    if len(sharing) != 2:
        return None
    outer, inner = sorted(sharing, key=lambda q: 0 not in problem.families[q].on)
    first, second = problem.families[outer].on, problem.families[inner].on
    if 0 not in first or set(first) - {0} != set(second) or len(second) != 1:
        return None
    (k,) = second
    same = k in problem.spaces and np.array_equal(first[k], second[k])
    return (outer, inner) if same else None
