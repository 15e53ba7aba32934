"""The arguments of ``fit``, checked: `Privileged`, `Target`, `Training`, `Labels`.

A row of X* is either available, with every value finite, or missing, with every value
NaN. The values of y that are missing are those of the caller's container: NaN in
numbers; None, NaN, NA and NaT among objects; the missing value of pandas' nullable,
string and categorical types; null in Polars; masked entries. A number such as −1, the
string "nan" and the empty string are labels. The last functions split a task of many
classes into binary ones, and combine their decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_X_y
from sklearn.utils.multiclass import (
    _ovr_decision_function,
    check_classification_targets,
)

from lupi._parts import Parts
from lupi.base._rows import (
    dense,
    is_data_frame,
    list_rows,
    missing_cells,
    missing_values,
    name_of,
    refuse_text,
    take_rows,
)

# Largest absolute value of X, X* and y.
LARGEST = 1e50
Settled = TypeVar("Settled")


@dataclass(frozen=True)
class Privileged:
    """The available privileged rows.

    Attributes
    ----------
    values : ndarray or CSR matrix of shape (n_available, n_privileged_features)
        The available rows, float64. An unchanged data frame for a model that passes
        the values to an estimator of the user's choice.
    rows : ndarray of int
        Their positions, ascending, among the training rows.
    n_rows : int
        Number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import check_privileged
    >>> some = check_privileged(np.array([[1.0], [np.nan], [3.0]]), 3)
    >>> some.complete, some.available.tolist(), some.values.tolist()
    (False, [True, False, True], [[1.0], [3.0]])
    """

    values: Any
    rows: np.ndarray
    n_rows: int

    @property
    def available(self) -> np.ndarray:
        """Which training rows have privileged information, as a boolean mask."""
        mask = np.zeros(self.n_rows, dtype=bool)
        mask[self.rows] = True
        return mask

    @property
    def complete(self) -> bool:
        """Whether every training row has privileged information."""
        return len(self.rows) == self.n_rows

    def take(self, index: np.ndarray) -> Privileged | None:
        """Return the training rows `index`, renumbered from 0.

        Parameters
        ----------
        index : array of int
            Positions among the training rows, repeats allowed.

        Returns
        -------
        Privileged or None
            None if none of these rows has privileged information.
        """
        index = np.asarray(index)
        position = np.full(self.n_rows, -1)
        position[self.rows] = np.arange(len(self.rows))
        position = position[index]
        rows = np.flatnonzero(position >= 0)
        if len(rows) == 0 and not self.complete:
            return None
        return Privileged(take_rows(self.values, position[rows]), rows, len(index))

    def only(self, chosen: np.ndarray) -> Privileged:
        """Keep some of the available rows; the training rows are not renumbered.

        Parameters
        ----------
        chosen : ndarray of bool
            One entry per available row.

        Returns
        -------
        Privileged
            The same training rows; those not chosen have no privileged information.
        """
        index = np.flatnonzero(chosen)
        if len(index) == len(self.rows):
            return self
        return Privileged(take_rows(self.values, index), self.rows[index], self.n_rows)

    def dense_full(self) -> np.ndarray:
        """Return all training rows as a dense array, NaN where X* is missing.

        Returns
        -------
        ndarray of shape (n_rows, n_privileged_features)
            One row per training row.
        """
        full = np.full((self.n_rows, self.values.shape[1]), np.nan)
        full[self.rows] = dense(self.values)
        return full


def check_privileged(
    privileged: Any,
    n_rows: int,
    estimator: Any = None,
    *,
    allow_partial: bool = False,
    keep_data_frame: bool = False,
) -> Privileged | None:
    """Read `privileged`; refuse what is not a table of numbers.

    Parameters
    ----------
    privileged : array-like, sparse matrix, DataFrame or None
        One row per training row. A row that is NaN throughout is missing.
    n_rows : int
        Number of rows of X.
    estimator : estimator or str, default=None
        Named in error messages.
    allow_partial : bool, default=False
        Whether single missing values are allowed; otherwise they are refused.
    keep_data_frame : bool, default=False
        Whether the values of a data frame are those of another estimator: they are
        neither checked nor converted to numbers.

    Returns
    -------
    Privileged or None
        None when `privileged` is None or all of its rows are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import check_privileged
    >>> P = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]])
    >>> check_privileged(P, 3).rows
    array([0, 2])
    >>> check_privileged(np.full((3, 2), np.nan), 3) is None
    True
    """
    if privileged is None:
        return None
    name = name_of(estimator)
    if len(getattr(privileged, "shape", ())) > 0:
        check_shape(privileged, n_rows, name)
    if keep_data_frame and is_data_frame(privileged):
        return _available(privileged, name, allow_partial)
    values = _as_matrix(privileged, name)
    check_shape(values, n_rows, name)
    # As in scikit-learn, a finite sum shows in one pass that all values are finite. If
    # the sum overflows, the full check below follows.
    entries = values.data if sp.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(entries.sum()):
            return Privileged(values, np.arange(n_rows), n_rows)
    infinite = np.unique((abs(values) == np.inf).nonzero()[0])
    if len(infinite):
        raise ValueError(
            f"{name} found infinite values in privileged: "
            f"{list_rows(infinite)}. Replace them by finite numbers, or make the whole "
            "row NaN if its privileged information is not available."
        )
    return _available(values, name, allow_partial)


def _available(table: Any, name: str, allow_partial: bool) -> Privileged | None:
    """Return the rows with values; refuse those of which some values are missing."""
    (n_rows, n_columns), n_missing = table.shape, _n_missing(table)
    partial = np.flatnonzero((n_missing > 0) & (n_missing < n_columns))
    if len(partial) and not allow_partial:
        raise ValueError(
            f"{name} found NaN in part of a privileged row: "
            f"{list_rows(partial)} of privileged. A row of {n_columns} values is "
            "either complete or NaN throughout, which means not available. Impute the "
            "single values (for example in lupi.compose.TransformedPrivileged) or make "
            "the whole row NaN."
        )
    rows = np.flatnonzero(n_missing < n_columns)
    if len(rows) == 0:
        return None
    values = table if len(rows) == n_rows else take_rows(table, rows)
    return Privileged(values, rows, n_rows)


def missing_rows(
    table: Any, estimator: Any = None, n_rows: int | None = None
) -> np.ndarray:
    """Return which rows of a table have no value at all, as a boolean mask.

    The table may hold text, dates and single missing values.

    Parameters
    ----------
    table : array-like, sparse matrix or data frame
        One row per training row.
    estimator : estimator or str, default=None
        Named in error messages.
    n_rows : int, default=None
        Number of rows of X, which is compared with that of the table.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
        True where a row is missing.

    Examples
    --------
    >>> from lupi.base import missing_rows
    >>> missing_rows([["mild", None], [None, float("nan")], ["severe", 3.5]])
    array([False,  True, False])
    """
    if not sp.issparse(table) and not hasattr(table, "shape"):
        table = np.asarray(table, dtype=object)
    check_shape(table, n_rows, name_of(estimator))
    return _n_missing(table) == table.shape[1]


def _as_matrix(privileged: Any, name: str) -> Any:
    """Return a float64 array or CSR matrix; NaN and infinity are not refused here."""
    if isinstance(privileged, np.ma.MaskedArray):
        privileged = np.ma.filled(privileged.astype(np.float64), np.nan)
    if isinstance(privileged, str | bytes) or np.isscalar(privileged):
        raise ValueError(
            f"{name} expected privileged to be a table of numbers with one row per "
            f"training row, but got {privileged!r}."
        )
    refuse_text(privileged, name)
    try:
        return check_array(
            privileged,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_2d=False,
            allow_nd=True,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name="privileged",
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} could not read privileged as a table of numbers: {error} Encode "
            "or drop the columns that are not numeric, or wrap the estimator in "
            "lupi.compose.TransformedPrivileged with a transformer that encodes them."
        ) from error


def check_shape(values: Any, n_rows: int | None, name: str) -> None:
    """Refuse what is not a table, or has another number of rows than X, if known."""
    shape = values.shape
    if len(shape) != 2:
        given = f"{len(shape)} dimensions."
        if hasattr(values, "to_frame"):
            given = "a Series. Pass privileged.to_frame()."
        elif len(shape) == 1:
            given = f"a 1-D array of length {shape[0]}. Use privileged.reshape(-1, 1) "
            given += "if it is one feature."
        raise ValueError(
            f"{name} expected privileged to be 2-D, one row per training row and one "
            f"column per privileged feature, but got {given}"
        )
    if n_rows is not None and values.shape[0] != n_rows:
        raise ValueError(
            f"{name} got privileged with {values.shape[0]} rows for {n_rows} rows of "
            "X. Give one row for each, in the same order; a row without privileged "
            "information is a row of NaN."
        )
    if values.shape[1] == 0:
        raise ValueError(
            f"{name} got privileged with 0 columns. Pass privileged=None to train "
            "without privileged information."
        )


def _n_missing(table: Any) -> np.ndarray:
    """Return the number of missing values in each row."""
    if not sp.issparse(table):
        return missing_cells(table).sum(axis=1)
    cells = sp.coo_array(table)
    return np.bincount(cells.row[np.isnan(cells.data)], minlength=table.shape[0])


@dataclass(frozen=True)
class Target:
    """The argument ``y``, checked.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        Labels or float64 targets, of the type that they have without missing values.
        Where y is missing, a target is NaN and a label is arbitrary.
    unlabelled : ndarray of bool or None
        The rows in which y is missing; None if there are none.

    Examples
    --------
    >>> from lupi.base import read_target
    >>> read_target([2.5, None], 2, "Toy", numeric=True, missing=True).values
    array([2.5, nan])
    """

    values: np.ndarray
    unlabelled: np.ndarray | None = None


def read_target(
    y: Any, n_rows: int, estimator: Any, *, numeric: bool, missing: bool = False
) -> Target:
    """Read y; refuse what cannot be labels or targets.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any type, or numbers.
    n_rows : int
        Number of rows of X.
    estimator : estimator or str
        Named in error messages.
    numeric : bool
        Whether y holds numbers; they are returned as float64.
    missing : bool, default=False
        Whether y may be missing in some rows.

    Returns
    -------
    Target
        The labels or targets.

    Examples
    --------
    >>> from lupi.base import read_target
    >>> read_target(["b", "a"], 2, "Toy", numeric=False).values
    array(['b', 'a'], dtype='<U1')
    >>> target = read_target([1, None, 0], 3, "Toy", numeric=False, missing=True)
    >>> target.values.dtype.kind, target.unlabelled
    ('i', array([False,  True, False]))
    """
    absent = missing_targets(y)
    if not absent.any() or len(absent) != n_rows:
        return Target(_check_target(y, n_rows, estimator, numeric))
    name = name_of(estimator)
    if absent.all():
        folds = (
            " In cross-validation, use cv=lupi.evaluation.LabelledSplits(), whose "
            "training sets all have rows with y."
        ) * missing
        raise ValueError(
            f"{name} got y without a value for any of the {n_rows} rows, so that there "
            f"is no outcome to learn from. Give y for some of the rows.{folds}"
        )
    if not missing:
        kind = "Regressor" if numeric else "Classifier"
        raise ValueError(
            f"{name} learns from rows with y alone, but y is missing in "
            f"{absent.sum()} of {n_rows} rows "
            f"({list_rows(np.flatnonzero(absent)).lower()}). Leave these rows out, "
            "or use an estimator that learns from them, such as "
            f"lupi.HedgedDistillation{kind}."
        )
    rows = np.flatnonzero(~absent)
    present = _check_target(take_rows(y, rows), len(rows), estimator, numeric)
    values = np.full(n_rows, np.nan if numeric else present[0], dtype=present.dtype)
    values[rows] = present
    return Target(values, absent)


def missing_targets(y: Any) -> np.ndarray:
    """Return the rows in which y is missing, as a boolean mask.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        A list, an array, a masked array, a series of pandas or Polars.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
        True where y is missing. Empty if y is not a sequence of labels.

    Examples
    --------
    >>> from lupi.base import missing_targets
    >>> missing_targets(["ill", None, "nan", "", float("nan")])
    array([False,  True, False, False,  True])
    """
    try:
        mask = np.asarray(y.isna() if hasattr(y, "isna") else missing_values(y))
    except ValueError:  # ragged
        mask = np.empty((0, 1), dtype=bool)
    column = mask.ndim == 1 or (mask.ndim == 2 and mask.shape[1] == 1)
    return mask.ravel() if column else np.zeros(0, dtype=bool)


def _plain_numbers(y: Any) -> Any:
    """Return numbers in a masked, nullable or object array as plain numbers."""
    if isinstance(y, np.ma.MaskedArray):
        return y.data
    dtype = getattr(y, "dtype", None)
    inner = getattr(dtype, "numpy_dtype", None)
    if inner is not None and getattr(inner, "kind", "O") in "biuf":  # Int64 etc.
        return np.asarray(y.astype(inner))
    numbers = bool | int | float | np.bool_ | np.number
    if getattr(dtype, "kind", None) == "O" and all(isinstance(v, numbers) for v in y):
        return np.asarray(list(y))
    return y


def _check_target(y: Any, n_rows: int, estimator: Any, numeric: bool) -> np.ndarray:
    # scikit-learn checks y together with X, which is replaced by zeros here.
    zeros = np.zeros((n_rows, 1))
    y = check_X_y(zeros, _plain_numbers(y), y_numeric=numeric, estimator=estimator)[1]
    return y.astype(np.float64, copy=False) if numeric else y


def check_weight(sample_weight: Any, n_rows: int, estimator: Any) -> np.ndarray:
    """Return sample weights as float64; refuse values that cannot be weights.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        The argument of ``fit``.
    n_rows : int
        Number of rows of X.
    estimator : estimator or str
        Named in error messages.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights; ones for None.

    Examples
    --------
    >>> from lupi.base import check_weight
    >>> check_weight([0, 2.5], 2, "Toy")
    array([0. , 2.5])
    """
    if sample_weight is None:
        return np.ones(n_rows)
    weight = one_per_row(sample_weight, n_rows, "sample_weight", estimator)
    if not np.any(weight > 0):
        raise ValueError(
            f"{name_of(estimator)} got a sample_weight of zero for every row, so that "
            "there is no row to learn from. Give at least one row of each class a "
            "positive weight."
        )
    return weight


def one_per_row(values: Any, n_rows: int, what: str, estimator: Any) -> np.ndarray:
    """Return finite numbers ≥ 0, one per row of X; a single one counts for all rows."""
    name = name_of(estimator)
    if sp.issparse(values):
        raise ValueError(f"{name} expected {what} as an array, not sparse.")
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} could not read {what} as numbers: {error}."
        ) from error
    if numbers.ndim == 0:
        numbers = np.full(n_rows, numbers)
    if numbers.shape != (n_rows,):
        raise ValueError(
            f"{name} got {what} of shape {numbers.shape} for {n_rows} rows of X. Give "
            "one number per row, as a 1-D array."
        )
    for kind, wrong in (
        ("NaN or infinite", ~np.isfinite(numbers)),
        ("negative", numbers < 0),
    ):
        rows = np.flatnonzero(wrong)
        if len(rows):
            raise ValueError(
                f"{name} found {kind} {what}: {list_rows(rows)}. Give finite numbers "
                "that are not negative."
            )
    return numbers


def refuse_huge(values: Any, name: str, estimator: Any) -> None:
    """Raise a ValueError for numbers whose fourth powers, summed, would overflow."""
    values = values.data if sp.issparse(values) else values
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        return
    ends = (end.reduce(values, axis=None, initial=0.0) for end in (np.fmin, np.fmax))
    largest = max(map(float, ends), key=abs)
    if abs(largest) > LARGEST:
        raise ValueError(
            f"{name_of(estimator)} got {name} with the value {largest:.3g}, where "
            f"numbers up to {LARGEST:g} are expected. Correct it, or scale the column."
        )


@dataclass(frozen=True)
class Training(Generic[Settled]):
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
    weighted : bool
        Whether sample weights were given.
    settled : object
        What `_begin` computed from all rows, such as the value of ``gamma="scale"``;
        every part of the training rows has it. None without that hook.

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
    weighted: bool = False
    settled: Settled = None  # type: ignore[assignment]

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

    def take(self, index: np.ndarray) -> Training[Settled]:
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
        privileged = self.privileged
        unlabelled = None if self.unlabelled is None else self.unlabelled[index]
        return replace(
            self,
            X=take_rows(self.X, index),
            y=self.y[index],
            privileged=None if privileged is None else privileged.take(index),
            weight=self.weight[index],
            rows=self.rows[index],
            extra={name: values[index] for name, values in self.extra.items()},
            unlabelled=unlabelled if np.any(unlabelled) else None,
        )

    def counted(self) -> Training[Settled]:
        """Return the rows of positive weight; the others do not count.

        Returns
        -------
        Training
            Without the rows of weight zero.
        """
        return self.take(np.flatnonzero(self.weight > 0))

    def learnable(self) -> Training[Settled]:
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


@dataclass(frozen=True)
class Labels:
    """The labels of the rows of positive weight.

    Attributes
    ----------
    classes : ndarray
        The caller's labels, sorted.
    codes : ndarray of int
        Position in `classes` of the label of each of these rows.
    rows : ndarray of int
        Positions of these rows among the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import check_classes
    >>> labels = check_classes(np.array(["b", "a"]), np.ones(2), "Toy")
    >>> labels.codes
    array([1, 0])
    """

    classes: np.ndarray
    codes: np.ndarray
    rows: np.ndarray


def check_classes(y: np.ndarray, weight: np.ndarray, estimator: Any) -> Labels:
    """Return the classes of the rows of positive weight; refuse fewer than two.

    Rows of weight zero are ignored: a label that only they have is not a class.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels of any type.
    weight : ndarray of shape (n_samples,)
        Sample weights.
    estimator : estimator or str
        Named in error messages.

    Returns
    -------
    Labels
        The classes, and the rows of positive weight.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import check_classes
    >>> y, weight = np.array(["b", "a", "c"]), np.array([1.0, 2.0, 0.0])
    >>> check_classes(y, weight, "Toy").classes
    array(['a', 'b'], dtype='<U1')
    """
    check_classification_targets(y)
    rows = np.flatnonzero(weight > 0)
    if len(rows) < len(y):
        y = y[rows]
    classes, codes = np.unique(y, return_inverse=True)
    among = "" if len(rows) == len(weight) else " among the rows of positive weight"
    return Labels(check_class_count(classes, estimator, among), codes, rows)


def check_class_count(
    classes: np.ndarray, estimator: Any, among: str = ""
) -> np.ndarray:
    """Return the classes; refuse fewer than two."""
    if len(classes) < 2:
        label = f": {classes.tolist()[0]!r}" if len(classes) else ""
        raise ValueError(
            f"{name_of(estimator)} needs at least two classes in y, but got "
            f"{len(classes)} class{'es' if len(classes) == 0 else ''}{among}{label}. "
            "Give rows of at least two classes."
        )
    return classes


def distinct_labels(training: Training) -> np.ndarray:
    """Return the distinct labels of a part; refuse continuous targets."""
    y = training.y[training.labelled]
    check_classification_targets(y)
    return np.unique(y)


def classes_of(training: Parts, estimator: Any) -> np.ndarray:
    """Return the classes of rows in parts; refuse fewer than two."""
    labels = training.gather(distinct_labels)
    nonempty = [part for part in labels if len(part)]
    classes = np.unique(np.concatenate(nonempty)) if nonempty else labels[0]
    return check_class_count(classes, estimator)


def class_weights(
    class_weight: Any, classes: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return the weight of each class, in the order of `classes`.

    ``"balanced"`` gives class k the weight Σ s_i / (n_classes · Σ_{y_i = k} s_i), so
    that a row of weight 2 counts as two rows.

    Parameters
    ----------
    class_weight : None, "balanced" or dict from label to positive number
        Labels missing from the dict have weight 1.
    classes, codes : ndarray
        The classes and, per row, the position of its label among them.
    weight : ndarray
        Sample weights s of these rows.

    Returns
    -------
    ndarray of shape (n_classes,)
        The weights.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import class_weights
    >>> codes, s = np.array([0, 0, 1]), np.array([1.0, 1.0, 4.0])
    >>> class_weights("balanced", np.array(["n", "y"]), codes, s)
    array([1.5 , 0.75])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(codes, weights=weight, minlength=len(classes))
        return weight.sum() / (len(classes) * total)
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            'class_weight must be None, "balanced" or a dict from class label to '
            f"weight, but got {class_weight!r}."
        )
    known = classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(
            f"class_weight names {unknown!r}, but the classes in y are {known!r}. "
            "Use the labels as they are in y."
        )
    weights = np.array([class_weight.get(label, 1.0) for label in known], dtype=float)
    if not np.all((weights > 0) & np.isfinite(weights)):
        raise ValueError(
            f"class_weight must be positive and finite, but got {class_weight!r}. "
            "Remove the rows of a class to ignore it."
        )
    return weights


def coded_classes(
    training: Training, class_weight: Any, estimator: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the classes and their weights, and code and weight of every row.

    The code of a row without y is −1, and its weight is not multiplied. All weights are
    positive.
    """
    known, weight = training.labelled, training.weight.copy()
    labels = check_classes(training.y[known], weight[known], estimator)
    factor = class_weights(class_weight, labels.classes, labels.codes, weight[known])
    codes = np.full(training.n_rows, -1)
    codes[known] = labels.codes
    weight[known] *= factor[labels.codes]
    return labels.classes, factor, codes, weight


