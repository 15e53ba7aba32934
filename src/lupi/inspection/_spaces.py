"""The decision space X and the privileged space X*, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from lupi._words import listed
from lupi.base._info import load_models
from lupi.base._rows import dense
from lupi.inspection._style import BLACK, BLUE, GRAY, ORANGE, several_axes, tidy

CLASS_COLORS = (ORANGE, BLUE)
# Shading of the sign of a function of X* that is a slack.
SLACK_COLORS = ("#6E6E6E", "#FFFFFF")
CLASS_MARKERS = ("s", "o")
LEVELS = (-1.0, 0.0, 1.0)
LEVEL_STYLES = {-1.0: "--", 0.0: "-", 1.0: "--"}
# Tolerance of the solver for rows on the margin.
ON_THE_MARGIN = 1e-3
# A function with a smaller range is constant.
CONSTANT = 1e-6
# With more rows, markers are smaller and support vectors have an edge, not a ring.
CROWDED = 150
# Margin of the panel around the points, as a share of their range.
MARGIN = 0.12
# Offsets of a number from its point, in typographic points, the best first.
OFFSETS = [(9, 7), (9, -7), (-9, 7), (-9, -7), (12, 0), (-12, 0), (0, 11), (0, -11)]
OFFSETS += [(2 * x, 2 * y) for x, y in OFFSETS]
NUMBER_SIZE = np.array([13.0, 9.0])


@dataclass(frozen=True)
class Plane:
    """The content of one panel: rows, and a function on a grid."""

    points: np.ndarray  # (n_rows, 2); NaN for rows that are missing
    x: np.ndarray
    y: np.ndarray
    values: np.ndarray  # (n_y, n_x): the function on the grid
    labels: tuple[str, str]  # of the axes
    note: str = ""  # on columns or directions that are not drawn
    one_column: bool = False  # the rows are spread over the height of the panel
    projected: bool = False  # the points are projections of the rows


@dataclass
class SpacesDisplay:
    """Decision space and privileged space of a fitted machine, side by side.

    The left panel shows the decision function f over two columns of X, with its
    boundary f = 0 and its margins f = ±1. The right panel shows the function f* of X*
    over two of its columns, with the lines f* = 0 and f* = ±1. Points are drawn by
    class, and support vectors have a ring. A row that violates the margin, y f(x) < 1,
    has the same number in both panels, where 1 is the largest violation. For a machine
    without X* there is only the left panel.

    Make it with `from_estimator`.

    Parameters
    ----------
    decision, privileged : Plane
        Contents of each panel: ``points`` (n, 2), the grid ``x``, ``y``, the ``values``
        of the function on it, ``labels`` of the axes, a ``note``. The second is None
        for a machine without X*.
    is_second_class : ndarray of bool
        Mask of the rows of the second of ``classes``.
    classes : ndarray
        The two labels.
    slacks : ndarray
        [1 − y f(x)]₊ of each row.
    corrections : ndarray
        f*(x*) of each row, NaN for rows without X*; None for a machine without X*.
    support : ndarray of int
        Positions of the support vectors.
    numbered : ndarray of int
        Positions of the rows with numbers 1, 2, ….
    estimator_name, space_name, function_name : str
        Names for the titles.
    signed : bool
        Whether the sign of f* is a class, as in SVMΔ+; in SVM+ it is a slack.

    Attributes
    ----------
    axes_ : ndarray of one or two matplotlib Axes
        The panels; ``ax_`` is the first.
    figure_ : matplotlib Figure
        The figure.
    contours_ : list of matplotlib ContourSet, one per panel
        The lines f = −1, 0, 1 and f* = −1, 0, 1, as far as they cross the panel; None
        where none does.
    notes_ : list of str, one per panel
        Notes on columns held at their mean, on a projection and on lines outside the
        panel.
    numbers_ : list of lists of matplotlib Text, one per panel
        The numbers in each panel.

    Examples
    --------
    >>> from lupi import SVCPlus
    >>> from lupi.datasets import make_plane
    >>> from lupi.inspection import SpacesDisplay
    >>> data = make_plane("overlapping", 40, random_state=0)
    >>> model = SVCPlus(kernel="linear", privileged_reg=0.1)
    >>> model = model.fit(data.data, data.target, privileged=data.privileged)
    >>> display = SpacesDisplay.from_estimator(
    ...     model, data.data, data.target, data.privileged
    ... )
    >>> [ax.get_title(loc="left") for ax in display.axes_]
    ['Decision space X', 'Privileged space X*']
    >>> len(display.numbers_[0]) == len(display.numbers_[1]) > 0
    True
    """

    decision: Plane
    privileged: Plane | None
    is_second_class: np.ndarray
    classes: np.ndarray
    slacks: np.ndarray
    corrections: np.ndarray | None
    support: np.ndarray
    numbered: np.ndarray
    estimator_name: str = ""
    space_name: str = "Privileged space X*"
    function_name: str = "f*"
    signed: bool = True

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        privileged: Any = None,
        *,
        features: Sequence[int | str] | str = (0, 1),
        privileged_features: Sequence[int | str] | str = (0, 1),
        function: int = 0,
        max_numbers: int | None = None,
        grid_resolution: int = 120,
        ax: Any = None,
    ) -> SpacesDisplay:
        """Compute both panels from a fitted estimator and its training rows.

        Parameters
        ----------
        estimator : fitted classifier of two classes
            A classifier with a method ``correction``, as those of `lupi.svm` have
            except `HardMarginSVC`. For the left panel only, any classifier with
            ``decision_function``.
        X, y, privileged : array-like
            The rows it was fitted on. For `FairSVCDeltaPlus` without privileged
            features, ``privileged`` is the sensitive features. Without ``privileged``
            only the left panel is drawn.
        features, privileged_features : two column positions or names, or "pca", \
