"""Out-of-fold work whose folds are a function of the data, not of their order.

A teacher's opinion of a row it was trained on says little: it has seen the answer.
Out-of-fold opinions need folds, and folds drawn by row number would break three
properties that users rely on: a row of weight 2 equals the row twice, a row of weight
0 equals no row, and the order of the rows does not matter. So equal rows share a
fold, and the folds are dealt in the order of a hash of the rows' content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from lupi.base._missing import missing_values
from lupi.base._rows import is_data_frame, take_columns


def row_digests(*blocks: Any) -> np.ndarray:
    """Return one short hash per row of the blocks laid side by side.

    Dense and sparse blocks and data frames of the same values have the same digests.
    """
    columns = [as_numbers(block) for block in blocks]
    table = sp.hstack([sp.csr_array(block) for block in columns], format="csr")
    table.sum_duplicates()
    table.eliminate_zeros()
    table.data[np.isnan(table.data)] = np.nan  # of whatever sign
    ends = table.indptr
    return np.array(
        [
            blake2b(
                table.indices[start:stop].astype(np.int64).tobytes()
                + table.data[start:stop].tobytes(),
                digest_size=16,
            ).hexdigest()
            for start, stop in pairwise(ends)
        ]
    )


def as_numbers(block: Any) -> Any:
    """Return a matrix of numbers that are equal where the values are."""
    if is_data_frame(block):
        positions = range(block.shape[1])
        return np.column_stack([_codes(take_columns(block, i)) for i in positions])
    if np.ndim(block) == 1:
        return _codes(block).reshape(-1, 1)
    return block


def _codes(column: Any) -> np.ndarray:
    values = np.asarray(column)
    try:
        return values.astype(float)
    except (TypeError, ValueError):  # text, or a missing value that is no number
        words, place = np.unique([str(value) for value in values], return_inverse=True)
        hashes = [blake2b(word.encode(), digest_size=6).digest() for word in words]
        codes = np.array([float(int.from_bytes(one, "big")) for one in hashes])[place]
        # None, NaN and NA are one, as they are to whoever reads the table.
        return np.where(missing_values(values), np.nan, codes)


def content_folds(
    blocks: Iterable[Any],
    n_folds: int,
    *,
    strata: np.ndarray | None = None,
    random_state: Any = None,
) -> np.ndarray:
    """Deal the rows into folds by their content; return each row's fold number.

    Parameters
    ----------
    blocks : iterable of {array, sparse matrix}
        What the rows consist of. Rows equal in every block share a fold.
    n_folds : int
        Number of folds; fewer when there are not so many distinct rows.
    strata : ndarray of int, default=None
        Class codes, the same for equal rows; each class is spread evenly.
    random_state : int, RandomState or None, default=None
        None deals in the order of the digests, which is already arbitrary and the
        same at every call; a seed shuffles that order.
    """
    _, first, group = np.unique(
        row_digests(*blocks), return_index=True, return_inverse=True
    )
    rank = np.arange(len(first))
    if random_state is not None:
        rank = check_random_state(random_state).permutation(rank)
    stratum = np.zeros(len(first)) if strata is None else strata[first]
    # One deal through all classes in turn balances classes and sizes at once.
    fold = np.empty(len(first), dtype=int)
    fold[np.lexsort((rank, stratum))] = np.arange(len(first)) % n_folds
    return fold[group]


def splits(
    cv: Any,
    blocks: Iterable[Any],
    y: np.ndarray,
    *,
    stratify: bool = False,
    random_state: Any = None,
) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Turn a ``cv`` parameter into (train, test) index arrays that cover every row.

    None stays None. An integer deals the rows of ``blocks`` and ``y`` by content,
    stratified by ``y`` or not; a splitter or an iterable of splits is used as it is,
    on the rows in the order given.
    """
    if cv is None:
        return None
    blocks = list(blocks)
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(
                f"cv={cv}: out-of-fold work needs at least 2 folds. Give 2 or more, "
                "or cv=None to work in-sample."
            )
        fold = content_folds(
            [*blocks, y],
            int(cv),
            strata=y if stratify else None,
            random_state=random_state,
        )
        numbers = np.unique(fold)
        if len(numbers) < 2:
            raise ValueError(
                f"cv={cv}: out-of-fold work needs at least 2 distinct rows that have "
                "privileged information. Give more rows, or cv=None to work in-sample."
            )
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in numbers]
    splitter = check_cv(cv, y, classifier=stratify)
    found = list(splitter.split(blocks[0], y))
    tested = np.concatenate([np.empty(0, dtype=int), *(test for _, test in found)])
    if not np.array_equal(np.sort(tested), np.arange(len(y))):
        raise ValueError(
            f"cv={cv!r} does not test each of the {len(y)} rows that have privileged "
            "information exactly once. Use a splitter that partitions them (KFold, "
            "StratifiedKFold), an integer, or cv=None."
        )
    return found


def fit_and_ask(
    fit: Callable[[np.ndarray], Any],
    ask: Callable[[Any, np.ndarray], np.ndarray],
    folds: list[tuple[np.ndarray, np.ndarray]] | None,
    n_rows: int,
) -> tuple[Any, np.ndarray]:
    """Fit on all rows; have every row answered by a model that was not fitted on it.

    Parameters
    ----------
    fit : callable
        ``fit(rows)`` returns a model fitted on these row numbers.
    ask : callable
        ``ask(model, rows)`` returns its answers for these row numbers.
    folds : list of (train, test), or None
        From :func:`splits`; None has the first model answer for its own rows.
    n_rows : int
        Number of rows.

    Returns
    -------
    model : object
        The model of all rows.
    answers : ndarray of shape (n_rows, ...)
        One answer per row.
    """
    everything = np.arange(n_rows)
    model = fit(everything)
    if folds is None:
        return model, ask(model, everything)
    parts = [(test, ask(fit(train), test)) for train, test in folds]
    answers = np.empty((n_rows, *parts[0][1].shape[1:]))
    for test, part in parts:
        answers[test] = part
    return model, answers
