"""Iterative privileged learning: boosted trees with comments from X*.

X. Li, B. Du, Y. Zhang, C. Xu, D. Tao: Iterative Privileged Learning. IEEE Transactions
on Neural Networks and Learning Systems, 2018.

Boosting adds trees, G ← G + β h. In round t the tree is fitted to the residuals
r_i = y_i − G(x_i), together with a linear function of X*, the comment w·x*_i, which
models the part of the residual that the tree cannot explain::

    min_{h, w}  Σ (h(x_i) − r_i)² + C1 Σ (h(x_i) − r_i − w·x*_i)² + C2 Σ (w·x*_i)²

The minimization alternates, starting from the w of the last round (the first one is
uniform in (0, 1))::

    h ← CART on the targets r_i + C1/(C1+1) w·x*_i                          (10)
    w ← C1/(C1+C2) · A X*ᵀ(X*X*ᵀ)⁺,   A_i = h(x_i) − r_i                    (12)

Sparse IPL stores the projections of the first η rounds as columns of D; afterwards
w = Dv, and n C2 ‖v‖₁ replaces C2 Σ (w·x*_i)²: v is a lasso with λ = C2 / (2 C1). The
paper prints the lasso without λ.

==========  ======================================================================
symbol      name
==========  ======================================================================
N, β, k, s  ``n_estimators``, ``learning_rate``, ``max_depth``, ``max_features``
C1, C2, η   ``privileged_weight``, ``privileged_reg``, ``n_atoms``
==========  ======================================================================

Sample weights s multiply every term. A row without X* has comment 0 and is not used to
fit w. Classifiers boost on labels ±1, one-vs-rest for more than two classes.

In code, a round (Algorithm 1, lines 3–9) minimizes alternately over the new tree h and
the comment c::

    Σ s (h − r)² + C1 Σ s (h − r − c)² + penalty(c)

The comment step minimizes, with e = h − r the error of the tree, C1 Σ s_i (e_i − c_i)²
+ penalty(c):

- `LinearComments`: c = w·x*, penalty C2 Σ s_i c_i² (IPL)
- `AtomComments`: c = v·x̃ on the first projections, penalty C2 Σs ‖v‖₁ (sparse IPL)
- `RegressorComments`: any scikit-learn regressor on X*, penalty C2 Σ s_i c_i²

Without X*, a round fits one tree to the residuals r.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from scipy import linalg
from scipy.stats import loguniform
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from lupi._parameters import (
    ClassWeight,
    Count,
    Instance,
    NotNegative,
    Number,
    parameters,
)
from lupi.base import (
    ModelInfo,
    PrivilegedTags,
    Training,
)
from lupi.base._estimator import TargetRegressor
from lupi.base._metadata import seeded
from lupi.base._rows import dense
from lupi.boosting._boosted_trees import (
    TREE_SPACE,
    Boosted,
    BoostedTrees,
    BoostedTreesClassifier,
    LogLoss,
)
from lupi.boosting._engines import (
    CartEnsemble,
    CategoryEncoder,
    Engine,
    GrownTree,
    XGBoostEngine,
    XGBoostEnsemble,
    everywhere,
    import_xgboost,
    is_divided,
    moments,
    stacked,
    total,
)

PartOfRows = Annotated[float, Number(Real, 0, 1, "neither")]
# Declarations that the classifier and the regressor share.
IPL: dict[str, Any] = {
    "title": "Iterative privileged learning",
    "paper": "Li et al. 2018, IEEE TNNLS",
    "cite": "li2018ipl",
    "space": TREE_SPACE,
    "privileged_space": {
        "privileged_weight": loguniform(0.01, 100.0),
        "privileged_reg": loguniform(0.001, 10.0),
    },
}


@dataclass(frozen=True)
class Comment:
    """c_i of all training rows, its penalty, and w, v or the regressor behind it."""

    values: np.ndarray
    penalty: float
    state: Any


class _BaseComments:
    """The rows that have X*, and the two trade-offs C1 and C2."""

    def __init__(
        self,
        table: np.ndarray,
        rows: np.ndarray,
        weight: np.ndarray,
        settings: BaseIPL,
        rng: np.random.RandomState,
    ):
        self.table, self.rng = table, rng
        self.dtype = weight.dtype
        self.n_rows = len(weight)
        self.rows = slice(None) if len(rows) == self.n_rows else rows
        self.auxiliary = settings.auxiliary
        self.C1, self.C2 = settings.privileged_weight, settings.privileged_reg
        # C1 (e − c)² + C2 c² is minimal at c = shrink · e.
        self.shrink = self.C1 / (self.C1 + self.C2) if self.C1 + self.C2 > 0 else 0.0
        self.set_weights(weight)

    def set_weights(self, weight: np.ndarray) -> None:
        """Set the row weights, which second-order losses change in every round."""
        self.weight = weight[self.rows]

    def refresh(self, comment: Comment) -> Comment:
        """Return a comment with its penalty under changed weights."""
        return self._comment(comment.values[self.rows], comment.state)

    def _comment(self, values: np.ndarray, state: Any) -> Comment:
        """Return a comment with given values on the rows that have X*."""
        own = np.sum(self.weight * np.square(values), dtype=np.float64)
        full = np.zeros(self.n_rows, dtype=self.dtype)
        full[self.rows] = values
        return Comment(full, self.C2 * float(total(own)), state)


class LinearComments(_BaseComments):
    """c = w·x*, by least squares through a factorization of X* made once.

    With M = √s ∘ X* = UΣVᵀ, truncated at its rank, the columns of B = X*VΣ⁻¹ satisfy
    BᵀSB = I. Then w = C1/(C1+C2) · VΣ⁻¹BᵀSe and c = Bβ: a pass needs two products and
    no linear system, and X* may have linearly dependent columns.
    """

    def __init__(self, *rows: Any):
        super().__init__(*rows)
        self._to_coef = _whitening(np.sqrt(self.weight)[:, None] * self.table)
        self.basis = np.asfortranarray(self.table @ self._to_coef, dtype=self.dtype)
        self._metric: np.ndarray | None = None

    def set_weights(self, weight: np.ndarray) -> None:
        """Set the row weights, for which B is no longer orthonormal."""
        super().set_weights(weight)
        if hasattr(self, "basis"):
            gram = total(self.basis.T @ (self.weight[:, None] * self.basis))
            self._metric = np.linalg.pinv(gram.astype(np.float64), hermitian=True)

    def start(self, coef: np.ndarray) -> Comment:
        """Return the comment of given w."""
        return self._comment(self.table @ coef, coef)

    def fit(self, error: np.ndarray) -> Comment:
        """Return the optimal comment for the errors e = h − r."""
        beta = total(self.basis.T @ (self.weight * error[self.rows]))
        if self._metric is not None:
            beta = self._metric @ beta
        beta = (self.shrink * beta).astype(self.dtype, copy=False)
        return self._comment(self.basis @ beta, beta)

    def coef(self, comment: Comment) -> np.ndarray:
        """Return the w of a fitted comment."""
        return self._to_coef @ comment.state


class AtomComments(_BaseComments):
    """c = v·x̃ with x̃ = Dᵀx*, D the projections of the first rounds; v by lasso."""

    def __init__(self, dense: LinearComments, atoms: np.ndarray):
        # The rows and parameters are those of the dense rounds.
        self.__dict__.update(dense.__dict__)
        self.atoms = atoms
        self.converged = True
        self._columns = self.table @ atoms
        self._scale_rows()

    def set_weights(self, weight: np.ndarray) -> None:
        """Set the row weights."""
        super().set_weights(weight)
        self._scale_rows()

    def _scale_rows(self) -> None:
        # With this scale, the lasso's 1/(2n) Σ becomes 1/(2Σs) Σ s.
        self._n = int(total(len(self.weight)))
        self._total = float(total(np.sum(self.weight, dtype=np.float64)))
        mean = self._total / self._n
        self._scale = np.sqrt(self.weight / mean, dtype=np.float64)
        self._scaled = self._columns
        if np.any(self._scale != 1):
            self._scaled = np.asfortranarray(self._scale[:, None] * self._columns)
        self._gram = total(self._scaled.T @ self._scaled)

    def refresh(self, comment: Comment) -> Comment:
        """Return a comment with its penalty under changed weights."""
        return self.start(comment.state)

    def start(self, coef: np.ndarray) -> Comment:
        """Return the comment of given v."""
        penalty = self._total * self.C2 * float(np.abs(coef).sum())
        return replace(self._comment(self._columns @ coef, coef), penalty=penalty)

    def fit(self, error: np.ndarray) -> Comment:
        """Return the optimal comment for the errors.

        Successive projections are nearly parallel, so that coordinate descent converges
        slowly; the homotopy method (LARS) is exact after a few steps.
        """
        coef = np.zeros(self.atoms.shape[1])
        threshold = self.C2 / (2 * self.C1) if self.C1 > 0 else np.inf
        own = self._scaled.T @ (self._scale * error[self.rows])
        correlation = total(own) / self._n
        if np.abs(correlation).max() > threshold:
            with warnings.catch_warnings():
                # Convergence is checked below, by the optimality of the result.
                warnings.simplefilter("ignore", ConvergenceWarning)
                _, _, coef = lars_path_gram(
                    self._n * correlation,
                    self._gram,
                    n_samples=self._n,
                    alpha_min=threshold,
                    method="lasso",
                    return_path=False,
                )
            residual = np.abs(correlation - self._gram @ coef / self._n).max()
            self.converged &= bool(residual <= 1.01 * threshold)
        return self.start(coef)

    def coef(self, comment: Comment) -> np.ndarray:
        """Return the w = Dv of a comment."""
        return self.atoms @ comment.state


class RegressorComments(_BaseComments):
    """c = f(x*) with f a scikit-learn regressor, fitted to C1/(C1+C2) · e."""

    def start(self, state: Any) -> Comment:
        """Return the comment of a fitted regressor; zero for None."""
        if state is None:
            return self._comment(np.zeros(len(self.table)), None)
        return self._comment(np.ravel(state.predict(self.table)), state)

    def fit(self, error: np.ndarray) -> Comment:
        """Return the comment of the regressor fitted to the errors."""
        regressor = seeded(self.auxiliary, self.rng)
        target = self.shrink * error[self.rows].astype(np.float64)
        if has_fit_parameter(regressor, "sample_weight"):
            regressor.fit(self.table, target, sample_weight=self.weight)
        elif np.ptp(self.weight) == 0:
            regressor.fit(self.table, target)
        else:
            raise ValueError(
                f"auxiliary={regressor!r} does not take sample_weight in fit, but rows "
                "have different weights here (sample_weight, class_weight or "
                'loss="log_loss"). Choose a regressor that takes sample_weight.'
            )
        return self.start(regressor)

    def coef(self, comment: Comment) -> Any:
        """Return the fitted regressor."""
        return comment.state


Comments = LinearComments | AtomComments | RegressorComments


def _whitening(matrix: np.ndarray) -> np.ndarray:
    """Return VΣ⁻¹ of the singular value decomposition, truncated at the rank."""
    core, n_columns = matrix, matrix.shape[1]
    if matrix.shape[0] > n_columns:
        core = _triangle(matrix)
    if is_divided():
        padded = np.zeros((n_columns, n_columns))
        padded[: len(core)] = core
        core = _triangle(stacked(padded))
    _, singular, vt = linalg.svd(core, full_matrices=False, check_finite=False)
    largest = singular[0] if len(singular) else 0.0
    longest = max(int(total(matrix.shape[0])), n_columns)
    kept = singular > largest * longest * np.finfo(float).eps
    return vt[kept].T / singular[kept]


def _triangle(matrix: np.ndarray) -> np.ndarray:
    """Return the R of the QR decomposition of a matrix with more rows than columns."""
    (core,) = linalg.qr(matrix, mode="r", check_finite=False)
    return core[: matrix.shape[1]]


def _sum_of_squares(values: np.ndarray, weight: np.ndarray | None) -> float:
    squares = np.square(values)
    if weight is not None:
        squares *= weight
    return float(np.sum(squares, dtype=np.float64))


@parameters
class BaseIPL(BoostedTrees):
    """Boosting with comments from X*, for one or several targets."""

    privileged_weight: NotNegative = 1.0
    privileged_reg: NotNegative = 1.0
    n_atoms: Count | None = None
    max_inner_iter: Count = 10
    tol: NotNegative = 1e-4
    auxiliary: Annotated[Any, Instance(["fit", "predict"]), None] = None
    standardize_privileged: bool = True
    n_iter_no_change: Count | None = None
    validation_fraction: PartOfRows | None = 0.1
    early_stopping_tol: NotNegative = 1e-4
    engine: Literal["cart", "xgboost"] = "cart"
    tree_params: Mapping[str, Any] | None = None
    device: str = "cpu"
    n_jobs: int | None = None
    warm_start: bool = False

    loss = "squared_error"

    def _validate_params(self) -> None:
        """Refuse also parameters that contradict each other."""
        super()._validate_params()
        if self.n_atoms is not None and self.auxiliary is not None:
            raise ValueError(
                f"n_atoms={self.n_atoms} (sparse IPL) combines linear functions of X*, "
                f"which auxiliary={self.auxiliary!r} replaces. Set one of the two to "
                "None."
            )
        if self.n_atoms is not None and self.privileged_reg == 0:
            raise ValueError(
                f"n_atoms={self.n_atoms} (sparse IPL) needs privileged_reg above 0, "
                "the weight of the lasso. Set n_atoms=None to fit without a penalty."
            )
        if self.engine == "xgboost":
            import_xgboost()
        elif self.device != "cpu":
            raise ValueError(
                f'device={self.device!r} needs engine="xgboost", but the engine is '
                '"cart", which runs on the CPU only.'
            )

    def _read(
        self, X: Any, y: Any, privileged: Any = None, sample_weight: Any = None
    ) -> Training:
        self._encoder = CategoryEncoder.of(X) if self.engine == "xgboost" else None
        X = X if self._encoder is None else self._encoder.encode(X)
        return super()._read(X, y, privileged, sample_weight)

    def _read_X(self, X: Any) -> Any:
        check_is_fitted(self)
        return super()._read_X(X if self._encoder is None else self._encoder.encode(X))

    def _fit_targets(self, training: Training, targets: list[np.ndarray]) -> None:
        """Fit one boosted model per column of targets and set the attributes."""
        models = getattr(self, "_models", None) if self.warm_start else None
        if models is not None:
            self._check_warm_start(models, len(targets))
            models = deepcopy(models)  # the fitted ones stay if this fit fails
        else:
            types, cart = self._feature_types(), self.engine == "cart"
            models = [
                Boosted(CartEnsemble() if cart else XGBoostEnsemble(types), rng)
                for rng in self._generators(len(targets))
            ]
        train, held_out = np.arange(training.n_rows), None
        if self.n_iter_no_change is not None and self.validation_fraction is not None:
            train, held_out = train_test_split(
                train,
                test_size=self.validation_fraction,
                random_state=self.random_state,
                stratify=training.y if is_classifier(self) else None,
            )
        engine: Engine
        for model, target in zip(models, targets, strict=True):
            rows = replace(training, y=target)
            validation = None if held_out is None else rows.take(held_out)
            part = rows.take(train)
            if self.engine == "cart":
                engine = self._cart(part.X, model.rng, **(self.tree_params or {}))
            else:
                engine = XGBoostEngine(part.X, model.rng, part.weight, self)
            comments: Any = None  # on the rows that have X*
            if part.privileged is not None:
                table, own = dense(part.privileged.values), part.privileged.rows
                if self.standardize_privileged:
                    summary, weight = moments(table, part.weight[own])
                    scaler = StandardScaler().fit(summary, sample_weight=weight)
                    table = scaler.transform(table) if len(table) else table
                kind = LinearComments if self.auxiliary is None else RegressorComments
                weight = part.weight.astype(engine.dtype)
                comments = kind(table, own, weight, self, model.rng)
            self._boost(model, engine, comments, part, validation)
        self._models = models
        self._set_attributes()

    def _feature_types(self) -> list[str] | None:
        return None if self._encoder is None else self._encoder.feature_types()

    def _generators(self, count: int) -> list[np.random.RandomState]:
        """Return one generator per model, all with the same seed."""
        if count == 1:
            return [check_random_state(self.random_state)]
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        return [np.random.RandomState(seed) for _ in range(count)]

    def _check_warm_start(self, models: list[Boosted], n_targets: int) -> None:
        if len(models) != n_targets:
            raise ValueError(
                f"warm_start=True continues {len(models)} boosted models, but y "
                f"needs {n_targets}. Give the same classes, or set warm_start=False."
            )
        width = self.n_privileged_features_in_
        coefs = [model.coefs[-1] for model in models if model.coefs]
        coefs = [coef for coef in coefs if isinstance(coef, np.ndarray)]
        if width and any(len(coef) != width for coef in coefs):
            raise ValueError(
                f"warm_start=True continues a fit with {len(coefs[0])} privileged "
                f"features, but got {width}. Give the same columns, or set "
                "warm_start=False."
            )
        grown = max(len(model.ensemble) for model in models)
        if self.n_estimators < grown:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {grown} rounds that "
                "this model already has. With warm_start=True it can only grow: raise "
                "n_estimators, or set warm_start=False."
            )

    def _alternate(
        self,
        engine: Engine,
        comments: Comments,
        comment: Comment,
        residual: Any,
        weight: Any,
    ) -> tuple[GrownTree, Comment, list[float], int]:
        """Alternate between tree and comment in one round, until convergence.

        A greedy tree is not a minimizer, so that a pass can raise the objective. Such a
        pass is rejected and ends the round.

        Returns the tree and the comment of the last accepted pass, the objective after
        each accepted pass, and the number of trees grown, including a rejected one.
        """
        strength = self.privileged_weight
        share = engine.dtype(strength / (strength + 1.0))

        def objective(error: np.ndarray, comment: Comment) -> float:
            explained = _sum_of_squares(error - comment.values, weight)
            own = _sum_of_squares(error, weight) + strength * explained
            return float(total(own)) + comment.penalty

        best: tuple[GrownTree, Comment] | None = None
        value = np.inf
        trace: list[float] = []
        passes = 0
        while passes < self.max_inner_iter:
            passes += 1
            grown = engine.grow(
                residual + share * comment.values, weight, self.learning_rate
            )
            error = grown.values - residual
            before = objective(error, comment)
            comment = comments.fit(error)
            after = objective(error, comment)
            if after > value:
                break
            # The smaller of the decreases by the whole pass and by its second half.
            gain = min(before, value) - after
            best, value = (grown, comment), after
            trace.append(after)
            if gain <= self.tol * after:
                break
        assert best is not None
        return (*best, trace, passes)

    def _boost(
        self,
        model: Boosted,
        engine: Engine,
        comments: Any,
        rows: Training,
        validation: Training | None,
    ) -> None:
        """Add rounds up to `n_estimators`, or until the loss stops improving.

        `comments` is None without X*. A model with rounds is continued.
        """
        loss, y = self._loss(), rows.y.astype(engine.dtype)
        base_weight = rows.weight.astype(engine.dtype)
        uniform = everywhere(bool(np.all(rows.weight == 1)))
        share = rows.weight.sum() / total(rows.weight.sum())
        raw = model.ensemble.decision(rows.X).astype(engine.dtype)
        if validation is not None:
            raw_validation = model.ensemble.decision(validation.X).astype(engine.dtype)
            validation_rows = model.ensemble.rows(validation.X)
        if comments is not None:
            coef = model.coefs[-1] if model.coefs else None
            if coef is None and isinstance(comments, LinearComments):
                coef = model.rng.uniform(size=comments.table.shape[1])
            comment = comments.start(coef)
        scores: list[float] = []

        for _ in range(len(model.ensemble), self.n_estimators):
            n_dense = self.n_atoms or self.n_estimators  # rounds before sparse ones
            if len(model.coefs) >= n_dense and isinstance(comments, LinearComments):
                if model.atoms is None:
                    model.atoms = np.column_stack(model.coefs[:n_dense])
                    model.sparse_coef = np.eye(n_dense)[-1]
                comments = AtomComments(comments, model.atoms)
                comment = comments.start(model.sparse_coef)
            residual = loss.residual(y, raw)
            weight = None if uniform else base_weight
            if isinstance(loss, LogLoss):
                weight = loss.curvature(raw) * base_weight
                if comments is not None:
                    comments.set_weights(weight)
                    comment = comments.refresh(comment)
            if comments is None:
                grown = engine.grow(residual, weight, self.learning_rate)
                trace = [total(_sum_of_squares(grown.values - residual, weight))]
                passes = 1
            else:
                grown, comment, trace, passes = self._alternate(
                    engine, comments, comment, residual, weight
                )
                model.coefs.append(comments.coef(comment))
            raw = raw + grown.step
            model.ensemble.append(grown.tree, self.learning_rate)
            model.traces.append(np.asarray(trace))
            model.passes.append(passes)
            own = loss.mean(y, raw, rows.weight)
            model.train_scores.append(float(total(share * own)))
            score = model.train_scores[-1]
            if validation is not None:
                raw_validation = raw_validation + model.ensemble.one(
                    grown.tree, self.learning_rate, validation_rows
                )
                score = loss.mean(validation.y, raw_validation, validation.weight)
                model.validation_scores.append(score)
            patience, least = self.n_iter_no_change, score + self.early_stopping_tol
            if patience is not None and len(scores) >= patience:
                better = [one for one in scores[-patience:] if least < one]
                if not better:
                    break
            scores.append(score)
        if isinstance(comments, AtomComments):
            model.sparse_coef = comment.state
            model.lasso_converged &= comments.converged
        model.ensemble.finish()

    def _set_attributes(self) -> None:
        models = self._models
        each: dict[str, list[Any]] = {
            "objective_trace_": [model.traces for model in models],
            "inner_iterations_": [np.array(model.passes) for model in models],
            "train_score_": [np.array(model.train_scores) for model in models],
            "n_estimators_": [len(model.ensemble) for model in models],
        }
        if models[0].validation_scores:
            scores = [np.array(model.validation_scores) for model in models]
            each["validation_score_"] = scores
        if self.auxiliary is None:
            none = np.empty((0, self.n_privileged_features_in_))
            each["privileged_coef_"] = [np.array(m.coefs or none) for m in models]
        for name in ("validation_score_", "privileged_coef_"):
            self.__dict__.pop(name, None)  # of an earlier fit, with warm_start
        for name, values in each.items():
            setattr(self, name, values[0] if len(values) == 1 else values)
        if not all(model.lasso_converged for model in models):
            warnings.warn(
                "The lasso of sparse IPL did not reach its tolerance in some rounds, "
                "so that the comments of these rounds are approximate. Raise "
                "privileged_reg or lower n_atoms.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __lupi_tags__(self) -> PrivilegedTags:
        if self.engine == "cart":
            return super().__lupi_tags__()
        reason = "XGBoost reads the absent entries of a sparse X as missing values"
        return PrivilegedTags(cannot_hold={"check_sparse_X_equals_dense": reason})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.engine == "xgboost"
        return tags


class IPLRegressor(TargetRegressor, BaseIPL):
    """Iterative privileged learning for real targets, by squared error.

    Without privileged information this is gradient boosting that starts from zero:
    scikit-learn's ``GradientBoostingRegressor(init="zero")``, or XGBoost with
    ``base_score=0``.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds N, one tree each.
    learning_rate : float, default=0.1
        Factor β of each tree.
    max_depth : int or None, default=3
        Depth k of the trees. The paper finds 2 best.
    privileged_weight : float, default=1.0
        Weight C1 of X*. With 0 the model is boosting without X*.
    privileged_reg : float, default=1.0
        Penalty C2 of the comments.
    n_atoms : int or None, default=None
        η of sparse IPL; None means IPL. The threshold λ = C2 / (2 C1) of the lasso
        applies to the mean product of errors and comments: with ``C2 = C1`` the
        solution is usually zero, and the later rounds are boosting without X*.
    max_inner_iter : int, default=10
        Maximum number of passes of the alternation in a round.
    tol : float, default=1e-4
        The alternation of a round stops when a pass, or its second half, decreases the
        objective by no more than this share.
    auxiliary : regressor, default=None
        Any scikit-learn regressor in place of the linear function w·x*. It is fitted
        to C1/(C1+C2)·A in every pass; the first round starts without comments.
    standardize_privileged : bool, default=True
        Whether to standardize the columns of X*, with weights.
    max_features : int, float or {"sqrt", "log2"}, default=None
        Number of features considered at each split; None means all.
    min_weight_fraction_leaf : float, default=0.0
        Minimum share of the total weight in a leaf.
    n_iter_no_change : int or None, default=None
        Stop when the loss has not improved by `early_stopping_tol` within this many
        rounds. None disables early stopping.
    validation_fraction : float or None, default=0.1
        Share of the rows that are held out to measure that loss; None measures it on
        the training rows, as the paper does.
    early_stopping_tol : float, default=1e-4
        See `n_iter_no_change`.
    engine : {"cart", "xgboost"}, default="cart"
        "cart" is scikit-learn's exact CART, the algorithm of the paper. "xgboost" grows
        XGBoost's histogram trees, for many rows; X may then have missing values and
        pandas categories, and absent entries of a sparse X count as missing. It needs
        ``pip install "lupi[xgboost]"``.
    tree_params : dict, default=None
        Further parameters of `DecisionTreeRegressor` or of XGBoost's trees, for
        example ``{"min_samples_leaf": 5}`` or ``{"reg_lambda": 0.0}``.
    device : str, default="cpu"
        Device of XGBoost, for example "cuda".
    n_jobs : int, default=None
        Threads of XGBoost; None for its default.
    warm_start : bool, default=False
        Whether to continue the rounds of the last ``fit`` up to `n_estimators`.
    random_state : int or RandomState, default=None
        Randomness of the first w and of the trees.

    Attributes
    ----------
    n_estimators_ : int
        Number of rounds.
    objective_trace_ : list of ndarray
        Objective after each accepted pass, one array per round. It does not increase.
    inner_iterations_ : ndarray of int
        Passes per round, including a rejected one.
    train_score_, validation_score_ : ndarray
        Mean loss after each round; the second only with early stopping on held-out
        rows.
    privileged_coef_ : ndarray of shape (n_rounds, n_privileged_features)
        w of each round, for the standardized columns of X* if
        `standardize_privileged`. Absent with `auxiliary`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature of X in the improvement of the trees (impurity decrease,
        or XGBoost's total gain).
    n_features_in_, n_privileged_features_in_ : int
        Widths of X and of X* (0 without).

    See Also
    --------
    IPLClassifier : The same model for labels.

    References
    ----------
    .. [1] X. Li, B. Du, Y. Zhang, C. Xu, D. Tao: Iterative Privileged Learning. IEEE
       Transactions on Neural Networks and Learning Systems, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.boosting import IPLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> noise = rng.normal(size=(100, 1))
    >>> y = X[:, 0] + noise[:, 0]
    >>> model = IPLRegressor(max_depth=2, random_state=0).fit(X, y, privileged=noise)
    >>> bool(np.corrcoef(model.predict(X), X[:, 0])[0, 1] > 0.9)
    True
    """

    __lupi_info__ = ModelInfo(
        **IPL,
        helps="X\\* explains noise in y that X cannot",
        cost="about two trees a round",
        tune="`privileged_weight`, `privileged_reg`, and the parameters of boosting",
        rank=41,
    )

    def _targets(self, X: Any) -> np.ndarray:
        return self._outcomes(self._raw(X))


@parameters
class IPLClassifier(BoostedTreesClassifier, BaseIPL):
    """Iterative privileged learning: boosted trees with comments from X*.

    Without privileged information this is gradient boosting on labels ±1 that starts
    from zero: scikit-learn's ``GradientBoostingRegressor(init="zero")``, or XGBoost.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of rounds N, one tree each.
    learning_rate : float, default=0.1
        Factor β of each tree.
    max_depth : int or None, default=3
        Depth k of the trees. The paper finds 2 best.
    privileged_weight : float, default=1.0
        Weight C1 of X*. With 0 the model is boosting without X*.
    privileged_reg : float, default=1.0
        Penalty C2 of the comments.
    n_atoms : int or None, default=None
        η of sparse IPL; None means IPL. The threshold λ = C2 / (2 C1) of the lasso
        applies to the mean product of errors and comments: with ``C2 = C1`` the
        solution is usually zero, and the later rounds are boosting without X*.
    max_inner_iter : int, default=10
        Maximum number of passes of the alternation in a round.
    tol : float, default=1e-4
        The alternation of a round stops when a pass, or its second half, decreases the
        objective by no more than this share.
    loss : {"squared_error", "log_loss"}, default="squared_error"
        The paper boosts squared error on labels ±1. "log_loss" is an extension: each
        round minimizes the objective for the second-order expansion of the logistic
        loss, with the Newton step as r and the curvature as a further weight.
    auxiliary : regressor, default=None
        Any scikit-learn regressor in place of the linear function w·x*. It is fitted
        to C1/(C1+C2)·A in every pass; the first round starts without comments.
    standardize_privileged : bool, default=True
        Whether to standardize the columns of X*, with weights.
    max_features : int, float or {"sqrt", "log2"}, default=None
        Number of features considered at each split; None means all.
    min_weight_fraction_leaf : float, default=0.0
        Minimum share of the total weight in a leaf. A positive value excludes leaves
        with rows of small weight only, which strengthens the effect of `class_weight`.
    n_iter_no_change : int or None, default=None
        Stop when the loss has not improved by `early_stopping_tol` within this many
        rounds. None disables early stopping.
    validation_fraction : float or None, default=0.1
        Share of the rows that are held out to measure that loss; None measures it on
        the training rows, as the paper does.
    early_stopping_tol : float, default=1e-4
        See `n_iter_no_change`.
    engine : {"cart", "xgboost"}, default="cart"
        "cart" is scikit-learn's exact CART, the algorithm of the paper. "xgboost" grows
        XGBoost's histogram trees, for many rows; X may then have missing values and
        pandas categories, and absent entries of a sparse X count as missing. It needs
        ``pip install "lupi[xgboost]"``.
    tree_params : dict, default=None
        Further parameters of `DecisionTreeRegressor` or of XGBoost's trees, for
        example ``{"min_samples_leaf": 5}`` or ``{"reg_lambda": 0.0}``.
    device : str, default="cpu"
        Device of XGBoost, for example "cuda".
    n_jobs : int, default=None
        Threads of XGBoost; None for its default.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply `sample_weight`.
    warm_start : bool, default=False
        Whether to continue the rounds of the last ``fit`` up to `n_estimators`.
    random_state : int or RandomState, default=None
        Randomness of the first w and of the trees.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted. With more than two, the attributes below that have one entry
        per round are lists with one such attribute per class (one-vs-rest).
    n_estimators_ : int
        Number of rounds.
    objective_trace_ : list of ndarray
        Objective after each accepted pass, one array per round. It does not increase.
    inner_iterations_ : ndarray of int
        Passes per round, including a rejected one.
    train_score_, validation_score_ : ndarray
        Mean loss after each round; the second only with early stopping on held-out
        rows.
    privileged_coef_ : ndarray of shape (n_rounds, n_privileged_features)
        w of each round, for the standardized columns of X* if
        `standardize_privileged`. Absent with `auxiliary`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature of X in the improvement of the trees (impurity decrease,
        or XGBoost's total gain).
    n_features_in_, n_privileged_features_in_ : int
        Widths of X and of X* (0 without).

    See Also
    --------
    GBPlusClassifier : Two boosted models, on X and X*, that imitate each other.

    References
    ----------
    .. [1] X. Li, B. Du, Y. Zhang, C. Xu, D. Tao: Iterative Privileged Learning. IEEE
       Transactions on Neural Networks and Learning Systems, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.boosting import IPLClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(size=(100, 2))
    >>> X = P + rng.normal(size=(100, 2))
    >>> y = np.where(P.sum(axis=1) > 0, "sick", "well")
    >>> model = IPLClassifier(n_estimators=20, random_state=0)
    >>> model.fit(X, y, privileged=P).predict(X[:3])
    array(['well', 'sick', 'well'], dtype='<U4')
    """

    loss: Literal["squared_error", "log_loss"] = "squared_error"
    class_weight: ClassWeight = None

    __lupi_info__ = ModelInfo(
        **IPL,
        helps="X\\* explains noise in the labels that X cannot; no gain on Pima",
        cost="about two trees a round",
        tune="as `IPLRegressor`; for the sparse form `n_atoms`, with `privileged_reg` "
        "a hundred times smaller than `privileged_weight`",
        rank=42,
    )
