"""Knowledge-based support vector machine: rules and rows in one linear classifier.

Fung, Mangasarian & Shavlik, *Knowledge-based support vector machine classifiers*,
NIPS 2002; in the form of Kunapuli, Bennett, Shabbeer, Maclin & Shavlik, *Online
knowledge-based support vector machines*, ECML PKDD 2010.

Primal, for rules ``D_i x <= d_i => z_i`` and rows (x_t, y_t), both signs ±1::

    min  ½‖w‖² + C Σ_t ξ_t + Σ_i μ_i (‖η_i‖₁ + ζ_i)
    s.t. y_t (w·x_t - b) + ξ_t >= 1,         ξ >= 0
         D_iᵀ u_i + z_i w + η_i = 0,         u_i >= 0
         -d_i·u_i - z_i b + ζ_i >= 1,        ζ >= 0

Dual, in which rule i is a point p_i/β_i of its region, wherever it hurts most, that
acts like a row of label z_i::

    min  ½‖Σ_t α_t y_t x_t + Σ_i z_i p_i‖² - Σ α - Σ β
    s.t. Σ α_t y_t + Σ β_i z_i = 0,   0 <= α <= C,   0 <= β_i <= μ_i,
         D_i p_i <= β_i d_i,   |p_ij| <= μ_i

=====  ==================================
C (λ)  ``C``
μ_i    ``advice_weight`` (∞: hard advice)
-b     ``intercept_``
=====  ==================================
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from lupi._optional import optional
from lupi._words import listed
from lupi.advice._implied import conflict, least_value, warn_of_empty
from lupi.advice._linear import LinearAdvisedClassifier
from lupi.advice._problem import AdviceSolution, Region, Rows, solve
from lupi.advice._reading import (
    apply_scaling,
    binary_regions,
    read_classes,
    read_rows,
    read_weights,
    scaling,
)
from lupi.advice._rule import Rule, counted_width, read_advice
from lupi.base import ModelInfo, atomic_fit, check_weight, class_weights

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "KnowledgeBasedSVC.from_advice with names of columns")

# Below this, a region that touches the hyperplane could go either way.
_CLEAR = 1e-8


class KnowledgeBasedSVC(LinearAdvisedClassifier):
    """Linear support vector machine that learns from rules, from rows, or from both.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the slack of a row.
    advice : Rule, str or list of these, default=None
        What is known, such as ``"bmi >= 30 and glucose >= 126 => 1"``, in the units
        of X. Without advice the model is the linear SVM.
    advice_weight : float or sequence of float, default=1.0
        Cost of the slacks of a rule, one number for all or one per rule. ``np.inf``
        makes a rule hard: it holds exactly, or `fit` says which rules contradict each
        other.
    fit_intercept : bool, default=True
        Whether to learn b; the hyperplane passes through the origin otherwise
        (through the mean, if `standardize`).
    standardize : bool or pair (mean, deviation), default=False
        Learn in standardized columns. The rules are transformed along, exactly, and
        `coef_` is in the units of X. Mean and deviation are those of the rows, unless
        they are given. A sparse X is scaled and not centered.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
    classes : array-like, default=None
        Labels beyond those in y: needed where rules speak of a class without rows.
        With no rows at all, the labels of the rules when None.
    tol : float, default=1e-10
        Relative duality gap. Tighter than elsewhere in this library, because whether
        a rule is implied by the hyperplane is a question about its last digits.
    max_iter : int, default=200
        Steps of the interior point.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        w, in the units of X.
    intercept_ : ndarray of shape (1 or n_classes,)
        -b.
    advice_ : list of Rule
        The rules, as they were read.
    advice_satisfied_ : ndarray of bool of shape (n_rules,)
        Whether every point of the region is given the label of the rule. True for an
        empty region.
    advice_violation_ : ndarray of shape (n_rules,)
        How far, in units of `decision_function`, the worst point of the region is on
        the wrong side: 0 when satisfied, ∞ when there is no worst point.
    support_ : ndarray of int
        The rows with a multiplier other than 0 in any of the binary problems.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        y α of these rows.
    objective_, duality_gap_ : ndarray of shape (1 or n_classes,)
        The primal value as printed above, in the standardized columns if
        `standardize`, and its distance to the dual value.
    n_iter_, converged_ : ndarray of shape (1 or n_classes,)
        Steps, and whether `tol` was reached.
    mean_, scale_ : ndarray of shape (n_features,)
        What `standardize` subtracted and divided by.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the columns, if X has any.

    See Also
    --------
    Adviceptron : Rules and a stream of rows.
    Rule : How rules are written.

    Notes
    -----
    With more than two classes there is one problem per class, against the rest, and a
    rule for class c says "not k" to every other problem k. `advice_satisfied_` is
    about the prediction, the largest of the decision values.

    A rule pulls the weights of the columns that it does not mention towards 0: they
    would lead out of any half-space. That is the price of advice on few columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from lupi.advice import KnowledgeBasedSVC
    >>> X = pd.DataFrame({"bmi": [22.0, 24, 33, 36], "glucose": [90.0, 99, 90, 150]})
    >>> y = ["no", "no", "no", "yes"]
    >>> rules = [
    ...     "bmi >= 30 and glucose >= 126 => yes",
    ...     "bmi <= 25 and glucose <= 100 => no",
    ... ]
    >>> model = KnowledgeBasedSVC(advice=rules, standardize=True).fit(X, y)
    >>> model.advice_satisfied_
    array([ True,  True])
    >>> model = KnowledgeBasedSVC.from_advice(rules)
    >>> model.predict(pd.DataFrame({"bmi": [24.0, 35], "glucose": [95.0, 150]}))
    array(['no', 'yes'], dtype='<U3')
    """

    __lupi_info__ = ModelInfo(
        title="Knowledge-based SVM",
        paper="Fung, Mangasarian & Shavlik 2002, NIPS",
        cite="fung2002knowledge,kunapuli2010online",
        helps="they are right for most of their region and rows are few",
        cost="a sparse QP, one point per rule beside the rows",
        tune="`C`, `advice_weight` (0 included)",
        needs="rules",
        rank=60,
    )

    def __init__(
        self,
        C: float = 1.0,
        *,
        advice: Rule | str | Sequence[Rule | str] | None = None,
        advice_weight: float | Sequence[float] = 1.0,
        fit_intercept: bool = True,
        standardize: bool | tuple[ArrayLike, ArrayLike] = False,
        class_weight: dict[Any, float] | str | None = None,
        classes: ArrayLike | None = None,
        tol: float = 1e-10,
        max_iter: int = 200,
    ):
        self.C = C
        self.advice = advice
        self.advice_weight = advice_weight
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.classes = classes
        self.tol = tol
        self.max_iter = max_iter

    @classmethod
    def from_advice(
        cls,
        advice: Rule | str | Sequence[Rule | str],
        *,
        feature_names: Sequence[str] | None = None,
        **params: Any,
    ) -> Self:
        """Learn from rules alone, without any row.

        Parameters
        ----------
        advice : Rule, str or list of these
            The rules.
        feature_names : sequence of str, default=None
            The columns of the data to come; those that the rules mention, in that
            order, when None. Rules on ``x0, x1, …`` make a model for arrays.
        **params
            Parameters of the estimator.

        Returns
        -------
        model : KnowledgeBasedSVC
            Fitted.
        """
        model = cls(advice=advice, **params)
        if feature_names is None:
            names = [column for rule in read_advice(advice) for column in rule.names]
            if (width := counted_width(names)) is not None:
                return model.fit(np.empty((0, width)), [])
            feature_names = list(dict.fromkeys(names))
        table = pd.DataFrame(columns=list(feature_names), dtype=np.float64)
        return model.fit(table, [])

    @atomic_fit
    def fit(self, X: Any, y: Any, *, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rules and the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; none at all (a table of no rows, with its columns) to learn from
            advice alone.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C per row.

        Returns
        -------
        self : KnowledgeBasedSVC
            Fitted.
        """
        self._check_parameters()
        rules = read_advice(self.advice)
        X, y = read_rows(self, X, y, reset=True, without_rows=bool(rules))
        weight = np.empty(0)
        if X.shape[0]:
            weight = check_weight(sample_weight, X.shape[0], self)
        counted = np.flatnonzero(weight > 0)
        name = type(self).__name__
        self.classes_ = read_classes(y[counted], self.classes, rules, name)
        mean, scale = scaling(X[counted], self.standardize, weight[counted])
        problems = binary_regions(
            rules,
            read_weights(self.advice_weight, rules),
            self.classes_,
            getattr(self, "feature_names_in_", None),
            X.shape[1],
        )
        problems = [[r.scaled(mean, scale) for r in regions] for regions in problems]
        self._check_regions(rules, problems, len(counted))
        cost = self._costs(y[counted], weight[counted])
        rows = apply_scaling(X[counted], mean, scale)
        solutions = [
            self._fit_binary(Rows(rows, sign, cost), regions)
            for sign, regions in zip(self._signs(y[counted]), problems, strict=True)
        ]
        self.advice_ = rules
        self.mean_, self.scale_ = mean, scale
        self._keep(solutions, counted)
        self._judge(problems, solutions)
        return self

    # -- the parts of fit, in order -------------------------------------------------

    def _check_parameters(self) -> None:
        for name in ("C", "tol", "max_iter"):
            value = getattr(self, name)
            if not 0 < value < np.inf:
                raise ValueError(f"{name} must be positive and finite, but is {value}.")

    def _check_regions(
        self, rules: list[Rule], problems: list[list[Region]], n_rows: int
    ) -> None:
        regions = problems[0]
        warn_of_empty(rules, regions)
        one_sided = len({region.sign for region in regions}) == 1
        if n_rows == 0 and self.fit_intercept and one_sided and len(problems) == 1:
            warnings.warn(
                "All rules conclude the same class and there are no rows: a model that "
                "always predicts this class satisfies them. Add a rule for the other "
                "class, or rows, or set fit_intercept=False.",
                UserWarning,
                stacklevel=3,
            )
        for regions in problems:
            hard = [i for i, region in enumerate(regions) if region.hard]
            culprits = conflict([regions[i] for i in hard], self.fit_intercept)
            if culprits:
                titles = [repr(rules[hard[i]].title) for i in culprits]
                raise ValueError(_conflict_message(titles, self.fit_intercept))

    def _costs(
        self, y: NDArray[Any], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        codes = np.searchsorted(self.classes_, y) if len(y) else np.empty(0, int)
        present, positions = np.unique(codes, return_inverse=True)
        factors = class_weights(
            self.class_weight, self.classes_[present], positions, weight
        )
        return self.C * weight * factors[positions]

    def _signs(self, y: NDArray[Any]) -> list[NDArray[np.float64]]:
        positives = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return [np.where(y == positive, 1.0, -1.0) for positive in positives]

    def _fit_binary(self, rows: Rows, regions: list[Region]) -> AdviceSolution:
        regions = [region for region in regions if region.weight > 0]
        solution = solve(
            rows,
            regions,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if not solution.converged:
            warnings.warn(
                f"{type(self).__name__} did not reach tol={self.tol} in "
                f"{solution.n_iter} steps; the best hyperplane so far is kept. Set "
                "standardize=True, lower C or advice_weight, or raise tol or max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def _keep(self, solutions: list[AdviceSolution], counted: NDArray[np.intp]) -> None:
        self.coef_ = np.array([s.w / self.scale_ for s in solutions])
        self.intercept_ = -np.array([s.b for s in solutions]) - self.coef_ @ self.mean_
        alpha = np.array([s.alpha for s in solutions])
        used = np.abs(alpha).max(axis=0, initial=0.0) > _CLEAR * alpha.max(initial=0.0)
        self.support_, self.dual_coef_ = counted[used], alpha[:, used]
        self.objective_ = np.array([s.value for s in solutions])
        self.duality_gap_ = np.array([abs(s.value - s.dual_value) for s in solutions])
        self.n_iter_ = np.array([s.n_iter for s in solutions])
        self.converged_ = np.array([s.converged for s in solutions])

    def _judge(
        self, problems: list[list[Region]], solutions: list[AdviceSolution]
    ) -> None:
        """Find the least advantage of the label of each rule on its region."""
        margins = np.full(len(self.advice_), np.inf)
        for i in range(len(margins)):
            for region, w, b in _contests(i, problems, solutions):
                margins[i] = min(margins[i], least_value(region, w, b))
        self.advice_satisfied_ = margins > _CLEAR
        self.advice_violation_ = np.where(
            self.advice_satisfied_, 0.0, np.maximum(-margins, 0.0)
        )


def _contests(
    i: int, problems: list[list[Region]], solutions: list[AdviceSolution]
) -> list[tuple[Region, NDArray[np.float64], float]]:
    """All w·x - b that must be positive for rule i: over each other class."""
    regions = [regions[i] for regions in problems]
    if len(problems) == 1:
        sign = regions[0].sign
        return [(regions[0], sign * solutions[0].w, sign * solutions[0].b)]
    winner = next(k for k, region in enumerate(regions) if region.sign > 0)
    first = solutions[winner]
    return [
        (regions[k], first.w - other.w, first.b - other.b)
        for k, other in enumerate(solutions)
        if k != winner
    ]


def _conflict_message(titles: list[str], fit_intercept: bool) -> str:
    if len(titles) > 1:
        return (
            f"The hard rules {listed(titles)} contradict each other: no hyperplane "
            "keeps a distance from all of their regions on the right side. Give one of "
            "them a finite advice_weight, or correct it."
        )
    where = "" if fit_intercept else " through the origin (fit_intercept=False)"
    return (
        f"The hard rule {titles[0]} cannot hold: no hyperplane{where} keeps a distance "
        "from its region on the right side. Give it a finite advice_weight, or correct "
        "it."
    )
