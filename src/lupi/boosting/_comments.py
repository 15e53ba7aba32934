"""Comments: the functions of X* that are fitted in each round.

Each class minimizes, over its functions c of x*, with e = h − r the error of the tree::

    C1 Σ s_i (e_i − c_i)² + penalty(c)

- `LinearComments`: c = w·x*, penalty C2 Σ s_i c_i² (IPL)
- `AtomComments`: c = v·x̃ on the first projections, penalty C2 Σs ‖v‖₁ (sparse IPL)
- `RegressorComments`: any scikit-learn regressor on X*, penalty C2 Σ s_i c_i²

A row without X* has comment 0 and is not used to fit c.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram
from sklearn.utils.validation import has_fit_parameter

from lupi.base._metadata import seeded
from lupi.boosting._collective import is_divided, stacked, total


@dataclass(frozen=True)
class Comment:
    """One comment per training row.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        c_i, zero for rows without X*.
    penalty : float
        Its penalty in the objective.
    state : object
        The parameters of the function: w, v or a fitted regressor.
    """

    values: np.ndarray
    penalty: float
    state: Any


class _Comments:
    """The rows that have X*, and the two trade-offs C1 and C2."""

    def __init__(
        self,
        table: np.ndarray,
        rows: np.ndarray,
        weight: np.ndarray,
        privileged_weight: float,
        privileged_reg: float,
        dtype: Any = np.float64,
    ):
        self.table = table
        self.n_rows = len(weight)
        self.rows = slice(None) if len(rows) == self.n_rows else rows
        self.privileged_weight = privileged_weight
        self.privileged_reg = privileged_reg
        self.dtype = dtype
        both = privileged_weight + privileged_reg
        # C1 (e − c)² + C2 c² is minimal at c = shrink · e.
        self.shrink = privileged_weight / both if both > 0 else 0.0
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
        return self.privileged_reg * float(total(own))


class LinearComments(_Comments):
    """c = w·x*, by least squares through a factorization of X* made once.

    With M = √s ∘ X* = UΣVᵀ, truncated at its rank, the columns of B = X*VΣ⁻¹ satisfy
    BᵀSB = I. Then w = C1/(C1+C2) · VΣ⁻¹BᵀSe and c = Bβ: a pass needs two products and
    no linear system, and X* may have linearly dependent columns.
    """

    def __init__(self, table: np.ndarray, rows: np.ndarray, weight: np.ndarray, *rest):
        super().__init__(table, rows, weight, *rest)
        root = np.sqrt(weight[self.rows])[:, None]
        self._to_coef = _whitening(root * table)
        self.basis = np.asfortranarray(table @ self._to_coef, dtype=self.dtype)
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

    def fit(self, error: np.ndarray, start: Comment) -> Comment:
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


class AtomComments(_Comments):
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
            self._total * self.privileged_reg * float(np.abs(coef).sum()),
            coef,
        )

    def fit(self, error: np.ndarray, start: Comment) -> Comment:
        """Return the optimal comment for the errors.

        Successive projections are nearly parallel, so that coordinate descent converges
        slowly; the homotopy method (LARS) is exact after a few steps.
        """
        if self.privileged_weight == 0:
            return self.start(np.zeros(self.atoms.shape[1]))
        threshold = self.privileged_reg / (2 * self.privileged_weight)
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


class RegressorComments(_Comments):
    """c = f(x*) with f a scikit-learn regressor, fitted to C1/(C1+C2) · e."""

    def __init__(self, regressor: Any, rng: np.random.RandomState, *rest):
        self.regressor = regressor
        self.rng = rng
        super().__init__(*rest)

    def start(self, state: Any) -> Comment:
        """Return the comment of a fitted regressor; zero for None."""
        if state is None:
            return Comment(np.zeros(self.n_rows, dtype=self.dtype), 0.0, None)
        values = np.ravel(state.predict(self.table))
        return Comment(self._on_all_rows(values), self._square_penalty(values), state)

    def fit(self, error: np.ndarray, start: Comment) -> Comment:
        """Return the comment of the regressor fitted to the errors."""
        regressor = seeded(self.regressor, self.rng)
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
