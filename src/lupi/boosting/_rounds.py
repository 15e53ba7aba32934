"""The rounds of IPL (Algorithm 1, lines 3–9): comments, alternation, boosting.

Every round minimizes alternately over the new tree h and the comment c::

    Σ s (h − r)² + C1 Σ s (h − r − c)² + penalty(c)

The tree step fits a tree to the targets r + C1/(C1+1) c. The comment step minimizes,
with e = h − r the error of the tree, C1 Σ s_i (e_i − c_i)² + penalty(c):

- `LinearComments`: c = w·x*, penalty C2 Σ s_i c_i² (IPL)
- `AtomComments`: c = v·x̃ on the first projections, penalty C2 Σs ‖v‖₁ (sparse IPL)
- `RegressorComments`: any scikit-learn regressor on X*, penalty C2 Σ s_i c_i²

A row without X* has comment 0 and is not used to fit c. Without X*, a round fits one
tree to the residuals r.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram
from sklearn.utils.validation import has_fit_parameter

from lupi.base import Training
from lupi.base._metadata import seeded
from lupi.boosting._boosted_trees import Boosted, LogLoss, Loss
from lupi.boosting._engines import (
    Engine,
    GrownTree,
    everywhere,
    is_divided,
    stacked,
    total,
)

if TYPE_CHECKING:
    from lupi.boosting._ipl import BaseIPL


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
    ):
        self.table = table
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
        penalty = self._square_penalty(comment.values[self.rows])
        return Comment(comment.values, penalty, comment.state)

    def _on_all_rows(self, values: np.ndarray) -> np.ndarray:
        values = values.astype(self.dtype, copy=False)
        if isinstance(self.rows, slice):
            return values
        full = np.zeros(self.n_rows, dtype=self.dtype)
        full[self.rows] = values
        return full

    def _square_penalty(self, values: np.ndarray) -> float:
        own = np.sum(self.weight * np.square(values), dtype=np.float64)
        return self.C2 * float(total(own))


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
        values = self.table @ coef
        return Comment(self._on_all_rows(values), self._square_penalty(values), coef)

    def fit(self, error: np.ndarray) -> Comment:
        """Return the optimal comment for the errors e = h − r."""
        beta = total(self.basis.T @ (self.weight * error[self.rows]))
        if self._metric is not None:
            beta = self._metric @ beta
        beta = (self.shrink * beta).astype(self.dtype, copy=False)
        values = self.basis @ beta
        return Comment(self._on_all_rows(values), self._square_penalty(values), beta)

    def coef(self, comment: Comment) -> np.ndarray:
        """Return the w of a fitted comment."""
        return self._to_coef @ comment.state


class AtomComments(_BaseComments):
    """c = v·x̃ with x̃ = Dᵀx*, D the projections of the first rounds; v by lasso."""

    def __init__(self, dense: LinearComments, atoms: np.ndarray):
        # The rows, weights and parameters are those of the dense rounds.
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
        return Comment(
            self._on_all_rows(self._columns @ coef),
            self._total * self.C2 * float(np.abs(coef).sum()),
            coef,
        )

    def fit(self, error: np.ndarray) -> Comment:
        """Return the optimal comment for the errors.

        Successive projections are nearly parallel, so that coordinate descent converges
        slowly; the homotopy method (LARS) is exact after a few steps.
        """
        if self.C1 == 0:
            return self.start(np.zeros(self.atoms.shape[1]))
        threshold = self.C2 / (2 * self.C1)
        own = self._scaled.T @ (self._scale * error[self.rows])
        correlation = total(own) / self._n
        if np.abs(correlation).max() <= threshold:
            return self.start(np.zeros(self.atoms.shape[1]))
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

    def __init__(self, rng: np.random.RandomState, *rows: Any):
        super().__init__(*rows)
        self.rng = rng

    def start(self, state: Any) -> Comment:
        """Return the comment of a fitted regressor; zero for None."""
        if state is None:
            return Comment(np.zeros(self.n_rows, dtype=self.dtype), 0.0, None)
        values = np.ravel(state.predict(self.table))
        return Comment(self._on_all_rows(values), self._square_penalty(values), state)

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


def alternate(
    engine: Engine,
    comments: Comments,
    residual: np.ndarray,
    weight: np.ndarray | None,
    comment: Comment,
    settings: BaseIPL,
) -> tuple[GrownTree, Comment, list[float], int]:
    """Alternate between tree and comment in one round, until convergence.

    A greedy tree is not a minimizer, so that a pass can raise the objective. Such a
    pass is rejected and ends the round.

    Returns the tree and the comment of the last accepted pass, the objective after each
    accepted pass, and the number of trees grown, including a rejected one.
    """
    strength = settings.privileged_weight
    share = engine.dtype(strength / (strength + 1.0))

    def objective(error: np.ndarray, comment: Comment) -> float:
        explained = _sum_of_squares(error - comment.values, weight)
        own = _sum_of_squares(error, weight) + strength * explained
        return float(total(own)) + comment.penalty

    best: tuple[GrownTree, Comment] | None = None
    value = np.inf
    trace: list[float] = []
    passes = 0
    while passes < settings.max_inner_iter:
        passes += 1
        grown = engine.grow(
            residual + share * comment.values, weight, settings.learning_rate
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
        if gain <= settings.tol * after:
            break
    assert best is not None
    return (*best, trace, passes)


def boost(
    model: Boosted,
    engine: Engine,
    loss: Loss,
    rows: Training,
    comments: Comments | None,
    settings: BaseIPL,
    validation: Training | None = None,
) -> None:
    """Add rounds to `model` up to `n_estimators`, or until the loss stops improving.

    `comments` is None without X*. A model with rounds is continued.
    """
    y = rows.y.astype(engine.dtype)
    base_weight = rows.weight.astype(engine.dtype)
    uniform = everywhere(bool(np.all(rows.weight == 1)))
    share = rows.weight.sum() / total(rows.weight.sum())
    raw = _resume(model, rows.X, engine.dtype)
    if validation is not None:
        raw_validation = _resume(model, validation.X, engine.dtype)
        validation_rows = model.ensemble.rows(validation.X)
    comment: Any = None if comments is None else _first_comment(model, comments)
    comments, comment = _with_atoms(model, comments, comment, settings)
    scores: list[float] = []

    for _ in range(len(model.ensemble), settings.n_estimators):
        residual = loss.residual(y, raw)
        weight = None if uniform else base_weight
        if isinstance(loss, LogLoss):
            weight = loss.curvature(raw) * base_weight
            if comments is not None:
                comments.set_weights(weight)
                comment = comments.refresh(comment)
        if comments is None:
            grown = engine.grow(residual, weight, settings.learning_rate)
            trace = [total(_sum_of_squares(grown.values - residual, weight))]
            passes = 1
        else:
            grown, comment, trace, passes = alternate(
                engine, comments, residual, weight, comment, settings
            )
            model.coefs.append(comments.coef(comment))
        raw = raw + grown.step
        model.ensemble.append(grown.tree, settings.learning_rate)
        model.traces.append(np.asarray(trace))
        model.passes.append(passes)
        own = loss.mean(y, raw, rows.weight)
        model.train_scores.append(float(total(share * own)))
        score = model.train_scores[-1]
        if validation is not None:
            raw_validation = raw_validation + model.ensemble.one(
                grown.tree, settings.learning_rate, validation_rows
            )
            score = loss.mean(validation.y, raw_validation, validation.weight)
            model.validation_scores.append(score)
        if comments is not None and len(model.coefs) == settings.n_atoms:
            comments, comment = _with_atoms(model, comments, comment, settings)
        if _no_progress(score, scores, settings):
            break
        scores.append(score)
    if isinstance(comments, AtomComments):
        model.sparse_coef = comment.state
        model.lasso_converged &= comments.converged
    model.ensemble.finish()


def _no_progress(score: float, before: list[float], settings: BaseIPL) -> bool:
    """Return whether a score is no better than the last ones, as in scikit-learn."""
    patience = settings.n_iter_no_change
    if patience is None or len(before) < patience:
        return False
    smallest = score + settings.early_stopping_tol
    return not any(smallest < one for one in before[-patience:])


def _resume(model: Boosted, X: Any, dtype: Any) -> np.ndarray:
    if len(model.ensemble) == 0:
        return np.zeros(X.shape[0], dtype=dtype)
    return model.ensemble.decision(X).astype(dtype)


def _first_comment(model: Boosted, comments: Any) -> Comment:
    """Return the last comment, or a random one, which is drawn before the trees."""
    if model.coefs:
        return comments.start(model.coefs[-1])
    if isinstance(comments, LinearComments):
        first = np.asarray(model.rng.uniform(size=comments.table.shape[1]))
        return comments.start(first)
    return comments.start(None)


def _with_atoms(
    model: Boosted, comments: Any, comment: Comment | None, settings: BaseIPL
) -> tuple[Any, Comment | None]:
    """Return sparse comments once the model has the first projections."""
    n_atoms = settings.n_atoms
    if comments is None or n_atoms is None or len(model.coefs) < n_atoms:
        return comments, comment
    if model.atoms is None or model.sparse_coef is None:
        model.atoms = np.column_stack(model.coefs[:n_atoms])
        model.sparse_coef = np.eye(n_atoms)[-1]
    sparse = AtomComments(comments, model.atoms)
    return sparse, sparse.start(model.sparse_coef)


def _sum_of_squares(values: np.ndarray, weight: np.ndarray | None) -> float:
    squares = np.square(values)
    if weight is not None:
        squares *= weight
    return float(np.sum(squares, dtype=np.float64))
