"""
Thesis, figure 6.1: folds within folds
======================================

O. Thomas, *Learning Using Privileged Information: A Unified Approach* (University of
Sussex, 2017), section 6.3 and figure 6.1 (the text calls it figure 4.1).

**Statement of the source.** Ten outer folds: each row is tested exactly once. Within
the nine training folds, five inner folds choose the hyper-parameters. So no test row
takes part in a choice.

**Result.** It holds: 100 rows are tested once each, and no inner fold touches
the test rows of its outer fold. It is also needed. On labels that are pure noise the
chosen candidates score 0.57 on the inner folds that chose them and 0.49 on the outer
folds; 0.50 is the truth.

The source does not say whether its folds are stratified; ours are.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from lupi.datasets import make_plane
from lupi.evaluation import nested_cross_validate

# %%
# The folds
# ---------
data = make_plane("overlapping", 100, random_state=0)
X, y = data.data, data.target
REST, TRAIN, TEST = 0, 1, 2
outer_map = np.full((10, 100), TRAIN)
tested = np.zeros(100, dtype=int)
overlap = 0
for k, (train, test) in enumerate(
    StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
):
    outer_map[k, test] = TEST
    tested[test] += 1
    inner = StratifiedKFold(5, shuffle=True, random_state=0)
    folds = [(train[a], train[b]) for a, b in inner.split(X[train], y[train])]
    overlap += sum(len(np.intersect1d(np.hstack(fold), test)) for fold in folds)
    if k == 0:
        inner_map = np.full((5, 100), REST)
        for row, (fitting, choosing) in enumerate(folds):
            inner_map[row, fitting] = TRAIN
            inner_map[row, choosing] = TEST
print("times each row is tested:", np.unique(tested))
print("test rows seen by inner folds:", overlap)

# %%
figure, axes = plt.subplots(
    2, 1, figsize=(10, 5), height_ratios=(10, 5), sharex=True, layout="constrained"
)
colours = ListedColormap(["white", "#C9DDEC", "#0072B2"])
for ax, table, title in (
    (axes[0], outer_map, "10 outer folds"),
    (axes[1], inner_map, "5 inner folds of outer fold 1; its test rows are left out"),
):
    ax.pcolormesh(
        np.arange(101), np.arange(len(table) + 1), table, cmap=colours, vmin=0, vmax=2
    )
    ax.hlines(np.arange(len(table) + 1), 0, 100, color="white", linewidth=2)
    ax.set_yticks(np.arange(len(table)) + 0.5, np.arange(len(table)) + 1)
    ax.invert_yaxis()
    ax.set_title(title, loc="left", fontweight="bold")
    ax.spines[:].set_visible(False)
axes[1].set_xlabel("row")
figure.legend(
    handles=[
        Patch(color=colours(1), label="trains"),
        Patch(color=colours(2), label="tests (outer), chooses parameters (inner)"),
    ],
    loc="outside lower center",
    ncols=2,
    frameon=False,
)

# %%
# Why the inner folds must not judge
# ----------------------------------
# Labels that nothing predicts: what the inner folds report of their own choice is luck.
# The mean over 20 draws.
inner_scores, outer_scores = [], []
for seed in range(20):
    rng = np.random.default_rng(seed)
    noise = rng.permutation(np.repeat([-1, 1], 30))
    result = nested_cross_validate(
        SVC(),
        X[20:80],
        noise,
        param_grid={"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.1, 1.0, 10.0, 100.0]},
        scoring=("accuracy",),
        cv=5,
        inner_cv=3,
        random_state=seed,
    )
    inner_scores.append(result.folds["inner_accuracy"].mean())
    outer_scores.append(result.folds["accuracy"].mean())
print(f"accuracy of the choice on the folds that made it {np.mean(inner_scores):.3f}")
print(f"accuracy on the outer folds                      {np.mean(outer_scores):.3f}")
plt.show()
