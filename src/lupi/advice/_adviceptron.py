"""The Adviceptron: a perceptron that learns from rules and a stream of rows.

Kunapuli, Bennett, Shabbeer, Maclin & Shavlik, *Online knowledge-based support vector
machines*, ECML PKDD 2010, and *The Adviceptron: giving advice to the perceptron*,
ANNIE 2010.

Before the first row, m rules ``D_i x <= d_i => z_i`` determine proofs u_i and a first
hypothesis w_1 by::

    min  ½‖w‖² + μ Σ_i (½‖η_i‖² + ζ_i)
    s.t. D_iᵀ u_i + z_i w + η_i = 0,   -d_i·u_i - z_i b + ζ_i >= 1,   u_i, ζ_i >= 0.

(The paper prints 0 in place of 1, for which w = b = u = 0 is optimal.) With::

    r = mean of r_i = -z_i D_iᵀ u_i,        ν = 1/(1 + mμ),

each row (x, y) is a mistake, σ = 1, if y w·x <= 0, and σ = 0 otherwise; then::

    w ← ν (w + λσ y x) + (1-ν) r     if y (ν w + (1-ν) r)·x <= 0   (advice update)
    w ← w + λσ y x                   otherwise.

Without rules ν = 1, r = 0, w_1 = 0: the perceptron. The minimum has w_1 = (1-ν) r.

The paper has no bias. ``fit_intercept`` adds one as the weight b of a constant feature
-1, with the advice b_i = -z_i d_i·u_i and the penalty ½b² in addition to ½‖w‖². Without
it b = 0 in the constraints of the rules.

=======  =================
μ        ``advice_weight``
λ        ``learning_rate``
=======  =================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from sklearn.base import clone

from lupi._parameters import Count, NotNegative, Positive, parameters
from lupi.advice._linear import (
    Advice,
    LinearAdvisedClassifier,
    Standardize,
    apply_scaling,
    warn_of_empty,
)
from lupi.advice._problem import Array, LabelledRows, solve, tightest_proof
from lupi.advice._rule import read_advice
from lupi.base import ModelInfo, atomic_fit
from lupi.base._rows import dense

# Number of rows that are copied, scaled and dense, at a time.
_BLOCK = 1024


@dataclass(frozen=True)
class MistakeBound:
    """Both sides of the mistake bound on a sequence of rows.

    Attributes
    ----------
    mistakes : int
        M, the left side.
    bound : float
        The right side of (1) below, with the number of advice updates; infinite if the
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

    Notes
    -----
    Let w_1 be the first hypothesis, ‖x_t‖ <= X, and u any vector with y_t u·x_t >= g
    for all t. With R = ‖u - r‖, s = λ(2g - λX²) and B = (‖w_1 - u‖² + (1-ν) A R²) / s::

        M <= min( B/ν, B + (1-ν) A )                                            (1)
        M <= ( ‖w_1 - u‖² + (1-ν) M_r R² ) / q   if q = νs - (1-ν)R² > 0        (2)

    for every u with g > λX²/2. The errata of the documentation have the proof.

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


