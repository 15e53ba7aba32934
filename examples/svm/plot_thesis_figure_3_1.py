"""
Thesis, figure 3.1: the geometry of an SVM
==========================================

O. Thomas, *Learning Using Privileged Information: A Unified Approach* (University of
Sussex, 2017), section 3.1 and figure 3.1.

**Statement of the source.** The boundary is w·x + b = 0 and lies halfway between the
support vectors of both classes, which are on the lines w·x + b = ±1. The distance from
the boundary to the margin is treated as 1, "so 1/‖w‖ = 1". All rows but the support
vectors could be removed, and the boundary would stay.

**Result.** All of it holds but one sentence. The *value* of the function on the
margin is 1 by convention; the *distance* is 1/‖w‖, which is whatever the data make it
(1.68 here, from 1.10 to 1.68 over ten draws). Only so can the machine maximize it.
"""

import matplotlib.pyplot as plt
import numpy as np

from lupi import HardMarginSVC
from lupi.datasets import make_plane

data = make_plane("separable", 40, random_state=4)
model = HardMarginSVC(kernel="linear").fit(data.data, data.target)
w, b = model.coef_[0], float(model.intercept_[0])
length = np.linalg.norm(w)

# %%
# The statements as numbers
# -------------------------
values = model.decision_function(data.data)
alone = HardMarginSVC(kernel="linear").fit(
    data.data[model.support_], data.target[model.support_]
)
print("support vectors           ", len(model.support_))
print("f on the support vectors  ", values[model.support_].round(6))
print("distance to the margin    ", round(1 / length, 3))
print("distance to the origin    ", round(abs(b) / length, 3))
print("smallest y f of other rows", round(np.sort(np.abs(values))[3], 3))
print("w moved without the others", f"{np.abs(alone.coef_ - model.coef_).max():.0e}")
print("b moved without the others", f"{abs(alone.intercept_[0] - b):.0e}")

distances = []
for seed in range(10):
    other = make_plane("separable", 40, random_state=seed)
    fitted = HardMarginSVC(kernel="linear").fit(other.data, other.target)
    distances.append(1 / np.linalg.norm(fitted.coef_))
print("1/‖w‖ over ten draws       ", f"{min(distances):.2f} to {max(distances):.2f}")

# %%
# The picture
# -----------
figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
for label, colour, marker in ((-1, "#E69F00", "s"), (1, "#0072B2", "o")):
    rows = data.data[data.target == label]
    ax.scatter(*rows.T, color=colour, marker=marker, s=34, label=f"class {label:+d}")
ax.scatter(
    *model.support_vectors_.T,
    s=130,
    facecolor="none",
    edgecolor="black",
    label="support vector",
)

along = np.array([-w[1], w[0]]) / length
normal = w / length
across = np.array([-8.0, 8.0])
for level in (-1, 0, 1):
    foot = (level - b) / length * normal
    line = foot + across[:, None] * along
    ax.plot(*line.T, color="black", linestyle="-" if level == 0 else "--", zorder=1)
    place = foot + 3.4 * along
    ax.annotate(
        f"w·x + b = {level:+d}" if level else "w·x + b = 0",
        place,
        rotation=np.degrees(np.arctan2(along[1], along[0])) - 180,
        rotation_mode="anchor",
        transform_rotates_text=True,
        ha="center",
        va="bottom",
        fontsize=9,
    )

# The arrows stand apart from each other, along the boundary.
start = -b / length * normal - 2.0 * along
arrow = {"arrowstyle": "<->", "color": "#D55E00", "linewidth": 1.6}
ax.annotate("", start + normal / length, start, arrowprops=arrow)
ax.annotate(
    "1/‖w‖",
    start + 0.5 * normal / length,
    (8, -8),
    textcoords="offset points",
    color="#D55E00",
)
start = -b / length * normal + 0.6 * along
ax.annotate(
    "",
    start + 1.6 * normal,
    start,
    arrowprops={"arrowstyle": "-|>", "color": "black", "linewidth": 1.6},
)
ax.annotate("w", start + 1.6 * normal, (5, 3), textcoords="offset points", fontsize=12)
ax.scatter(0, 0, marker="+", color="black", s=80)
ax.annotate("origin", (0, 0), (6, -12), textcoords="offset points", fontsize=9)
low, high = data.data.min(axis=0) - 0.6, data.data.max(axis=0) + 0.6
ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x1", ylabel="x2")
ax.set_aspect("equal")
figure.legend(loc="outside lower center", ncols=3, frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
