"""A mistake bound of the Adviceptron, with its proof.

Let w_t be the hypothesis of round t, r the advice estimate, λ the learning rate,
‖x_t‖ <= X, and let u be any vector with y_t u·x_t >= g for all t. Write

    Φ_t = ‖w_t - u‖²,    R = ‖u - r‖,    s = λ(2g - λX²).

M counts mistakes, M_b the mistakes with an advice update, A all advice updates.

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

*In terms of r.* An advice update without a mistake has y w_t·x > 0 and y v·x <= 0,
hence y r·x < 0: r misclassifies the row. So A <= M_r + M_b, where M_r counts the rows
that r misclassifies, and if q = νs - (1-ν)R² is positive

    M <= ( ‖w_1 - u‖² + (1-ν) M_r R² ) / q.                                       (2)

Without advice (ν = 1, w_1 = 0) take u = c u° with ‖u°‖ = 1, margin γ and c = λX²/γ:
(1) is Novikoff's X²/γ². A condition like q > 0 is necessary in (2): there are infinite
streams with a margin on which r makes one mistake and the Adviceptron makes a mistake
in every round (see the errata in the documentation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

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
        The right side of (2), with the mistakes of the advice; infinite if the weight
        of the advice is too large for it.
    printed_bound : float
        The bound of the paper, with the larger reading of M_a. It does not hold.
    advice_updates : int
        A.
    advice_mistakes : int
        M_r, the number of rows that the advice estimate misclassifies.
    margin, radius : float
        Smallest y u·x of the separator u of norm 1, and largest ‖x‖.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.advice import Adviceptron
    >>> X = np.array([[1.0, 0.2], [-1.0, 0.1], [2.0, -0.3], [-0.5, -0.2]])
    >>> rules = ["x0 >= 1 => 1", "x0 <= -1 => 0"]
    >>> model = Adviceptron(advice=rules, fit_intercept=False)
    >>> sides = model.mistake_bound(X, [1, 0, 1, 0])
    >>> sides.mistakes <= sides.bound
    True
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
    """Return the w of norm 1 with the largest margin min Z w; None if not positive.

    The hard-margin problem without a bias is one of non-negative least squares: the
    minimum of ‖Zᵀα‖² + (Σα - 1)² over α >= 0 has w = Zᵀα / (1 - Σα).
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
    given: Array | None,
) -> MistakeBound:
    """Compute the bounds for rows Z = y x and counts M and A.

    Any u with a margin gives a bound. Without a given direction, the bounds are
    minimized over u = c (u° + τ r), where u° has the largest margin.
    """
    radius = float(np.linalg.norm(Z, axis=1).max(initial=0.0))
    wrong = int(np.sum(Z @ estimate <= 0)) if nu < 1 else 0
    best = separator(Z) if given is None else given / np.linalg.norm(given)
    bounds = np.full(3, np.inf)
    for u in () if best is None else _tilted(best, estimate, alone=given is not None):
        g = float((Z @ u).min())
        if g > 0:
            side = _Direction(u, g, radius, start, estimate, nu, learning_rate)
            bounds = np.minimum(bounds, side.bounds(advice_updates, wrong))
    return MistakeBound(
        mistakes=mistakes,
        bound=float(bounds[0]),
        prior_bound=float(bounds[1]),
        printed_bound=float(bounds[2]),
        advice_updates=advice_updates,
        advice_mistakes=wrong,
        margin=0.0 if best is None else float((Z @ best).min()),
        radius=radius,
    )


def _tilted(best: Array, estimate: Array, alone: bool) -> list[Array]:
    """Return directions between that of the largest margin and that of the advice."""
    size = float(np.linalg.norm(estimate))
    if alone or size == 0:
        return [best]
    tilts = np.append(0.0, np.geomspace(0.01, 100, 30) / size)
    directions = [best + tilt * estimate for tilt in tilts]
    return [u / length for u in directions if (length := np.linalg.norm(u)) > 0]


@dataclass(frozen=True)
class _Direction:
    """The bounds for all u = c · direction, the best length c chosen for each.

    Numerators and denominators are polynomials in c, highest power first.
    """

    u: Array
    g: float
    radius: float
    start: Array
    estimate: Array
    nu: float
    learning_rate: float

    def bounds(self, updates: int, wrong: int) -> tuple[float, float, float]:
        pull, rate = 1 - self.nu, self.learning_rate
        s = np.array([0.0, 2 * rate * self.g, -((rate * self.radius) ** 2)])
        near, far = self._distance(self.start), self._distance(self.estimate)
        B = _least_ratio(near + pull * updates * far, s)
        return (
            min(B / self.nu, B + pull * updates),
            _least_ratio(near + pull * wrong * far, self.nu * s - pull * far),
            self._printed(pull * max(updates, wrong)),
        )

    def _distance(self, point: Array) -> Array:
        """Return ‖c u - point‖²."""
        return np.array([1.0, -2 * self.u @ point, point @ point])

    def _printed(self, extra: float) -> float:
        """Return X²R²/γ² (1 + (1-ν)M_a)."""
        size = float(self.estimate @ self.estimate)
        along = max(float(self.u @ self.estimate), 0.0) ** 2 / size if size else 0.0
        return (self.radius / self.g) ** 2 * (1 - along) * (1 + extra)


def _least_ratio(top: Array, bottom: Array) -> float:
    """Return the minimum of top/bottom over bottom > 0, for quadratics; ∞ if none.

    Every c gives a valid bound, also one that is not the minimum.
    """
    (a, b, c), (e, f, g) = map(float, top), map(float, bottom)
    # Zeros of the derivative, whose cubic terms cancel.
    A, B, C = a * f - b * e, a * g - c * e, b * g - c * f
    root = math.sqrt(max(B * B - A * C, 0.0))
    large = -B - math.copysign(root, B)
    lengths = [large / A if A else 0.0, C / large if large else 0.0]
    ratios = [
        ((a * x + b) * x + c) / below
        for x in lengths
        if x > 0 and (below := (e * x + f) * x + g) > 0
    ]
    return min(ratios, default=math.inf)
