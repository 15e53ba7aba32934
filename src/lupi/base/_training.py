"""`Training`: what ``fit`` was given, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lupi.base._privileged import Privileged
from lupi.base._rows import take_rows


@dataclass(frozen=True)
class Training:
    """What ``fit`` was given, checked; or some of its rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Decision features. A data frame, as it came, for a model that leaves the
        values to an estimator given by the user.
    y : ndarray of shape (n_samples,)
        The caller's labels, or float64 targets; ±1 in a binary problem. Without
        meaning in the rows of `unlabelled`.
    privileged : Privileged or None
        The privileged rows that exist; None when there are none.
    weight : ndarray of shape (n_samples,)
        Sample weights, ones when none were given; in a binary problem multiplied by
        the class weights. Rows of weight zero are still here: see `counted`.
    rows : ndarray of int of shape (n_samples,)
        Positions of these rows among those given to ``fit``.
    extra : dict from name to ndarray with n_samples rows
        What else the model was given for each row, such as sensitive features.
    unlabelled : ndarray of bool of shape (n_samples,) or None
        In which rows y is missing; None when it is there in all of them.
    settled : object
        What the model settled for all rows at once, such as ``gamma="scale"``; every
        part of the training rows has it.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import Training
    >>> X, y, weight = np.eye(3), np.array(["a", "b", "a"]), np.array([1.0, 0.0, 2.0])
    >>> training = Training(X, y, None, weight, np.arange(3))
    >>> training.counted().rows
    array([0, 2])
    """

    X: Any
    y: np.ndarray
    privileged: Privileged | None
    weight: np.ndarray
    rows: np.ndarray
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    unlabelled: np.ndarray | None = None
    settled: Any = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.weight)

    @property
    def labelled(self) -> np.ndarray:
        """Positions of the rows that have y."""
        if self.unlabelled is None:
            return np.arange(self.n_rows)
        return np.flatnonzero(~self.unlabelled)

    def take(self, index: np.ndarray) -> Training:
        """Return the rows `index`; all of them in order costs nothing.

        Parameters
        ----------
        index : array of int
            Positions among these rows, repeats allowed.

        Returns
        -------
        Training
            With everything that belongs to a row.
        """
        if len(index) == self.n_rows and np.array_equal(index, np.arange(self.n_rows)):
            return self
        privileged, unlabelled = self.privileged, self.unlabelled
        if unlabelled is not None:
            unlabelled = unlabelled[index]
        return replace(
            self,
            X=take_rows(self.X, index),
            y=self.y[index],
            privileged=None if privileged is None else privileged.take(index),
            weight=self.weight[index],
            rows=self.rows[index],
            extra={name: values[index] for name, values in self.extra.items()},
            unlabelled=None
            if unlabelled is None or not unlabelled.any()
            else unlabelled,
        )

    def counted(self) -> Training:
        """Return the rows of positive weight: the others are as good as absent.

        Returns
        -------
        Training
            Without the rows of weight zero.
        """
        return self.take(np.flatnonzero(self.weight > 0))

    def learnable(self) -> Training:
        """Return the rows of positive weight that have y, X* or both.

        A row that has neither says nothing, and changes nothing.

        Returns
        -------
        Training
            Without the others.
        """
        counts = self.weight > 0
        if self.unlabelled is not None:
            speaks = ~self.unlabelled
            if self.privileged is not None:
                speaks |= self.privileged.available
            counts &= speaks
        return self.take(np.flatnonzero(counts))
