"""Rows in blocks that fit into the cache, on this machine, in one or more threads.

Of many rows with hard constraints few are needed. A constraint without slack that holds
with a margin has no multiplier, and its row contributes to the linear costs only.
`solve_sifted` solves the rows of a sample with the costs of all rows, and adds rows
whose constraints are violated until the duality gap of all rows is small. The costs of
the sample are scaled up to those of all rows, and one further row without constraints
has the rest, so that the multipliers are of the size of the costs.

References
----------
R. Bixby, J. Gregory, I. Lustig, R. Marsten, D. Shanno, "Very large-scale linear
programming: a case study in combining interior point and simplex methods", Operations
Research 40(5), 1992.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from lupi._convex.interior.blocks.rows import (
    Layout,
    ProblemParts,
    RowState,
    Totals,
    merged,
)
from lupi._convex.linalg import to_host
from lupi._convex.problem import Family, Features, Function, Problem, Slack
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning
from lupi._parts import GOLDEN, mixed_bits

__all__ = ["LocalRows", "restricted", "sampled", "solve_sifted"]

# Gap for some of the rows; the rest is for violations of the others.
SHARE_OF_TOL = 0.5


class LocalRows:
    """The rows of a problem in blocks, on this machine.

    The problem has features in every function. A global constraint is one more row,
    whose features are ``Φ_kᵀ G_gk``. The threads of ``pool`` process blocks; without
    them, they follow one after the other.
    """

    def __init__(
        self,
        problem: Problem,
        pool: Executor | None = None,
        device: str = "cpu",
        tuning: Tuning = DEFAULT,
    ):
        self.parts, self.layout = ProblemParts.of(problem), Layout.of(problem)
        self.slices, self.n_multipliers = problem.slices, problem.size
        self.pool = pool
        on_host = device == "cpu"
        block_values = tuning.block_values if on_host else tuning.device_block_values
        width = max(self.layout.size, 1)
        # With fewer rows than weights, sums of matrices would take most of the time.
        size = max(tuning.fewest_block_rows, width, block_values // width)
        self.blocks = [
            RowState(*block, self.layout, device) for block in _blocks(problem, size)
        ]

    def copied(self) -> LocalRows:
        """Return a copy whose passes do not change this state."""
        new = copy(self)
        new.blocks = [copy(block) for block in self.blocks]
        for block in new.blocks:
            block.families = [copy(family) for family in block.families]
            block.slacks = [copy(slack) for slack in block.slacks]
        return new

    def total(self, one_pass: Callable[..., Totals], *arguments: Any) -> Totals:
        """Run a pass, a method of `RowState`, on every block; return the totals."""
        # A NumPy scalar would convert a vector of another type into an array.
        arguments = tuple(
            float(one) if isinstance(one, np.floating) else one for one in arguments
        )
        pool = self.pool if len(self.blocks) > 1 else None
        take = map if pool is None else pool.map
        # Added in the order of the blocks, so that sums do not depend on threads.
        return merged(take(lambda block: one_pass(block, *arguments), self.blocks))

    def multipliers(self) -> np.ndarray:
        """Return the multipliers of the problem, relative to their offset."""
        out = np.empty(self.n_multipliers)
        for block in self.blocks:
            for (flat, at), family in zip(block.places, block.families, strict=True):
                out[flat][at] = to_host(family.multipliers)
        return out

    def sample(self, n_rows: int, directions: np.ndarray | None = None) -> Problem:
        """Return the problem of a sample of rows, with costs scaled up."""
        chances = self.chances(n_rows, self.parts.n_rows, directions)
        rows = sampled(0, chances)
        return restricted(self.parts, rows, share=chances[rows])

    def chances(
        self, n_sampled: int, n_all: int, directions: np.ndarray | None
    ) -> np.ndarray:
        """Return probabilities of the rows, which may be some of all.

        They are equal, or with directions those of `RowState.chances`.
        """
        out = np.full(self.parts.n_rows, n_sampled / n_all)
        if directions is not None:
            for block in self.blocks:
                out[block.rows] = block.chances(directions, n_sampled, n_all)
        return out

    def in_chunks(self, n_rows: int) -> Iterator[tuple[Problem, np.ndarray]]:
        """Yield problems of this many rows each, and their multipliers."""
        parts, multipliers = self.parts, self.multipliers()
        for first in range(0, parts.n_rows, n_rows):
            both = slice(first, min(first + n_rows, parts.n_rows))
            own = [
                multipliers[flat][_positions(family.rows, both)]
                for flat, family in zip(self.slices, parts.families, strict=True)
            ]
            yield restricted(parts, both), np.concatenate(own)


def _positions(own: np.ndarray | None, rows: Any) -> Any:
    """Return the positions of rows, a slice or numbers, among the own ones."""
    if own is None:
        return rows
    if isinstance(rows, slice):
        return slice(*np.searchsorted(own, [rows.start, rows.stop]))
    return np.searchsorted(own, rows)


def sampled(first: int, chances: np.ndarray) -> np.ndarray:
    """Return rows chosen with these probabilities, as positions relative to the first.

    The choice depends on the row numbers only, so that the sample is the same for rows
    that are divided in another way.
    """
    rows = np.arange(first, first + len(chances), dtype=np.uint64)
    return np.flatnonzero(mixed_bits(rows * GOLDEN) / 2.0**64 < chances)


def _blocks(problem: Problem, size: int) -> Iterator[tuple[Problem, Any, list]]:
    """Yield problems of rows that have the same functions and families.

    The numbers of the rows follow, and for each family the slice of its multipliers
    and the positions of the rows in it.
    """
    mask = np.zeros(problem.n_rows, dtype=np.int64)
    subsets = [f.rows for f in problem.functions]
    for bit, own in enumerate(subsets + [family.rows for family in problem.families]):
        mask[slice(None) if own is None else own] |= 1 << bit
    # With counts it sorts, which is much faster here than hashing.
    kinds = np.unique(mask, return_counts=True)[0].tolist()
    n_functions = len(problem.functions)
    missing = [Function(None, f.weight, rows=np.arange(0)) for f in problem.functions]
    for kind in kinds:
        rows, some = np.flatnonzero(mask == kind), problem
        if len(kinds) > 1:
            some = restricted(problem, rows)
        functions = [
            replace(f, rows=None) if kind >> k & 1 else missing[k]
            for k, f in enumerate(some.functions)
        ]
        numbers = [
            q for q in range(len(some.families)) if kind >> (n_functions + q) & 1
        ]
        families = [replace(some.families[q], rows=None) for q in numbers]
        alike = Problem(len(rows), functions, families)
        for start in range(0, len(rows), size):
            part = slice(start, min(start + size, len(rows)))
            here = part if len(kinds) == 1 else rows[part]
            places = [
                (problem.slices[q], _positions(problem.families[q].rows, here))
                for q in numbers
            ]
            yield restricted(alike, part), here, places
    for g, row in enumerate(
        problem.global_rows, problem.size - len(problem.global_rows)
    ):
        functions = list(missing)
        for k, coefficient in row.on.items():
            f, space, basis = problem.functions[k], None, None
            if f.space is not None:
                space = Features((f.space.matrix.T @ coefficient)[None])
            if f.basis is not None:
                basis = np.array([f.basis @ coefficient])
            functions[k] = Function(space, f.weight, basis)
        on, at_least = {k: np.ones(1) for k in row.on}, np.array([float(row.at_least)])
        family = Family(on, at_least, equality=row.equality)
        yield Problem(1, functions, [family]), None, [(slice(g, g + 1), slice(None))]


def restricted(
    problem: Problem | ProblemParts,
    rows: np.ndarray | slice,
    *,
    share: np.ndarray | None = None,
) -> Problem:
    """Return the problem of some of the rows, with costs divided by their shares.

    With a slice of the rows, it has views of their vectors.
    """

    def chosen(own: np.ndarray | None) -> tuple[Any, np.ndarray | None]:
        """Return which of the own rows these are, and their numbers among the rows."""
        if own is None:
            return rows, None
        if isinstance(rows, slice):
            at = _positions(own, rows)
            return at, own[at] - rows.start
        at = np.flatnonzero(np.isin(own, rows, assume_unique=True))
        where = np.searchsorted(rows, own[at])
        return (slice(None) if len(at) == len(own) else at), where

    def scaled(cost: np.ndarray | None, at: Any, own: np.ndarray | None) -> Any:
        if cost is None or share is None:
            return cost if cost is None else cost[at]
        return cost[at] / (share if own is None else share[own])

    functions = []
    for f in problem.functions:
        at, own = chosen(f.rows)
        functions.append(
            Function(
                None if f.space is None else Features(f.space.matrix[at]),
                f.weight,
                None if f.basis is None else f.basis[at],
                scaled(f.cost, at, own),
                own,
            )
        )
    cut: dict[int, Slack] = {}
    families = []
    for family in problem.families:
        at, own = chosen(family.rows)
        slack = family.slack
        if slack is not None:
            costs = (scaled(cost, at, own) for cost in (slack.linear, slack.squared))
            slack = cut.setdefault(id(slack), Slack(*costs))
        on = {k: a[at] for k, a in family.on.items()}
        at_least = np.asarray(family.at_least, dtype=float)[at]
        families.append(Family(on, at_least, own, slack, family.equality))
    n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
    return Problem(n_rows, functions, families)


def solve_sifted(
    problem: Problem,
    solve_rows: Callable[..., Solution],
    *,
    tol: float,
    max_iter: int,
    tuning: Tuning,
) -> Solution | None:
    """Return the solution from some of the rows; None if that needs too many.

    ``solve_rows(some, tol=..., aim=..., max_iter=...)`` solves their problem.
    """
    n_rows = problem.n_rows
    if n_rows < tuning.many_rows or problem.global_rows:
        return None
    share = min(tuning.sample_share, tuning.largest_sample / n_rows)
    sample = np.zeros(n_rows, dtype=bool)
    sample[sampled(0, np.full(n_rows, share))] = True
    n_sampled = int(sample.sum())
    own = [
        n_sampled if f.rows is None else sample[f.rows].sum() for f in problem.functions
    ]
    if min(own) < tuning.smallest_sample:
        return None
    kept, n_iter = sample.copy(), 0
    for family in problem.families:
        if family.slack is not None or family.equality:
            kept[slice(None) if family.rows is None else family.rows] = True
    while kept.sum() <= tuning.sifted_share * n_rows:
        some = _with_costs_of_all(problem, kept, sample)
        aim = SHARE_OF_TOL * tol
        of_some = solve_rows(some, tol=aim, aim=aim, max_iter=max_iter - n_iter)
        n_iter += of_some.n_iter
        if not of_some.converged or n_iter >= max_iter:
            return None
        multipliers = -problem.offset
        for family, part, here in zip(
            problem.families, problem.slices, some.slices, strict=True
        ):
            at = kept if family.rows is None else kept[family.rows]
            change = some.offset[here] - problem.offset[part][at]
            multipliers[part][at] = of_some.multipliers[here] + change
        solution = replace(
            of_some,
            problem=problem,
            multipliers=multipliers,
            coefficients=problem.coefficients(multipliers),
            n_iter=n_iter,
        )
        del some, of_some, multipliers  # frees memory for the certificate
        if solution.is_optimal(tol):
            return solution
        short = np.full(n_rows, -np.inf)
        for family, part in zip(problem.families, problem.slices, strict=True):
            at = slice(None) if family.rows is None else family.rows
            short[at] = np.maximum(short[at], solution.shortfall[part])
        short[kept] = -np.inf
        del solution
        kept[np.argpartition(short, -n_sampled)[-n_sampled:]] = True
    return None


def _with_costs_of_all(
    problem: Problem, kept: np.ndarray, sample: np.ndarray
) -> Problem:
    """Return the problem of some rows, with one more row for the rest of the costs."""
    rows = np.flatnonzero(kept)
    n_rows, some = len(rows), restricted(problem, rows)
    functions: list[Function] = []
    for f, own in zip(problem.functions, some.functions, strict=True):
        at = rows if f.rows is None else np.flatnonzero(kept[f.rows])
        cost, rest, size = own.cost, np.zeros(problem.length(len(functions))), 0.0
        if f.cost is not None and cost is not None:
            in_sample = sample[at if f.rows is None else f.rows[at]]
            scale = np.abs(f.cost).sum() / (np.abs(cost[in_sample]).sum() or 1.0)
            cost = np.where(in_sample, max(scale, 1.0), 1.0) * cost
            rest += f.cost
            rest[at] -= cost
            size = np.abs(rest).sum()
            rest /= size or 1.0
            cost = np.append(cost, size)
        space, basis = own.space, own.basis
        if f.space is not None and space is not None:
            total = (rest @ f.space.matrix)[None]
            if isinstance(space.matrix, np.ndarray):
                matrix = np.concatenate([space.matrix, total])
            else:
                matrix = sparse.vstack([space.matrix, sparse.csr_array(total)], "csr")
            space = replace(f.space, matrix=matrix)
        if f.basis is not None and basis is not None:
            basis = np.append(basis, rest @ f.basis)
        everywhere = None if own.rows is None else np.append(own.rows, n_rows)
        functions.append(
            replace(f, space=space, basis=basis, cost=cost, rows=everywhere)
        )
    families = [
        replace(family, rows=np.arange(n_rows)) if family.rows is None else family
        for family in some.families
    ]
    return Problem(n_rows + 1, functions, families)
