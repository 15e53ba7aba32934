r"""Weights of the candidates on the simplex, shrunk towards a prior.

.. math::
    \min_{w \ge 0,\, 1^\top w = 1}\; \|F w - y\|^2
        + \kappa\, \|w - \pi\|^2, \qquad
    \kappa = k \cdot \frac{1}{n m} \sum_{c=1}^m \|F_c - y\|^2,

with one column of F per candidate. The prior :math:`\pi` is equivalent to k rows on
which every candidate has its average error, independently of the others.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls


def simplex_weights(
    products: np.ndarray, n: float, prior: np.ndarray, prior_strength: float
) -> np.ndarray:
    """Return the weights that solve the problem of this module.

    Parameters
    ----------
    products : ndarray of shape (n_candidates, n_candidates)
        E'E of the errors E = F − y, weighted and summed over classes.
    n : float
        Number of rows, or the sum of their weights.
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
    size = len(prior)
    mean = np.trace(products) / size
    if not mean > 0:
        return prior.copy()
    # As 1'w = 1, Fw − y = Ew and w − π = (I − π1')w: the problem is to minimize w'Mw
    # on the simplex. For v = sw, min_s s²q + (1 − s)² = q / (1 + q) grows with
    # q = w'Mw: w is proportional to the v ≥ 0 that minimizes v'Mv + (1 − 1'v)².
    away = np.eye(size) - np.outer(prior, np.ones(size))
    M = (products + prior_strength * mean / n * (away.T @ away)) / mean
    values, vectors = np.linalg.eigh(M)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    v, _ = nnls(
        np.vstack([root, np.ones(size)]), np.concatenate([np.zeros(size), [1.0]])
    )
    return v / v.sum()