@parameters
class Adviceptron(LinearAdvisedClassifier):
    """Perceptron that learns from rules and a stream of rows.

    Parameters
    ----------
    advice : Rule, str or list of these, default=None
        Rules such as ``"bmi >= 30 and glucose >= 126 => 1"``, in the units of X.
        Without advice this is the perceptron.
    advice_weight : float, default=0.001
        Weight μ of the rules relative to the rows; 0 ignores the rules.
    learning_rate : float, default=1.0
        Factor λ of the update after a mistake.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    standardize : bool or pair (mean, deviation), default=False
        Whether to learn in standardized columns. The rules are transformed in the same
        way, and `coef_` is in the units of X. True takes mean and deviation from the
        rows of `fit`, or of the first call of `partial_fit`. A sparse X is scaled and
        not centered.
    n_epochs : int, default=1
        Passes of `fit` over the rows, in the order given.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        w, in the units of X.
    intercept_ : ndarray of shape (1 or n_classes,)
        -b.
    n_mistakes_ : int or ndarray of shape (n_classes,)
        Number of rows that were misclassified before their update.
    n_advice_updates_ : int or ndarray of shape (n_classes,)
        Number of advice updates.
    n_rows_seen_ : int
        Number of rows so far.
    advice_ : list of Rule
        The rules with a nonempty region.
    advice_estimate_ : ndarray of shape (1 or n_classes, n_features + 1)
        r and, last, the mean of b_i, in standardized columns if `standardize`.
    advice_proofs_ : list of list of ndarray
        u_i of each rule, for each binary problem; if it is not unique, the one with
        the least d_i·u_i.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and deviation of `standardize`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if X has names.

    See Also
    --------
    KnowledgeBasedSVC : Learns from rules and a fixed set of rows.
    Rule : The syntax of rules.

    Notes
    -----
    With more than two classes there is one perceptron per class, against the rest. A
    rule for class c is advice for "not k" in the perceptron of every other class k.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.advice import Adviceptron
    >>> rules = ["x0 >= 1 => 1", "x0 <= -1 => 0"]
    >>> model = Adviceptron(advice=rules, advice_weight=0.1)
    >>> X = np.array([[2.0, 0.5], [-1.5, 1.0], [0.5, -1.0]])
    >>> model.partial_fit(X[:1], [1], classes=[0, 1]).partial_fit(X[1:], [0, 1])
    Adviceptron(advice=['x0 >= 1 => 1', 'x0 <= -1 => 0'], advice_weight=0.1)
    >>> model.n_mistakes_, model.n_advice_updates_
    (0, 0)
    >>> model.predict([[3.0, 0.0], [-3.0, 0.0]])
    array([1, 0])
    """

    advice: Advice = None
    advice_weight: NotNegative = 0.001
    learning_rate: Positive = 1.0
    fit_intercept: bool = True
    standardize: Standardize = False
    n_epochs: Count = 1

    __lupi_info__ = ModelInfo(
        title="Adviceptron",
        paper="Kunapuli et al. 2010, ECML",
        cite="kunapuli2010online",
        helps="they are right for most of their region and rows arrive one by one",
        cost="a few products per row",
        tune="`advice_weight`, `learning_rate`",
        needs="rules",
        rank=61,
    )

    @atomic_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Start from the advice and pass `n_epochs` times over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. With advice, a table without rows is accepted.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : Adviceptron
            The fitted estimator.
        """
        X, codes = self._begin(X, y, None)
        for _ in range(self.n_epochs):
            self._learn(X, codes)
        return self

    @atomic_fit
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Learn from the next row or rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like, default=None
            All labels of the stream; required in the first call unless all of them
            are in `y`.

        Returns
        -------
        self : Adviceptron
            The fitted estimator.
        """
        if not hasattr(self, "classes_"):
            self._learn(*self._begin(X, y, classes))
            return self
        X, y = self._read_rows(X, y, reset=False, without_rows=bool(self.advice_))
        if classes is not None and not np.array_equal(
            np.unique(classes), self.classes_
        ):
            raise ValueError(
                f"classes was {self.classes_.tolist()} in the first call of "
                f"partial_fit, but is {np.asarray(classes).tolist()} now. Give the "
                "same labels, or none."
            )
        self._learn(X, self._codes(y))
        return self

    def mistake_bound(
        self, X: Any, y: Any, separator: ArrayLike | None = None
    ) -> MistakeBound | list[MistakeBound]:
        """Compute both sides of the mistake bound on a sequence of rows.

        A clone of the model passes once over the sequence; the model itself does not
        change and need not be fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in order.
        y : array-like of shape (n_samples,)
            Labels.
        separator : array-like of shape (n_features [+ 1],), default=None
            For two classes, any hyperplane with a margin on the rows (in
            standardized columns if `standardize`; with `fit_intercept`, the last entry
            is the weight of the constant -1). None takes that of largest margin.

        Returns
        -------
        bound : MistakeBound or list of MistakeBound
            With more than two classes, one for each class.

        Notes
        -----
        The bound and its proof are in the errata of the documentation. It holds for
        every sequence with a margin; that of the paper does not.
        """
        model = clone(self)
        model._validate_params()
        X, codes = model._begin(X, y, None)
        start = model._weights.copy()
        model._learn(X, codes)
        rows = model._with_constant(X)
        if separator is not None:
            separator = np.asarray(separator, dtype=np.float64)
            p = rows.shape[1] - 1
            if separator.shape not in ((p,), (p + 1,)) or not separator.any():
                raise ValueError(
                    f"separator must have {p} numbers, or {p + 1} with the weight of "
                    f"the constant -1, not all 0, but has shape {separator.shape}."
                )
            separator = np.append(separator, np.zeros(p + 1 - len(separator)))
        bounds = [
            _evaluate(
                model, k, np.where(codes == one, rows.T, -rows.T).T, start, separator
            )
            for k, one in enumerate(model._positives)
        ]
        return bounds[0] if len(bounds) == 1 else bounds

    def _begin(
        self, X: Any, y: Any, classes: ArrayLike | None
    ) -> tuple[Any, NDArray[np.intp]]:
        """Read all arguments and start from the advice; return X and class codes."""
        rules = read_advice(self.advice)
        X, y = self._read_rows(X, y, reset=True, without_rows=bool(rules))
        problems = self._read_problems(X, y, classes, rules)
        # For an empty region u, and hence b_i, would be unbounded.
        kept = warn_of_empty(rules, problems[0])
        self.advice_ = [rules[i] for i in kept]
        # The first hypothesis, the proofs and the advice estimate.
        n_rules, p = len(kept), len(self.mean_)
        self._nu = 1 / (1 + n_rules * self.advice_weight)
        self._weights = np.zeros((len(problems), p + 1))
        self.advice_estimate_ = np.zeros_like(self._weights)
        self.advice_proofs_ = []
        for k, regions in enumerate(problems if self._nu < 1 else ()):
            regions = [regions[i] for i in kept]
            solution = solve(
                LabelledRows(np.empty((0, p)), np.empty(0), np.empty(0)),
                regions,
                squared=True,
                fit_intercept=self.fit_intercept,
                penalize_intercept=True,
            )
            proofs = []
            for region, u in zip(regions, solution.proofs, strict=True):
                u = tightest_proof(region, u)
                proofs.append(region.unit * u)
                r_i = -region.sign * np.append(region.D.T @ u, region.d @ u)
                self.advice_estimate_[k] += r_i / n_rules
            self.advice_proofs_.append(proofs)
            self._weights[k] = np.append(solution.w, solution.b)
        if not self.fit_intercept:
            self.advice_estimate_[:, p] = 0.0
        self._counts = np.zeros((2, len(problems)), dtype=np.int64)
        self.n_rows_seen_ = 0
        return X, self._codes(y)

    def _codes(self, y: NDArray[Any]) -> NDArray[np.intp]:
        if len(y) == 0:
            return np.empty(0, dtype=np.intp)
        # Set operations would dominate the time of small batches.
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unknown = self.classes_[codes] != y
        if unknown.any():
            raise ValueError(
                f"y has the labels {np.unique(y[unknown]).tolist()}, but the classes "
                f"are {self.classes_.tolist()}. Give all labels in the first call: "
                "partial_fit(X, y, classes=[...])."
            )
        return codes

    def _learn(self, X: Any, codes: NDArray[np.intp]) -> None:
        """Pass once over rows and update the attributes, which are in units of X."""
        stream = _compiled_stream()
        shape = (len(self._positives), X.shape[1] + 1)
        if not shape == self._weights.shape == self.advice_estimate_.shape:
            # Compiled code has no bounds checks, and a file may hold any shape.
            raise ValueError(
                f"The weights of this model have shape {self._weights.shape}, but "
                f"{shape} was expected. Fit it anew."
            )
        self._weights, self._counts = self._weights.copy(), self._counts.copy()
        for begin in range(0, len(codes), _BLOCK):
            stream(
                self._weights,
                self.advice_estimate_,
                self._nu,
                self._with_constant(X[begin : begin + _BLOCK]),
                codes[begin : begin + _BLOCK],
                self._positives,
                float(self.learning_rate),
                *self._counts,
            )
        self.n_rows_seen_ += len(codes)
        self.coef_ = self._weights[:, :-1] / self.scale_
        self.intercept_ = -self._weights[:, -1] - self.coef_ @ self.mean_
        mistakes, updates = self._counts.copy()
        one = len(mistakes) == 1
        self.n_mistakes_ = int(mistakes[0]) if one else mistakes
        self.n_advice_updates_ = int(updates[0]) if one else updates

    def _with_constant(self, X: Any) -> Array:
        """Return scaled rows, and the feature -1 of the bias; 0 if there is none."""
        rows = dense(apply_scaling(X, self.mean_, self.scale_))
        constant = np.full((len(rows), 1), -1.0 if self.fit_intercept else 0.0)
        return np.hstack([rows, constant])


