r"""Weights of the candidates on the simplex, shrunk towards a prior.

.. math::
    \min_{w \ge 0,\, 1^\top w = 1}\; \|F w - y\|^2
        + \kappa\, \|w - \pi\|^2, \qquad
    \kappa = \frac{k}{n \sqrt r} \min_c \|F_c - y\|^2, \quad r = \min(1, n / 60),

with one column of F per candidate. The prior :math:`\pi` is equivalent to
:math:`k / \sqrt r` rows on which every candidate has the error of the best one,
independently of the others. It gives the share :math:`r^2 / 2` to the teachers: few
rows cannot tell whether they are right, and their errors out of fold are those of
models of still fewer rows.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

# Number of rows from which on the prior gives one half to the teachers.
_ENOUGH = 60


def prior_weights(is_label: np.ndarray, n: float) -> np.ndarray:
    """Return the prior weights of candidates, with sum 1.

    Parameters
    ----------
    is_label : ndarray of bool
        Which candidates are trained on y.
    n : float
        Effective number of labelled rows.
    """
    taught = ~is_label
    if not taught.any():
        return is_label / is_label.sum()
    share = 0.5 * min(1.0, n / _ENOUGH) ** 2
    return np.where(taught, share / taught.sum(), (1 - share) / is_label.sum())


def simplex_weights(
    products: np.ndarray, n: float, prior: np.ndarray, prior_strength: float
) -> np.ndarray:
    """Return the weights that solve the problem of this module.

    Parameters
    ----------
    products : ndarray of shape (n_candidates, n_candidates)
        E'E of the errors E = F − y, weighted and summed over classes.
    n : float
        Effective number of rows.
    prior : ndarray of shape (n_candidates,)
        Prior weights, positive, with sum 1.
    prior_strength : float
        The number k of rows.

    Returns
    -------
    ndarray of shape (n_candidates,)
        The weights.

    Examples
    --------
    >>> import numpy as np
    >>> from lupi.transfer._hedge.weights import simplex_weights
    >>> errors = np.array([[3.0, 0.0], [0.0, 1.0]])
    >>> simplex_weights(errors.T @ errors, 2, np.array([0.5, 0.5]), 0.0)
    array([0.1, 0.9])
    """
    size, least = len(prior), np.diag(products).min()
    if not np.trace(products) > 0:
        return prior.copy()
    # As 1'w = 1, Fw − y = Ew and w − π = (I − π1')w: the problem is to minimize w'Mw
    # on the simplex. For v = sw, min_s s²q + (1 − s)² = q / (1 + q) grows with
    # q = w'Mw: w is proportional to the v ≥ 0 that minimizes v'Mv + (1 − 1'v)².
    away = np.eye(size) - np.outer(prior, np.ones(size))
    strength = prior_strength / np.sqrt(min(1.0, n / _ENOUGH))
    M = products + strength * least / n * (away.T @ away)
    # Errors of very different size lose no digits where M has the diagonal 1.
    unit = np.sqrt(np.diag(M))
    unit = np.where(unit > 0, unit, 1.0)
    values, vectors = np.linalg.eigh(M / np.outer(unit, unit))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    A = np.vstack([root, unit.min() / unit])
    v, _ = nnls(A, np.concatenate([np.zeros(size), [1.0]]))
    weights = v / unit
    return weights / weights.sum()
