"""The Adviceptron: a perceptron that learns from rules and a stream of rows.

Kunapuli, Bennett, Shabbeer, Maclin & Shavlik, *Online knowledge-based support vector
machines*, ECML PKDD 2010, and *The Adviceptron: giving advice to the perceptron*,
ANNIE 2010.

Before any row, m rules ``D_i x <= d_i => z_i`` are turned into proofs u_i and a first
hypothesis w_1 by::

    min  ½‖w‖² + μ Σ_i (½‖η_i‖² + ζ_i)
    s.t. D_iᵀ u_i + z_i w + η_i = 0,   -d_i·u_i - z_i b + ζ_i >= 1,   u_i, ζ_i >= 0.

(The source prints 0 in place of 1, and then w = b = u = 0 is optimal.) With::

    r = mean of r_i = -z_i D_iᵀ u_i,        ν = 1/(1 + mμ),

each row (x, y) is a mistake, σ = 1, if y w·x <= 0, and σ = 0 otherwise; then::

    w ← ν (w + λσ y x) + (1-ν) r     if y (ν w + (1-ν) r)·x <= 0   (advice update)
    w ← w + λσ y x                   otherwise.

Without rules ν = 1, r = 0, w_1 = 0: the perceptron. The minimum has w_1 = (1-ν) r.

The source has no bias. ``fit_intercept`` adds one as the weight b of a constant feature
-1, advised through b_i = -z_i d_i·u_i; ½b² then joins ½‖w‖², as the weight of any other
feature does. Without it the rules are read with b = 0.

=======  =================
μ        ``advice_weight``
λ        ``learning_rate``
=======  =================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from lupi.advice._bound import MistakeBound, evaluate
from lupi.advice._implied import tightest, warn_of_empty
from lupi.advice._linear import LinearAdvisedClassifier
from lupi.advice._problem import Region, Rows, solve
from lupi.advice._reading import (
    apply_scaling,
    binary_regions,
    read_classes,
    read_rows,
    read_weights,
    scaling,
)
from lupi.advice._rule import Rule, read_advice
from lupi.advice._stream import compiled_stream
from lupi.base import ModelInfo, atomic_fit

__all__ = ["Adviceptron"]

# Rows of a sparse matrix that are made dense at a time.
_BLOCK = 1024


class Adviceptron(LinearAdvisedClassifier):
    """Perceptron that learns from rules and a stream of rows.

    Parameters
    ----------
    advice : Rule, str or list of these, default=None
        What is known, such as ``"bmi >= 30 and glucose >= 126 => 1"``, in the units
        of X. Without advice this is the perceptron.
    advice_weight : float, default=0.001
        How much the rules count against the rows (μ); 0 ignores them.
    learning_rate : float, default=1.0
        How much a mistake changes the weights (λ).
    fit_intercept : bool, default=True
        Whether to learn a bias.
    standardize : bool or pair (mean, deviation), default=False
        Learn in standardized columns. The rules are transformed along, exactly, and
        `coef_` is in the units of X. Mean and deviation are those of the rows of
        `fit`, or of the first call of `partial_fit`, unless they are given. A sparse
        X is scaled and not centered.
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
        Rows that were on the wrong side when they came.
    n_advice_updates_ : int or ndarray of shape (n_classes,)
        Rows after which the weights moved towards the advice.
    n_rows_seen_ : int
        Rows so far.
    advice_ : list of Rule
        The rules, as they were read, less those of empty regions.
    advice_estimate_ : ndarray of shape (1 or n_classes, n_features + 1)
        r and, last, the mean of b_i, in the columns that the updates work in.
    advice_proofs_ : list of list of ndarray
        u_i of each rule, for each binary problem; where the problem leaves a choice,
        the one with the least d_i·u_i, which puts b_i at the edge of the region.
    mean_, scale_ : ndarray of shape (n_features,)
        What `standardize` subtracted and divided by.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the columns, if X has any.

    See Also
    --------
    KnowledgeBasedSVC : Rules and a set of rows.
    Rule : How rules are written.

    Notes
    -----
    With more than two classes there is one perceptron per class, against the rest, and
    a rule for class c says "not k" to every other perceptron k.

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

    __lupi_info__ = ModelInfo(
        title="Adviceptron",
        paper="Kunapuli et al. 2010, ECML",
        cite="kunapuli2010online",
        helps="the same, for rows that come one by one",
        cost="a few products per row",
        tune="`advice_weight` against `learning_rate`",
        needs="rules",
        rank=61,
    )

    def __init__(
        self,
        *,
        advice: Rule | str | Sequence[Rule | str] | None = None,
        advice_weight: float = 0.001,
        learning_rate: float = 1.0,
        fit_intercept: bool = True,
        standardize: bool | tuple[ArrayLike, ArrayLike] = False,
        n_epochs: int = 1,
    ):
        self.advice = advice
        self.advice_weight = advice_weight
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_epochs = n_epochs

    @atomic_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Start anew from the advice and pass `n_epochs` times over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; none at all (a table of no rows, with its columns) to start from
            advice alone.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : Adviceptron
            Fitted.
        """
        if not self.n_epochs >= 1:
            raise ValueError(f"n_epochs must be 1 or more, but is {self.n_epochs}.")
        X, codes = self._begin(X, y, None)
        for _ in range(int(self.n_epochs)):
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
            All labels that will come; needed in the first call unless all of them
            are in `y`.

        Returns
        -------
        self : Adviceptron
            Fitted.
        """
        if hasattr(self, "classes_"):
            X, y = read_rows(self, X, y, reset=False, without_rows=bool(self.advice_))
            if classes is not None and not np.array_equal(
                np.unique(classes), self.classes_
            ):
                raise ValueError(
                    f"classes was {self.classes_.tolist()} in the first call of "
                    f"partial_fit, but is {np.asarray(classes).tolist()} now. Give the "
                    "same labels, or none."
                )
            self._learn(X, self._codes(y))
        else:
            X, codes = self._begin(X, y, classes)
            self._learn(X, codes)
        return self

    def mistake_bound(
        self, X: Any, y: Any, separator: ArrayLike | None = None
    ) -> MistakeBound | list[MistakeBound]:
        """Compute both sides of the mistake bound on a sequence of rows.

        The sequence is gone through once, from the start; the model itself does not
        change and need not be fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, in order.
        y : array-like of shape (n_samples,)
            Labels.
        separator : array-like of shape (n_features [+ 1],), default=None
            For two classes, any hyperplane with a margin on the rows (in
            standardized columns if `standardize`; last, with `fit_intercept`, the
            weight of the constant -1). The one of largest margin when None.

        Returns
        -------
        bound : MistakeBound or list of MistakeBound
            One for each class when there are more than two.

        Notes
        -----
        The bound and its proof are in `lupi.advice._bound` and in the user guide. It
        holds for every sequence with a margin; that of the source does not.
        """
        model = clone(self)
        X, codes = model._begin(X, y, None)
        start = model._weights.copy()
        model._learn(X, codes)
        rows = apply_scaling(X, model.mean_, model.scale_)
        rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        bias = np.full((len(rows), 1), -1.0 if self.fit_intercept else 0.0)
        rows = np.hstack([rows, bias])
        if separator is not None:
            separator = np.asarray(separator, dtype=np.float64)
            p = rows.shape[1] - 1
            if separator.shape not in ((p,), (p + 1,)) or not separator.any():
                raise ValueError(
                    f"separator must be {p} numbers, or {p + 1} with the weight of the "
                    f"constant -1, not all 0, but has shape {separator.shape}."
                )
            separator = np.append(separator, np.zeros(p + 1 - len(separator)))
        bounds = [
            evaluate(
                rows * np.where(codes == positive, 1.0, -1.0)[:, None],
                start[k],
                model.advice_estimate_[k],
                model._nu,
                self.learning_rate,
                int(model._counts[0, k]),
                int(model._counts[1, k]),
                separator,
            )
            for k, positive in enumerate(model._positives)
        ]
        return bounds[0] if len(bounds) == 1 else bounds

    # -- the parts, in order --------------------------------------------------------

    def _begin(
        self, X: Any, y: Any, classes: ArrayLike | None
    ) -> tuple[Any, NDArray[np.intp]]:
        """Read everything and set out from the advice."""
        if not 0 < self.learning_rate < np.inf:
            raise ValueError(
                "learning_rate must be positive and finite, but is "
                f"{self.learning_rate}."
            )
        rules = read_advice(self.advice)
        X, y = read_rows(self, X, y, reset=True, without_rows=bool(rules))
        weights = self._rule_weights(rules)
        self.classes_ = read_classes(y, classes, rules, type(self).__name__)
        self.mean_, self.scale_ = scaling(X, self.standardize)
        names = getattr(self, "feature_names_in_", None)
        problems = binary_regions(rules, weights, self.classes_, names, X.shape[1])
        problems = [[r.scaled(self.mean_, self.scale_) for r in p] for p in problems]
        # An empty region would leave its u, and with it b_i, without any limit.
        kept = warn_of_empty(rules, problems[0])
        self.advice_ = [rules[i] for i in kept]
        self._take_advice([[regions[i] for i in kept] for regions in problems])
        self._counts = np.zeros((2, len(problems)), dtype=np.int64)
        self.n_rows_seen_ = 0
        self._show()
        return X, self._codes(y)

    def _rule_weights(self, rules: list[Rule]) -> NDArray[np.float64]:
        if not (np.ndim(self.advice_weight) == 0 and self.advice_weight < np.inf):
            raise ValueError(
                "advice_weight must be one finite number for the Adviceptron, but is "
                f"{self.advice_weight!r}. KnowledgeBasedSVC takes one per rule."
            )
        return read_weights(self.advice_weight, rules)

    def _take_advice(self, problems: list[list[Region]]) -> None:
        n_rules, p = len(problems[0]), len(self.mean_)
        self._nu = 1 / (1 + n_rules * self.advice_weight)
        self._weights = np.zeros((len(problems), p + 1))
        self.advice_estimate_ = np.zeros_like(self._weights)
        self.advice_proofs_ = []
        if self._nu == 1:
            return
        for k, regions in enumerate(problems):
            solution = solve(
                Rows.none(p),
                regions,
                squared=True,
                fit_intercept=self.fit_intercept,
                penalize_intercept=True,
            )
            parts = zip(regions, solution.proofs, strict=True)
            proofs = [tightest(region, u) for region, u in parts]
            self.advice_proofs_.append(
                [region.unit * u for region, u in zip(regions, proofs, strict=True)]
            )
            for region, u in zip(regions, proofs, strict=True):
                r_i = -region.sign * np.append(region.D.T @ u, region.d @ u)
                self.advice_estimate_[k] += r_i / n_rules
            self._weights[k] = np.append(solution.w, solution.b)
        if not self.fit_intercept:
            self.advice_estimate_[:, p] = 0.0

    @property
    def _positives(self) -> NDArray[np.int64]:
        n_classes = len(self.classes_)
        return np.array([1]) if n_classes == 2 else np.arange(n_classes)

    def _codes(self, y: NDArray[Any]) -> NDArray[np.intp]:
        if len(y) == 0:
            return np.empty(0, dtype=np.intp)
        # Quicker than set operations, which would dominate small batches.
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unknown = self.classes_[codes] != y
        if unknown.any():
            raise ValueError(
                f"y has the labels {np.unique(y[unknown]).tolist()}, but the classes "
                f"are {self.classes_.tolist()}. Announce all labels in the first call: "
                "partial_fit(X, y, classes=[...])."
            )
        return codes

    def _learn(self, X: Any, codes: NDArray[np.intp]) -> None:
        stream = compiled_stream()
        shape = (len(self._positives), X.shape[1] + 1)
        if not shape == self._weights.shape == self.advice_estimate_.shape:
            # Compiled code does not check; a model from a file could be anything.
            raise ValueError(
                f"The weights of this model have shape {self._weights.shape}, but "
                f"{shape} was expected. Fit it anew."
            )
        weights, counts = self._weights.copy(), self._counts.copy()
        dense = isinstance(X, np.ndarray)
        size = max(len(codes), 1) if dense else _BLOCK
        for begin in range(0, len(codes), size):
            block = X[begin : begin + size]
            block = apply_scaling(block, self.mean_, self.scale_)
            stream(
                weights,
                self.advice_estimate_,
                self._nu,
                np.ascontiguousarray(block if dense else block.toarray()),
                codes[begin : begin + size],
                self._positives,
                float(self.learning_rate),
                bool(self.fit_intercept),
                *counts,
            )
        self._weights, self._counts = weights, counts
        self.n_rows_seen_ += len(codes)
        self._show()

    def _show(self) -> None:
        """Bring the public attributes up to date, in the units of X."""
        self.coef_ = self._weights[:, :-1] / self.scale_
        self.intercept_ = -self._weights[:, -1] - self.coef_ @ self.mean_
        mistakes, updates = self._counts.copy()
        one = len(mistakes) == 1
        self.n_mistakes_ = int(mistakes[0]) if one else mistakes
        self.n_advice_updates_ = int(updates[0]) if one else updates