default=(0, 1)
            The columns to draw; the others are held at their mean. ``"pca"`` projects
            the rows onto their first two principal components (of the unscaled
            columns) and draws the function on the plane of these through the mean, so
            that a row off the plane may appear on the wrong side of a line; a note in
            the panel says so. A space of one column is spread over the height of the
            panel, the second class above the first.
        function : int, default=0
            The function of X* to draw, if there are two: 1 is the similarity function
            of `UnifiedSVC`. The slack of `DeviationSVCPlus`, a function of
            1 − y f*(x*), differs between the classes: 0 is that of the first class, 1
            that of the second.
        max_numbers : int, default=None
            Maximum number of violated rows with a number, the largest first. None is
            20, and 0 if more than 150 rows are drawn.
        grid_resolution : int, default=120
            Number of points of the grid along each axis.
        ax : one or two matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : SpacesDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        name = type(estimator).__name__
        _check_drawable(estimator, name, with_privileged=privileged is not None)
        table = dense(X)
        _check_training_rows(estimator, table, name)
        signs = np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)
        star_plane = corrections = None
        by_class, kind = False, "slack"
        space_name = "Privileged space X*"
        if privileged is not None:
            # The sensitive features of a fair model are encoded.
            encoding = getattr(estimator, "_encoding", None)
            if encoding is None:
                star, star_names = privileged, _column_names(privileged, "x*")
            else:
                star, star_names = encoding.encode(privileged), encoding.names
                space_name = "Sensitive features as privileged space X*"
            star = np.asarray(dense(star), dtype=float)
            kind = _what_is_drawn(estimator, function, name)
            own = estimator.correction(star)
            corrections = _one_function(own, function)
            if by_class := kind.startswith("slack of class"):
                corrections = np.where(signs > 0, own[:, 1], own[:, 0])
                space_name += f", slack of class {estimator.classes_[function]}"
            star_plane = _make_plane(
                star,
                star_names,
                privileged_features,
                lambda rows: _one_function(estimator.correction(rows), function),
                grid_resolution,
                signs > 0,
            )
        slacks = np.maximum(1.0 - signs * estimator.decision_function(X), 0.0)
        if max_numbers is None:
            max_numbers = 20 if len(slacks) <= CROWDED else 0
        violated = np.flatnonzero(slacks > ON_THE_MARGIN)
        order = violated[np.argsort(-slacks[violated], kind="stable")]
        display = cls(
            decision=_make_plane(
                table.astype(float),
                _column_names(X, "x"),
                features,
                lambda rows: estimator.decision_function(_like(X, rows)),
                grid_resolution,
                signs > 0,
            ),
            privileged=star_plane,
            is_second_class=signs > 0,
            classes=np.asarray(estimator.classes_),
            slacks=slacks,
            corrections=corrections,
            support=np.asarray(getattr(estimator, "support_", np.arange(0))),
            numbered=order[:max_numbers],
            estimator_name=name,
            space_name=space_name,
            function_name="f*" if function == 0 or by_class else "f**",
            signed=kind == "signed",
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> SpacesDisplay:
        """Draw the panels.

        Parameters
        ----------
        ax : one or two matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : SpacesDisplay
            The drawn display.
        """
        own = ax is None
        shown = [(self.decision, "Decision space X", "f")]
        if self.privileged is not None:
            shown.append((self.privileged, self.space_name, self.function_name))
        self.axes_ = several_axes(ax, len(shown), (0.6 + 5.2 * len(shown), 5.4))
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        self.contours_, self.notes_, self.numbers_ = [], [], []
        for panel, (plane, title, function) in zip(self.axes_, shown, strict=True):
            by_class = self.signed or plane is self.decision
            colors = CLASS_COLORS if by_class else SLACK_COLORS
            contours, note = _draw_function(panel, plane, function, colors)
            self.contours_.append(contours)
            self.notes_.append(note)
            panel.set(xlim=plane.x[[0, -1]], ylim=plane.y[[0, -1]])
            self._draw_points(panel, plane)
            self.numbers_.append(self._draw_numbers(panel, plane))
            title += ", projected" if plane.projected else ""
            panel.set_title(title, loc="left", fontweight="bold")
            panel.set_xlabel(plane.labels[0])
            panel.set_ylabel(plane.labels[1])
            if plane.one_column:
                panel.set_yticks([])
            tidy(panel, grid=None)
        self._draw_legend(own)
        return self

    def _draw_points(self, panel: Any, plane: Plane) -> None:
        drawn = np.isfinite(plane.points).all(axis=1)
        crowded = len(drawn) > CROWDED
        size = max(8.0, 34.0 * CROWDED / len(drawn)) if crowded else 34.0
        for second, color, marker in zip(
            (False, True), CLASS_COLORS, CLASS_MARKERS, strict=True
        ):
            rows = drawn & (self.is_second_class == second)
            panel.scatter(
                *plane.points[rows].T,
                s=size,
                color=color,
                marker=marker,
                edgecolor="white",
                linewidth=0.3 if crowded else 0.6,
                zorder=3,
                label=f"class {self.classes[int(second)]}",
            )
        support = self.support[drawn[self.support]]
        panel.scatter(
            *plane.points[support].T,
            s=size if crowded else 95,
            facecolor="none",
            edgecolor=BLACK,
            linewidth=0.6 if crowded else 1.0,
            zorder=4,
            label="support vector",
        )

    def _draw_numbers(self, panel: Any, plane: Plane) -> list[Any]:
        from matplotlib.patheffects import withStroke

        texts = []
        offsets = _free_offsets(panel, plane.points, self.numbered)
        for number, row in enumerate(self.numbered, start=1):
            if not np.isfinite(plane.points[row]).all():
                continue
            text = panel.annotate(
                str(number),
                plane.points[row],
                xytext=offsets[number - 1],
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=8,
                fontweight="bold",
                zorder=5,
                arrowprops={
                    "arrowstyle": "-",
                    "color": GRAY,
                    "linewidth": 0.6,
                    "shrinkA": 0,
                    "shrinkB": 3,
                },
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
            )
            texts.append(text)
        return texts

    def _draw_legend(self, own: bool) -> None:
        from matplotlib.lines import Line2D

        handles, labels = self.ax_.get_legend_handles_labels()
        handles += [Line2D([], [], color=BLACK, linestyle=s) for s in ("-", "--")]
        two = self.privileged is not None
        zero = f"f = 0, {self.function_name} = 0" if two else "f = 0"
        labels += [zero, "unit lines, ±1"]
        if len(self.numbered):
            handles.append(Line2D([], [], linestyle="", marker="$1$", color=BLACK))
            same = "; same row, same number" if two else ""
            labels.append(f"inside its margin{same}")
        if own:
            self.figure_.suptitle(self.estimator_name)
            self.figure_.legend(
                handles,
                labels,
                loc="outside lower center",
                ncols=3 if two else 2,
                frameon=False,
            )
        else:
            self.axes_[-1].legend(handles, labels, fontsize=7)


def _draw_function(
    panel: Any, plane: Plane, function: str, colors: tuple[str, str]
) -> tuple[Any, str]:
    low, high = float(plane.values.min()), float(plane.values.max())
    constant = high - low < CONSTANT
    if low < 0 < high and not constant:
        panel.contourf(
            plane.x,
            plane.y,
            plane.values,
            levels=[low, 0.0, high],
            colors=colors,
            alpha=0.10,
        )
    # matplotlib would warn of a level outside the range; the panel has a note instead.
    levels = [level for level in LEVELS if low < level < high and not constant]
    contours = None
    if levels:
        contours = panel.contour(
            plane.x,
            plane.y,
            plane.values,
            levels=levels,
            colors=BLACK,
            linestyles=[LEVEL_STYLES[level] for level in levels],
            linewidths=[1.8 if level == 0 else 1.1 for level in levels],
            zorder=2,
        )
        panel.clabel(contours, fmt={-1.0: "−1", 0.0: "0", 1.0: "+1"}, fontsize=8)
    notes = [plane.note] if plane.note else []
    if constant:
        notes.append(f"{function} is constant, {low if abs(low) > CONSTANT else 0:.2g}")
    elif len(levels) < len(LEVELS):
        notes.append(f"{function} runs from {low:.2g} to {high:.2g} here")
    if notes:
        panel.text(
            0.01,
            0.99,
            "\n".join(notes),
            transform=panel.transAxes,
            va="top",
            fontsize=8,
            zorder=6,
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 2},
        )
    return contours, "; ".join(notes)


