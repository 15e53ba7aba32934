"""How the scores change as the training set grows, with the parameters held still."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context

from lupi.evaluation._splits import Splits, small_training_sets

if TYPE_CHECKING:
    from lupi.evaluation._comparison import Comparison
    from lupi.evaluation._study import Study

CURVE_ROWS = ("without", "with")
MOST_ROWS = 1000
FEWEST_ROWS = 20


@dataclass(frozen=True)
class _Point:
    """One method, row and training set to score."""

    method: str
    row: str
    size: int
    split: int


def learning_curves(
    comparison: Comparison, *, n_splits: int = 5, n_jobs: int | None = None
) -> dict[str, list[dict[str, float]]]:
    """Score every method with and without X* on training sets of growing size.

    Each row keeps the parameters that the comparison chose most often for it, so a
    point costs one fit; the curve shows the trend, not a new comparison.

    Parameters
    ----------
    comparison : Comparison
        As returned by `compare`, with its data.
    n_splits : int, default=5
        Training sets per size.
    n_jobs : int, optional
        As in joblib.

    Returns
    -------
    dict of str to list of dict
        Per method, points with ``n_train``, ``without`` and ``with``. Methods that
        could not be fitted are left out.
    """
    study = comparison.study
    if study is None:
        return {}
    methods = [name for name in comparison.methods if name not in comparison.failures]
    params = {
        (name, row): _usual_params(comparison, name, row)
        for name in methods
        for row in CURVE_ROWS
    }
    splits = {
        size: drawn for size in _sizes(study) if (drawn := _draw(study, size, n_splits))
    }
    points = [
        _Point(name, row, size, split)
        for name in methods
        for row in CURVE_ROWS
        for size, drawn in splits.items()
        for split in range(len(drawn))
    ]
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_score)(
            study,
            point,
            params[point.method, point.row],
            *splits[point.size][point.split],
        )
        for point in points
    )
    return {name: _averaged(name, list(splits), points, scores) for name in methods}


def _sizes(study: Study) -> list[int]:
    """Return a few sizes, each twice the one before, around the one compared."""
    largest = min(MOST_ROWS, int(0.8 * len(study.y)))
    compared = min(len(study.splits[0][0]), largest)
    sizes = [round(compared * 2.0**power) for power in range(-4, 4)]
    return [size for size in sizes if FEWEST_ROWS <= size <= largest][:5]


def _draw(study: Study, size: int, n_splits: int) -> Splits:
    try:
        return small_training_sets(
            len(study.y), study.strata, study.groups, size, n_splits, study.seed
        )
    except ValueError:
        # Too few rows of a class for this size: the curve starts further on.
        return []


def _usual_params(comparison: Comparison, method: str, row: str) -> dict[str, Any]:
    folds = comparison.folds
    chosen = folds.loc[(folds["method"] == method) & (folds["row"] == row), "params"]
    counts = Counter(json.dumps(params, sort_keys=True) for params in chosen)
    return json.loads(counts.most_common(1)[0][0])


def _score(
    study: Study,
    point: _Point,
    params: dict[str, Any],
    train: np.ndarray,
    test: np.ndarray,
) -> float:
    method = next(each for each in study.methods if each.name == point.method)
    with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
        # The comparison has said what there is to warn of.
        warnings.simplefilter("ignore")
        try:
            fold = study._fold(point.row, train, test, train)
            return study._score(study._fit(method, params, fold), fold)
        except Exception:
            # A training set this small may lack what the method needs; the point is
            # then missing from the curve, which is all it means.
            return float("nan")


def _averaged(
    method: str, sizes: list[int], points: list[_Point], scores: list[float]
) -> list[dict[str, float]]:
    curve = []
    for size in sizes:
        line: dict[str, float] = {"n_train": size}
        for row in CURVE_ROWS:
            line[row] = float(
                np.mean(
                    [
                        score
                        for point, score in zip(points, scores, strict=True)
                        if (point.method, point.row, point.size) == (method, row, size)
                    ]
                )
            )
        if all(np.isfinite(line[row]) for row in CURVE_ROWS):
            curve.append(line)
    return curve
