"""Axes of search spaces whose values are relative to the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PerFeature:
    """A kernel scale that is divided by the number of features it is used on.

    Squared distances grow with the number of standardized features, so that a useful
    value of ``gamma`` is known only up to that factor.

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

    Measured in other units, a target asks a support vector regression for another C
    and another ε; so both are multiples of its spread.

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
    """A parameter of the arm with X*: its value in the arm without, divided.

    It draws nothing: the candidates stay the same draw in every arm.

    Attributes
    ----------
    divisor : float
        What the value is divided by.

    Examples
    --------
    SVMΔ+ without use for X* is the SVM with cost (1 + Δ)C:

    >>> from lupi.base import SharedOver
    >>> privileged_space = {"C": SharedOver(11.0), "delta": [10.0]}
    """

    divisor: float
