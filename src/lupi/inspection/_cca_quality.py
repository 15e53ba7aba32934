"""Scores in the common space of X and X*, and of other models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lupi.inspection._style import BLUE, GRAY, one_axes, tidy

if TYPE_CHECKING:
    from lupi.evaluation._cca import CCAQuality

NAMES = {
    "GB_EF": "common space, trained on X",
    "GB_PF": "common space, trained on X*",
    "GB_CCA": "common space, trained on both",
}


@dataclass
class CCAQualityDisplay:
    """Scores of `cca_quality`: a dot per split, and the mean over the splits.

    If training on X* in the common space is as good as training on X, the two tables
    contain the same information about y. Make it with `from_results`.

    Parameters
    ----------
    scores : dict of str to ndarray of shape (n_splits,)
        Scores of each model.
    correlations : ndarray
        Mean canonical correlations, the largest first.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    splits_ : matplotlib PathCollection
        The scores of the splits.
    means_ : matplotlib Line2D
        Their means.

    Examples
    --------
    >>> from lupi.datasets import make_plane
    >>> from lupi.evaluation import cca_quality
    >>> from lupi.inspection import CCAQualityDisplay
    >>> data = make_plane("overlapping", 60, random_state=0)
    >>> quality = cca_quality(data.data, data.target, data.privileged, random_state=0)
    >>> list(CCAQualityDisplay.from_results(quality).scores)
    ['GB_EF', 'GB_PF', 'GB_CCA']
    """

    scores: dict[str, np.ndarray]
    correlations: np.ndarray

    @classmethod
    def from_results(cls, quality: CCAQuality, *, ax: Any = None) -> CCAQualityDisplay:
        """Draw the result of `cca_quality`.

        Parameters
        ----------
        quality : CCAQuality
            Result of `lupi.evaluation.cca_quality`.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : CCAQualityDisplay
            The display, drawn.
        """
        scores = {
            str(name): quality.scores[name].to_numpy(dtype=float)
            for name in quality.scores.columns
        }
        correlations = np.asarray(quality.correlations, dtype=float).mean(axis=0)
        return cls(scores, correlations).plot(ax=ax)

    def plot(self, ax: Any = None) -> CCAQualityDisplay:
        """Draw one row of dots per model.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : CCAQualityDisplay
            The display, with ``ax_``, ``figure_``, ``splits_``, ``means_``.
        """
        self.ax_ = ax = one_axes(ax, (7.0, 1.4 + 0.5 * len(self.scores)))
        self.figure_ = ax.figure
        heights = np.arange(len(self.scores))
        counts = [len(values) for values in self.scores.values()]
        self.splits_ = ax.scatter(
            np.concatenate(list(self.scores.values())),
            np.repeat(heights, counts),
            color=GRAY,
            alpha=0.5,
            s=22,
            label="one split",
        )
        means = [values.mean() for values in self.scores.values()]
        (self.means_,) = ax.plot(
            means, heights, "D", color=BLUE, markersize=8, label="mean"
        )
        names = [NAMES.get(name, name) for name in self.scores]
        ax.set_yticks(heights, names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlabel("score on test rows")
        largest = ", ".join(f"{value:.2f}" for value in self.correlations[:3])
        ax.set_title(
            f"Canonical correlations of X and X*: {largest}",
            loc="left",
            fontweight="bold",
        )
        tidy(ax, grid="x")
        # Outside the axes, in which the dots may be anywhere.
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return self
