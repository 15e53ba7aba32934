"""The tables of one fold, prepared on its training rows, for every arm.

Preprocessing has no parameters to search. It is therefore fitted once per fold and
shared by all candidates, with the same result as a pipeline refitted for each of them.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lupi.base._rows import take_rows
from lupi.evaluation._prepare import (
    PreparedPrivileged,
    beside,
    make_transformer,
    rows_missing,
)

# Numbers in the tables that are kept: 160 MB.
MOST_CELLS_KEPT = 20_000_000


@dataclass(frozen=True)
class Training:
    """Training rows: the first ``n_labelled`` have y, the others do not.

    ``source`` is, for each of them, the row whose X* is used.
    """

    rows: np.ndarray
    n_labelled: int
    source: np.ndarray


@dataclass
class Fold:
    """Prepared tables of one split of some rows; ``privileged`` is None without X*."""

    X_train: Any
    X_test: Any
    privileged: Any
    train: np.ndarray
    n_labelled: int
    test: np.ndarray
    n_privileged: int


class Recent:
    """A cache of recently prepared tables, limited by the number of cells."""

    def __init__(self, most_cells: int) -> None:
        self.most_cells = most_cells
        self._n_cells = 0
        self._results: OrderedDict[Hashable, tuple[Any, ...]] = OrderedDict()

    def get(
        self, key: Hashable, compute: Callable[[], tuple[Any, ...]]
    ) -> tuple[Any, ...]:
        """Return the result of the key, computing it if it is not cached."""
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]
        result = self._results[key] = compute()
        self._n_cells += _cells(result)
        while self._n_cells > self.most_cells:
            _, dropped = self._results.popitem(last=False)
            self._n_cells -= _cells(dropped)
        return result


def _cells(result: tuple[Any, ...]) -> int:
    """Return the number of cells of the tables; of sparse ones those stored."""
    return sum(int(getattr(table, "size", 0)) for table in result)


# Tables prepared for a split are used by all methods that run on it in this process.
# The cache is global because every task of joblib unpickles its own study.
_prepared = Recent(MOST_CELLS_KEPT)


@dataclass
class Folds:
    """The tables of a study, and the preparation of its folds."""

    X: Any
    privileged: Any
    has_privileged: np.ndarray
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def fold(self, arm: str, training: Training, test: np.ndarray) -> Fold:
        """Prepare the tables of an arm for training and test rows."""
        train, source = training.rows, training.source
        X_train, X_test = self._recall(
            lambda: self._prepare_features(train, test), "X", train, test
        )
        privileged, width = None, 0
        if arm == "self":
            privileged = rows_missing(X_train, ~self.has_privileged[train])
            width = X_train.shape[1]
        elif arm != "without":
            prepared, privileged = self._recall(
                lambda: self._prepare_privileged(source), "X*", train, source
            )
            width = 0 if privileged is None else privileged.shape[1]
        if arm == "oracle":
            privileged_test = prepared.transform(take_rows(self.privileged, test))
            X_train = beside(X_train, privileged, width)
            X_test = beside(X_test, privileged_test, width)
            privileged = None
        n = training.n_labelled
        return Fold(X_train, X_test, privileged, train, n, test, width)

    def _recall(self, compute: Callable[[], Any], what: str, *rows: np.ndarray) -> Any:
        key = (self.token, what, *(each.tobytes() for each in rows))
        return _prepared.get(key, compute)

    def _prepare_features(self, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
        transformer = make_transformer(self.X)
        X_train = transformer.fit_transform(take_rows(self.X, train))
        return X_train, transformer.transform(take_rows(self.X, test))

    def _prepare_privileged(self, source: np.ndarray) -> tuple[PreparedPrivileged, Any]:
        table = take_rows(self.privileged, source)
        prepared = PreparedPrivileged(make_transformer(self.privileged), table)
        return prepared, prepared.transform(table)
