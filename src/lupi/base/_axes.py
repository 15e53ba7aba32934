"""Axes of search spaces whose values are relative to the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PerFeature:
    """A kernel scale that is divided by the number of features it is used on.

    Squared distances grow with the number of standardized features, so that useful
    values of ``gamma`` are inversely proportional to it.

    Attributes
    ----------
    value : float
        The scale for a single feature.
    privileged : bool
        Whether the features are those of X*.

    Examples
    --------
    >>> from lupi.base import PerFeature
    >>> space = {"gamma": [PerFeature(0.3), PerFeature(1.0), PerFeature(3.0)]}
    """

    value: float
    privileged: bool = False


@dataclass(frozen=True)
class TargetUnits:
    """A value, or an axis of values, in units of the target's standard deviation.

    Useful values of C and ε of a support vector regression are proportional to the
    spread of the target.

    Attributes
    ----------
    value : object
        A number, a list or a distribution.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from lupi.base import TargetUnits
    >>> space = {"epsilon": TargetUnits([0.1]), "C": TargetUnits(loguniform(1, 9))}
    """

    value: Any


@dataclass(frozen=True)
class SharedOver:
    """A value of the arm with X*: that of the arm without X*, divided by a constant.

    No random number is drawn for it, so that all arms search the same candidates.

    Attributes
    ----------
    divisor : float
        The constant.

    Examples
    --------
    SVMΔ+ with an uninformative X* is the SVM with cost (1 + Δ)C:

    >>> from lupi.base import SharedOver
    >>> privileged_space = {"C": SharedOver(11.0), "delta": [10.0]}
    """

    divisor: float
