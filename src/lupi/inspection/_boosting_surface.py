"""The score of boosting with privileged comments over its two weights, C1 and C2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv

from lupi.base._rows import take_rows
from lupi.inspection._style import one_axes


@dataclass
class BoostingSurfaceDisplay:
    """Mean cross-validated score over C1 and C2, compared with that without X*.

    Make it with `BoostingTraceDisplay.surface`. The colors show the difference to the
    same model without X*: blue above, orange below, white equal.

    Parameters
    ----------
    privileged_weights, privileged_regs : ndarray
        The values of C1 (columns) and of C2 (rows).
    scores : ndarray of shape (n_regs, n_weights)
        Mean test scores.
    baseline : float
        Mean test score of the same model without X*, on the same folds.
    scoring : str
        Name of the score.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    image_ : matplotlib AxesImage
        The surface.

    Examples
    --------
    >>> from lupi import IPLClassifier
    >>> from lupi.datasets import make_plane
    >>> from lupi.inspection import BoostingTraceDisplay
    >>> data = make_plane("overlapping", 60, random_state=0)
    >>> display = BoostingTraceDisplay.surface(
    ...     IPLClassifier(n_estimators=5, random_state=0),
    ...     data.data, data.target, data.privileged,
    ...     privileged_weights=[0.1, 10], privileged_regs=[0.1, 1, 10], cv=2,
    ... )
    >>> display.scores.shape
    (3, 2)
    """

    privileged_weights: np.ndarray
    privileged_regs: np.ndarray
    scores: np.ndarray
    baseline: float
    scoring: str = "score"

    def plot(self, ax: Any = None) -> BoostingSurfaceDisplay:
        """Draw the surface, with the score in every cell.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : BoostingSurfaceDisplay
            The display, with ``ax_``, ``figure_``, ``image_``.
        """
        from matplotlib.colors import LinearSegmentedColormap

        n_regs, n_weights = self.scores.shape
        self.ax_ = ax = one_axes(ax, (2.2 + 0.9 * n_weights, 1.6 + 0.62 * n_regs))
        self.figure_ = ax.figure
        gain = self.scores - self.baseline
        reach = max(float(np.abs(gain).max()), 1e-12)
        colors = LinearSegmentedColormap.from_list(
            "gain", ["#E69F00", "#FFFFFF", "#3C93C9"]
        )
        self.image_ = ax.imshow(
            gain, cmap=colors, vmin=-reach, vmax=reach, origin="lower", aspect="auto"
        )
        best = np.unravel_index(np.argmax(self.scores), self.scores.shape)
        for line in range(n_regs):
            for column in range(n_weights):
                ax.text(
                    column,
                    line,
                    f"{self.scores[line, column]:.3f}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    fontweight="bold" if (line, column) == best else "normal",
                )
        ax.set_xticks(range(n_weights), [f"{v:g}" for v in self.privileged_weights])
        ax.set_yticks(range(n_regs), [f"{v:g}" for v in self.privileged_regs])
        ax.set_xlabel("C1 (privileged_weight)")
        ax.set_ylabel("C2 (privileged_reg)")
        ax.set_title(f"Without X*: {self.baseline:.3f}", loc="left", fontweight="bold")
        for side in ax.spines.values():
            side.set_visible(False)
        bar = self.figure_.colorbar(self.image_, ax=ax)
        bar.set_label(f"{self.scoring} gained over the model without X*")
        bar.outline.set_visible(False)
        return self


def score_surface(
    estimator: Any,
    X: Any,
    y: Any,
    privileged: Any,
    weights: np.ndarray,
    regs: np.ndarray,
    cv: Any,
    scorer: Any,
) -> tuple[np.ndarray, float]:
    """Return mean test scores of every pair (C1, C2), and of the model without X*."""
    labels = np.asarray(y)
    folds = check_cv(cv, labels, classifier=is_classifier(estimator))
    splits = list(folds.split(X, labels))

    def mean_score(table: Any, **parameters: float) -> float:
        scores = []
        for train, test in splits:
            given = None if table is None else take_rows(table, train)
            model = clone(estimator).set_params(**parameters)
            model.fit(take_rows(X, train), labels[train], privileged=given)
            scores.append(scorer(model, take_rows(X, test), labels[test]))
        return float(np.mean(scores))

    scores = [
        [
            mean_score(privileged, privileged_weight=weight, privileged_reg=reg)
            for weight in weights
        ]
        for reg in regs
    ]
    return np.array(scores), mean_score(None)
