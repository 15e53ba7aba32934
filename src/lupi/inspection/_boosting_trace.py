"""The objective, passes and score of boosting with privileged comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, check_scoring, r2_score
from sklearn.utils.validation import check_is_fitted

from lupi.inspection._boosting_surface import BoostingSurfaceDisplay, score_surface
from lupi.inspection._style import series_style, several_axes, tidy


@dataclass(frozen=True)
class BoostingTrace:
    """The trace of one fitted model.

    Parameters
    ----------
    objective : ndarray of shape (n_rounds,)
        The objective at the end of each round, summed over more than two classes.
    inner : ndarray of shape (n_rounds, n_passes)
        The objective after each accepted pass of a round, divided by that after the
        first; the last value of a round that stopped is repeated.
    passes : ndarray of int
        Number of passes of each round.
    score : ndarray of shape (n_rounds,) or None
        The test score after each round.
    """

    objective: np.ndarray
    inner: np.ndarray
    passes: np.ndarray
    score: np.ndarray | None = None


@dataclass
class BoostingTraceDisplay:
    """Objective, inner convergence and test score of boosting with comments.

    The panels are the objective at the end of each round; the objective over the passes
    of a round, relative to the first pass, averaged over the rounds; and, if test rows
    are given, the score against the number of trees.

    Make it with `from_estimator`; `surface` draws the score over C1 and C2.

    Parameters
    ----------
    traces : dict of str to BoostingTrace
        One per model.
    scoring : str
        Name of the score.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels; ``ax_`` is the first.
    figure_ : matplotlib Figure
        The figure.
    lines_ : dict of str to list of matplotlib Line2D
        The lines of each model, one per panel.

    Examples
    --------
    >>> from lupi import IPLClassifier
    >>> from lupi.datasets import make_plane
    >>> from lupi.inspection import BoostingTraceDisplay
    >>> data = make_plane("overlapping", 80, random_state=0)
    >>> model = IPLClassifier(n_estimators=10, random_state=0)
    >>> model = model.fit(data.data, data.target, privileged=data.privileged)
    >>> display = BoostingTraceDisplay.from_estimator(model)
    >>> display.traces["IPLClassifier"].objective.shape
    (10,)
    >>> len(display.axes_)
    2
    """

    traces: dict[str, BoostingTrace]
    scoring: str = "accuracy"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        scoring: Any = None,
        ax: Any = None,
    ) -> BoostingTraceDisplay:
        """Draw the traces of one or several fitted models.

        Parameters
        ----------
        estimator : IPLClassifier, IPLRegressor, or dict of str to these
            Fitted models. A dict draws one line per model, labeled by its key, for
            example one per learning rate.
        X_test, y_test : array-like, default=None
            Test rows, for the score against the number of trees.
        scoring : callable ``metric(y_true, y_pred)``, default=None
            Accuracy for classifiers and R² for regressors by default.
        ax : sequence of matplotlib Axes, default=None
            Two axes, three with test rows; a new figure by default.

        Returns
        -------
        display : BoostingTraceDisplay
            The display, drawn.
        """
        if not isinstance(estimator, Mapping):
            estimator = {type(estimator).__name__: estimator}
        if (X_test is None) != (y_test is None):
            raise ValueError(
                "Only one of X_test and y_test was given: give both for the score "
                "against the number of trees, or neither."
            )
        traces = {
            str(name): _trace(model, X_test, y_test, scoring)
            for name, model in estimator.items()
        }
        first = next(iter(estimator.values()))
        if scoring is not None:
            label = getattr(scoring, "__name__", "score").replace("_", " ")
        else:
            label = "accuracy" if hasattr(first, "classes_") else "R²"
        return cls(traces, label).plot(ax=ax)

    @classmethod
    def surface(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        privileged: Any,
        *,
        privileged_weights: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0),
        privileged_regs: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0),
        cv: Any = None,
        scoring: Any = None,
        ax: Any = None,
    ) -> BoostingSurfaceDisplay:
        """Cross-validate over C1 and C2, and draw the score as a surface.

        Parameters
        ----------
        estimator : IPLClassifier or IPLRegressor
            Estimator whose other parameters are kept; it is cloned.
        X, y, privileged : array-like
            The rows.
        privileged_weights, privileged_regs : sequence of float
            The values of C1 and of C2.
        cv : int, splitter or None, default=None
            As in scikit-learn; 5 folds by default.
        scoring : str or callable, default=None
            As in scikit-learn; the score of the estimator by default.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : BoostingSurfaceDisplay
            The display, drawn.
        """
        scorer = check_scoring(estimator, scoring)
        weights = np.asarray(privileged_weights, dtype=float)
        regs = np.asarray(privileged_regs, dtype=float)
        scores, baseline = score_surface(
            estimator, X, y, privileged, weights, regs, cv, scorer
        )
        label = scoring if isinstance(scoring, str) else "score"
        return BoostingSurfaceDisplay(weights, regs, scores, baseline, label).plot(ax)

    def plot(self, ax: Any = None) -> BoostingTraceDisplay:
        """Draw the panels.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            Two axes, three if there are scores; a new figure by default.

        Returns
        -------
        self : BoostingTraceDisplay
            The display, with ``axes_``, ``figure_``, ``lines_``.
        """
        scored = all(trace.score is not None for trace in self.traces.values())
        count = 3 if scored else 2
        self.axes_ = several_axes(ax, count, (4.3 * count, 3.8))
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        self.lines_ = {}
        for position, (name, trace) in enumerate(self.traces.items()):
            style = series_style(position) | {"linewidth": 2, "label": name}
            panels = [trace.objective, trace.inner.mean(axis=0)]
            panels += [trace.score] if scored else []
            lines = []
            for panel, values in zip(self.axes_, panels, strict=True):
                steps = np.arange(1, len(values) + 1)
                every = max(1, len(values) // 10)
                lines += panel.plot(
                    steps, values, markersize=5, markevery=every, **style
                )
            self.lines_[name] = lines
        self._label(scored)
        return self

    def _label(self, scored: bool) -> None:
        from matplotlib.ticker import MaxNLocator

        titles = ["Objective of each round", "Passes within a round", "Test rows"]
        for panel, title in zip(self.axes_, titles, strict=False):
            panel.set_title(title, loc="left", fontweight="bold")
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            tidy(panel)
        self.axes_[0].set(xlabel="round (trees)", ylabel="objective")
        self.axes_[0].set_ylim(bottom=0)
        self.axes_[1].set(xlabel="pass", ylabel="objective, relative to the first pass")
        if scored:
            self.axes_[2].set(xlabel="number of trees", ylabel=self.scoring)
        if len(self.traces) > 1:
            self.axes_[-1].legend(frameon=False)


def _trace(model: Any, X_test: Any, y_test: Any, metric: Any) -> BoostingTrace:
    check_is_fitted(model)
    if not hasattr(model, "objective_trace_"):
        raise ValueError(
            f"BoostingTraceDisplay needs objective_trace_, which "
            f"{type(model).__name__} does not have. Give a fitted IPLClassifier or "
            "IPLRegressor."
        )
    several = len(getattr(model, "classes_", ())) > 2
    runs = model.objective_trace_ if several else [model.objective_trace_]
    passes = model.inner_iterations_ if several else [model.inner_iterations_]
    n_rounds = max(len(run) for run in runs)
    final = [_held([trace[-1] for trace in run], n_rounds) for run in runs]
    rounds = [trace for run in runs for trace in run]
    longest = max(len(trace) for trace in rounds)
    # An objective of 0 cannot be the reference.
    inner = [_held(t / t[0] if t[0] > 0 else np.ones(1), longest) for t in rounds]
    score = None
    if X_test is not None:
        metric = metric or (accuracy_score if hasattr(model, "classes_") else r2_score)
        score = np.array([metric(y_test, p) for p in model.staged_predict(X_test)])
    return BoostingTrace(
        np.sum(final, axis=0), np.array(inner), np.concatenate(passes), score
    )


def _held(values: Any, length: int) -> np.ndarray:
    """Return the values, with the last one repeated up to a length."""
    values = np.asarray(values, dtype=float)
    return np.concatenate([values, np.full(length - len(values), values[-1])])