def _make_plane(
    table: np.ndarray,
    names: list[str],
    columns: Sequence[int | str] | str,
    function: Callable[[np.ndarray], np.ndarray],
    resolution: int,
    is_second_class: np.ndarray,
) -> Plane:
    """Evaluate a function over two columns, two components, or the only column."""
    if isinstance(columns, str) and columns != "pca":
        raise ValueError(
            f"A panel shows two columns or the projection 'pca', not {columns!r}; "
            f"choose two of {', '.join(names)}, by name or by position from 0."
        )
    width, note = table.shape[1], ""
    one_column, projected = width == 1, False
    labels: tuple[str, str]
    to_rows: Callable[[np.ndarray], np.ndarray]
    if one_column:
        points = np.column_stack([table, _spread(is_second_class)])
        labels = (names[0], "rows, spread out by class")
        to_rows = lambda grid: grid[:, :1]  # noqa: E731
    elif columns == "pca":
        known = np.isfinite(table).all(axis=1)
        # The exact solver, which is deterministic.
        pca = PCA(2, svd_solver="full").fit(table[known])
        points = np.full((len(table), 2), np.nan)
        points[known] = pca.transform(table[known])
        first, second = (
            f"principal component {k} ({share:.0%})"
            for k, share in enumerate(pca.explained_variance_ratio_, start=1)
        )
        labels, to_rows = (first, second), pca.inverse_transform
        # Two columns are only rotated; with more columns the rows are projected.
        projected = width > 2
        note = "plane through the mean; rows projected onto it" if projected else ""
    else:
        chosen = _positions(columns, names)
        points, labels = table[:, chosen], (names[chosen[0]], names[chosen[1]])
        others = [name for j, name in enumerate(names) if j not in chosen]
        if len(others) == 1:
            note = f"{others[0]} held at its mean"
        elif others:
            note = f"the other {len(others)} columns held at their means"

        def to_rows(grid: np.ndarray) -> np.ndarray:
            rows = np.tile(np.nanmean(table, axis=0), (len(grid), 1))
            rows[:, chosen] = grid
            return rows

    x, y = (_axis(values, resolution) for values in points.T)
    across, up = np.meshgrid(x, y)
    grid = np.column_stack([across.ravel(), up.ravel()])
    values = function(to_rows(grid)).reshape(across.shape)
    return Plane(points, x, y, values, labels, note, one_column, projected)


