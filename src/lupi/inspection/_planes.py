"""A function over two columns of a space, or over two of its principal components."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

# Margin of the panel around the points, as a share of their range.
MARGIN = 0.12
# Offsets of a number from its point, in typographic points, the best first.
OFFSETS = [(9, 7), (9, -7), (-9, 7), (-9, -7), (12, 0), (-12, 0), (0, 11), (0, -11)]
OFFSETS += [(2 * x, 2 * y) for x, y in OFFSETS]
NUMBER_SIZE = np.array([13.0, 9.0])


@dataclass(frozen=True)
class Plane:
    """One panel: points, a grid, the values of a function on it, and labels.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Positions of the rows; NaN for rows that are missing.
    x, y : ndarray of shape (n_x,), (n_y,)
        The grid.
    values : ndarray of shape (n_y, n_x)
        The function on the grid.
    labels : tuple of two str
        Names of the axes.
    note : str
        Note on columns or directions that are not drawn; may be empty.
    one_column : bool
        Whether the space has one column, and the rows are spread over the height of
        the panel.
    projected : bool
        Whether the points are projections of the rows onto the plane.
    """

    points: np.ndarray
    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    labels: tuple[str, str]
    note: str = ""
    one_column: bool = False
    projected: bool = False


def make_plane_of(
    table: np.ndarray,
    names: list[str],
    columns: Sequence[int | str] | str,
    function: Callable[[np.ndarray], np.ndarray],
    resolution: int,
    is_second_class: np.ndarray,
) -> Plane:
    """Evaluate a function over two columns, two components, or the only column."""
    one_column = table.shape[1] == 1
    if isinstance(columns, str):
        if columns != "pca":
            raise ValueError(
                f"A panel shows two columns or the projection 'pca', not {columns!r}; "
                f"choose two of {', '.join(names)}, by name or by position from 0."
            )
        if not one_column:
            return _principal_plane(table, function, resolution)
    chosen = [0] if one_column else _positions(columns, names)
    points = table[:, chosen]
    if one_column:
        points = np.column_stack([points, _spread(is_second_class)])
    x, y = (_axis(points[:, axis], resolution) for axis in (0, 1))
    across, up = np.meshgrid(x, y)
    grid = np.tile(np.nanmean(table, axis=0), (across.size, 1))
    grid[:, chosen[0]] = across.ravel()
    if not one_column:
        grid[:, chosen[1]] = up.ravel()
    others = [name for j, name in enumerate(names) if j not in chosen]
    note = ""
    if len(others) == 1:
        note = f"{others[0]} held at its mean"
    elif others:
        note = f"the other {len(others)} columns held at their means"
    return Plane(
        points=points,
        x=x,
        y=y,
        values=function(grid).reshape(across.shape),
        labels=(
            names[chosen[0]],
            "rows, spread out by class" if one_column else names[chosen[1]],
        ),
        note=note,
        one_column=one_column,
    )


def _principal_plane(
    table: np.ndarray,
    function: Callable[[np.ndarray], np.ndarray],
    resolution: int,
) -> Plane:
    """Evaluate a function on the plane of the first two principal components."""
    known = np.isfinite(table).all(axis=1)
    # The exact solver, which is deterministic.
    pca = PCA(2, svd_solver="full").fit(table[known])
    points = np.full((len(table), 2), np.nan)
    points[known] = pca.transform(table[known])
    x, y = (_axis(points[:, axis], resolution) for axis in (0, 1))
    across, up = np.meshgrid(x, y)
    grid = pca.inverse_transform(np.column_stack([across.ravel(), up.ravel()]))
    first, second = pca.explained_variance_ratio_
    # Two columns are only rotated; with more columns the rows are projected.
    flat = table.shape[1] == 2
    return Plane(
        points=points,
        x=x,
        y=y,
        values=function(grid).reshape(across.shape),
        labels=(
            f"principal component 1 ({first:.0%})",
            f"principal component 2 ({second:.0%})",
        ),
        note="" if flat else "plane through the mean; rows projected onto it",
        projected=not flat,
    )


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


def free_offsets(
    panel: Any, points: np.ndarray, rows: np.ndarray
) -> list[tuple[int, int]]:
    """Return offsets at which the numbers of rows do not overlap points or numbers."""
    to_points = 72.0 / panel.figure.dpi
    places = panel.transData.transform(points) * to_points
    taken = places[np.isfinite(places).all(axis=1)]
    chosen = []
    for row in rows:
        candidates = places[row] + np.array(OFFSETS)
        gaps = np.abs(candidates[:, None] - taken[None]) / NUMBER_SIZE
        crowding = (gaps.max(axis=2) < 1).sum(axis=1)
        best = int(np.argmin(crowding))
        chosen.append(OFFSETS[best])
        # A number covers more than a point does.
        taken = np.vstack([taken, candidates[[best, best, best]]])
    return chosen
