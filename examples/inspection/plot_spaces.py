"""
Decision space and privileged space, side by side
=================================================

:class:`~lupi.inspection.SpacesDisplay` draws a fitted machine in both spaces. The left
panel shows the boundary f = 0 and the margins f = ±1, the right panel the function
learned on X*, with its zero line and unit lines. Support vectors have a ring. A row
inside its margin has the same number in both panels; row 1 is the largest violation.
"""

import matplotlib.pyplot as plt
import numpy as np

from lupi import (
    DeviationSVCPlus,
    FairSVCDeltaPlus,
    SVCDeltaPlus,
    SVCPlus,
    UnifiedSVC,
)
from lupi.datasets import (
    load_breast_cancer_privileged,
    make_biased_hiring,
    make_plane,
)
from lupi.inspection import SpacesDisplay

# %%
# SVMΔ+ takes sides in X*
# -----------------------
plane = make_plane("separable-privileged", 60, random_state=3)
rows = (plane.data, plane.target, plane.privileged)
model = SVCDeltaPlus(kernel="linear", privileged_kernel="linear", delta=10.0)
model.fit(plane.data, plane.target, privileged=plane.privileged)
SpacesDisplay.from_estimator(model, *rows)

# %%
# SVM+ measures the slack, whatever the class
# -------------------------------------------
# Its function is negative where the panel is gray, and no row lies there.
model = SVCPlus(kernel="linear", privileged_gamma=0.5, privileged_reg=0.1)
model.fit(plane.data, plane.target, privileged=plane.privileged)
SpacesDisplay.from_estimator(model, *rows)

# %%
# SVMu has two functions on X*
# ----------------------------
# This is the second, which takes sides.
model = UnifiedSVC(
    kernel="linear", similarity_kernel="linear", privileged_reg=0.1, delta=10.0
)
model.fit(plane.data, plane.target, privileged=plane.privileged)
SpacesDisplay.from_estimator(model, *rows, function=1)

# %%
# The fair model
# --------------
# The group is used for training, and not needed to predict.
hiring = make_biased_hiring(120, bias=0.5, random_state=0, as_frame=True)
fair = FairSVCDeltaPlus(
    kernel="linear", privileged_kernel="linear", delta=1.0, covariance_threshold=0.1
)
fair.fit(hiring.data, hiring.target, sensitive_features=hiring.privileged)
SpacesDisplay.from_estimator(fair, hiring.data, hiring.target, hiring.privileged)

# %%
# dSVM+ has a function for each class
# -----------------------------------
# The slack is a function of the deviation 1 − y f*(x*) from an SVM on X*, so over X* it
# is another one for each class. This is that of class 1: the further a row of that
# class is from its side of X*, the larger its slack may be. The same disturbance acts
# on both spaces here.
rng = np.random.default_rng(0)
y = np.repeat([-1, 1], 30)
disturbance = y * rng.normal(size=60)
X = np.column_stack([y + disturbance, rng.normal(size=60)])
star = np.column_stack([2 * y + disturbance, rng.normal(size=60)])
model = DeviationSVCPlus(
    kernel="linear", privileged_kernel="linear", deviation_kernel="linear"
)
model.fit(X, y, privileged=star)
SpacesDisplay.from_estimator(model, X, y, star, function=1)

# %%
# More columns than two
# ---------------------
# Ten cell averages as X, twenty careful measurements as X*. ``"pca"`` projects the rows
# on their first two principal components. The lines are those of the functions in the
# plane through the mean; rows lie off that plane, so a point may seem to be on the
# wrong side. The title, the axes and the note of each panel say so.
cancer = load_breast_cancer_privileged()
X, star = (
    (table[:120] - table[:120].mean(axis=0)) / table[:120].std(axis=0)
    for table in (cancer.data, cancer.privileged)
)
y = cancer.target[:120]
model = SVCDeltaPlus(C=0.1, kernel="linear", privileged_kernel="linear", delta=100.0)
model.fit(X, y, privileged=star)
display = SpacesDisplay.from_estimator(
    model, X, y, star, features="pca", privileged_features="pca", max_numbers=8
)
f = model.decision_function(X)
drawn = display.decision
on_plane = np.array(
    [
        drawn.values[abs(drawn.y - point[1]).argmin(), abs(drawn.x - point[0]).argmin()]
        for point in drawn.points
    ]
)
moved = np.mean(np.sign(on_plane) != np.sign(f))
print(f"rows drawn on another side of the boundary than they are: {moved:.0%}")
plt.show()
