"""Boosting with comments from X*: one round (Algorithm 1, lines 3–9), and all rounds.

Every round minimizes alternately over the new tree h and the comment c::

    Σ s (h − r)² + C1 Σ s (h − r − c)² + penalty(c)

The tree step fits a tree to the targets r + C1/(C1+1) c; the comment step is in
`lupi.boosting._comments`. Without X* a round fits one tree to the residuals r.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from lupi._stored import stored
from lupi.boosting._collective import everywhere, total
from lupi.boosting._comments import AtomComments, Comment, LinearComments
from lupi.boosting._engines import Grown


@dataclass(frozen=True)
class Settings:
    """The parameters of the estimator that `boost` uses."""

    n_estimators: int
    learning_rate: float
    privileged_weight: float
    privileged_reg: float
    n_atoms: int | None
    max_inner_iter: int
    tol: float
    n_iter_no_change: int | None
    early_stopping_tol: float


@dataclass
class Rows:
    """Rows to train on, or to validate on for early stopping."""

    X: Any
    y: np.ndarray
    weight: np.ndarray


@stored
@dataclass
class Boosted:
    """One boosted model: its trees, its trace, and the state for a warm start.

    Attributes
    ----------
    ensemble : CartEnsemble or XGBoostEnsemble
        The trees.
    rng : RandomState
        Generator of the next tree.
    traces : list of ndarray
        Objective after each accepted pass, one array per round.
    passes : list of int
        Trees grown per round, including a rejected one.
    coefs : list
        w per round, or the fitted auxiliary regressor.
    atoms : ndarray or None
        D of sparse IPL, once it is complete.
    sparse_coef : ndarray or None
        v of the last sparse round.
    train_scores, validation_scores : list of float
        Mean loss after each round.
    lasso_converged : bool
        Whether the lasso converged in every round.
    """

    ensemble: Any
    rng: np.random.RandomState
    traces: list[np.ndarray] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)
    coefs: list[Any] = field(default_factory=list)
    atoms: np.ndarray | None = None
    sparse_coef: np.ndarray | None = None
    train_scores: list[float] = field(default_factory=list)
    validation_scores: list[float] = field(default_factory=list)
    lasso_converged: bool = True

    def decision(self, X: Any) -> np.ndarray:
        """Return the sum of the trees."""
        return self.ensemble.decision(X)

    def _without_privileged(self) -> Boosted:
        """Return the model without regressors on X*, which may contain rows of X*."""
        linear = [coef if isinstance(coef, np.ndarray) else None for coef in self.coefs]
        changed = any(coef is None for coef in linear)
        return replace(self, coefs=linear) if changed else self

    def copy(self) -> Boosted:
        """Return a copy to which rounds can be added."""
        lists: dict[str, Any] = {
            one.name: list(value)
            for one in fields(self)
            if isinstance(value := getattr(self, one.name), list)
        }
        rng = deepcopy(self.rng)
        return replace(self, ensemble=self.ensemble.copy(), rng=rng, **lists)


def alternate(
    engine: Any,
    comments: Any,
    residual: np.ndarray,
    weight: np.ndarray | None,
    comment: Comment,
    settings: Settings,
) -> tuple[Grown, Comment, list[float], int]:
    """Alternate between tree and comment in one round, until convergence.

    A greedy tree is not a minimizer, so that a pass can raise the objective. Such a
    pass is rejected and ends the round.

    Returns
    -------
    grown, comment
        Tree and comment of the last accepted pass.
    trace : list of float
        Objective after each accepted pass.
    passes : int
        Number of trees grown, including a rejected one.
    """
    strength = settings.privileged_weight
    share = engine.dtype(strength / (strength + 1.0))

    def objective(error: np.ndarray, comment: Comment) -> float:
        explained = _sum_of_squares(error - comment.values, weight)
        own = _sum_of_squares(error, weight) + strength * explained
        return float(total(own)) + comment.penalty

    best: tuple[Grown, Comment] | None = None
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
        comment = comments.fit(error, comment)
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
    engine: Any,
    loss: Any,
    rows: Rows,
    comments: Any,
    settings: Settings,
    validation: Rows | None = None,
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
    stopping = _Stopping(settings)

    for round_ in range(len(model.ensemble), settings.n_estimators):
        residual = loss.residual(y, raw)
        weight = None if uniform else base_weight
        if loss.second_order:
            weight = loss.curvature(y, raw) * base_weight
        if comments is None:
            grown = engine.grow(residual, weight, settings.learning_rate)
            trace = [total(_sum_of_squares(grown.values - residual, weight))]
            passes = 1
        else:
            if loss.second_order:
                comments.set_weights(weight)
                comment = comments.refresh(comment)
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
        if stopping.no_progress(score, round_):
            break
    if isinstance(comments, AtomComments):
        model.sparse_coef = comment.state
        model.lasso_converged &= comments.converged
    model.ensemble.finish()


class _Stopping:
    """Early stopping as in scikit-learn: stop if no better than the last rounds."""

    def __init__(self, settings: Settings):
        self.patience = settings.n_iter_no_change
        self.tol = settings.early_stopping_tol
        self.history = np.full(self.patience or 1, np.inf)

    def no_progress(self, score: float, round_: int) -> bool:
        if self.patience is None:
            return False
        if np.any(score + self.tol < self.history):
            self.history[round_ % self.patience] = score
            return False
        return True


def _resume(model: Boosted, X: Any, dtype: Any) -> np.ndarray:
    if len(model.ensemble) == 0:
        return np.zeros(X.shape[0], dtype=dtype)
    return model.ensemble.decision(X).astype(dtype)


def _first_comment(model: Boosted, comments: Any) -> Comment:
    """Return the first comment of the next round: the last one, or a random one.

    As in the paper, the random one is drawn before the trees.
    """
    if model.coefs:
        return comments.start(model.coefs[-1])
    if isinstance(comments, LinearComments):
        first = np.asarray(model.rng.uniform(size=comments.table.shape[1]))
        return comments.start(first)
    return comments.start(None)


def _with_atoms(
    model: Boosted, comments: Any, comment: Comment | None, settings: Settings
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
