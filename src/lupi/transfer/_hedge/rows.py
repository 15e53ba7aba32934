"""The training rows of hedged distillation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lupi.base import Privileged, Training
from lupi.base._rows import take_rows


@dataclass(frozen=True)
class Rows:
    """Rows that have y, X* or both; rows with neither, or of weight 0, are left out.

    Attributes
    ----------
    X : ndarray, CSR matrix or data frame of n rows
        Decision features.
    privileged : Privileged or None
        X* of the rows that have it.
    labelled : ndarray of int
        Positions of the rows that have y, ascending.
    target : ndarray of shape (n_labelled, n_targets)
        y; with two classes the indicator of the second, with more all indicators.
    weight : ndarray of shape (n,)
        Sample weights.
    """

    X: Any
    privileged: Privileged | None
    labelled: np.ndarray
    target: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, training: Training, outputs: Any) -> Rows:
        """Return the rows of a `Training` that has rows with y, X* or both.

        Parameters
        ----------
        training : Training
            The rows.
        outputs : NumericOutput or ClassOutput
            Description of y.
        """
        labelled = training.labelled
        target = outputs.target(training.y[labelled])
        weight = training.weight
        return cls(training.X, training.privileged, labelled, target, weight)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.weight)

    @cached_property
    def place(self) -> np.ndarray:
        """Position of every row among those that have X*; −1 if it has none."""
        place = np.full(self.n_rows, -1)
        if self.privileged is not None:
            place[self.privileged.rows] = np.arange(len(self.privileged.rows))
        return place

    def known(self, place: np.ndarray) -> Any:
        """Return X* at positions among the rows that have it."""
        assert self.privileged is not None
        return take_rows(self.privileged.values, place)

    @property
    def labelled_weight(self) -> np.ndarray:
        """Weights of the labelled rows."""
        return self.weight[self.labelled]

    @cached_property
    def taught(self) -> np.ndarray:
        """Mask of the labelled rows that have X*."""
        return self.place[self.labelled] >= 0

    @cached_property
    def unlabelled(self) -> np.ndarray:
        """Positions of the rows without y; all of them have X*."""
        return np.setdiff1d(np.arange(self.n_rows), self.labelled, assume_unique=True)

    def scaled(self, factor: float) -> Rows:
        """Return the rows with their weights multiplied by a factor."""
        return replace(self, weight=factor * self.weight)

    def strata(self, outputs: Any) -> np.ndarray:
        """Return twice the class of the labelled rows, plus 1 for those with X*."""
        return 2 * outputs.codes(self.target) + self.taught

    def n_privileged(self) -> int:
        """Return the number of rows that have X*."""
        return 0 if self.privileged is None else len(self.privileged.rows)

    def labels_only(self) -> Rows:
        """Return the labelled rows, without their X*."""
        return Rows(
            take_rows(self.X, self.labelled),
            None,
            np.arange(len(self.labelled)),
            self.target,
            self.labelled_weight,
        )
