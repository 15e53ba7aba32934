r"""Paired tests between two arms scored on the same splits.

Splits share rows, so that the variance of a mean d̄ over J splits is the sum of the
variances of its sources; the guide to evaluation explains and measures the formulas.
s² is the variance over the splits. The test rows are divided into G groups, and every
split has a jackknife pseudo-value for each group (`lupi.evaluation._scoring`), which
give the variance σ̂_t² of a split that is due to its test rows.

Differences on small training sets and few labels, with s_G² the variance over the
groups of the mean over the splits and σ̂_e² the residual mean square; ρ is zero, but
for few labels half the mean share of rows that two splits have in common (with y, times
that of all). Degrees of freedom are Satterthwaite's:

    Var(d̄) = s²/J + max(0, s_G² − σ̂_e²/J) / G + ρ/(1 − ρ) · max(0, s² − σ̂_t²)

Differences on folds, whose training sets are correlated (Nadeau and Bengio, 2003); of
more than two passes over the rows, J counts two. The second term is multiplied by the
overlap of windows of time, which are one pass:

    Var(d̄) = s²/J + n_test/n_train · max(0, s² − σ̂_t²),    J − 1 degrees of freedom

The score of one arm, which depends on its test rows alike in every pass of P splits; on
folds also the difference to a model of other columns or of another kind:

    Var(d̄) = σ̂_t²/P + (1/J + n_test/n_train) · max(0, s² − σ̂_t²)        folds
    Var(d̄) = s²/J + s_G²/G + √(s²/J · s_G²/G)             small training sets

One or two windows have the variance of blocks of consecutive test rows.

References
----------
C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
52 (2003), 239-281. S. Holm, "A simple sequentially rejective multiple test
procedure", Scandinavian Journal of Statistics 6 (1979), 65-70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

# Distance of an outlier from the quartiles, in their ranges; largest share of the
# splits that is left out; fewest splits of which some are.
FAR = 5.0
MOST_LEFT_OUT = 0.4
FEWEST_SPLITS = 8
# Fewest windows of time whose variance is that of their scores, not of test rows.
FEWEST_WINDOWS = 3
# Fewest blocks of test rows that have an interval: two can agree by chance.
FEWEST_BLOCKS = 4

# Fewest degrees of freedom from which the interaction is subtracted.
FEWEST_FREEDOM = 2.0
# Correlation of the effects of rows as training rows and as test rows.
ROWS_CORRELATION = 0.5

Kind = Literal["folds", "small training sets", "few labels", "time"]


@dataclass(frozen=True)
class Design:
    """Mean number of training and test rows of a split, and the kind of splits.

    Training rows without y are not counted. ``bounds`` is the range of the score,
    ``n_tested`` the number of rows that are test rows of some split, and ``share``
    whether the score is the share of them that is predicted correctly. ``overlap`` is
    the mean share of training rows that two windows of time have in common, and
    ``shared`` the mean over pairs of splits with few labels of the share of rows with y
    times the share of all training rows that they have in common.
    """

    n_train: float
    n_test: float
    kind: Kind = "folds"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    n_tested: int = 0
    share: bool = False
    overlap: float = 1.0
    shared: float = 0.0

    @property
    def common(self) -> float:
        """Ratio ρ/(1 − ρ) of the correlation of the training sets."""
        ratio = self.n_test / self.n_train
        return min(1.0, ratio) * self.overlap if self.kind == "time" else ratio


@dataclass(frozen=True)
class Contrast:
    """A mean over splits, its standard error, and one-sided p-values.

    ``freedom`` is the number of degrees of freedom of the standard error, and
    ``bounds`` the range of the mean. ``n_trials`` is the number of rows of which the
    mean is a share; 0 if it is none.
    """

    mean: float
    std_error: float
    freedom: float
    p_greater: float
    p_less: float
    bounds: tuple[float, float] = (-np.inf, np.inf)
    n_trials: int = 0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's interval around the mean, inside its range.

        That of a share contains Wilson's interval.
        """
        reach = interval_factor(confidence, self.freedom) * self.std_error
        low, high = np.clip([self.mean - reach, self.mean + reach], *self.bounds)
        if self.n_trials:
            hits = stats.binomtest(round(self.mean * self.n_trials), self.n_trials)
            wilson = hits.proportion_ci(confidence, "wilson")
            low, high = np.fmin(low, wilson.low), np.fmax(high, wilson.high)
        return float(low), float(high)

    def columns(self, name: str, prefix: str | None = None) -> dict[str, float]:
        """Return the mean, its standard error and its 95 % interval, for a table."""
        prefix = f"{name}_" if prefix is None else prefix
        names = (name, *(f"{prefix}{end}" for end in ("std_error", "low", "high")))
        values = (self.mean, self.std_error, *self.interval())
        return dict(zip(names, values, strict=True))


