"""
SVMu: two functions on X* at once
=================================

O. Thomas, *Learning Using Privileged Information: A Unified Approach* (University of
Sussex, 2017), chapter 5, introduces SVMu, which is SVM+ and SVMΔ+ at once on two copies
of X*. The source has no picture of it; this is one.

**Statement of the source.** The first function measures the slack as in SVM+, the
second classifies X* as in SVMΔ+; each has its own weight, γ and Γ.

**Result.** They move as those of the parents do. The range of f* is 1.14, 1.67
and 1.68 at γ = 1, 0.1 and 0.01, and f* is never negative. f** keeps the classes apart
(0.1 to 0.5 rows of 60 are on the wrong side), and Γ = 100 instead of 1 lowers its range
from 3.6 to 3.4. The source also expects SVMu to do at least as well as one of its
parents (section 7.4); that cannot be promised, see the errata.
"""

import matplotlib.pyplot as plt
import numpy as np

from lupi import UnifiedSVC
from lupi.datasets import make_plane
from lupi.inspection import SpacesDisplay


def fitted(data, reg, similarity_reg):
    model = UnifiedSVC(
        C=1.0,
        kernel="linear",
        similarity_kernel="linear",
        privileged_reg=reg,
        delta=10.0,
        similarity_reg=similarity_reg,
    )
    return model.fit(data.data, data.target, privileged=data.privileged)


# %%
# Measured on ten draws
# ---------------------
# C = 1 and Δ = 10; a Gaussian kernel for f*, a linear one for f**.
for reg, similarity_reg in ((1.0, 1.0), (0.1, 1.0), (0.01, 1.0), (0.1, 100.0)):
    lines = []
    for seed in range(10):
        data = make_plane("separable-privileged", 60, random_state=seed)
        model = fitted(data, reg, similarity_reg)
        slack, similar = model.correction(data.privileged).T
        lines.append(
            {
                "‖w‖": np.linalg.norm(model.coef_),
                "smallest f*": slack.min(),
                "range of f*": np.ptp(slack),
                "range of f**": np.ptp(similar),
                "wrong side of f**": np.sum(data.target * similar < -1e-6),
            }
        )
    means = {key: np.mean([line[key] for line in lines]) for key in lines[0]}
    print(
        f"γ = {reg:g}, Γ = {similarity_reg:g}:",
        *(f"{key} {mean:.3g};" for key, mean in means.items()),
    )

# %%
# The first function: a slack, whatever the class
# -----------------------------------------------
data = make_plane("separable-privileged", 60, random_state=3)
model = fitted(data, 0.1, 1.0)
rows = (data.data, data.target, data.privileged)
SpacesDisplay.from_estimator(model, *rows, max_numbers=10)

# %%
# The second: a classifier of X*
# ------------------------------
SpacesDisplay.from_estimator(model, *rows, function=1, max_numbers=10)
plt.show()
