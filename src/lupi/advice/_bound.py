"""A mistake bound of the Adviceptron that holds, with its proof.

Let w_t be the hypothesis of round t, r the advice estimate, λ the learning rate,
‖x_t‖ <= X, and let u be any vector with y_t u·x_t >= g for all t. Write

    Φ_t = ‖w_t - u‖²,    R = ‖u - r‖,    s = λ(2g - λX²).

M counts mistakes, M_b those of them that come with an advice update, A all advice
updates.

*Mistake without advice update.* w_{t+1} = w_t + λ y x, y w_t·x <= 0, y u·x >= g, so

    Φ_{t+1} = Φ_t + 2λ y (w_t - u)·x + λ²‖x‖² <= Φ_t - 2λg + λ²X² = Φ_t - s.

*Advice update.* Let v = ν w_t + (1-ν) r; the update is taken because y v·x <= 0. With
σ = 1 on a mistake and 0 otherwise, w_{t+1} = v + νλσ y x and, as above,

    Φ_{t+1} <= ‖v - u‖² - σ(2νλg - ν²λ²X²) <= ‖v - u‖² - σνs,

and ‖v - u‖² <= νΦ_t + (1-ν)R² <= Φ_t + (1-ν)R², for ‖·‖² is convex.

*Sum over all rounds*, with Φ >= 0 at the end:

    s (M - M_b + ν M_b) <= ‖w_1 - u‖² + (1-ν) A R²  =:  s B.

Since M_b is at most M and at most A, for every u with g > λX²/2

    M <= min( B/ν, B + (1-ν) A ).                                                 (1)

*In terms of r alone.* An advice update without a mistake has y w_t·x > 0 and
y v·x <= 0, hence y r·x < 0: r is wrong there. So A <= M_r + M_b, where M_r counts the
rows that r gets wrong, and if q = νs - (1-ν)R² is positive

    M <= ( ‖w_1 - u‖² + (1-ν) M_r R² ) / q.                                       (2)

Without advice (ν = 1, w_1 = 0) take u = c u° with ‖u°‖ = 1, margin γ and c = λX²/γ:
(1) is Novikoff's X²/γ². Some condition like q > 0 cannot be avoided in (2): there are
endless streams with margin on which r errs once and the Adviceptron errs in every
round (see the errata in the documentation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar, nnls

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MistakeBound:
    """Both sides of the mistake bound on a sequence of rows.

    Attributes
    ----------
    mistakes : int
        M, the left side.
    bound : float
        The right side of (1), with the number of advice updates; infinite if the
        sequence is not separable.
    prior_bound : float
        The right side of (2), with the mistakes of the advice; infinite if the
        advice weighs too much for it.
    printed_bound : float
        What the source prints, with the larger meaning of M_a. It does not hold.
    advice_updates : int
        A.
    advice_mistakes : int
        M_r, the rows that the advice estimate alone gets wrong.
    margin, radius : float
        Smallest y u·x of the separator u of norm 1, and largest ‖x‖.
    """

    mistakes: int
    bound: float
    prior_bound: float
    printed_bound: float
    advice_updates: int
    advice_mistakes: int
    margin: float
    radius: float

    @property
    def holds(self) -> bool:
        """Whether the left side is at most the right side."""
        return self.mistakes <= min(self.bound, self.prior_bound)


def separator(Z: Array) -> Array | None:
    """The w of norm 1 with the largest margin min Z w, or None if that is not positive.

    The hard-margin problem without a bias as non-negative least squares: the minimum
    of ‖Zᵀα‖² + (Σα - 1)² over α >= 0 has w = Zᵀα / (1 - Σα).
    """
    n, p = Z.shape
    scale = np.linalg.norm(Z, axis=1).max(initial=0.0) or 1.0
    target = np.zeros(p + 1)
    target[p] = 1.0
    alpha, _ = nnls(np.vstack([Z.T / scale, np.ones(n)]), target, maxiter=30 * n)
    w = Z.T @ alpha
    norm = np.linalg.norm(w)
    if norm == 0 or (Z @ w).min() <= 1e-12 * scale * norm:
        return None
    return w / norm


def evaluate(
    Z: Array,
    start: Array,
    estimate: Array,
    nu: float,
    learning_rate: float,
    mistakes: int,
    advice_updates: int,
    direction: Array | None,
) -> MistakeBound:
    """Compute the right sides for rows Z = y x and counts M and A.

    Both are minimised over the length c of u = c · direction, which is free.
    """
    radius = float(np.linalg.norm(Z, axis=1).max(initial=0.0))
    wrong = int(np.sum(Z @ estimate <= 0)) if nu < 1 else 0
    direction = separator(Z) if direction is None else direction
    margin = -np.inf
    if direction is not None:
        direction = direction / np.linalg.norm(direction)
        margin = float((Z @ direction).min(initial=np.inf))
    bounds = (np.inf, np.inf, np.inf)
    if direction is not None and 0 < margin < np.inf:
        u, pull = direction, 1 - nu
        # s = slope c - offset is positive beyond the least length.
        slope, offset = 2 * learning_rate * margin, (learning_rate * radius) ** 2
        least = offset / slope

        def reach(c: float, updates: int) -> float:
            near, far = c * u - start, c * u - estimate
            return float(near @ near + pull * updates * (far @ far))

        def posterior(c: float) -> float:
            return reach(c, advice_updates) / (slope * c - offset)

        def prior(c: float) -> float:
            far = c * u - estimate
            q = nu * (slope * c - offset) - pull * float(far @ far)
            return reach(c, wrong) / q if q > 0 else np.inf

        B = _minimum(posterior, least)
        bounds = (
            min(B / nu, B + pull * advice_updates),
            _minimum(prior, least),
            _printed(u, estimate, radius / margin, pull * max(advice_updates, wrong)),
        )
    return MistakeBound(mistakes, *bounds, advice_updates, wrong, margin, radius)


def _minimum(ratio: Callable[[float], float], least: float) -> float:
    """Minimise over c > least: the best of a wide grid, refined between its neighbours.

    Any c gives a valid bound, so an imperfect minimum is still a bound.
    """
    grid = least * (1 + np.geomspace(1e-6, 1e6, 200))
    values = np.array([ratio(c) for c in grid])
    if not np.isfinite(values).any():
        return np.inf
    best = int(np.nanargmin(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    refined = minimize_scalar(ratio, bounds=(low, high), method="bounded")
    return float(min(values[best], refined.fun))


def _printed(u: Array, estimate: Array, ratio: float, extra: float) -> float:
    """X²R²/γ² (1 + (1-ν)M_a), minimised over the length of the separator."""
    size = float(estimate @ estimate)
    along = max(float(u @ estimate), 0.0) ** 2 / size if size else 0.0
    return ratio**2 * (1 - along) * (1 + extra)
