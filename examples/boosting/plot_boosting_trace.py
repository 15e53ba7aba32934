"""
Boosted trees with privileged information, round by round
=========================================================

The attribute ``objective_trace_`` of a fitted model has the objective after every
accepted pass of every round, and ``staged_predict`` the predictions after every tree.
X* is a disturbance of y here, known for the training rows; the score is taken against
the undisturbed truth.
"""

import matplotlib.pyplot as plt
import numpy as np
from ipl_protocol import draw_surface, draw_traces

from lupi import IPLRegressor

rng = np.random.default_rng(0)
X = rng.uniform(size=(300, 5))
disturbance = rng.normal(size=(300, 3))
truth = np.sin(6 * X[:, 0]) + X[:, 1]
y = truth + 0.5 * disturbance.sum(axis=1)
train, test = slice(0, 150), slice(150, 300)

# %%
# One line per model
# ------------------
models = {
    f"β = {rate}": IPLRegressor(
        n_estimators=80,
        learning_rate=rate,
        privileged_weight=10.0,
        privileged_reg=0.1,
        random_state=0,
    ).fit(X[train], y[train], privileged=disturbance[train])
    for rate in (0.05, 0.1, 0.3)
}
figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
draw_traces(axes, models, X[test], truth[test])

# %%
# The score over C1 and C2
# ------------------------
# Colored by the difference to the same model without X* on the same folds: white is no
# gain.
figure, ax = plt.subplots(figsize=(6.7, 4.7), layout="constrained")
draw_surface(
    ax,
    IPLRegressor(n_estimators=30, random_state=0),
    X[train],
    y[train],
    disturbance[train],
    (0.01, 0.1, 1.0, 10.0, 100.0),
    cv=3,
    scoring="r2",
)
plt.show()
