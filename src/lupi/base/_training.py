"""`Training`: the checked arguments of ``fit``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lupi.base._privileged import Privileged
from lupi.base._rows import take_rows


@dataclass(frozen=True)
class Training:
    """The checked arguments of ``fit``, or some of their rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Decision features. An unchanged data frame for a model that passes the values
        to an estimator of the user's choice.
    y : ndarray of shape (n_samples,)
        The caller's labels, or float64 targets; ±1 in a binary problem. Arbitrary in
        the rows of `unlabelled`.
    privileged : Privileged or None
        The available privileged rows; None if there are none.
    weight : ndarray of shape (n_samples,)
        Sample weights, ones by default; in a binary problem multiplied by the class
        weights. Rows of weight zero are included: see `counted`.
    rows : ndarray of int of shape (n_samples,)
        Positions of these rows among those given to ``fit``.
    extra : dict from name to ndarray with n_samples rows
        Other arguments of ``fit`` with one entry per row, such as sensitive features.
    unlabelled : ndarray of bool of shape (n_samples,) or None
        The rows in which y is missing; None if there are none.
    settled : object
        Values that the model computed once from all rows, such as that of
        ``gamma="scale"``; every part of the training rows has them.

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
        """Number of rows."""
        return len(self.weight)

    @property
    def labelled(self) -> np.ndarray:
        """Positions of the rows that have y."""
        if self.unlabelled is None:
            return np.arange(self.n_rows)
        return np.flatnonzero(~self.unlabelled)

    def take(self, index: np.ndarray) -> Training:
        """Return the rows `index`; nothing is copied if these are all rows in order.

        Parameters
        ----------
        index : array of int
            Positions among these rows, repeats allowed.

        Returns
        -------
        Training
            These rows.
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
        """Return the rows of positive weight; the others do not count.

        Returns
        -------
        Training
            Without the rows of weight zero.
        """
        return self.take(np.flatnonzero(self.weight > 0))

    def learnable(self) -> Training:
        """Return the rows of positive weight that have y, X* or both.

        A row that has neither does not influence any fit.

        Returns
        -------
        Training
            Without the other rows.
        """
        keep = self.weight > 0
        if self.unlabelled is not None:
            informative = ~self.unlabelled
            if self.privileged is not None:
                informative |= self.privileged.available
            keep &= informative
        return self.take(np.flatnonzero(keep))