def corrected_contrast(
    differences: ArrayLike,
    design: Design,
    groups: ArrayLike | None = None,
    *,
    paired: bool = True,
    alike: bool = True,
) -> Contrast:
    """Test whether a mean over overlapping splits differs from zero.

    There is one difference per split, or one score of an arm if not ``paired``. Two
    models are ``alike`` that predict from the same columns and are of the same kind:
    the difference of others depends on the test rows in every pass, as a score does.
    ``groups``, of shape (n_splits, n_groups), has the pseudo-values of each group of
    test rows; without them σ̂_t² is zero, as in the formula of Nadeau and Bengio.
    """
    differences = np.asarray(differences, dtype=float)
    n_splits = len(differences)
    mean = float(differences.mean())
    low, high = design.bounds
    range_and_rows: tuple[tuple[float, float], int] = (low - high, high - low), 0
    if not paired:
        range_and_rows = (low, high), design.n_tested * design.share
    if n_splits < (FEWEST_WINDOWS if design.kind == "time" else 2):
        std_error, freedom = _of_blocks(groups)
    else:
        spread, table = float(differences.var(ddof=1)), np.empty((n_splits, 0))
        if groups is not None:
            table = np.asarray(groups, dtype=float)
        # A group without rows in some split has no pseudo-value there, and neither has
        # one with all rows of a class.
        table = table[:, ~np.isnan(table).all(axis=0)]
        if design.kind in ("folds", "time") or table.shape[1] < 2:
            same = paired and (alike or design.kind != "folds")
            variance, freedom = _of_folds(spread, table, design, paired=same)
        else:
            variance, freedom = _of_common_test_rows(
                spread, table, design, paired=paired
            )
        std_error = float(np.sqrt(variance))
    tests = _one_sided(mean, std_error, freedom)
    return Contrast(mean, std_error, freedom, *tests, *range_and_rows)


