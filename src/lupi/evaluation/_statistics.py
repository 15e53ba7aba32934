"""Paired tests between two models scored on the same splits.

Scores of resampled splits are not independent: the splits share rows. Dividing their
spread by the square root of their number finds differences that are not there, so
the variance of the mean difference is corrected in one of two ways.

*Large training sets* (the usual folds). Nadeau & Bengio (2003) replace ``1/J`` by
``1/J + n_test/n_train``:

    t = d̄ / sqrt( (1/J + n_test/n_train) · s² ),    J − 1 degrees of freedom

*Small training sets, the rest as test rows* (``train_size``). There the ratio above
exceeds one and describes the wrong overlap: the training sets hardly meet, while
every split is scored on nearly the same rows. The two sources of chance are then
estimated apart, the draw of the training rows over the J splits and the draw of the
test rows over G fixed groups of rows:

    Var(d̄) = (1/J + f) · s²  +  s²_groups / G,     min(J, G) − 1 degrees of freedom

where ``f`` is the expected share of rows two training sets have in common (0 when
they are drawn disjoint) and ``s²_groups`` the variance, over the groups, of the
difference averaged over the splits. The p-value by the first formula is kept beside
it (``p_nadeau_bengio``) for whoever wants the published test to the letter.

References
----------
C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
52 (2003), 239-281. S. Holm, "A simple sequentially rejective multiple test
procedure", Scandinavian Journal of Statistics 6 (1979), 65-70.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class Design:
    """How the splits overlap: what the variance of a mean over them depends on.

    Parameters
    ----------
    n_train, n_test : float
        Mean number of training and test rows of a split.
    train_overlap : float
        Expected share of rows two training sets have in common. Only read when
        training sets are smaller than test sets.
    """

    n_train: float
    n_test: float
    train_overlap: float = 0.0

    @property
    def small_training_sets(self) -> bool:
        """Whether chance is split into training rows and test rows."""
        return self.n_train < self.n_test


@dataclass(frozen=True)
class Contrast:
    """A mean over splits, its corrected standard error, and one-sided p-values.

    ``freedom`` are the degrees of freedom of the standard error. ``p_nadeau_bengio``
    is the p-value of a mean above zero by the formula of Nadeau and Bengio whatever
    the splits; for large training sets it is ``p_greater``.
    """

    mean: float
    std_error: float
    freedom: float
    p_greater: float
    p_less: float
    p_nadeau_bengio: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's interval around the mean."""
        reach = interval_factor(confidence, self.freedom) * self.std_error
        return self.mean - reach, self.mean + reach


def corrected_contrast(
    differences: ArrayLike,
    design: Design,
    group_differences: ArrayLike | None = None,
) -> Contrast:
    """Test whether a mean over overlapping splits differs from zero.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        One paired difference (or one score) per split.
    design : Design
        The overlap of the splits.
    group_differences : array-like of shape (n_splits, n_groups), optional
        The same difference within each group of test rows. Needed for small
        training sets; without it the variance due to the test rows is left out.

    Returns
    -------
    contrast : Contrast
        Mean, corrected standard error and one-sided p-values.
    """
    differences = np.asarray(differences, dtype=float)
    n_splits = len(differences)
    mean = float(differences.mean())
    if n_splits < 2:
        return Contrast(mean, np.nan, 0, np.nan, np.nan, np.nan)
    spread = differences.var(ddof=1)
    freedom = n_splits - 1
    classical = (1 / n_splits + design.n_test / design.n_train) * spread
    published = _one_sided(mean, float(np.sqrt(classical)), freedom)[0]
    if design.small_training_sets:
        variance = (1 / n_splits + design.train_overlap) * spread
        if group_differences is not None:
            groups = np.asarray(group_differences, dtype=float)
            # A group without rows, or with one class only, has no score in a split.
            scored = ~np.isnan(groups).all(axis=0)
            over_splits = np.nanmean(groups[:, scored], axis=0)
            n_groups = len(over_splits)
            variance += over_splits.var(ddof=1) / n_groups
            freedom = min(n_splits, n_groups) - 1
    else:
        variance = classical
    std_error = float(np.sqrt(variance))
    greater, less = _one_sided(mean, std_error, freedom)
    return Contrast(mean, std_error, freedom, greater, less, published)


def _one_sided(mean: float, std_error: float, freedom: float) -> tuple[float, float]:
    """Return the p-values of a mean above zero and of one below."""
    # Equal scores on every split leave rounding behind, which must not pass for
    # a difference that is always the same.
    if std_error <= 1e-12 * max(1.0, abs(mean)):
        if abs(mean) <= 1e-12:
            return 1.0, 1.0
        return float(mean < 0), float(mean > 0)
    statistic = mean / std_error
    return (
        float(stats.t.sf(statistic, freedom)),
        float(stats.t.cdf(statistic, freedom)),
    )


def interval_factor(confidence: float, freedom: float) -> float:
    """Return how many standard errors Student's interval reaches to each side."""
    if not 0 < confidence < 1:
        raise ValueError(
            f"confidence={confidence!r}: a level lies between 0 and 1, as 0.95."
        )
    return float(stats.t.ppf(0.5 + confidence / 2, freedom)) if freedom > 0 else np.nan


def holm(p_values: ArrayLike) -> np.ndarray:
    """Return Holm's adjusted p-values; NaN stands for a test that was not made.

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
