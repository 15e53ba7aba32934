"""Accuracy against disparity for several fairness thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv

from lupi.base._rows import take_rows
from lupi.evaluation._statistics import Design, corrected_contrast, interval_factor
from lupi.inspection._style import BLUE, GRAY, one_axes, tidy
from lupi.svm._sensitive import SensitiveColumns

MOST_GROUPS = 12
# Points closer than this, as a share of the axes, have a common label.
TOGETHER = 0.06


@dataclass
class FairnessFrontierDisplay:
    """Accuracy against disparity on test rows, one point per threshold.

    Disparity is the difference between the largest and the smallest share of rows of a
    group that are predicted as the second class: with 0 all groups have the same share.
    Points at the top left are better.

    Make it with `from_estimator`.

    Parameters
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Bounds of the covariance.
    accuracy, disparity : ndarray of shape (n_thresholds, n_splits)
        Accuracy and disparity on the test rows of each split.
    covariance : ndarray of shape (n_thresholds, n_splits)
        The largest covariance of decision values with a sensitive column on the
        training rows, which the threshold bounds.
    n_train, n_test : float
        Mean numbers of training and test rows.
    estimator_name : str
        Name of the estimator, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    frontier_ : matplotlib ErrorbarContainer
        The points with their intervals.
    labels_ : list of matplotlib Text
        The labels of the points, which are their thresholds.

    Examples
    --------
    >>> from lupi import FairSVCDeltaPlus
    >>> from lupi.datasets import make_biased_hiring
    >>> from lupi.inspection import FairnessFrontierDisplay
    >>> data = make_biased_hiring(120, random_state=0)
    >>> display = FairnessFrontierDisplay.from_estimator(
    ...     FairSVCDeltaPlus(kernel="linear", privileged_kernel="linear", delta=1.0),
    ...     data.data, data.target, data.privileged, thresholds=[0.0, 0.5], cv=3,
    ... )
    >>> display.accuracy.shape
    (2, 3)
    >>> bool(display.disparity[0].mean() < display.disparity[1].mean())
    True
    """

    thresholds: np.ndarray
    accuracy: np.ndarray
    disparity: np.ndarray
    covariance: np.ndarray
    n_train: float
    n_test: float
    estimator_name: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        sensitive_features: Any,
        *,
        privileged: Any = None,
        thresholds: Sequence[float] | None = None,
        cv: Any = None,
        confidence: float = 0.95,
        random_state: int | None = 0,
        ax: Any = None,
    ) -> FairnessFrontierDisplay:
        """Cross-validate at every threshold, and draw.

        Parameters
        ----------
        estimator : FairSVCDeltaPlus
            Estimator whose other parameters are kept; it is cloned.
        X, y : array-like
            The rows; y has two classes, of which the second is the favorable outcome.
        sensitive_features : array-like or DataFrame
            As in ``fit``. The groups are the distinct rows, twelve at most.
        privileged : array-like, default=None
            Privileged features other than the sensitive ones.
        thresholds : sequence of float, default=None
            Values of ``covariance_threshold``. By default six, from 0 to the
            covariance of the model without the constraint.
        cv : int, splitter or None, default=None
            As in scikit-learn; 5 shuffled stratified folds by default.
        confidence : float, default=0.95
            Level of the intervals; the standard error is corrected for the overlap
            of the splits.
        random_state : int, default=0
            Seed of the default folds.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : FairnessFrontierDisplay
            The display, drawn.
        """
        name = type(estimator).__name__
        if "covariance_threshold" not in estimator.get_params():
            raise ValueError(
                f"{name} has no parameter covariance_threshold. Give a "
                "FairSVCDeltaPlus."
            )
        labels = np.asarray(y)
        classes = np.unique(labels)
        if len(classes) != 2:
            raise ValueError(
                f"y has {len(classes)} classes, but disparity is defined for two. Give "
                "rows of two classes."
            )
        columns = SensitiveColumns(sensitive_features, len(labels), name).encode(
            sensitive_features
        )
        groups = _groups(columns)
        if cv is None:
            cv = StratifiedKFold(5, shuffle=True, random_state=random_state)
        splits = list(check_cv(cv, labels, classifier=True).split(X, labels))

        def measure(threshold: float, train: Any, test: Any) -> list[float]:
            model = clone(estimator).set_params(covariance_threshold=threshold)
            part = {"sensitive_features": take_rows(sensitive_features, train)}
            if privileged is not None:
                part["privileged"] = take_rows(privileged, train)
            rows = take_rows(X, train)
            model.fit(rows, labels[train], **part)
            predicted = model.predict(take_rows(X, test))
            chosen = predicted == classes[1]
            rates = [chosen[groups[test] == g].mean() for g in np.unique(groups[test])]
            centered = columns[train] - columns[train].mean(axis=0)
            covariance = centered.T @ model.decision_function(rows) / len(train)
            return [
                float(np.mean(predicted == labels[test])),
                float(max(rates) - min(rates)),
                float(np.abs(covariance).max()),
            ]

        if thresholds is None:
            free = float(np.mean([measure(np.inf, *split)[2] for split in splits]))
            allowed = free * np.linspace(0.0, 1.0, 6)
        else:
            allowed = np.sort(np.asarray(thresholds, dtype=float))
        measured = np.array(
            [[measure(t, train, test) for train, test in splits] for t in allowed]
        )
        accuracy, disparity, covariance = np.moveaxis(measured, 2, 0)
        display = cls(
            thresholds=allowed,
            accuracy=accuracy,
            disparity=disparity,
            covariance=covariance,
            n_train=float(np.mean([len(train) for train, _ in splits])),
            n_test=float(np.mean([len(test) for _, test in splits])),
            estimator_name=name,
        )
        return display.plot(ax=ax, confidence=confidence)

    def plot(
        self, ax: Any = None, *, confidence: float = 0.95
    ) -> FairnessFrontierDisplay:
        """Draw the frontier.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.
        confidence : float, default=0.95
            Level of the intervals in both directions.

        Returns
        -------
        self : FairnessFrontierDisplay
            The display, with ``ax_``, ``figure_``, ``frontier_``, ``labels_``.
        """
        from matplotlib.patheffects import withStroke

        self.ax_ = ax = one_axes(ax, (7.0, 4.6))
        self.figure_ = ax.figure
        factor = interval_factor(confidence, self.accuracy.shape[1] - 1)
        design = Design(self.n_train, self.n_test)
        reach = [
            [factor * corrected_contrast(line, design).std_error for line in table]
            for table in (self.disparity, self.accuracy)
        ]
        x, y = self.disparity.mean(axis=1), self.accuracy.mean(axis=1)
        self.frontier_ = ax.errorbar(
            x,
            y,
            xerr=reach[0],
            yerr=reach[1],
            fmt="o-",
            color=BLUE,
            ecolor="#B9CFE0",
            elinewidth=1.2,
            linewidth=2,
            markersize=7,
        )
        ax.set_xlim(0, min(ax.get_xlim()[1], 1.08))
        ax.set_ylim(top=min(ax.get_ylim()[1], 1.02))
        places = np.column_stack([x / np.ptp(ax.get_xlim()), y / np.ptp(ax.get_ylim())])
        self.labels_ = [
            ax.annotate(
                words,
                (x[first], y[first]),
                xytext=(7, -13 if number % 2 == 0 else 7),
                textcoords="offset points",
                fontsize=9,
                path_effects=[withStroke(linewidth=3, foreground="white")],
            )
            for number, (first, words) in enumerate(_labels(self.thresholds, places))
        ]
        ax.set_xlabel(f"disparity between groups ({confidence:.0%} interval)")
        ax.set_ylabel(f"accuracy ({confidence:.0%} interval)")
        ax.set_title(
            f"{self.estimator_name}: c is the bound of the covariance",
            loc="left",
            fontweight="bold",
        )
        ax.text(
            0.01,
            0.98,
            "↖ better",
            transform=ax.transAxes,
            va="top",
            color=GRAY,
        )
        tidy(ax)
        return self


def _labels(thresholds: np.ndarray, places: np.ndarray) -> list[tuple[int, str]]:
    """Return one label per range of thresholds whose points coincide."""
    starts = [0]
    for k in range(1, len(thresholds)):
        if np.linalg.norm(places[k] - places[starts[-1]]) > TOGETHER:
            starts.append(k)
    ends = [*starts[1:], len(thresholds)]
    words = []
    for first, end in zip(starts, ends, strict=True):
        text = f"c = {thresholds[first]:.2g}"
        if end - first > 1:
            text += f" … {thresholds[end - 1]:.2g}"
        words.append((first, text))
    return words


def _groups(columns: np.ndarray) -> np.ndarray:
    _, groups = np.unique(columns, axis=0, return_inverse=True)
    groups = groups.ravel()
    count = len(np.unique(groups))
    if not 2 <= count <= MOST_GROUPS:
        raise ValueError(
            f"The sensitive features have {count} distinct rows; disparity compares 2 "
            f"to {MOST_GROUPS} groups. Bin numbers, for example with pandas.cut."
        )
    return groups
