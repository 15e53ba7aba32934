"""Knowledge-based support vector machine: rules and rows in one linear classifier.

Fung, Mangasarian & Shavlik, *Knowledge-based support vector machine classifiers*,
NIPS 2002; in the form of Kunapuli, Bennett, Shabbeer, Maclin & Shavlik, *Online
knowledge-based support vector machines*, ECML PKDD 2010.

Primal, for rules ``D_i x <= d_i => z_i`` and rows (x_t, y_t), both signs ±1::

    min  ½‖w‖² + C Σ_t ξ_t + Σ_i μ_i (‖η_i‖₁ + ζ_i)
    s.t. y_t (w·x_t - b) + ξ_t >= 1,         ξ >= 0
         D_iᵀ u_i + z_i w + η_i = 0,         u_i >= 0
         -d_i·u_i - z_i b + ζ_i >= 1,        ζ >= 0

Dual, in which rule i acts like a row with label z_i at p_i/β_i, the point of its region
with the largest violation::

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
from dataclasses import field
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from lupi._optional import optional
from lupi._parameters import ClassWeight, Count, Number, Positive, parameters
from lupi._words import listed
from lupi.advice._linear import (
    Advice,
    LinearAdvisedClassifier,
    Standardize,
    apply_scaling,
    warn_of_empty,
)
from lupi.advice._problem import (
    AdviceSolution,
    LabelledRows,
    Region,
    conflict,
    least_value,
    solve,
)
from lupi.advice._rule import Rule, numbered_width, read_advice
from lupi.base import ModelInfo, atomic_fit, check_weight, class_weights

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = optional("pandas", "KnowledgeBasedSVC.from_advice with names of columns")

# Margins and relative multipliers below this are zero up to the accuracy of the solver.
_NEGLIGIBLE = 1e-8

# An infinite weight makes a rule hard; there may be one weight per rule.
AdviceWeights = Annotated[Any, Number(Real, 0, None, "both"), tuple, list, np.ndarray]


@parameters
class KnowledgeBasedSVC(LinearAdvisedClassifier):
    """Linear support vector machine that learns from rules, from rows, or from both.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the slack of a row.
    advice : Rule, str or list of these, default=None
        Rules such as ``"bmi >= 30 and glucose >= 126 => 1"``, in the units of X.
        Without advice the model is the linear SVM.
    advice_weight : float or sequence of float, default=1.0
        Cost of the slacks of a rule, one number for all or one per rule. ``np.inf``
        makes a rule hard: it holds exactly, or `fit` raises an error that names the
        rules that contradict each other.
    fit_intercept : bool, default=True
        Whether to learn b; the hyperplane passes through the origin otherwise
        (through the mean, if `standardize`).
    standardize : bool or pair (mean, deviation), default=False
        Whether to learn in standardized columns. The rules are transformed in the same
        way, and `coef_` is in the units of X. True takes mean and deviation from the
        rows. A sparse X is scaled and not centered.
    class_weight : dict or "balanced", default=None
        Factors of C per class.
    classes : array-like, default=None
        Labels in addition to those in y: required if a rule concludes a class without
        rows. Without any rows, None takes the labels of the rules.
    tol : float, default=1e-10
        Relative duality gap at which to stop. It is smaller than that of the other
        models because the last digits of the hyperplane decide whether it implies a
        rule.
    max_iter : int, default=200
        Limit on the iterations of the interior-point method.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (1 or n_classes, n_features)
        w, in the units of X.
    intercept_ : ndarray of shape (1 or n_classes,)
        -b.
    advice_ : list of Rule
        The rules.
    advice_satisfied_ : ndarray of bool of shape (n_rules,)
        Whether the model predicts the label of the rule in its whole region. True for
        an empty region.
    advice_violation_ : ndarray of shape (n_rules,)
        Largest violation in the region, in units of `decision_function`: 0 if
        satisfied, ∞ if it is unbounded.
    support_ : ndarray of int
        The rows with a nonzero multiplier in any of the binary problems.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        y α of these rows.
    objective_, duality_gap_ : ndarray of shape (1 or n_classes,)
        The primal value, in the standardized columns if `standardize`, and its
        distance to the dual value.
    n_iter_, converged_ : ndarray of shape (1 or n_classes,)
        Iterations, and whether `tol` was reached.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and deviation of `standardize`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if X has names.

    See Also
    --------
    Adviceptron : Learns from rules and a stream of rows.
    Rule : The syntax of rules.

    Notes
    -----
    With more than two classes there is one problem per class, against the rest. A rule
    for class c is advice for "not k" in the problem of every other class k.
    `advice_satisfied_` refers to the prediction, the largest of the decision values.

    A rule shrinks the weights of the columns that it does not mention, because its
    region is unbounded in their directions. This is a cost of rules on few columns.

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

    C: Positive = field(default=1.0, kw_only=False)
    advice: Advice = None
    advice_weight: AdviceWeights = 1.0
    fit_intercept: bool = True
    standardize: Standardize = False
    class_weight: ClassWeight = None
    classes: Annotated[ArrayLike, "array-like"] | None = None
    tol: Positive = 1e-10
    max_iter: Count = 200

    __lupi_info__ = ModelInfo(
        title="Knowledge-based SVM",
        paper="Fung, Mangasarian & Shavlik 2002, NIPS",
        cite="fung2002knowledge,kunapuli2010online",
        helps="they are right for most of their region and rows are few",
        cost="a sparse QP, with one point per rule and per row",
        tune="`C`, `advice_weight` (including 0)",
        needs="rules",
        rank=60,
    )

    @classmethod
    def from_advice(
        cls,
        advice: Advice,
        *,
        feature_names: Sequence[str] | None = None,
        **params: Any,
    ) -> Self:
        """Fit a model to rules, without any row.

        Parameters
        ----------
        advice : Rule, str or list of these
            The rules.
        feature_names : sequence of str, default=None
            The columns of the data to predict; None takes those that the rules
            mention, in that order. Rules on ``x0, x1, …`` give a model for arrays.
        **params
            Parameters of the estimator.

        Returns
        -------
        model : KnowledgeBasedSVC
            The fitted estimator.
        """
        model = cls(advice=advice, **params)
        if feature_names is None:
            names = [column for rule in read_advice(advice) for column in rule.names]
            if (width := numbered_width(names)) is not None:
                return model.fit(np.empty((0, width)), [])
            feature_names = list(dict.fromkeys(names))
        table = pd.DataFrame(columns=list(feature_names), dtype=np.float64)
        return model.fit(table, [])

    @atomic_fit
    def fit(self, X: Any, y: Any, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to the rules and the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows. With advice, a table without rows is accepted.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C per row.

        Returns
        -------
        self : KnowledgeBasedSVC
            The fitted estimator.
        """
        rules = read_advice(self.advice)
        X, y = self._read_rows(X, y, reset=True, without_rows=bool(rules))
        weight = np.empty(0)
        if X.shape[0]:
            weight = check_weight(sample_weight, X.shape[0], self)
        counted = np.flatnonzero(weight > 0)
        X, y, weight = X[counted], y[counted], weight[counted]
        problems = self._read_problems(X, y, self.classes, rules, weight)
        self._check_regions(rules, problems, len(counted))
        codes = np.searchsorted(self.classes_, y) if len(y) else np.empty(0, int)
        present, position = np.unique(codes, return_inverse=True)
        factor = class_weights(
            self.class_weight, self.classes_[present], position, weight
        )
        cost = self.C * weight * factor[position]
        X = apply_scaling(X, self.mean_, self.scale_)
        solutions = []
        for positive, regions in zip(self._positives, problems, strict=True):
            sign = np.where(y == self.classes_[positive], 1.0, -1.0)
            solution = solve(
                LabelledRows(X, sign, cost),
                [region for region in regions if region.weight > 0],
                fit_intercept=self.fit_intercept,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            if not solution.converged:
                warnings.warn(
                    f"{type(self).__name__} did not reach tol={self.tol} in "
                    f"{solution.n_iter} iterations; the best iterate is kept. Set "
                    "standardize=True, lower C or advice_weight, or raise tol or "
                    "max_iter.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            solutions.append(solution)
        self.advice_ = rules
        self._set_attributes(problems, solutions, counted)
        return self

    def _check_regions(
        self, rules: list[Rule], problems: list[list[Region]], n_rows: int
    ) -> None:
        regions = problems[0]
        warn_of_empty(rules, regions)
        one_sided = len({region.sign for region in regions}) == 1
        if n_rows == 0 and self.fit_intercept and one_sided and len(problems) == 1:
            warnings.warn(
                "All rules conclude the same class and there are no rows, so that the "
                "model always predicts this class. Add a rule for the other class, or "
                "rows, or set fit_intercept=False.",
                UserWarning,
                stacklevel=3,
            )
        for regions in problems:
            hard = [i for i, region in enumerate(regions) if region.hard]
            conflicting = conflict([regions[i] for i in hard], self.fit_intercept)
            titles = [repr(rules[hard[i]].title) for i in conflicting]
            if len(titles) > 1:
                raise ValueError(
                    f"The hard rules {listed(titles)} contradict each other: no "
                    "hyperplane has all of their regions on the correct side. Give one "
                    "of them a finite advice_weight, or correct it."
                )
            if titles:
                origin = " through the origin (fit_intercept=False)"
                raise ValueError(
                    f"The hard rule {titles[0]} cannot hold: no hyperplane"
                    f"{'' if self.fit_intercept else origin} has its region on the "
                    "correct side. Give it a finite advice_weight, or correct it."
                )

    def _set_attributes(
        self,
        problems: list[list[Region]],
        solutions: list[AdviceSolution],
        counted: NDArray[np.intp],
    ) -> None:
        self.coef_ = np.array([s.w / self.scale_ for s in solutions])
        self.intercept_ = -np.array([s.b for s in solutions]) - self.coef_ @ self.mean_
        alpha = np.array([s.alpha for s in solutions])
        smallest = _NEGLIGIBLE * alpha.max(initial=0.0)
        used = np.abs(alpha).max(axis=0, initial=0.0) > smallest
        self.support_, self.dual_coef_ = counted[used], alpha[:, used]
        self.objective_ = np.array([s.value for s in solutions])
        self.duality_gap_ = np.array([abs(s.value - s.dual_value) for s in solutions])
        self.n_iter_ = np.array([s.n_iter for s in solutions])
        self.converged_ = np.array([s.converged for s in solutions])
        # A rule holds where w·x - b of its class exceeds that of every other class.
        margins = np.full(len(self.advice_), np.inf)
        for i in range(len(margins)):
            signs = [regions[i].sign for regions in problems]
            label = int(np.argmax(signs))
            for k, other in enumerate(solutions):
                w, b = signs[0] * other.w, signs[0] * other.b
                if len(problems) > 1:
                    first = solutions[label]
                    w, b = first.w - other.w, first.b - other.b
                if len(problems) == 1 or k != label:
                    least = least_value(problems[k][i], w, b)
                    margins[i] = min(margins[i], least)
        self.advice_satisfied_ = margins > _NEGLIGIBLE
        self.advice_violation_ = np.where(
            self.advice_satisfied_, 0.0, np.maximum(-margins, 0.0)
        )
