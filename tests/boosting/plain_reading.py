"""Algorithms 1 and 2 of the paper, and GB+, read plainly: short and slow."""

import inspect

import numpy as np
from scipy.special import expit
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LassoLars
from sklearn.tree import DecisionTreeRegressor


def ipl(X, y, P, C1, C2, trees, rate, depth, seed, atoms=None, tol=1e-4, most=10):
    """Algorithm 1 and, with `atoms`, Algorithm 2; returns G as a function."""
    rng = np.random.RandomState(seed)
    X, n = X.astype(np.float32), len(y)
    w, v = rng.uniform(size=P.shape[1]), None
    r, kept, projections = y.copy(), [], []
    for t in range(trees):
        sparse = atoms is not None and t >= atoms
        if sparse:
            D = np.array(projections[:atoms]).T
            lasso = LassoLars(C2 / (2 * C1), fit_intercept=False)
            v = np.eye(atoms)[-1] if v is None else v
        best = value = np.inf
        for _ in range(most):
            c = P @ (D @ v if sparse else w)
            h = DecisionTreeRegressor(max_depth=depth, random_state=rng)
            h.fit(X, r + C1 / (C1 + 1) * c)
            A = h.predict(X) - r
            loss = np.sum(A**2)
            cost = n * C2 * np.abs(v).sum() if sparse else C2 * np.sum(c**2)
            before = loss + C1 * np.sum((A - c) ** 2) + cost
            if sparse:
                new = lasso.fit(P @ D, A).coef_
                c, cost = P @ D @ new, n * C2 * np.abs(new).sum()
            else:
                new = C1 / (C1 + C2) * A @ np.linalg.pinv(P).T
                c = P @ new
                cost = C2 * np.sum(c**2)
            after = loss + C1 * np.sum((A - c) ** 2) + cost
            if after > value:
                break
            gain, value, best = min(before, value) - after, after, h
            w, v = (w, new) if sparse else (new, v)
            if gain <= tol * after:
                break
        projections.append(w)
        kept.append(best)
        r = r - rate * best.predict(X)
    return lambda Z: rate * sum(h.predict(Z.astype(np.float32)) for h in kept)


def gb_plus(X, y, P, a, trees, rate, depth, seed, teacher_first=False):
    """Two boosted models; y in {0, 1}; returns F as a function."""
    rng = np.random.RandomState(seed)
    F, S, kept = np.zeros(len(y)), np.zeros(len(y)), []

    def tree(Z, target):
        return DecisionTreeRegressor(max_depth=depth, random_state=rng).fit(Z, target)

    if teacher_first:
        for _ in range(trees):
            S = S + rate * tree(P, y - expit(S)).predict(P)
    for _ in range(trees):
        p, q = expit(F), expit(S)
        kept.append(tree(X, (y - p) - a * (p - q)))
        F = F + rate * kept[-1].predict(X)
        if not teacher_first:
            S = S + rate * tree(P, (y - q) - a * (q - p)).predict(P)
    return lambda Z: rate * sum(h.predict(Z) for h in kept)


def gradient_boosting(**options):
    """scikit-learn's boosting from zero on plain CART.

    Before scikit-learn 1.9 the criterion was another formula for the same number, which
    decides otherwise where two splits are equally good.
    """
    signature = inspect.signature(GradientBoostingRegressor)
    if signature.parameters["criterion"].default == "friedman_mse":
        options["criterion"] = "squared_error"
    return GradientBoostingRegressor(init="zero", **options)
