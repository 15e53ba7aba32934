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

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from lupi._convex.interior.blocks.rows import Layout, RowState, Totals, merged
from lupi._convex.interior.start import starting_multipliers
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
        self._n_multipliers = problem.size
        self.pool = pool
        self.kinds = _kinds(problem)
        self.blocks: list[RowState] = []
        on_host = device == "cpu"
        block_values = tuning.block_values if on_host else tuning.device_block_values
        width = max(self.layout.size, 1)
        # With fewer rows than weights, sums of matrices would take most of the time.
        size = max(tuning.fewest_block_rows, width, block_values // width)
        for kind in self.kinds:
            own = kind.problem
            for start in range(0, own.n_rows, size):
                part = slice(start, min(start + size, own.n_rows))
                block = RowState(own, kind.names, self.layout, part, device)
                kind.blocks.append(len(self.blocks))
                self.blocks.append(block)

    def __copy__(self) -> LocalRows:
        new = object.__new__(LocalRows)
        new.__dict__.update(self.__dict__)
        new.blocks = [copy.copy(block) for block in self.blocks]
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

    def describe(self) -> Totals:
        """Return the totals of the rows for the start and the certificate."""
        totals = merged(_described(kind, self.layout) for kind in self.kinds)
        steepest = max((block.steepest for block in self.blocks), default=0.0)
        return totals + Totals(peaks={"bend": steepest})

    def begin(self, typical: float, centered: bool) -> Totals:
        """Set multipliers inside their bounds; return their functions."""
        totals = []
        for kind in self.kinds:
            own = kind.problem
            flat = starting_multipliers(own, centered=centered, typical=typical)
            start = [flat[one] for one in own.slices]
            for number in kind.blocks:
                block = self.blocks[number]
                totals.append(block.begin([own[block.part] for own in start]))
        return merged(totals)

    def multipliers(self) -> np.ndarray:
        """Return the multipliers of the problem, relative to their offset."""
        out = np.empty(self._n_multipliers)
        for kind in self.kinds:
            for block in (self.blocks[number] for number in kind.blocks):
                places = kind.places(block.part)
                for at, family in zip(places, block.families, strict=True):
                    out[at] = to_host(family.multipliers)
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
            for kind in self.kinds:
                for number in kind.blocks:
                    block = self.blocks[number]
                    at = block.part if kind.rows is None else kind.rows[block.part]
                    out[at] = block.chances(directions, n_sampled, n_all)
        return out

    def in_chunks(self, n_rows: int) -> Iterator[tuple[Problem, np.ndarray]]:
        """Yield problems of this many rows each, and their multipliers."""
        multipliers, families = self.multipliers(), self.parts.families
        starts = np.cumsum([0, *(len(family.at_least) for family in families)])
        for first in range(0, self.parts.n_rows, n_rows):
            stop = min(first + n_rows, self.parts.n_rows)
            own = []
            for start, family in zip(starts[:-1], families, strict=True):
                both = np.array([first, stop])
                if family.rows is not None:
                    both = np.searchsorted(family.rows, both)
                own.append(multipliers[slice(*(start + both))])
            yield _between(self.parts, first, stop), np.concatenate(own)


def sampled(first: int, chances: np.ndarray) -> np.ndarray:
    """Return rows chosen with these probabilities, as positions relative to the first.

    The choice depends on the row numbers only, so that the sample is the same for rows
    that are divided in another way.
    """
    rows = np.arange(first, first + len(chances), dtype=np.uint64)
    return np.flatnonzero(mixed_bits(rows * GOLDEN) / 2.0**64 < chances)


class ProblemParts(NamedTuple):
    """The parts of a problem, without the vectors that are derived from them.

    These have the length of the multipliers and are only used at the start.
    """

    n_rows: int
    functions: Sequence[Function]
    families: Sequence[Family]

    @property
    def size(self) -> int:
        """The number of multipliers."""
        return sum(len(family.at_least) for family in self.families)

    @classmethod
    def of(cls, problem: Problem) -> ProblemParts:
        """Return the parts; a vector of equal entries is a view of one number."""
        slacks = {
            id(slack): Slack(_thin(slack.linear), _thin(slack.squared))
            for slack in (family.slack for family in problem.families)
            if slack is not None
        }
        functions = [
            replace(f, basis=_thin(f.basis), cost=_thin(f.cost))
            for f in problem.functions
        ]
        families = [
            replace(
                family,
                on={k: _thin(a) for k, a in family.on.items()},
                at_least=_thin(family.at_least),
                slack=None if family.slack is None else slacks[id(family.slack)],
            )
            for family in problem.families
        ]
        return cls(problem.n_rows, functions, families)


def _thin(values: Any) -> Any:
    """Return a view of one number if all entries are equal."""
    if values is None or len(values) == 0 or (values != values[0]).any():
        return values
    return np.broadcast_to(values[0].copy(), values.shape)


@dataclass(frozen=True, eq=False)
class _Kind:
    """The rows that have the same functions and families, as a separate problem.

    ``names`` are the numbers of its functions and ``starts`` those of the first
    multiplier of each family in the whole problem; ``rows`` are the numbers of the rows
    and ``at`` their positions in each family, None for all. A global constraint is not
    one of the rows that are counted. ``blocks`` are the numbers of the blocks that have
    its rows.
    """

    parts: ProblemParts
    names: list[int]
    starts: list[int]
    at: list[np.ndarray] | None = None
    rows: np.ndarray | None = None
    is_global: bool = False
    blocks: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem, rows: np.ndarray) -> _Kind:
        """Return some rows, all with the same functions and families."""
        here = restricted(problem, rows)
        names = [k for k, f in enumerate(here.functions) if here.length(k)]
        families = [q for q, f in enumerate(here.families) if len(f.at_least)]
        own = Problem(
            len(rows),
            [replace(here.functions[k], rows=None) for k in names],
            [
                replace(
                    here.families[q],
                    rows=None,
                    on={names.index(k): a for k, a in here.families[q].on.items()},
                )
                for q in families
            ],
        )
        starts = [problem.slices[q].start for q in families]
        at = [
            rows if own is None else np.searchsorted(own, rows)
            for own in (problem.families[q].rows for q in families)
        ]
        return cls(ProblemParts.of(own), names, starts, at, rows)

    @classmethod
    def of_global(cls, problem: Problem, g: int) -> _Kind:
        """Return a global constraint as a row with ``Φ_kᵀ G_gk`` as its features."""
        row, functions = problem.global_rows[g], []
        for k, coefficient in row.on.items():
            f = problem.functions[k]
            space = basis = None
            if f.space is not None:
                space = Features((f.space.matrix.T @ coefficient)[None])
            if f.basis is not None:
                basis = np.array([f.basis @ coefficient])
            functions.append(Function(space, f.weight, basis))
        on = {j: np.ones(1) for j in range(len(functions))}
        family = Family(on, np.array([float(row.at_least)]), equality=row.equality)
        start = problem.size - len(problem.global_rows) + g
        parts = ProblemParts(1, functions, [family])
        return cls(parts, list(row.on), [start], is_global=True)

    @property
    def problem(self) -> Problem:
        """The problem of these rows, built from its parts."""
        return Problem(*self.parts)

    def places(self, part: slice) -> list:
        """Return the positions of the multipliers of some rows among all."""
        if self.at is None:
            return [slice(q + part.start, q + part.stop) for q in self.starts]
        return [
            start + at[part] for start, at in zip(self.starts, self.at, strict=True)
        ]


