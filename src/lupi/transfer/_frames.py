"""Fundamental elements of knowledge: support vectors in X* that span the rule.

An SVM on X* is a rule f*(x*) = Σ_k a_k K*(u_k, x*) + b over its support vectors u_k. A
reduced set S keeps m of them. The loss of S is the distance, in the RKHS of K*, from
f* to the functions spanned by S::

    min_c ‖ Σ_k a_k K*(u_k, ·) − Σ_{k∈S} c_k K*(u_k, ·) ‖ .

The set is grown greedily: each step adds the support vector that lowers the distance
most after the coefficients of all chosen vectors are refitted. The Cholesky factor of
the chosen part of K* is updated and never recomputed, so that a step costs
O(number of support vectors × number chosen).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.svm import SVC

from lupi.base._rows import dense
from lupi.kernels import Kernel, nearest_positive_semidefinite
from lupi.transfer._folds import row_digests


def fundamental_elements(
    values: Any,
    y: np.ndarray,
    cost: np.ndarray,
    *,
    C: float,
    kernel: Kernel,
    n_vectors: int | None,
) -> tuple[SVC, Any, float] | None:
    """Train an SVM on X* and return it, its (reduced) support vectors and their loss.

    Return None when the rule of the SVM is constant.

    Parameters
    ----------
    values, y, cost : array-like
        Privileged features, labels and weights of the rows.
    C : float
        C of the SVM.
    kernel : Kernel
        Kernel on X*.
    n_vectors : int or None
        Number of support vectors to keep; None keeps all distinct ones.
    """
    if len(np.unique(y)) < 2:
        found = "have no y"
        if len(y):
            found = f"belong to the class {y[0]!r}"
        raise ValueError(
            f"The rows that have privileged information all {found}, so that no SVM "
            "can be trained on X*. Give X* for rows of two classes at least, or use "
            "frames='features'."
        )
    # At SVC's default tolerance the set of support vectors is not reproducible. At this
    # one, a linear kernel on few columns took 9e7 steps for 60 rows, although the rule
    # no longer changed after 1e5: hence the limit of the number of steps.
    machine = SVC(
        C=C,
        kernel=kernel.name,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        tol=1e-7,
        max_iter=max(1_000_000, 1000 * len(y)),
    ).fit(values, y, sample_weight=cost)
    vectors = values[machine.support_]
    keep, rules = distinct_vectors(vectors, pairwise_rules(machine))
    if len(keep) == 0:
        return None
    vectors, distance = vectors[keep], 0.0
    K = kernel.gram(vectors)
    # With a linear kernel, the terms of different vectors may also cancel.
    if np.abs(K @ rules).max() <= 1e-9 * (np.abs(K) @ np.abs(rules)).max():
        return None
    if n_vectors is not None and n_vectors < len(keep):
        K, _ = nearest_positive_semidefinite(K)
        chosen, distance = reduced_set(K, rules, n_vectors)
        vectors = vectors[chosen]
    return machine, vectors, distance


def pairwise_rules(machine: Any) -> np.ndarray:
    """Return the expansions of an SVC's rules, one column per pair of classes.

    Parameters
    ----------
    machine : sklearn.svm.SVC
        Fitted; with two classes there is one column.

    Returns
    -------
    ndarray of shape (n_support, n_pairs)
        Coefficient of each support vector; 0 where it does not belong to the pair.
    """
    coefficients = dense(machine.dual_coef_)
    n_classes = len(machine.classes_)
    if n_classes == 2:
        return coefficients.T
    ends = np.cumsum(machine.n_support_)
    of_class = [
        slice(end - size, end)
        for end, size in zip(ends, machine.n_support_, strict=True)
    ]
    pairs = list(combinations(range(n_classes), 2))
    rules = np.zeros((coefficients.shape[1], len(pairs)))
    # LIBSVM stores, for a vector of class i, the pair with class j in row j − 1 when
    # i < j and in row j when i > j.
    for column, (i, j) in enumerate(pairs):
        rules[of_class[i], column] = coefficients[j - 1, of_class[i]]
        rules[of_class[j], column] = coefficients[i, of_class[j]]
    return rules


def distinct_vectors(vectors: Any, rules: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge equal support vectors, and leave out those with coefficient 0.

    Returns
    -------
    keep : ndarray of int
        Position of one representative of each distinct vector; empty when equal
        vectors of opposite classes cancel throughout.
    rules : ndarray of shape (len(keep), n_pairs)
        Coefficients, summed over the equal ones.
    """
    _, first, group = np.unique(
        row_digests(vectors), return_index=True, return_inverse=True
    )
    merged = np.zeros((len(first), rules.shape[1]))
    np.add.at(merged, group, rules)
    size = np.abs(merged).max(axis=1)
    # Relative to the summands: sums that cancel leave rounding errors.
    nonzero = size > 1e-6 * np.abs(rules).max()
    return first[nonzero], merged[nonzero]


def reduced_set(
    K: np.ndarray, rules: np.ndarray, n_vectors: int
) -> tuple[np.ndarray, float]:
    """Choose the vectors whose span comes closest to the rules, greedily.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Gram matrix of the support vectors.
    rules : ndarray of shape (m, n_rules)
        Expansion of each rule; distances are summed over the rules in squares.
    n_vectors : int
        Number of vectors to keep; fewer are kept when these span the rules.

    Returns
    -------
    chosen : ndarray of int
        Positions, in the order of choice.
    distance : float
        Remaining RKHS distance, relative to the norm of the rules.

    Examples
    --------
    A rule in the plane that is spanned by two of three vectors:

    >>> import numpy as np
    >>> from lupi.transfer._frames import reduced_set
    >>> U = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> chosen, distance = reduced_set(U @ U.T, np.array([[1.0], [0.0], [1.0]]), 2)
    >>> len(chosen), bool(distance < 1e-7)
    (2, True)
    """
    total = float(np.sum(rules * (K @ rules)))
    values = K @ rules  # ⟨K(u_k, ·), residual of each rule⟩
    room = np.diag(K).astype(float).copy()  # squared distance of u_k to the chosen span
    # f* has the same value at all vectors on the margin, so that the first step is a
    # tie. The vector most similar to the others is taken, so that rounding errors do
    # not decide.
    similarity = (K**2).sum(axis=0)
    floor = 1e-10 * room.max()
    factor = np.zeros((len(K), 0))
    chosen: list[int] = []
    left = total
    while len(chosen) < n_vectors and left > 1e-12 * total:
        free = room > floor
        if not free.any():
            break
        gain = np.where(free, (values**2).sum(axis=1) / np.where(free, room, 1.0), -1.0)
        tied = np.flatnonzero(gain >= (1 - 1e-5) * gain.max())
        best = int(tied[similarity[tied].argmax()])
        direction = (K[:, best] - factor @ factor[best]) / np.sqrt(room[best])
        values = values - np.outer(direction, values[best] / np.sqrt(room[best]))
        room = np.maximum(room - direction**2, 0.0)
        room[best] = 0.0
        factor = np.column_stack([factor, direction])
        chosen.append(best)
        left -= gain[best]
    return np.array(chosen, dtype=int), float(np.sqrt(max(left, 0.0) / total))
