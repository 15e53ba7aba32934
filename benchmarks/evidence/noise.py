"""Labels that are wrong at rates which X* explains: how classes 0 and 1 are flipped."""

import numpy as np


def scheme(kind, rng, n):
    """Return P(wrong) by row and true class, X*, and the annotators or None."""
    if kind == "time":
        time = rng.exponential(1, n)
        noise = rng.normal(size=(n, 3))
        X_star = np.column_stack([time, np.log(time + 0.01), noise])
        return np.repeat(0.45 * np.exp(-time)[:, None], 2, axis=1), X_star, None
    rates = {
        "six": [0.02, 0.1, 0.2, 0.3, 0.4, 0.45],
        "twenty": rng.beta(1.2, 3.5, 20).clip(0, 0.5),
        "fifty": rng.beta(1.2, 3.5, 50).clip(0, 0.5),
        "guesser": [0.0, 0.05, 0.5],
        "biased": [(0.02, 0.02), (0.1, 0.1), (0.3, 0.05), (0.5, 0.05), (0.05, 0.4)],
        "useless": [0.2] * 6,
        "clean": [0.0] * 6,
    }[kind]
    rates = np.asarray(rates, dtype=float)
    if rates.ndim == 1:
        rates = np.repeat(rates[:, None], 2, axis=1)
    who = rng.integers(0, len(rates), n)
    X_star = np.eye(len(rates))[who]
    if kind == "guesser":
        X_star = np.column_stack([X_star, rng.normal(size=(n, 2))])
    return rates[who], X_star, who