def _positions(columns: Sequence[int | str], names: list[str]) -> list[int]:
    positions = []
    for column in columns:
        position = names.index(column) if column in names else column
        if not isinstance(position, int | np.integer) or not (
            0 <= position < len(names)
        ):
            raise ValueError(
                f"There is no column {column!r} to draw; choose two of "
                f"{', '.join(names)}, by name or by position from 0."
            )
        positions.append(int(position))
    if len(positions) != 2 or positions[0] == positions[1]:
        raise ValueError(
            f"A panel needs two different columns, but {list(columns)!r} was given; "
            f"choose two of {', '.join(names)}."
        )
    return positions


def _axis(values: np.ndarray, resolution: int) -> np.ndarray:
    low, high = np.nanmin(values), np.nanmax(values)
    margin = MARGIN * ((high - low) or 1.0)
    return np.linspace(low - margin, high + margin, resolution)


def _spread(is_second_class: np.ndarray) -> np.ndarray:
    """Return heights of the rows that separate equal values, the second class above."""
    heights = np.empty(len(is_second_class))
    for second in (False, True):
        rows = np.flatnonzero(is_second_class == second)
        # Multiples of the golden ratio, which separate consecutive rows.
        part = (np.arange(len(rows)) * 0.6180339887498949) % 1.0
        heights[rows] = 0.48 * part + 0.52 * second
    return heights


