"""
Boosted trees with privileged information, round by round
=========================================================

:class:`~lupi.inspection.BoostingTraceDisplay` draws the objective of every round, the
passes within a round, and the score against the number of trees. X* is a disturbance of
y here, known for the training rows; the score is taken against the undisturbed truth.
"""

import matplotlib.pyplot as plt
import numpy as np

from lupi import IPLRegressor
from lupi.inspection import BoostingTraceDisplay

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
BoostingTraceDisplay.from_estimator(models, X[test], truth[test])

# %%
# The score over C1 and C2
# ------------------------
# Colored by the difference to the same model without X* on the same folds: white is no
# gain.
BoostingTraceDisplay.surface(
    IPLRegressor(n_estimators=30, random_state=0),
    X[train],
    y[train],
    disturbance[train],
    cv=3,
    scoring="r2",
)
plt.show()
