"""
Thesis, figure 4.1: SVM+ in both spaces, as γ moves
===================================================

O. Thomas, *Learning Using Privileged Information: A Unified Approach* (University of
Sussex, 2017), section 4.1.1 and figure 4.1. The data of the source are not published;
these are clouds of the same shape, and every statement is measured on ten draws.

**Statements of the source, and measurements.**

- Statement: A smaller γ makes the unit length in X* smaller, so that points count as
  further away from the line of f*. Measured: holds with a Gaussian kernel on X*: as γ
  goes from 10 to 0.01 the range of f* over the rows grows from 0.09 to 1.88. With a
  linear kernel it does not hold: f is constant and f* = 1 everywhere, at every γ and in
  all ten draws, because no line through X* follows the violations. This is the trivial
  solution, of which the library warns; the warning is silenced here.
- Statement: All points lie on one side of f* = 0, usually. Measured: holds, and always:
  it is a constraint of the model. The smallest f* is 0 up to rounding.
- Statement: The boundary in X is far off where the unit length in X* is small.
  Measured: the reverse: it is far off where that length is large. At γ = 10 f* is
  between 0.94 and 1.03 on all rows, ‖w‖ falls to 0.04, and all 60 rows lie between the
  margins of X.
- Statement: Rows that are no support vectors are ignored in X*. Measured: does not
  hold: they carry more than half of the cost C Σ f*(x*), a sum over all rows.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from lupi import SVCPlus
from lupi.datasets import make_plane
from lupi.inspection import SpacesDisplay

warnings.filterwarnings("ignore", message=".*trivial solution.*")

# %%
# Measured on ten draws
# ---------------------
# C = 1 throughout, as in the source.
for kernel in ("rbf", "linear"):
    print(f"\n{kernel} kernel on X*")
    for reg in (10.0, 1.0, 0.1, 0.01):
        lines = []
        for seed in range(10):
            data = make_plane("overlapping", 60, random_state=seed)
            model = SVCPlus(
                kernel="linear", privileged_kernel=kernel, privileged_reg=reg
            ).fit(data.data, data.target, privileged=data.privileged)
            f_star = model.correction(data.privileged)
            others = np.setdiff1d(np.arange(60), model.support_)
            lines.append(
                {
                    "range of f*": np.ptp(f_star),
                    "smallest f*": f_star.min(),
                    "largest f*": f_star.max(),
                    "‖w‖": np.linalg.norm(model.coef_),
                    "rows inside": (abs(model.decision_function(data.data)) < 1).sum(),
                    "cost of other rows": f_star[others].sum() / f_star.sum(),
                }
            )
        means = {key: np.mean([line[key] for line in lines]) for key in lines[0]}
        print(f"  γ = {reg:<5g}", *(f"{key} {m:.3g};" for key, m in means.items()))

# %%
# One draw
# --------
# On the left the margins widen as γ grows and X* has less to say. On the right f* is
# the size of the slack, whatever the class; it is negative where the panel is gray.
data = make_plane("overlapping", 60, random_state=1)
figure, grid = plt.subplots(3, 2, figsize=(10, 11), layout="constrained")
for axes, reg in zip(grid, (1.0, 0.1, 0.01), strict=True):
    model = SVCPlus(kernel="linear", privileged_reg=reg)
    model.fit(data.data, data.target, privileged=data.privileged)
    SpacesDisplay.from_estimator(
        model, data.data, data.target, data.privileged, max_numbers=10, ax=axes
    )
    axes[0].set_title(f"γ = {reg:g}: X", loc="left", fontweight="bold")
    axes[1].set_title("X*", loc="left", fontweight="bold")
    legend = axes[1].get_legend()
    legend.remove()
figure.legend(
    legend.legend_handles,
    [text.get_text() for text in legend.get_texts()],
    loc="outside lower center",
    ncols=3,
    frameon=False,
)
plt.show()
