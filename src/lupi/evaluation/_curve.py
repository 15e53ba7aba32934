"""Learning curves of a comparison: scores with smaller and larger training sets.

Every split keeps the parameters that the comparison chose for it, so that a point of
the curve needs one fit per split and the curve contains the scores of the comparison.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context

from lupi.evaluation._labels import Split, describe
from lupi.evaluation._splits import evenly_mixed
from lupi.evaluation._statistics import Design, corrected_contrast

if TYPE_CHECKING:
    from lupi.evaluation._comparison import Comparison
    from lupi.evaluation._study import Study

CURVE_ARMS = ("without", "with")
MOST_ROWS = 1000
FEWEST_ROWS = 20
MOST_SIZES = 5


@dataclass(frozen=True)
class Worth:
    """Number of additional rows with y that have the same gain as X*.

    Attributes
    ----------
    labels : float
        The number of labels; 0 if X* has no gain, infinite if it is beyond the largest
        size of the curve.
    low, high : float
        Ends of its confidence interval.
    compared : int
        Number of training rows with y in the comparison.
    largest : int
        Largest number of training rows with y on the curve.

    Examples
    --------
    >>> from lupi.evaluation import Worth
    >>> print(Worth(41.0, 12.0, float("inf"), 60, 240))
    X* is worth about 41 labels (95 % interval 12 to more than 180): 101 rows with y
    have the same score without X* as 60 with X*.
    """

    labels: float
    low: float
    high: float
    compared: int
    largest: int

    def __str__(self) -> str:
        most = f"more than {self.largest - self.compared:,}"
        low, high = (
            f"{round(end):,}" if np.isfinite(end) else most
            for end in (self.low, self.high)
        )
        if self.labels <= 0:
            return f"X* is worth no labels (95 % interval {low} to {high})."
        if not np.isfinite(self.labels):
            return (
                f"X* is worth {most} labels: {self.largest:,} rows with y have a lower "
                f"score without X* than {self.compared:,} with X*."
            )
        count = round(self.labels)
        return (
            f"X* is worth about {count:,} labels (95 % interval {low} to {high}): "
            f"{self.compared + count:,} rows with y have the same score without X* as "
            f"{self.compared:,} with X*."
        )


@dataclass(frozen=True)
class LearningCurve:
    """The scores of one method over the number of training rows with y.

    Attributes
    ----------
    method : str
        The method.
    scoring : str
        Name of the score.
    compared : int
        The number of training rows of the comparison.
    train_sizes : ndarray of shape (n_sizes,)
        Numbers of training rows.
    scores : dict of str to ndarray of shape (n_sizes, n_splits)
        Scores of every split, by arm.
    group_scores : dict of str to ndarray of shape (n_sizes, n_splits, n_groups)
        Pseudo-values of the scores for each group of test rows, by arm.
    designs : list of Design
        Numbers of training and test rows, by size.
    tuned : bool
        Whether the method has parameters that were chosen at the compared size.

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
    >>> curve.worth().compared
    20
    """

    method: str
    scoring: str
    compared: int
    train_sizes: np.ndarray
    scores: dict[str, np.ndarray]
    group_scores: dict[str, np.ndarray]
    designs: list[Design]
    tuned: bool = True

    def worth(self, confidence: float = 0.95) -> Worth | None:
        """Return the number of additional rows with y that have the same gain as X*.

        The score with X* at the compared size is compared with the scores without X* at
        that size and above. The difference decreases as rows are added; the number of
        rows where it is zero is interpolated on a logarithmic scale. The interval
        consists of the numbers of rows at which the difference is not significant.

        Parameters
        ----------
        confidence : float, default=0.95
            Level of the interval.

        Returns
        -------
        Worth or None
            The number of labels, with its interval; None if the curve has no larger
            training size.
        """
        if self.train_sizes[-1] == self.compared:
            return None
        start = int(np.flatnonzero(self.train_sizes == self.compared)[0])
        sizes = self.train_sizes[start:]
        lines = []
        for place in range(start, len(self.train_sizes)):
            contrast = corrected_contrast(
                self.scores["with"][start] - self.scores["without"][place],
                self.designs[place],
                self.group_scores["with"][start] - self.group_scores["without"][place],
            )
            lines.append((contrast.mean, *contrast.interval(confidence)))
        mean, low, high = np.array(lines).T
        return Worth(
            _zero(sizes, mean) - self.compared,
            _zero(sizes, low) - self.compared,
            _zero(sizes, high, last=True) - self.compared,
            self.compared,
            int(sizes[-1]),
        )


def _zero(sizes: np.ndarray, values: np.ndarray, *, last: bool = False) -> float:
    """Return the size at which decreasing values first or last cross zero."""
    if values[0] <= 0 and not (last and (values > 0).any()):
        return float(sizes[0])
    passes = np.flatnonzero((values[:-1] > 0) & (values[1:] <= 0))
    if not len(passes) or (last and values[-1] > 0):
        return np.inf
    place = passes[-1 if last else 0]
    above, below = values[place], values[place + 1]
    logs = np.log(sizes[place : place + 2])
    return float(np.exp(logs[0] + above / (above - below) * (logs[1] - logs[0])))


def learning_curves(
    comparison: Comparison,
    *,
    n_jobs: int | None = None,
    methods: list[str] | None = None,
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
    # What is prepared for the rows of a split serves all methods and arms.
    places = [
        (name, arm, size, split)
        for size in sizes
        for split in range(len(study.splits))
        for name in (comparison.methods if methods is None else methods)
        if name not in comparison.failures
        for arm in CURVE_ARMS
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
    scores: dict[tuple[str, str, int], list[tuple[float, list[float]]]] = {}
    for name, arm, size, split in places:
        line = folds.loc[(name, arm, split)]
        known = size == compared
        score = (line["score"], line["group_scores"]) if known else next(found)
        scores.setdefault((name, arm, size), []).append(score)
    curves = {}
    for name in dict.fromkeys(name for name, *_ in places):
        by_arm, groups = (
            {
                arm: np.array(
                    [
                        [pair[part] for pair in scores[name, arm, size]]
                        for size in sizes
                    ],
                    dtype=float,
                )
                for arm in CURVE_ARMS
            }
            for part in (0, 1)
        )
        # A size at which the method could not be fitted is left out.
        means = [table.mean(axis=1) for table in by_arm.values()]
        kept = np.isfinite(means).all(axis=0)
        curves[name] = LearningCurve(
            name,
            study.settings["scoring"],
            compared,
            np.array(sizes)[kept],
            {arm: table[kept] for arm, table in by_arm.items()},
            {arm: table[kept] for arm, table in groups.items()},
            [
                describe(splits[size], few=study.settings["splits"]["labelled"])
                for size in np.array(sizes)[kept]
            ],
            len(study.candidates(study.method(name), "with")) > 1,
        )
    return curves


def _sizes(study: Study) -> tuple[int, list[int]]:
    """Return the compared size, and all sizes: it is halved and doubled."""
    compared = len(study.splits[0].train)
    # With groups there are no larger sizes: moving test rows would split groups.
    grouped, n_labelled = study.groups is not None, int(study.has_y.sum())
    largest = compared if grouped else int(0.8 * n_labelled)
    powers = [*range(-1, -5, -1), *range(1, 4)]
    sizes = [round(compared * 2.0**power) for power in powers]
    fitting = [size for size in sizes if FEWEST_ROWS <= size <= min(largest, MOST_ROWS)]
    return compared, sorted([compared, *fitting[: MOST_SIZES - 1]])


def _score(
    study: Study, name: str, arm: str, split: Split, params: dict[str, Any]
) -> tuple[float, list[float]]:
    method = study.method(name)
    with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
        # The comparison has already reported the warnings of the method.
        warnings.simplefilter("ignore")
        try:
            training = study.training(method, arm, split)
            fold = study.folds.fold(arm, training, split.test)
            model = study.fit(method, params, fold)
            score, groups = study.score(model, fold, groups=True)
            return score, groups or []
        except Exception:
            return np.nan, [np.nan] * study.n_groups


def _resized(study: Study, size: int, number: int) -> Split:
    """Return a split with fewer training rows, or more: rows without y, test rows."""
    train, test, unlabelled = study.splits[number]
    rng = np.random.default_rng([study.seed, size, number])
    if size <= len(train):
        return Split(np.sort(_mixed(study, train, rng)[:size]), test, unlabelled)
    more = size - len(train)
    hidden = _mixed(study, unlabelled[study.has_y[unlabelled]], rng)[:more]
    moved = _mixed(study, test, rng)[: more - len(hidden)]
    return Split(
        np.sort(np.r_[train, hidden, moved]),
        np.setdiff1d(test, moved),
        np.setdiff1d(unlabelled, hidden),
    )


def _mixed(study: Study, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    strata = None if study.strata is None else study.strata[rows]
    return rows[evenly_mixed(len(rows), strata, rng)]
