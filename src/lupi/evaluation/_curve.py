"""Learning curves of a comparison: scores as the training sets shrink and grow.

Every split keeps the parameters that the comparison chose for it, so that a point of
the curve costs one fit per split and the curve passes through the scores of the
comparison itself.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context

from lupi.evaluation._splits import describe, evenly_mixed
from lupi.evaluation._statistics import Design

if TYPE_CHECKING:
    from lupi.evaluation._comparison import Comparison
    from lupi.evaluation._study import Study

CURVE_ARMS = ("without", "with")
MOST_ROWS = 1000
FEWEST_ROWS = 20
MOST_SIZES = 5


@dataclass(frozen=True)
class LearningCurve:
    """The scores of one method over the number of training rows.

    Attributes
    ----------
    method : str
        The method.
    scoring : str
        Name of the score.
    train_sizes : ndarray of shape (n_sizes,)
        Numbers of training rows.
    scores : dict of str to ndarray of shape (n_sizes, n_splits)
        Per arm, the score of every split.
    designs : list of Design
        Per size, how the splits overlap.

    Examples
    --------
    >>> from lupi.datasets import make_mediator
    >>> from lupi.evaluation import compare
    >>> data = make_mediator(120, random_state=0)
    >>> result = compare(
    ...     data.data, data.target, data.privileged,
    ...     methods="generalized-distillation-classifier",
    ...     train_size=20, cv=3, n_candidates=1,
    ... )
    >>> (curve,) = result.learning_curves().values()
    >>> curve.train_sizes.tolist()
    [20, 40, 80]
    """

    method: str
    scoring: str
    train_sizes: np.ndarray
    scores: dict[str, np.ndarray]
    designs: list[Design]


def learning_curves(
    comparison: Comparison, *, n_jobs: int | None = None
) -> dict[str, LearningCurve]:
    """Do what `Comparison.learning_curves` documents."""
    study = comparison.study
    if study is None:
        return {}
    folds = comparison.folds.set_index(["method", "arm", "split"])
    compared, sizes = _sizes(study)
    splits = {
        size: [_resized(study, size, split) for split in range(len(study.splits))]
        for size in sizes
    }
    places = [
        (name, arm, size, split)
        for name in comparison.methods
        if name not in comparison.failures
        for arm in CURVE_ARMS
        for size in sizes
        for split in range(len(study.splits))
    ]
    fitted = Parallel(n_jobs=n_jobs)(
        delayed(_score)(
            study,
            name,
            arm,
            splits[size][split],
            folds.at[(name, arm, split), "params"],
        )
        for name, arm, size, split in places
        if size != compared
    )
    found = iter(fitted)
    scores: dict[tuple[str, str, int], list[float]] = {}
    for name, arm, size, split in places:
        known = size == compared
        score = folds.at[(name, arm, split), "score"] if known else next(found)
        scores.setdefault((name, arm, size), []).append(score)
    curves = {}
    for name in dict.fromkeys(name for name, *_ in places):
        by_arm = {
            arm: np.array([scores[name, arm, size] for size in sizes], dtype=float)
            for arm in CURVE_ARMS
        }
        # A training set may lack what the method needs; its size is left out.
        kept = np.isfinite([table.mean(axis=1) for table in by_arm.values()]).all(
            axis=0
        )
        curves[name] = LearningCurve(
            name,
            study.settings["scoring"],
            np.array(sizes)[kept],
            {arm: table[kept] for arm, table in by_arm.items()},
            [describe(splits[size]) for size in np.array(sizes)[kept]],
        )
    return curves


def _sizes(study: Study) -> tuple[int, list[int]]:
    """Return the size compared, and all sizes: it halved and doubled."""
    compared = len(study.splits[0][0])
    # Moving rows from the test side would tear groups apart: only shrink then.
    largest = compared if study.groups is not None else int(0.8 * len(study.y))
    powers = [*range(-1, -5, -1), *range(1, 4)]
    sizes = [round(compared * 2.0**power) for power in powers]
    fitting = [size for size in sizes if FEWEST_ROWS <= size <= min(largest, MOST_ROWS)]
    return compared, sorted([compared, *fitting[: MOST_SIZES - 1]])


def _score(
    study: Study,
    name: str,
    arm: str,
    split: tuple[np.ndarray, np.ndarray],
    params: dict[str, Any],
) -> float:
    train, test = split
    with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
        # The comparison has reported its warnings.
        warnings.simplefilter("ignore")
        try:
            fold = study.folds.fold(arm, train, test, train)
            return study.score(study.fit(study.method(name), params, fold), fold)
        except Exception:
            return float("nan")


def _resized(study: Study, size: int, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Shrink the training rows, or grow them by rows of the test side."""
    train, test = study.splits[split]
    if size == len(train):
        return train, test
    rng = np.random.default_rng([study.seed, size, split])
    source = train if size < len(train) else test
    strata = None if study.strata is None else study.strata[source]
    order = source[evenly_mixed(len(source), strata, rng)]
    if size < len(train):
        return np.sort(order[:size]), test
    more = size - len(train)
    return np.sort(np.r_[train, order[:more]]), np.sort(order[more:])
