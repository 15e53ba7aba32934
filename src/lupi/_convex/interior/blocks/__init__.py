"""The interior-point method for rows in blocks.

It is Mehrotra's predictor–corrector method as in :mod:`lupi._convex.interior`. The
rows are accessed by the passes of :mod:`.rows` only, so that no array here has the
length of the data. With many rows, if all losses are those of linear slacks, the method
starts near the end of the path: a smoothed problem is solved for a few μ by Newton's
method with a line search, from the functions of a sample of the rows. The boundary of
single rows shortens the steps of the primal–dual method, the more so the more rows
there are; from this start it needs few steps.

The Newton steps of the smoothed problem are those of a sample of some percent of the
rows, which are chosen anew for every pass over all rows: those near a kink of their
loss are in it, and a few of the many whose losses have a kink in common. The gradient
is that of all rows.

References
----------
P. Drineas, M. Mahoney, S. Muthukrishnan, "Relative-error CUR matrix decompositions",
SIAM J. Matrix Analysis and Applications 30(2), 2008 (samples by leverage).

O. Shamir, N. Srebro, T. Zhang, "Communication-efficient distributed optimization using
an approximate Newton-type method", ICML 2014 (problems of some rows with the gradient
of all).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lupi._convex.interior.blocks.local import LocalRows
from lupi._convex.interior.blocks.rows import RowBlocks, RowState, Totals
from lupi._convex.linalg import (
    NotPositiveDefinite,
    cholesky,
    cholesky_solve,
    first_zero,
)
from lupi._convex.solution import FLATTEST, Certified
from lupi._convex.tuning import DEFAULT, Tuning

# Length of a step below which there is no progress.
SHORTEST_STEP = 1e-10
# Largest ratio of costs with which the functions may start at zero.
LARGEST_COST_RATIO = 1e6
# Maximum number of refinements of a step, and the relative residual that is accepted: a
# step need not be exact, and each refinement is a pass over the rows.
REFINEMENTS, REFINED_RESIDUAL, EXACT_RESIDUAL = 2, 1e-5, 1e-10
# Sum of the products of multipliers and slacks, relative to the objective, at which one
# factor of each is zero up to rounding: few rows are solved up to there, and no rows
# beyond, where the rest of the gap is rounding.
VANISHING_PRODUCTS = 1e-20
# Largest centering parameter: if the predictor is short, the reason is a few rows.
MOST_CENTERING = 0.3
# Slope, as a share of the first, that the line search of the smoothed problem accepts.
SMOOTHED_SLOPE = 0.3
JITTERS = (1e-16, 1e-14, 1e-12, 1e-10, 1e-8)
FAILURES = (NotPositiveDefinite, FloatingPointError, np.linalg.LinAlgError)


@dataclass(eq=False)
class BlockSolution(Certified):
    """Functions and their certificate, as in :class:`lupi._convex.Solution`."""

    weights: list[np.ndarray | None]
    biases: np.ndarray
    primal_value: float
    duality_gap: float
    n_iter: int
    converged: bool = False


class Progress:
    """Decides whether a path has ended: the steps are short, or improve nothing."""

    def __init__(self, tol: float, tuning: Tuning):
        self.tol, self.tuning = tol, tuning
        self.stalled, self.exhausted, self.lowest = 0, 0, np.inf

    def ends(
        self,
        best: Certified,
        *,
        length: float,
        products: float,
        merit: float,
    ) -> bool:
        """Return whether the step of this length was the last."""
        tuning = self.tuning
        self.stalled = 0 if merit < 0.9 * self.lowest else self.stalled + 1
        self.lowest = min(self.lowest, merit)
        done = best.relative_gap <= self.tol
        patience = tuning.polishing_patience if done else tuning.patience
        # The products are below tol: the rest of the gap is rounding.
        self.exhausted += not done and products <= self.tol * abs(best.primal_value)
        return (
            length < SHORTEST_STEP
            or self.stalled > patience
            or self.exhausted > tuning.last_steps
        )


def solve_blocks(
    rows: RowBlocks,
    *,
    tol: float,
    max_iter: int,
    aim: float | None = None,
    tuning: Tuning = DEFAULT,
) -> BlockSolution:
    """Solve to a relative duality gap of tol; ``rows`` keep the final multipliers.

    Further steps follow until the gap is ``aim``, as long as there is progress.
    """
    limits = {"tol": tol, "aim": tol if aim is None else aim}
    path = _Path(rows, tuning)
    taken = path.start_smoothed(max_iter)
    if taken:
        end = path.follow(**limits, max_iter=max_iter - taken)
        end.n_iter += taken
        if end.converged:
            return end
    path.start()
    return path.follow(**limits, max_iter=max_iter)


def certified(rows: RowBlocks, theta: np.ndarray) -> BlockSolution:
    """Return a point with its gap to the current multipliers of the rows."""
    path = _Path(rows, DEFAULT)
    path.theta = theta
    return path._certified(rows.total(RowState.factorize, theta, 0.0, False), 0)


class _Path:
    """The part of the iterate that is not in the rows: θ."""

    def __init__(self, rows: RowBlocks, tuning: Tuning):
        self.rows, self.layout, self.tuning = rows, rows.layout, tuning
        facts = rows.total(RowState.describe)
        self.sums, self.peaks = facts.sums, facts.peaks
        self.unit = float(self.peaks["right"])
        self.shift = np.zeros(self.layout.size)
        least = max(FLATTEST * self.peaks["bend"], np.finfo(float).tiny)
        rows.total(RowState.measure, self.unit, float(least))

    # ------------------------------------------------------------------ start
    def start(self) -> None:
        """Start with multipliers inside their bounds and, if costs allow, θ = 0.

        Functions that start at zero change by the largest cost in the first step, which
        would violate the bounds of much smaller ones.
        """
        size = self.sums["size"] / self.sums["rows"]
        typical = 1.0 / size if size > 0 else 1.0
        dearest, cheapest = self.peaks["dearest"], -self.peaks["cheapest"]
        centered = bool(dearest == 0.0 or dearest <= LARGEST_COST_RATIO * cheapest)
        pull = self.rows.total(RowState.begin, typical, centered).sums["pull"]
        penalty = self.layout.penalty
        self.theta = np.zeros(self.layout.size)
        if not centered:
            weights = penalty > 0
            self.theta[weights] = pull[weights] / penalty[weights]
        slope = self.rows.total(RowState.slope, self.theta).sums["slope"]
        floor = max(slope / self.sums["multipliers"], 1e-3 * self.unit)
        self.rows.total(RowState.open, float(floor))

    def start_smoothed(self, max_iter: int) -> int:
        """Start near the end of the path; return the steps, 0 if it failed."""
        tuning, sums = self.tuning, self.sums
        most = len(tuning.smoothed_path) * tuning.smoothed_steps
        few = sums["rows"] < tuning.many_rows
        if few or self.peaks["unsuited"] or max_iter <= most:
            return 0
        n_sampled = int(min(tuning.sample_share * sums["rows"], tuning.largest_sample))
        sample = self.rows.sample(n_sampled)
        lengths = [sample.length(k) for k in range(len(sample.functions))]
        if min(lengths) < tuning.smallest_sample:
            return 0
        rows = LocalRows(sample, tuning=tuning)
        gap = tuning.sample_gap
        rough = solve_blocks(rows, tol=gap, max_iter=max_iter, tuning=tuning)
        self.theta = self.layout.joined(rough.weights, rough.biases)
        n_sampled = max(n_sampled, tuning.rows_per_weight * self.layout.size)
        try:
            if n_sampled <= tuning.sifted_share * sums["rows"]:
                return self._follow_smoothed(rows, n_sampled)
            return self._descend(tuning.smoothed_path[:-1], tuning.rough_gain)[1]
        except FAILURES:
            return 0

    def _follow_smoothed(self, rows: LocalRows, n_sampled: int) -> int:
        """Solve for decreasing μ; return the passes over all rows, 0 if it failed.

        Every pass chooses rows by their leverage. Newton's method solves their problem
        with a linear cost, by which its gradient is that of all rows at the start.
        """
        tuning, penalty = self.tuning, self.layout.penalty
        random = np.random.default_rng(0)
        mu, *later = tuning.smoothed_path
        here = rows.total(RowState.center, self.theta, mu)
        for n_passes in range(1, tuning.smoothed_passes + 1):
            pull = self.rows.total(RowState.center, self.theta, mu, False).sums["pull"]
            noise = random.normal(size=(tuning.leverage_directions, len(penalty)))
            directions = _Factor(here, penalty).whitened(noise)
            sample = self.rows.sample(n_sampled, directions)
            some = _Path(LocalRows(sample, tuning=tuning), tuning)
            some.theta = self.theta
            here = some.rows.total(RowState.center, self.theta, mu)
            some.shift = pull - here.sums["pull"]
            downhill = pull - penalty * self.theta
            gain = float(downhill @ _Factor(here, penalty).solve(downhill))
            path = [mu]
            if gain <= tuning.smoothed_gain * mu * self.sums["cost"]:
                if not later:
                    return n_passes
                path.append(mu := later.pop(0))
            here, _ = some._descend(path, tuning.sampled_gain)
            self.theta = some.theta
        return 0

    def _descend(self, path: Sequence[float], least: float) -> tuple[Totals, int]:
        """Take Newton steps for decreasing μ; return the last totals and the steps.

        From one μ to the next, and to one between them, the functions follow the
        tangent of the path, when the gain of a step is ``least``. For the last μ the
        steps also end if they gain more than the first: then the rows are too few.
        """
        tuning, penalty = self.tuning, self.layout.penalty
        between = [np.sqrt(one * two) for one, two in pairwise(path)]
        mu, *later = sorted([*path, *between], reverse=True)
        here, first, n_steps = self.rows.total(RowState.center, self.theta, mu), 0.0, 0
        for n_steps in range(1, len(path) * tuning.smoothed_steps + 1):  # noqa: B007
            factor = _Factor(here, penalty)
            downhill = here.sums["pull"] + self.shift - penalty * self.theta
            direction = factor.solve(downhill)
            gain = float(downhill @ direction)
            if not np.isfinite(gain):
                raise FloatingPointError("the Newton step is not finite")
            enough = gain <= least * mu * self.sums["cost"]
            if enough and later:
                tangent = downhill + (later[0] - mu) * here.sums["unit"]
                mu, first = later.pop(0), 0.0
                self.theta = self.theta + factor.solve(tangent)
                here = self.rows.total(RowState.center, self.theta, mu)
                continue
            first = first or gain
            if enough or (gain > first and not later):
                break
            ahead = self.theta + direction
            here = self.rows.total(RowState.center, ahead, mu)
            slope = penalty * ahead - here.sums["pull"] - self.shift
            length = self._length(direction, mu, -gain, float(slope @ direction))
            if length != 1.0:
                ahead = self.theta + length * direction
                here = self.rows.total(RowState.center, ahead, mu)
            self.theta = ahead
        return here, n_steps

    def _length(self, direction, mu: float, before: float, after: float) -> float:
        """Return the length of a step, from the slopes at both ends."""
        bent = self.layout.penalty * direction
        start = float(bent @ self.theta - self.shift @ direction)
        bend = float(bent @ direction)

        def slope(length: float) -> float:
            if length in (0.0, 1.0):
                return after if length else before
            rest = self.rows.total(RowState.slope_at, self.theta, direction, length, mu)
            return start + length * bend + rest.sums["slope"]

        return first_zero(slope, steep=SMOOTHED_SLOPE)

    # ------------------------------------------------------------------- path
    def follow(self, *, tol: float, aim: float, max_iter: int) -> BlockSolution:
        """Take Mehrotra steps to the end of the path."""
        here = self.rows.total(RowState.factorize, self.theta, 0.0, False)
        best = self._certified(here, 0)
        # A gap that is close to rounding errors needs exact steps.
        accuracy = REFINED_RESIDUAL if aim == tol else EXACT_RESIDUAL
        n_iter, products, at_best = 0, np.inf, True
        progress = Progress(tol, self.tuning)
        few = aim < tol and self.sums["rows"] <= self.tuning.polished_size
        while n_iter < max_iter and (
            best.relative_gap > tol
            or (
                products > VANISHING_PRODUCTS * abs(best.primal_value)
                and (few or best.relative_gap > aim)
            )
        ):
            try:
                length = self._step(here, at_best, accuracy)
                ahead = self.theta + length * self.direction
                here = self.rows.total(RowState.factorize, ahead, length, at_best)
            except FAILURES:
                break
            n_iter += 1
            self.theta = ahead
            point = self._certified(here, n_iter)
            if not np.isfinite(point.duality_gap):
                at_best = False
                break
            at_best = point.relative_gap < max(best.relative_gap, aim)
            if at_best:
                best = point
            products = here.sums["products"]
            merit = products / self.sums["pairs"] + here.peaks["stationarity"]
            if progress.ends(best, length=length, products=products, merit=merit):
                break
        if not at_best:
            self.rows.total(RowState.recall)
        best.n_iter, best.converged = n_iter, best.is_optimal(tol)
        return best

    def _step(self, here: Totals, at_best: bool, accuracy: float) -> float:
        """Compute a predictor–corrector step; return its length."""
        penalty, mu = self.layout.penalty, here.sums["products"] / self.sums["pairs"]
        factor = _Factor(here, penalty)
        wanted = penalty * self.theta - here.sums["pull"]
        right = here.sums["right"] - wanted
        predictor = self.rows.total(RowState.predict, factor.solve(right), at_best)
        length = longest_step(predictor.peaks["fastest"])
        # (λ + l dλ)(z + l dz) summed, where z dλ + λ dz = −λz.
        after = (1.0 - length) * here.sums["products"]
        after += length**2 * predictor.sums["products"]
        share = after / here.sums["products"]
        target = float(mu * min(max(share, 0.0) ** 3, MOST_CENTERING))
        # The second-order term is that of a full step; it is smaller for a short one.
        trust = float(np.sqrt(min(length, 1.0)))
        right = right + trust * predictor.sums["second"]
        right = right + target * predictor.sums["unit"]
        direction, change = factor.solve(right), None
        for last in [False] * REFINEMENTS + [True]:
            corrector = self.rows.total(
                RowState.correct, direction, target, trust, change
            )
            if change is not None:
                direction = direction + change
            missed = corrector.sums["pull"] - penalty * direction - wanted
            size = np.abs(corrector.sums["pull"]).max() + np.abs(wanted).max()
            if last or np.abs(missed).max() <= accuracy * size:
                break
            change = factor.solve(missed)
        self.direction = direction
        reached = longest_step(corrector.peaks["fastest"])
        length = min(1.0, self.tuning.step_to_boundary * reached)
        if not np.isfinite(length):
            raise FloatingPointError("the Newton step is not finite")
        return length

    def _certified(self, here: Totals, n_iter: int) -> BlockSolution:
        """Return the point with its gap.

        See :attr:`lupi._convex.Solution.duality_gap` for the terms of the residuals.
        """
        layout, sums, peaks = self.layout, here.sums, here.peaks
        penalty, pull = layout.penalty, sums["pull"]
        primal = sums["primal"] + 0.5 * float(penalty @ self.theta**2)
        weights = penalty > 0
        norm = float((pull[weights] ** 2 / penalty[weights]).sum())
        gap = abs(primal - (sums["dual"] + self.sums["offset"] - 0.5 * norm))
        gap += peaks["violation"] * sums["hard"] + peaks["gain"] + sums["lost"]
        for k, at in enumerate(layout.biases):
            if at is not None:
                largest = max(self.unit, peaks["values"][k])
                gap += abs(pull[at]) * largest / self.peaks["basis"][k]
        return BlockSolution(
            layout.weights(self.theta),
            self.theta[layout.biased],
            float(primal),
            float(gap),
            n_iter,
        )


def longest_step(fastest: float) -> float:
    """Return the longest step that keeps all slacks positive; it may exceed one.

    ``fastest`` is the largest decrease of one relative to its value.
    """
    return 1.0 / fastest if fastest > 1.0 / 1e3 or np.isnan(fastest) else 1e3


class _Factor:
    """The Newton matrix ``ρ + Φ̃ᵀ Aᵀ D⁻¹ A Φ̃``, factorized."""

    def __init__(self, here: Totals, penalty: np.ndarray):
        lower = np.tril(here.sums["matrix"])
        self._matrix = lower + np.tril(lower, -1).T
        index = np.arange(len(penalty))
        self._matrix[index, index] += penalty
        for jitter in JITTERS:
            shifted = self._matrix.copy(order="F")
            shifted[index, index] *= 1.0 + jitter
            try:
                self._factor = cholesky(shifted)
                return
            except NotPositiveDefinite:
                continue
        raise NotPositiveDefinite("the Newton system is singular")

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution, refined once."""
        solved = cholesky_solve(self._factor, right)
        missed = right - self._matrix @ solved
        return solved + cholesky_solve(self._factor, missed)

    def whitened(self, noise: np.ndarray) -> np.ndarray:
        """Return rows whose covariance is the inverse, from independent noise."""
        return np.linalg.solve(np.linalg.cholesky(self._matrix).T, noise.T).T
