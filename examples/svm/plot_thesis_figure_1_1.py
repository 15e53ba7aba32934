"""
Thesis, figure 1.1: the rate of convergence
===========================================

O. Thomas, *Learning Using Privileged Information: A Unified Approach* (University of
Sussex, 2017), section 1.2.1 and figure 1.1.

**Statement of the source.** On separable data the error of an SVM falls like 1/ℓ with
the number of rows ℓ; on data that overlap only like 1/√ℓ. An oracle that tells the
slack of every row brings the rate of the separable case back, and privileged
information is meant to stand in for that oracle.

**How it is measured.** x is standard normal in ten dimensions and y = sign(u·x). In the
overlapping case one label in ten is flipped. Then the best rule is known, and so is the
excess error of any other line: it is an area of the normal distribution, computed and
not sampled. The oracle gives the slacks of the best machine, f° = c u·x, to
:class:`~lupi.svm.HardMarginSVC`. SVM+ gets the same slacks as its only privileged
feature, once as they are and once under noise (standard deviation 0.1).

**Result.** Both rates hold: the error falls like ℓ to the power −0.96 on
separable data and −0.49 where labels are flipped. The oracle does better than claimed.
It is not back at 1/ℓ but *exact* from 128 rows on: a slack that is known tells f° on
its row, and a dozen such rows settle ten weights. SVM+ with the slack as X* is exact as
soon. But it must be the slack itself: under a noise of 0.1 SVM+ gains a great deal with
few rows (0.018 against 0.105 at 64) and then hardly learns on (0.0071 at 512 rows,
0.0054 at 2048). Its slope is flatter than that of the soft margin, which would overtake
it.
"""

# %%
# The excess error of a line
# --------------------------
# A line w·x + b and the rule u·x disagree on two wedges. On these it is wrong wherever
# the label was not flipped. With few rows and a noisy teacher SVM+ may find its trivial
# solution, a constant, of which the library warns; here it counts as what it is.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import multivariate_normal
from sklearn.svm import SVC

from lupi import HardMarginSVC, LinearSVCPlus

warnings.filterwarnings("ignore", message=".*trivial solution.*")
N_FEATURES, FLIPPED, NOISE, N_DRAWS = 10, 0.1, 0.1, 10
SIZES = [32, 64, 128, 256, 512, 1024, 2048]
RULE = np.eye(N_FEATURES)[0]


def excess_error(model, flipped):
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    length = np.linalg.norm(w)
    if length < 1e-6:  # the trivial solution answers one class for every row
        return (1 - 2 * flipped) / 2
    cosine = w @ RULE / length
    wedge = multivariate_normal(
        [0, 0], [[1, -cosine], [-cosine, 1]], allow_singular=True
    )
    area = wedge.cdf([0, b / length]) + wedge.cdf([0, -b / length])
    return (1 - 2 * flipped) * area


def draw(n_rows, seed):
    """Rows, true labels, and labels of which some are flipped."""
    rng = np.random.default_rng([n_rows, seed])
    X = rng.normal(size=(n_rows, N_FEATURES))
    y = np.where(X @ RULE > 0, 1, -1)
    return X, y, np.where(rng.uniform(size=n_rows) < FLIPPED, -y, y), rng


# %%
# The best machine has the direction of the rule; its scale c is that of an SVM on very
# many rows.
X, _, y, _ = draw(20_000, seed=0)
many = LinearSVCPlus().fit(X, y)  # without X* it is the linear SVM
scale = float(many.coef_[0] @ RULE)
print(f"c = {scale:.2f}")

# %%
# Error against rows
# ------------------
errors = {
    "separable, hard margin": [],
    "overlapping, soft margin": [],
    "overlapping, oracle slacks": [],
    "overlapping, SVM+ with X* = slack": [],
    "overlapping, SVM+ with X* = slack + noise": [],
}
for n_rows in SIZES:
    lines = []
    for seed in range(N_DRAWS):
        X, clean, y, rng = draw(n_rows, seed)
        slacks = np.maximum(0, 1 - y * scale * (X @ RULE))
        noisy = slacks + NOISE * rng.normal(size=n_rows)
        hard = HardMarginSVC(kernel="linear")
        plus = LinearSVCPlus(privileged_reg=0.1)
        lines.append(
            [
                excess_error(hard.fit(X, clean), 0.0),
                excess_error(SVC(kernel="linear").fit(X, y), FLIPPED),
                excess_error(hard.fit(X, y, slacks=slacks), FLIPPED),
                excess_error(plus.fit(X, y, privileged=slacks[:, None]), FLIPPED),
                excess_error(plus.fit(X, y, privileged=noisy[:, None]), FLIPPED),
            ]
        )
    for values, mean in zip(errors.values(), np.mean(lines, axis=0), strict=True):
        values.append(mean)

print(f"{'excess error at rows':44s}", *(f"{n:8d}" for n in SIZES), "   slope")
for name, values in errors.items():
    # The rate is the slope in logarithms, from 128 rows on.
    slope = np.polyfit(np.log(SIZES[2:]), np.log(np.maximum(values[2:], 1e-12)), 1)[0]
    exact = values[-1] < 1e-8
    print(
        f"{name:44s}",
        *(f"{value:8.4f}" for value in values),
        "   exact" if exact else f"{slope:8.2f}",
    )

# %%
STYLES = {
    "separable, hard margin": ("#009E73", "s", "-."),
    "overlapping, soft margin": ("#7A7A7A", "D", "--"),
    "overlapping, oracle slacks": ("#000000", "o", "-"),
    "overlapping, SVM+ with X* = slack": ("#E69F00", "X", ":"),
    "overlapping, SVM+ with X* = slack + noise": ("#0072B2", "^", "-"),
}
FLOOR = 2e-4
figure, ax = plt.subplots(figsize=(8, 5.6), layout="constrained")
for name, values in errors.items():
    colour, marker, style = STYLES[name]
    shown = np.maximum(values, FLOOR)
    ax.plot(
        SIZES, shown, color=colour, marker=marker, linestyle=style, label=name, ms=7
    )
sizes = np.array(SIZES, dtype=float)
for power, start in ((1.0, 0.27), (0.5, 0.33)):
    ax.plot(sizes, start * (sizes / 32) ** -power, color="0.8", zorder=0)
    label = "1/ℓ" if power == 1 else "1/√ℓ"
    ax.text(2150, start * 64**-power, label, color="0.5", va="center")
ax.set(
    xscale="log",
    yscale="log",
    xlabel="training rows ℓ",
    ylabel="error above the best rule",
    xlim=(28, 3000),
)
ax.set_xticks(SIZES, SIZES)
ax.minorticks_off()
ax.set_yticks([FLOOR, 1e-3, 1e-2, 1e-1], ["exact", "0.001", "0.01", "0.1"])
figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
