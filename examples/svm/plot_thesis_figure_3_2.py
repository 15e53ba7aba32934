"""
Thesis, figure 3.2: the hard margin
===================================

O. Thomas, *Learning Using Privileged Information: A Unified Approach* (University of
Sussex, 2017), section 3.1.1 and figure 3.2.

**Statement of the source.** On separable data the SVM has the largest margin between
the classes, and its support vectors lie on the margin.

**Result.** Both hold, on all ten draws. No row is inside the margin, the support
vectors are off it by rounding alone, and none of 100 000 other lines through the gap
has a wider one. Two or three rows of 60 carry the boundary.
"""

import matplotlib.pyplot as plt
import numpy as np

from lupi import HardMarginSVC
from lupi.datasets import make_plane
from lupi.inspection import SpacesDisplay


# %%
# Measured on ten draws
# ---------------------
# A line with unit normal n separates the classes with the margin that is half the gap
# between their values of n·x. Trying every direction is the plain way to the widest.
def widest(X, y, n_directions=100_000):
    angles = np.linspace(0, 2 * np.pi, n_directions)
    normals = np.vstack([np.cos(angles), np.sin(angles)])
    gap = (X[y == 1] @ normals).min(axis=0) - (X[y == -1] @ normals).max(axis=0)
    return gap.max() / 2


lines = []
for seed in range(10):
    data = make_plane("separable", 60, random_state=seed)
    model = HardMarginSVC(kernel="linear").fit(data.data, data.target)
    values = data.target * model.decision_function(data.data)
    lines.append(
        {
            "smallest y f": values.min(),
            "support vectors off the margin by": abs(values[model.support_] - 1).max(),
            "support vectors": len(model.support_),
            "margin 1/‖w‖": 1 / np.linalg.norm(model.coef_),
            "widest of all directions": widest(data.data, data.target),
        }
    )
for key in lines[0]:
    column = [line[key] for line in lines]
    print(f"{key:36s} {min(column):.4g} to {max(column):.4g}")
short = max(line["widest of all directions"] - line["margin 1/‖w‖"] for line in lines)
print(f"a direction beats the machine by at most {short:.1e}")

# %%
# The data, and the machine
# -------------------------
data = make_plane("separable", 60, random_state=1)
model = HardMarginSVC(kernel="linear").fit(data.data, data.target)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for label, colour, marker in ((-1, "#E69F00", "s"), (1, "#0072B2", "o")):
    rows = data.data[data.target == label]
    axes[0].scatter(*rows.T, color=colour, marker=marker, s=34, edgecolor="white")
SpacesDisplay.from_estimator(model, data.data, data.target, ax=axes[1])
axes[1].get_legend().set_loc("lower right")
axes[0].set(xlim=axes[1].get_xlim(), ylim=axes[1].get_ylim(), xlabel="x0", ylabel="x1")
axes[0].set_title("Separable data", loc="left", fontweight="bold")
axes[1].set_title("Widest margin", loc="left", fontweight="bold")
axes[0].spines[["top", "right"]].set_visible(False)
plt.show()
