"""Random problems at the ends of what can be solved in double precision.

Six kinds in turn: separable classes with a large C, classes that a few rows keep from
being separable, rows given twice (some with both labels), C and every γ from 1e-6 to
1e6, weights over twelve decades, and features scaled by 1e8.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.oracle.problems import Drawn, draw

KINDS = ("separable", "nearly", "duplicated", "wide", "weighted", "scaled")


def extreme(kind: str, seed: int, *, regression: bool = False) -> Drawn:
    """One problem of a kind; a real target is that of `draw`."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    drawn = draw(seed, regression=regression)
    return _CHANGES[kind](replace(drawn, moderate=False), rng, regression)


def _apart(drawn, rng, regression, *, wrong):
    n = len(drawn.y)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = 0.5 * rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    X[(y[:, None] * X).sum(axis=1) <= 0.2] *= -1.0
    C = 10.0 ** rng.uniform(2, 6)
    if regression:
        return replace(drawn, C=C)
    y[rng.choice(n, size=min(wrong, n // 4), replace=False)] *= -1.0
    kernel = str(rng.choice(["linear", "rbf"]))
    return replace(drawn, X=X, y=y, C=C, kernel=kernel)


def _separable(drawn, rng, regression):
    return _apart(drawn, rng, regression, wrong=0)


def _nearly(drawn, rng, regression):
    return _apart(drawn, rng, regression, wrong=int(rng.integers(1, 4)))


def _duplicated(drawn, rng, regression):
    half = len(drawn.y) // 2
    X, P, y = drawn.X.copy(), drawn.P.copy(), drawn.y.copy()
    X[half : 2 * half], P[half : 2 * half] = X[:half], P[:half]
    if rng.random() < 0.5:
        y[half : 2 * half] = y[:half]
    if not regression and abs(y.sum()) == len(y):
        y[0] *= -1.0
    return replace(drawn, X=X, P=P, y=y)


def _wide(drawn, rng, regression):
    C, reg, similarity_reg = 10.0 ** rng.uniform(-6, 6, size=3)
    return replace(drawn, C=C, reg=reg, similarity_reg=similarity_reg)


def _weighted(drawn, rng, regression):
    weight = 10.0 ** rng.uniform(-6, 6, size=len(drawn.y))
    return replace(drawn, weight=weight, class_weight=None)


def _scaled(drawn, rng, regression):
    return replace(
        drawn,
        X=1e8 * drawn.X,
        P=1e8 * drawn.P,
        gamma=1e-16 * drawn.gamma,
        privileged_gamma=1e-16 * drawn.privileged_gamma,
    )


_CHANGES = {
    "separable": _separable,
    "nearly": _nearly,
    "duplicated": _duplicated,
    "wide": _wide,
    "weighted": _weighted,
    "scaled": _scaled,
}