def _free_offsets(
    panel: Any, points: np.ndarray, rows: np.ndarray
) -> list[tuple[int, int]]:
    """Return offsets at which the numbers of rows do not overlap points or numbers."""
    to_points = 72.0 / panel.figure.dpi
    centers = panel.transData.transform(points) * to_points
    taken = centers[np.isfinite(centers).all(axis=1)]
    chosen = []
    for row in rows:
        candidates = centers[row] + np.array(OFFSETS)
        gaps = np.abs(candidates[:, None] - taken[None]) / NUMBER_SIZE
        crowding = (gaps.max(axis=2) < 1).sum(axis=1)
        best = int(np.argmin(crowding))
        chosen.append(OFFSETS[best])
        # A number covers more than a point does.
        taken = np.vstack([taken, candidates[[best, best, best]]])
    return chosen


def _check_drawable(estimator: Any, name: str, *, with_privileged: bool) -> None:
    """Raise an error for estimators without two classes or without a function on X*."""
    if with_privileged and not hasattr(estimator, "correction"):
        drawable = [
            kind.__name__
            for kind in load_models()
            if hasattr(kind, "correction")
            and issubclass(kind, ClassifierMixin)
            and kind.__lupi_info__.functions  # type: ignore[attr-defined]
        ]
        raise ValueError(
            f"SpacesDisplay draws the function of X* of a fitted machine, and {name} "
            f"has none. Use {listed(drawable, 'or')}, or leave privileged out to "
            "draw the decision space only."
        )
    n_classes = len(getattr(estimator, "classes_", ()))
    if n_classes != 2:
        raise ValueError(
            "SpacesDisplay draws one boundary and needs a classifier of two "
            f"classes; this {name} was fitted on {n_classes}. Fit it on two of them."
        )
    for parameter, value in estimator.get_params(deep=False).items():
        if parameter.endswith("kernel") and value == "precomputed":
            raise ValueError(
                f"SpacesDisplay evaluates functions at points that are not training "
                f"rows, which {parameter}='precomputed' does not allow. Fit {name} on "
                "the features with a kernel given by name or as a function."
            )


def _check_training_rows(estimator: Any, table: np.ndarray, name: str) -> None:
    """Raise an error for rows that do not contain the support vectors."""
    support = getattr(estimator, "support_", None)
    if support is None:
        return
    vectors = dense(estimator.support_vectors_)
    outside = len(support) > 0 and support.max() >= len(table)
    if outside or not np.allclose(table[support].astype(float), vectors):
        raise ValueError(
            f"X does not have the support vectors of this {name} at the positions "
            "support_. Give the rows that it was fitted on, in the same order."
        )


def _what_is_drawn(estimator: Any, function: int, name: str) -> str:
    """Return the kind of a function on X*: ``functions`` of `lupi.base.ModelInfo`."""
    info = getattr(type(estimator), "__lupi_info__", None)
    kinds = getattr(info, "functions", ()) or ("slack",)
    if function not in range(len(kinds)):
        raise ValueError(
            f"function={function!r}: this {name} has {len(kinds)} function(s) on X*; "
            f"choose from {list(range(len(kinds)))}."
        )
    return kinds[function]


def _one_function(values: np.ndarray, function: int) -> np.ndarray:
    """Return the column of one function."""
    return values.reshape(len(values), -1)[:, function]


def _column_names(rows: Any, letter: str) -> list[str]:
    """Return the names of the columns; an array has the letter and numbers."""
    if hasattr(rows, "columns"):
        return [str(column) for column in rows.columns]
    return [f"{letter}{j}" for j in range(dense(rows).shape[1])]


def _like(X: Any, rows: np.ndarray) -> Any:
    """Return rows as a data frame if X is one, so that its names can be checked."""
    if hasattr(X, "columns"):
        return type(X)(rows, columns=X.columns)
    return rows
