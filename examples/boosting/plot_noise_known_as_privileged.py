"""
When comments help: X* knows the noise in y
===========================================

Iterative privileged learning removes from every residual the part that X* explains and
the new tree does not. If X* contains the disturbances of the measurement of y, trees no
longer fit them. With shuffled X* there is no gain, so that the gain comes from the
content of X*.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from lupi.boosting import IPLRegressor

rng = np.random.default_rng(0)
X, truth = make_friedman1(n_samples=200, n_features=8, random_state=0)
X_new, truth_new = make_friedman1(n_samples=2000, n_features=8, random_state=1)
disturbance = rng.normal(size=(200, 3))
y = truth + disturbance @ [2.0, 2.0, 1.0] + rng.normal(size=200)

# %%
# Error against the undisturbed target, after each round; and the objective within
# rounds. The alternation of a round converges within a few passes; a pass that would
# increase the objective is discarded.
settings = {"n_estimators": 200, "privileged_weight": 10.0, "privileged_reg": 0.01}
tables = {
    "without X*": None,
    "with X*": disturbance,
    "with shuffled X*": disturbance[rng.permutation(200)],
}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, table in tables.items():
    model = IPLRegressor(random_state=0, **settings).fit(X, y, privileged=table)
    errors = [np.mean((g - truth_new) ** 2) for g in model.staged_predict(X_new)]
    left.plot(np.arange(1, 201), errors, label=name)
    print(f"{name}: mean squared error {errors[-1]:.2f}")
    if table is disturbance:
        commented = model
left.set(xlabel="trees", ylabel="mean squared error on new rows", ylim=(0, 20))
left.legend()
for round_ in (0, 10, 50, 150):
    trace = commented.objective_trace_[round_]
    right.plot(np.arange(1, len(trace) + 1), trace / trace[0], "o-", label=round_ + 1)
right.set(xlabel="accepted pass", ylabel="objective, relative to the first pass")
right.legend(title="round")
plt.show()
