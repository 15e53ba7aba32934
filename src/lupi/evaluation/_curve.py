"""How the scores change as the training sets of a comparison shrink and grow.

Every split keeps its own parameters, those the comparison chose for it, so a point of
the curve costs one fit per split and the curve passes through the scores of the
comparison itself. It shows the trend; it is not a search at every size.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context

from lupi.evaluation._splits import evenly_mixed

if TYPE_CHECKING:
    from lupi.evaluation._comparison import Comparison
    from lupi.evaluation._study import Study

CURVE_ROWS = ("without", "with")
MOST_ROWS = 1000
FEWEST_ROWS = 20
MOST_SIZES = 5


@dataclass(frozen=True)
class _Point:
    """One fit: a method and row, on one split resized."""

    method: str
    row: str
    size: int
    split: int


def learning_curves(
    comparison: Comparison, *, n_jobs: int | None = None
) -> dict[str, list[dict[str, float]]]:
    """Score every method with and without X* on training sets of several sizes.

    Parameters
    ----------
    comparison : Comparison
        As returned by `compare`, with its data.
    n_jobs : int, optional
        As in joblib.

    Returns
    -------
    dict of str to list of dict
        Per method, points with ``n_train``, ``without`` and ``with``, by size.
        Methods that could not be fitted, and comparisons read from a file, have none.
    """
    study = comparison.study
    if study is None:
        return {}
    methods = [name for name in comparison.methods if name not in comparison.failures]
    folds = {
        (line["method"], line["row"], line["split"]): line
        for line in comparison.folds.to_dict("records")
    }
    compared, others = _sizes(study)
    points = [
        _Point(name, row, size, split)
        for name in methods
        for row in CURVE_ROWS
        for size in others
        for split in range(len(study.splits))
    ]
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_score)(
            study, point, folds[point.method, point.row, point.split]["params"]
        )
        for point in points
    )
    gathered: dict[tuple[str, str, int], list[float]] = {}
    for point, score in zip(points, scores, strict=True):
        gathered.setdefault((point.method, point.row, point.size), []).append(score)
    for name in methods:
        for row in CURVE_ROWS:
            gathered[name, row, compared] = [
                folds[name, row, split]["score"] for split in range(len(study.splits))
            ]
    return {
        name: _curve(name, sorted([compared, *others]), gathered) for name in methods
    }


def _sizes(study: Study) -> tuple[int, list[int]]:
    """Return the size compared, and others that halve and double it."""
    compared = len(study.splits[0][0])
    # Moving rows from the test side would tear groups apart: only shrink then.
    largest = compared if study.groups is not None else int(0.8 * len(study.y))
    powers = [*range(-1, -5, -1), *range(1, 4)]
    sizes = [round(compared * 2.0**power) for power in powers]
    fitting = [size for size in sizes if FEWEST_ROWS <= size <= min(largest, MOST_ROWS)]
    return compared, sorted(fitting[: MOST_SIZES - 1])


def _score(study: Study, point: _Point, params: dict[str, Any]) -> float:
    method = next(each for each in study.methods if each.name == point.method)
    with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
        # The comparison has said what there is to warn of.
        warnings.simplefilter("ignore")
        try:
            train, test = _resized(study, point.size, point.split)
            fold = study._fold(point.row, train, test, train)
            return study._score(study._fit(method, params, fold), fold)
        except Exception:
            # A training set this small may lack what the method needs; the point is
            # then missing from the curve, which is all it means.
            return float("nan")


def _resized(study: Study, size: int, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Shrink the training rows, or grow them by rows of the test side."""
    train, test = study.splits[split]
    rng = np.random.default_rng([study.seed, size, split])
    source = train if size <= len(train) else test
    strata = None if study.strata is None else study.strata[source]
    order = source[evenly_mixed(len(source), strata, rng)]
    if size <= len(train):
        return np.sort(order[:size]), test
    more = size - len(train)
    return np.sort(np.r_[train, order[:more]]), np.sort(order[more:])


def _curve(
    method: str, sizes: list[int], gathered: dict[tuple[str, str, int], list[float]]
) -> list[dict[str, float]]:
    curve = []
    for size in sizes:
        means = {row: float(np.mean(gathered[method, row, size])) for row in CURVE_ROWS}
        if all(np.isfinite(mean) for mean in means.values()):
            curve.append({"n_train": size, **means})
    return curve