def counted_classes(
    training: Training, class_weight: Any, estimator: Any
) -> tuple[Training, Labels]:
    """Return the rows of positive weight, times class weights, and their classes."""
    labels = check_classes(training.y, training.weight, estimator)
    counted = training.take(labels.rows)
    factor = class_weights(class_weight, labels.classes, labels.codes, counted.weight)
    return replace(counted, weight=counted.weight * factor[labels.codes]), labels


def binary_problems(
    y_codes: np.ndarray, n_classes: int, multi_class: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split a task into binary ones: row positions and labels ±1 of each.

    Two classes give one problem, in which +1 is the second class. For more classes,
    ``"ovo"`` gives one problem per pair (i, j), i < j in order, in which +1 is class j;
    ``"ovr"`` gives one per class k, in which +1 is class k.

    Parameters
    ----------
    y_codes : ndarray of int of shape (n_samples,)
        Number of the class of each row.
    n_classes : int
        Number of classes.
    multi_class : {"ovo", "ovr"}
        One against one, or one against the rest.

    Returns
    -------
    list of (ndarray, ndarray)
        Row positions and labels of each problem.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.base import binary_problems
    >>> for rows, labels in binary_problems(np.array([0, 2, 1]), 3, "ovo"):
    ...     print(rows, labels)
    [0 2] [-1.  1.]
    [0 1] [-1.  1.]
    [1 2] [ 1. -1.]
    """
    if multi_class not in ("ovo", "ovr"):
        raise ValueError(
            f'multi_class must be "ovo" (one against one) or "ovr" (one against the '
            f"rest), but got {multi_class!r}."
        )
    if n_classes == 2 or multi_class == "ovr":
        all_rows = np.arange(len(y_codes))
        positive = [1] if n_classes == 2 else range(n_classes)
        return [(all_rows, np.where(y_codes == k, 1.0, -1.0)) for k in positive]
    problems = []
    for i, j in combinations(range(n_classes), 2):
        rows = np.flatnonzero((y_codes == i) | (y_codes == j))
        problems.append((rows, np.where(y_codes[rows] == j, 1.0, -1.0)))
    return problems


def decisions_of_classes(
    values: np.ndarray, n_classes: int, multi_class: str
) -> np.ndarray:
    """Combine the decision values of `binary_problems` into those of the classes.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_problems)
        Decision values of the binary problems, in their order.
    n_classes : int
        Number of classes.
    multi_class : {"ovo", "ovr"}
        How `binary_problems` split the task.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
        One value per row for two classes, otherwise one per class: with ``"ovr"`` the
        values unchanged; with ``"ovo"`` the number of pairs won, plus the sum of
        margins mapped into (−1/3, 1/3), which only decides between equal counts
        (the rule of scikit-learn's `SVC`).

    Examples
    --------
    Three classes, three pairs; the third class wins both of its pairs:

    >>> import numpy as np
    >>> from lupi.base import decisions_of_classes
    >>> pairs = np.array([[-2.0, 1.0, 3.0]])  # 0 against 1, 0 against 2, 1 against 2
    >>> decisions_of_classes(pairs, 3, "ovo").argmax(axis=1)
    array([2])
    """
    if n_classes == 2:
        return values[:, 0]
    if multi_class == "ovr":
        return values
    return _ovr_decision_function(values > 0, values, n_classes)