def failed_scores(
    scores: ArrayLike, constants: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return which scores are those of models that failed, and their distances.

    ``scores`` has a row for every arm, and ``constants`` the score of a constant
    prediction in every split. A score of a failed model lies below the quartiles of its
    arm by more than five of their ranges. It also is below a constant prediction, or
    the difference of an arm to the median of the arms is as low in that split.
    """
    scores = np.asarray(scores, dtype=float)
    ranges = stats.iqr(scores, axis=1, keepdims=True)

    def distances(values: np.ndarray) -> np.ndarray:
        beyond = np.quantile(values, 0.25, axis=1, keepdims=True) - values
        return np.divide(beyond, ranges, out=np.zeros_like(values), where=ranges > 0)

    distance = distances(scores)
    apart = distances(scores - np.median(scores, axis=0)).max(axis=0) > FAR
    lowest = -np.inf if constants is None else np.asarray(constants, dtype=float)
    below = scores < lowest
    return (distance > FAR) & (apart | below), distance


def outlying_splits(
    scores: ArrayLike, constants: ArrayLike | None = None
) -> np.ndarray:
    """Return the splits that are left out of all means, from the scores of the arms.

    These have `failed_scores`. At most two fifths of the splits are left out, the
    farthest first.

    Examples
    --------
    >>> from lupi.evaluation._statistics import outlying_splits
    >>> usual = [0.1, 0.2, 0.1, 0.3, 0.2, 0.2, 0.1]
    >>> outlying_splits([[*usual, 0.1], [*usual, -3.5]]).tolist()
    [7]
    >>> outlying_splits([[*usual, -3.5], [*usual, -3.5]]).tolist()
    []
    >>> outlying_splits([[*usual, -3.5], [*usual, -3.5]], [0.0] * 8).tolist()
    [7]
    """
    scores = np.asarray(scores, dtype=float)
    n_splits = scores.shape[-1]
    if n_splits < FEWEST_SPLITS or not len(scores):
        return np.array([], dtype=int)
    failed, distance = failed_scores(scores, constants)
    distance = np.where(failed, distance, 0.0).max(axis=0)
    farthest = np.argsort(-distance, kind="stable")[: int(MOST_LEFT_OUT * n_splits)]
    return np.sort(farthest[distance[farthest] > 0])


def _of_blocks(groups: ArrayLike | None) -> tuple[float, float]:
    """Return the standard error due to the test rows, and its degrees of freedom."""
    values = np.asarray([] if groups is None else groups, dtype=float).ravel()
    values = values[~np.isnan(values)]
    if len(values) < FEWEST_BLOCKS:
        return np.nan, 0.0
    return float(values.std(ddof=1) / np.sqrt(len(values))), len(values) - 1.0


def _of_test_rows(table: np.ndarray) -> tuple[float, float]:
    """Return the variance of a split that is due to its test rows, and its freedom.

    Both are means over the splits that have at least two pseudo-values.
    """
    number = (~np.isnan(table)).sum(axis=1)
    table, number = table[number > 1], number[number > 1]
    if not len(table):
        return 0.0, 0.0
    parts = np.nanvar(table, axis=1, ddof=1) / number
    return float(parts.mean()), float(number.mean()) - 1.0


def _of_common_test_rows(
    spread: float, table: np.ndarray, design: Design, *, paired: bool
) -> tuple[float, float]:
    """Return variance and degrees of freedom where all splits share their test rows."""
    n_splits, n_groups = table.shape
    of_splits = spread / n_splits
    if paired:
        correlation = design.shared / 2
        training = max(0.0, spread - _of_test_rows(table)[0])
        of_splits += correlation / (1 - correlation) * training
    table = table[~np.isnan(table).all(axis=1)]
    seen = ~np.isnan(table)
    over_splits, over_groups = np.nanmean(table, axis=0), np.nanmean(table, axis=1)
    rest = table - over_splits - over_groups[:, None] + over_splits.mean()
    rest_freedom = max(1, int(seen.sum()) - len(table) - n_groups + 1)
    interaction = float(np.nansum(rest**2)) / rest_freedom / n_groups
    interaction *= float((1 / seen.sum(axis=0)).mean())
    rows = float(over_splits.var(ddof=1)) / n_groups
    parts = [(of_splits, n_splits - 1.0)]
    both = [parts[0], (rows, n_groups - 1.0)]
    if not paired:
        variance = of_splits + rows + ROWS_CORRELATION * 2 * np.sqrt(of_splits * rows)
        return variance, _freedom(variance, both)
    variance = of_splits
    if rows > interaction:
        variance += rows - interaction
        parts = [*both, (interaction, rest_freedom)]
    freedom = _freedom(variance, parts)
    least = min(FEWEST_FREEDOM, (min(n_splits, n_groups) - 1) / 2)
    if freedom < least or not seen.all():
        # The parts cancel, or differ by the groups that are tested, so that their
        # difference is not known: nothing is subtracted.
        variance = of_splits + rows
        freedom = _freedom(variance, both)
    return variance, freedom


def _of_folds(
    spread: float, table: np.ndarray, design: Design, *, paired: bool
) -> tuple[float, float]:
    """Return variance and degrees of freedom where splits test different rows."""
    (testing, freedom), n_splits = _of_test_rows(table), len(table)
    training, least = max(0.0, spread - testing), 1 / n_splits
    common, a_pass = design.common * training, least
    if design.kind == "folds":
        a_pass = max(least, design.n_test / (design.n_train + design.n_test))
    if paired:
        return spread * max(least, a_pass / 2) + common, n_splits - 1.0
    rows, sets = testing * a_pass, training / n_splits + common
    parts = [(sets, n_splits - 1.0), (rows, freedom / a_pass)]
    return rows + sets, _freedom(rows + sets, parts if freedom else parts[:1])


def _freedom(variance: float, parts: Sequence[tuple[float, float]]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of mean squares."""
    chance = sum(part**2 / freedom for part, freedom in parts)
    return variance**2 / chance if chance > 0 else parts[0][1]


def _one_sided(mean: float, std_error: float, freedom: float) -> tuple[float, float]:
    """Return the p-values of a mean above zero and of a mean below zero."""
    if np.isnan(std_error):
        return np.nan, np.nan
    # Equal scores on every split differ by rounding errors, which must not be
    # significant.
    if std_error <= 1e-12 * max(1.0, abs(mean)):
        if abs(mean) <= 1e-12:
            return 1.0, 1.0
        return float(mean < 0), float(mean > 0)
    statistic = mean / std_error
    tails = stats.t.sf(statistic, freedom), stats.t.cdf(statistic, freedom)
    return float(tails[0]), float(tails[1])


def interval_factor(confidence: float, freedom: float) -> float:
    """Return the half width of Student's interval in standard errors."""
    if not 0 < confidence < 1:
        raise ValueError(
            f"confidence={confidence!r}: give a level between 0 and 1, such as 0.95."
        )
    return float(stats.t.ppf(0.5 + confidence / 2, freedom)) if freedom > 0 else np.nan


def holm(p_values: ArrayLike) -> np.ndarray:
    """Return Holm's adjusted p-values; NaN is a test that was not made.

    Examples
    --------
    >>> from lupi.evaluation._statistics import holm
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p_values = np.asarray(p_values, dtype=float)
    adjusted = np.full(len(p_values), np.nan)
    made = np.flatnonzero(~np.isnan(p_values))
    order = made[np.argsort(p_values[made], kind="stable")]
    steps = (len(order) - np.arange(len(order))) * p_values[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