def _kinds(problem: Problem) -> list[_Kind]:
    """Divide the rows by the functions and families that they have."""
    together = [_Kind.of_global(problem, g) for g in range(len(problem.global_rows))]
    subsets = [f.rows for f in problem.functions]
    subsets += [family.rows for family in problem.families]
    if all(own is None for own in subsets):
        names = [*range(len(problem.functions))]
        starts = [flat.start for flat in problem.slices]
        return [_Kind(ProblemParts.of(problem), names, starts), *together]
    mask = np.zeros(problem.n_rows, dtype=np.int64)
    for bit, own in enumerate(subsets):
        mask[slice(None) if own is None else own] |= 1 << bit
    masks = [np.flatnonzero(mask == m) for m in np.unique(mask)]
    return [*(_Kind.of(problem, rows) for rows in masks), *together]


def _described(kind: _Kind, layout: Layout) -> Totals:
    problem = kind.problem
    first, size = problem.functions[0], 0.0
    if kind.names[0] == 0 and first.space is not None and not kind.is_global:
        size = float(first.space.diagonal.sum()) / first.weight
    costs = np.concatenate([*problem.slack_costs, np.empty(0)])
    paid = costs[costs > 0]
    basis = np.zeros(len(layout.spans))
    for k, e in {} if kind.is_global else problem.bases.items():
        basis[kind.names[k]] = np.abs(e).max(initial=0.0)
    bounded = int((~problem.is_equality).sum())
    soft = sum(len(problem.families[q].at_least) for s in problem.sharing for q in s)
    return Totals(
        {
            "rows": 0 if kind.is_global else problem.n_rows,
            "multipliers": problem.size,
            "pairs": bounded + len(costs),
            "size": size,
            "slacks": len(costs),
            "cost": float(costs.sum()),
            "offset": float(problem.at_least @ problem.offset),
        },
        {
            "right": np.abs(problem.at_least).max(initial=0.0),
            "basis": basis,
            "dearest": paid.max(initial=0.0),
            "cheapest": (-paid).max(initial=-np.inf),
            # Whether some constraint has no linear slack that costs something.
            "unsuited": float(soft < problem.size or len(paid) < len(costs)),
        },
    )


def restricted(
    problem: Problem | ProblemParts,
    rows: np.ndarray,
    *,
    share: np.ndarray | float = 1.0,
) -> Problem:
    """Return the problem of some of the rows, with costs divided by their shares."""
    place = np.full(problem.n_rows, -1)
    place[rows] = np.arange(len(rows))

    def chosen(own: np.ndarray | None) -> tuple[Any, np.ndarray | None]:
        if own is None:
            return rows, None
        at = np.flatnonzero(place[own] >= 0)
        where = place[own[at]]
        whole = len(at) == len(own)
        return (slice(None) if whole else at), where

    return _taken(problem, len(rows), chosen, share)


def _between(parts: ProblemParts, first: int, stop: int) -> Problem:
    """Return the problem of the rows from the first on, on views of its vectors."""

    def chosen(own: np.ndarray | None) -> tuple[Any, np.ndarray | None]:
        if own is None:
            return slice(first, stop), None
        at = slice(*np.searchsorted(own, [first, stop]))
        return at, own[at] - first

    return _taken(parts, stop - first, chosen)


def _taken(
    problem: Problem | ProblemParts,
    n_rows: int,
    chosen: Callable,
    share: np.ndarray | float = 1.0,
) -> Problem:
    """Return the problem of the rows that are chosen.

    ``chosen(own)`` returns which rows of a function or family these are, and their
    numbers among the chosen. Costs are divided by the shares of the rows.
    """
    shares = np.broadcast_to(share, n_rows)

    def scaled(cost: np.ndarray | None, at: Any, own: np.ndarray | None) -> Any:
        if cost is None:
            return None
        return cost[at] / (shares if own is None else shares[own])

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
