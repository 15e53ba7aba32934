"""Plain SVMs by LIBSVM, through scikit-learn, and starts of other problems.

Gram matrices on a GPU stay there: the SVM is then solved by the proximal method.

LIBSVM stores kernel rows in single precision, so that with large costs the relative gap
of its solution remains at 1e-5 or more, whatever its tolerance. If it is too large, the
solution is the start of the proximal method, which needs few steps from there.

A problem becomes an SVM if its correcting functions are replaced by slacks of the rows.
If these slacks are zero, the solutions are the same. Otherwise many multipliers are at
the same bounds in both, almost all if the functions are flexible.

References
----------
C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector machines", ACM
Transactions on Intelligent Systems and Technology 2(3), 2011.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lupi._convex.linalg import is_on_host
from lupi._convex.problem import Family, Gram, Problem, Slack
from lupi._convex.proximal import solve_proximal
from lupi._convex.solution import Solution
from lupi._convex.tuning import DEFAULT, Tuning

__all__ = ["SVM", "solve_libsvm"]

# Relative rounding error of the right-hand sides, and the relative distance from its
# bound at which a multiplier is free.
RIGHT_ROUNDING, FREE_DISTANCE = 1e-12, 1e-6
MEBIBYTE = 2**20


@dataclass(frozen=True, eq=False)
class SVM:
    """The SVM with slacks in place of the functions k ≥ 1 of a problem.

    It is the classifier of signs `target`, or the regressor of `target` with an
    `epsilon`, with a `cost` for every row. The multipliers of the problem that act on
    the first function are ``members``. Those of one row with the same sign are one
    multiplier of the SVM, whose number is in ``numbers``: 2i for ``f ≤ target + ε`` and
    2i + 1 for ``f ≥ target − ε``.
    """

    problem: Problem
    target: np.ndarray
    cost: np.ndarray
    epsilon: float | None
    members: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, problem: Problem, tuning: Tuning = DEFAULT) -> SVM | None:
        """Return the SVM of a problem, or None if there is none with a free bias."""
        function, structure = problem.functions[0], problem.structure
        space, basis = function.space, function.basis
        if (
            not isinstance(space, Gram)
            or function.weight != 1.0
            or function.cost is not None
            or basis is None
            or (basis != 1.0).any()
            or problem.is_equality.any()
            or problem.curvature.any()
            or not space.diagonal.any()
            or structure.irregular
            or any(len(structure.private[k]) != 1 for k in structure.leaves)
        ):
            return None
        families = [q for q, family in enumerate(problem.families) if 0 in family.on]
        rows = np.concatenate(
            [np.arange(problem.n_rows)[problem.positions(q, 0)] for q in families]
        )
        members = np.concatenate(
            [np.arange(problem.size)[problem.slices[q]] for q in families]
        )
        sign = np.concatenate([problem.families[q].on[0] for q in families])
        price = np.concatenate([_price(problem, q, tuning) for q in families])
        numbers, shape = 2 * rows + (sign > 0), (problem.n_rows, 2)
        right = np.zeros(shape)
        right.flat[numbers] = problem.at_least[members]
        if (
            (np.abs(sign) != 1.0).any()
            or not ((price > 0) & (price < np.inf)).all()
            or (right.flat[numbers] != problem.at_least[members]).any()
        ):
            return None
        given = np.bincount(numbers, minlength=right.size).reshape(shape) > 0
        cost = np.bincount(numbers, price, minlength=right.size).reshape(shape)
        if (given.sum(axis=1) == 1).all():
            target, epsilon = np.where(given[:, 1], 1.0, -1.0), None
            suited = (right.sum(axis=1) == 1.0).all() and given.any(axis=0).all()
        else:
            target = 0.5 * (right[:, 1] - right[:, 0])
            epsilon = float(-0.5 * right.sum(axis=1).mean())
            missed = np.abs(right[:, 1] - target + epsilon).max()
            suited = (
                given.all()
                and (cost[:, 0] == cost[:, 1]).all()
                and epsilon >= 0.0
                and missed <= RIGHT_ROUNDING * np.abs(right).max()
            )
        cost = cost.max(axis=1)
        return cls(problem, target, cost, epsilon, members, numbers) if suited else None

    @property
    def is_on_host(self) -> bool:
        """Whether LIBSVM can be given the Gram matrix."""
        return is_on_host(self.problem.spaces[0].matrix)

    @property
    def is_exact(self) -> bool:
        """Whether the problem is this SVM itself."""
        problem = self.problem
        return (
            len(problem.functions) == 1
            and not problem.global_rows
            and len(problem.slacks) == len(problem.families)
            and len(np.unique(self.numbers)) == len(self.numbers)
        )

    def alone(self) -> SVM:
        """Return the SVM of the problem without the functions k ≥ 1."""
        problem, n = self.problem, self.problem.n_rows
        rows, slack = np.arange(n), Slack(linear=self.cost)
        if self.epsilon is None:
            families = [Family({0: self.target}, np.ones(n), None, slack)]
            numbers = 2 * rows + (self.target > 0)
        else:
            families = [
                Family({0: s * np.ones(n)}, s * self.target - self.epsilon, None, d)
                for s, d in ((-1.0, slack), (1.0, Slack(linear=self.cost)))
            ]
            numbers = np.concatenate([2 * rows, 2 * rows + 1])
        plain = Problem(n, problem.functions[:1], families)
        members = np.arange(plain.size)
        return SVM(plain, self.target, self.cost, self.epsilon, members, numbers)

    def violation(self, gap: float, tuning: Tuning) -> float:
        """Return the violation of LIBSVM that leads to a relative gap, if any does."""
        expected = tuning.libsvm_violation * gap
        reached = self.problem.relative_cost <= tuning.libsvm_cost
        reached = reached and expected >= tuning.least_violation
        return (
            min(expected, tuning.first_violation) if reached else tuning.first_violation
        )

    def solve(self, violation: float, max_iter: int) -> tuple[np.ndarray, float, int]:
        """Return multipliers by number, the bias and the number of steps of LIBSVM."""
        from sklearn.svm import SVC, SVR

        gram = self.problem.spaces[0].matrix
        options = {
            "kernel": "precomputed",
            "tol": violation,
            "cache_size": 200 + gram.nbytes / 2 / MEBIBYTE,  # all rows
            "max_iter": max_iter,
        }
        if self.epsilon is None:
            model = SVC(**options)
        else:
            model = SVR(epsilon=self.epsilon, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            gram = gram if gram.flags.c_contiguous else gram.T  # symmetric: no copy
            model.fit(gram, self.target, sample_weight=self.cost)
        by_number = np.zeros((len(self.target), 2))
        by_number[model.support_] = np.maximum(
            np.outer(model.dual_coef_[0], (-1, 1)), 0.0
        )
        return by_number.ravel(), float(model.intercept_[0]), int(np.sum(model.n_iter_))

    def point(
        self,
        by_number: np.ndarray,
        bias: float,
        n_iter: int,
        tuning: Tuning | None = None,
    ) -> Solution:
        """Return a solution of the SVM as a point of the problem.

        The multipliers of the functions k ≥ 1 are such that these functions are zero.
        With `tuning` it is a start, where they may be small instead.
        """
        problem, multipliers = self.problem, np.zeros(self.problem.size)
        together = np.bincount(self.numbers, minlength=len(by_number))[self.numbers]
        multipliers[self.members] = by_number[self.numbers] / together
        for k in problem.structure.leaves:
            _annul(problem, k, multipliers)
        if tuning is not None:
            self._raise(multipliers, by_number, tuning)
        coefficients = problem.coefficients(multipliers)
        for g, row in enumerate(problem.global_rows, -len(problem.global_rows)):
            (k, weight), *others = row.on.items()
            if k not in problem.spaces and k in problem.bases and not others:
                # The bias of this function is at its bound if the balance is such.
                basis = problem.bases[k]
                missing = -(basis @ coefficients[k]) / (basis @ weight)
                multipliers[g] = max(missing, 0.0)
        biases = np.zeros(len(problem.biased))
        biases[problem.biased.index(0)] = bias
        coefficients = problem.coefficients(multipliers)
        return Solution(
            problem, multipliers, coefficients, biases, n_iter, False, "libsvm"
        )

    def _raise(
        self, multipliers: np.ndarray, by_number: np.ndarray, tuning: Tuning
    ) -> None:
        """Set pairs to the bound of their slack where the SVM is at its own."""
        problem, full = self.problem, np.zeros(self.problem.size, dtype=bool)
        at_bound = by_number >= (1.0 - FREE_DISTANCE) * self.cost.repeat(2)
        full[self.members] = at_bound[self.numbers]
        for s, (outer, inner) in problem.structure.pairs.items():
            (k,) = problem.families[inner].on
            limit = problem.limits[s]
            if limit.max() * _size(problem, k) <= tuning.raised:
                one, two = problem.slices[outer], problem.slices[inner]
                rows, low = full[one], problem.lower[two]
                multipliers[one][rows] = (limit - low)[rows]
                multipliers[two][rows] = low[rows]


def _price(problem: Problem, q: int, tuning: Tuning) -> np.ndarray:
    """Return the cost of a unit of slack in place of the function k ≥ 1 of a family."""
    family, root = problem.families[q], problem.spaces[0].diagonal.mean()
    own = None if family.slack is None else family.slack.linear
    leaves = [k for k in family.on if k in problem.structure.leaves]
    if not leaves:
        hard = np.full(len(family.at_least), tuning.hard_cost / root)
        return hard if own is None else own
    (k,) = leaves
    at, function = problem.positions(q, k), problem.functions[k]
    if function.cost is not None:
        price = function.cost[at] / family.on[k]
    else:
        (p,) = problem.structure.private[k]
        slack = problem.families[p].slack
        every = np.full(problem.length(k), np.inf)
        if slack is not None and slack.linear is not None:
            every[problem.positions(p, k)] = slack.linear
        price = every[at]
    return (
        price
        if own is None or _is_flexible(problem, k, tuning)
        else np.sqrt(price * own)
    )


def _is_flexible(problem: Problem, k: int, tuning: Tuning) -> bool:
    """Return whether a correcting function can be almost any slacks."""
    large = _size(problem, k) >= tuning.flexible * _size(problem, 0)
    return large and not _is_low_rank(problem, k)


def _is_low_rank(problem: Problem, k: int) -> bool:
    """Return whether a function can have few values on the rows."""
    space = problem.spaces[k]
    if not isinstance(space, Gram) or not is_on_host(space.matrix):
        return False
    return space.estimated_rank < problem.length(k) / 2


def _size(problem: Problem, k: int) -> float:
    """Return the mean of ``K_ii/ρ`` of a function."""
    return problem.spaces[k].diagonal.mean() / problem.functions[k].weight


def solve_libsvm(
    svm: SVM,
    problem: Problem,
    *,
    tol: float,
    max_iter: int,
    tuning: Tuning = DEFAULT,
) -> Solution:
    """Solve from the solution of an SVM to a relative duality gap of tol.

    ``max_iter`` limits the Newton steps, and the steps of LIBSVM if the problem is that
    SVM. Then the number of iterations is that of both.
    """
    budget = tuning.interior_overhead + int(tuning.interior_price * problem.n_rows**2)
    options: dict[str, Any] = {
        "tol": tol,
        "max_iter": min(max_iter, tuning.max_faces),
        "tuning": tuning,
    }
    enough = tuning.aim(problem.n_rows, tol)
    if svm.is_exact:
        budget = min(budget, max_iter)
        by_number, bias, n_iter = svm.solve(svm.violation(enough, tuning), budget)
        solution = svm.point(by_number, bias, n_iter)
        if not solution.is_optimal(enough) and n_iter < max_iter:
            near = solution if n_iter < budget else None
            share = tuning.near_proximal if near else None
            solution = solve_proximal(problem, start=near, share=share, **options)
            solution.n_iter += n_iter
        solution.converged = solution.is_optimal(tol)
        return solution
    is_near = problem.slacks or problem.relative_cost >= tuning.near_cost
    if not (is_near or svm.is_on_host):
        return solve_proximal(problem, **options)
    if svm.is_on_host:
        by_number, bias, _ = svm.solve(tuning.first_violation, budget)
    else:
        plain = svm.alone()
        exact = solve_proximal(plain.problem, **options | {"tol": tuning.first_gap})
        by_number, bias = np.zeros(2 * problem.n_rows), exact.biases[0]
        by_number[plain.numbers] = exact.multipliers
    if (by_number < (1.0 - FREE_DISTANCE) * svm.cost.repeat(2)).all():
        # Without slacks, the SVM is the solution if there are no other constraints.
        plain = svm.alone()
        start = plain.point(by_number, bias, 0)
        exact = solve_proximal(
            plain.problem, start=start, share=tuning.near_proximal, **options
        )
        by_number[plain.numbers], bias = exact.multipliers, exact.biases[0]
        solution = svm.point(by_number, bias, exact.n_iter)
        if solution.is_optimal(enough):
            solution.converged = True
            return solution
    if not is_near:
        return solve_proximal(problem, **options)
    start, share = svm.point(by_number, bias, 0, tuning), tuning.proximal
    leaves = problem.structure.leaves
    flexible = [k for k in leaves if _is_flexible(problem, k, tuning)]
    if flexible and not problem.global_rows:
        if len(flexible) < len(leaves):
            most = options["max_iter"]
            start = _solve_relaxed(start, flexible, options | {"max_iter": most // 2})
            options["max_iter"] = most - start.n_iter
        share = tuning.flexible_proximal
    elif not (
        problem.slacks
        or problem.relative_cost < tuning.flexible_cost
        or any(_is_low_rank(problem, k) for k in leaves)
    ):
        share = tuning.flexible_proximal
    solution = solve_proximal(problem, start=start, share=share, **options)
    solution.n_iter += start.n_iter
    return solution


def _solve_relaxed(start: Solution, flexible: list[int], options: dict) -> Solution:
    """Solve with slacks in place of the flexible functions, from a start.

    The faces of this problem are smaller, and few multipliers are at other bounds in
    its solution, which is returned as a point of the problem.
    """
    problem, tuning = start.problem, options["tuning"]
    kept = [k for k in range(len(problem.functions)) if k not in flexible]
    families, parts = [], []
    for q, (part, family) in enumerate(
        zip(problem.slices, problem.families, strict=True)
    ):
        on = {kept.index(k): a for k, a in family.on.items() if k in kept}
        if len(on) < len(family.on) and on:
            slack = Slack(linear=_price(problem, q, tuning))
            family = replace(family, on=on, slack=slack)
        elif on:
            family = replace(family, on=on)
        if on:
            families.append(family)
            parts.append(np.arange(part.start, part.stop))
    relaxed = Problem(problem.n_rows, [problem.functions[k] for k in kept], families)
    own = np.concatenate(parts)
    multipliers, biases = start.multipliers[own], start.biases
    places = [j for j, k in enumerate(problem.biased) if k in kept]
    point = Solution(
        relaxed,
        multipliers,
        relaxed.coefficients(multipliers),
        biases[places],
        0,
        False,
        "libsvm",
    )
    solution = solve_proximal(
        relaxed,
        start=point,
        share=tuning.proximal,
        **options | {"tol": tuning.relaxed_gap},
    )
    multipliers = np.zeros(problem.size)
    multipliers[own] = solution.multipliers
    for k in flexible:
        _annul(problem, k, multipliers)
    biases = np.zeros(len(problem.biased))
    biases[places] = solution.biases
    coefficients, n_iter = problem.coefficients(multipliers), solution.n_iter
    return Solution(problem, multipliers, coefficients, biases, n_iter, False, "libsvm")


def _annul(problem: Problem, k: int, multipliers: np.ndarray) -> None:
    """Set the private multipliers of a function such that it is zero, in place."""
    (q,) = problem.structure.private[k]
    excess = problem.coefficients(multipliers)[k][problem.positions(q, k)]
    multipliers[problem.slices[q]] -= excess / problem.families[q].on[k]
