"""
Tutorial, section 3: the ε-tube, and what X* does to it
=======================================================

N. Sarafianos, C. Nikou and I. A. Kakadiaris, *Solving SVM, SVM+, SVR and SVR+ using
Quadratic Programming* (2016), sections 3 and 4. Section 3 has a sketch of the ε-tube,
without a caption; section 4 has none.

**Statement of the source.** ε-SVR looks for a flat function and does not care about
errors smaller than ε. ε-SVR+ replaces the free slacks of each row by two functions of
X*, one above the tube and one below; its multipliers lie between 0 and C.

**Result.** Rows inside the tube have no multiplier, and taking them away moves
the function by 3e-8. The multipliers of SVR+ are not bounded by C: the largest is 10.95
at C = 1. The text of section 4 says α ≤ C, its matrices do not, and the matrices are
right (see the errata). Where X* tells of the disturbance of each row, SVR+ halves the
error against the undisturbed function (0.083 against 0.179 at 60 rows); with its rows
shuffled it does harm (0.264).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.svm import SVR

from lupi import SVRPlus

EPSILON = 0.2


# %%
# Data whose noise is known afterwards
# ------------------------------------
# y is a sine with disturbances. X* is their size and direction, blurred a little: the
# report of what went wrong while the row was measured.
def draw(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 1, size=n_rows))[:, None]
    truth = np.sin(2 * np.pi * X[:, 0])
    hit = rng.uniform(size=n_rows) < 0.35
    disturbance = np.where(hit, rng.exponential(1.0, size=n_rows), 0.0)
    y = truth + disturbance + 0.1 * rng.normal(size=n_rows)
    blurred = disturbance + 0.1 * rng.normal(size=n_rows)
    return X, y, blurred[:, None], truth


# %%
# Errors inside the tube cost nothing
# -----------------------------------
# So the rows inside it carry no multiplier, and could be left out.
X, y, privileged, truth = draw(60, 0)
plain = SVR(C=1.0, epsilon=EPSILON, gamma=10.0, tol=1e-8).fit(X, y)
residual = np.abs(y - plain.predict(X))
inside = np.setdiff1d(np.arange(len(y)), plain.support_)
print(f"largest error of a row without multiplier {residual[inside].max():.4f}")
again = SVR(C=1.0, epsilon=EPSILON, gamma=10.0, tol=1e-8)
again.fit(X[plain.support_], y[plain.support_])
moved = np.abs(again.predict(X) - plain.predict(X)).max()
print(f"the function moves by {moved:.0e} without these rows")

plus = SVRPlus(C=1.0, epsilon=EPSILON, gamma=10.0, privileged_reg=0.01)
plus.fit(X, y, privileged=privileged)
largest = np.abs(plus.dual_coef_).max()
print(f"largest multiplier of SVR+ {largest:.2f} at C = 1")
above, below = plus.correction(privileged).T
print(f"smallest slack {min(above.min(), below.min()):.0e}")

# %%
# Does X* help?
# -------------
# The error against the undisturbed sine, on 12 draws of each size.
lines = np.linspace(0, 1, 200)[:, None]
sine = np.sin(2 * np.pi * lines[:, 0])
for n_rows in (20, 60, 180):
    errors = []
    for seed in range(12):
        X_, y_, privileged_, _ = draw(n_rows, seed)
        shuffled = np.random.default_rng(seed).permutation(privileged_)
        errors.append(
            [
                np.abs(model.predict(lines) - sine).mean()
                for model in (
                    SVR(C=1.0, epsilon=EPSILON, gamma=10.0).fit(X_, y_),
                    clone(plus).fit(X_, y_, privileged=privileged_),
                    clone(plus).fit(X_, y_, privileged=shuffled),
                )
            ]
        )
    means = np.mean(errors, axis=0)
    print(
        f"n = {n_rows:3d}: SVR {means[0]:.3f}, SVR+ {means[1]:.3f}, "
        f"SVR+ with shuffled X* {means[2]:.3f}"
    )

# %%
# The tube
# --------
plus.fit(X, y, privileged=privileged)
figure, axes = plt.subplots(
    1, 2, figsize=(11, 4.4), sharex=True, sharey=True, layout="constrained"
)
for ax, model, name in ((axes[0], plain, "ε-SVR"), (axes[1], plus, "ε-SVR+")):
    f = model.predict(lines)
    ax.fill_between(lines[:, 0], f - EPSILON, f + EPSILON, color="#56B4E9", alpha=0.25)
    ax.plot(lines, f, color="#0072B2", label="f and its tube f ± ε")
    ax.plot(lines, sine, color="black", linestyle=":", label="undisturbed")
    ax.scatter(X, y, s=22, color="#7A7A7A", label="row")
    ax.scatter(
        X[model.support_],
        y[model.support_],
        s=80,
        facecolor="none",
        edgecolor="black",
        label="with a multiplier",
    )
    ax.set_title(name, loc="left", fontweight="bold")
    ax.set(xlabel="x", ylabel="y")
    ax.spines[["top", "right"]].set_visible(False)
figure.legend(
    *axes[0].get_legend_handles_labels(),
    loc="outside lower center",
    ncols=4,
    frameon=False,
)
plt.show()