@cache
def _compiled_stream() -> Callable[..., None]:
    """Return `_stream`, compiled if numba is installed; the result is the same."""
    try:
        import numba
    except ModuleNotFoundError:
        return _stream
    compiled = numba.njit(_stream)
    # No folder may be writable, and NUMBA_DISABLE_JIT returns the function itself.
    with suppress(RuntimeError, AttributeError):
        compiled.enable_caching()
    return compiled


def _stream(
    weights: Any,
    estimate: Any,
    nu: float,
    X: Any,
    codes: Any,
    positives: Any,
    learning_rate: float,
    n_mistakes: Any,
    n_advice_updates: Any,
) -> None:
    """Update `weights` and both counters in place, row by row and class by class.

    The last column belongs to the constant feature. The sums run in the order of the
    columns, compiled or not.
    """
    n_rows, n_columns = X.shape
    for t in range(n_rows):
        for k in range(len(positives)):
            w, r = weights[k], estimate[k]
            y = 1.0 if codes[t] == positives[k] else -1.0
            value = advised = 0.0
            for j in range(n_columns):
                value += w[j] * X[t, j]
                advised += r[j] * X[t, j]
            mistake = y * value <= 0.0
            step = learning_rate * y if mistake else 0.0
            n_mistakes[k] += mistake
            if nu < 1.0 and nu * y * value + (1.0 - nu) * y * advised <= 0.0:
                n_advice_updates[k] += 1
                for j in range(n_columns):
                    w[j] = nu * (w[j] + step * X[t, j]) + (1.0 - nu) * r[j]
            elif mistake:
                for j in range(n_columns):
                    w[j] += step * X[t, j]


