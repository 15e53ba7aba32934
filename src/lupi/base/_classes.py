"""Labels of any type, class weights, and the binary problems of a multi-class task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from lupi._parts import Parts
from lupi.base._arguments import Training
from lupi.base._rows import name_of

MULTI_CLASS = ("ovo", "ovr")


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


def distinct_labels(training: Any) -> np.ndarray:
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
    if multi_class not in MULTI_CLASS:
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
    votes = np.zeros((len(values), n_classes))
    margins = np.zeros((len(values), n_classes))
    for value, (i, j) in zip(values.T, combinations(range(n_classes), 2), strict=True):
        votes[:, i] += value <= 0
        votes[:, j] += value > 0
        margins[:, i] -= value
        margins[:, j] += value
    return votes + margins / (3 * (np.abs(margins) + 1))