def _separator(Z: Array) -> Array | None:
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


def _evaluate(
    model: Adviceptron, k: int, Z: Array, start: Array, given: Array | None
) -> MistakeBound:
    """Compute the bounds for rows Z = y x of problem k, after a pass over them.

    Any u with a margin gives a bound. Without a given direction, the bounds are
    minimized over u = c (u° + τ r), where u° has the largest margin.
    """
    estimate, nu, rate = model.advice_estimate_[k], model._nu, model.learning_rate
    mistakes, updates = map(int, model._counts[:, k])
    radius = float(np.linalg.norm(Z, axis=1).max(initial=0.0))
    wrong = int(np.sum(Z @ estimate <= 0)) if nu < 1 else 0
    best = _separator(Z) if given is None else given / np.linalg.norm(given)
    pull, size = 1 - nu, float(estimate @ estimate)
    bounds = np.full(3, np.inf)
    for u in () if best is None else _tilted(best, estimate, alone=given is not None):
        g = float((Z @ u).min())
        if g <= 0:
            continue
        # Polynomials in the length c of u, highest power first.
        s = np.array([0.0, 2 * rate * g, -((rate * radius) ** 2)])
        near, far = (np.array([1.0, -2 * u @ r, r @ r]) for r in (start[k], estimate))
        B = _least_ratio(near + pull * updates * far, s)
        along = max(float(u @ estimate), 0.0) ** 2 / size if size else 0.0
        printed = (radius / g) ** 2 * (1 - along) * (1 + pull * max(updates, wrong))
        prior = _least_ratio(near + pull * wrong * far, nu * s - pull * far)
        bounds = np.minimum(bounds, (min(B / nu, B + pull * updates), prior, printed))
    return MistakeBound(
        mistakes=mistakes,
        bound=float(bounds[0]),
        prior_bound=float(bounds[1]),
        printed_bound=float(bounds[2]),
        advice_updates=updates,
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
