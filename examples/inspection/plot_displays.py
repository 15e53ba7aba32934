"""
Every display at a glance
=========================

What `lupi.inspection` draws, on small generated data. Give a folder on the command line
to have the figures written there; the guide page on inspection shows them.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from lupi import (
    Adviceptron,
    FairSVCDeltaPlus,
    GeneralizedDistillationClassifier,
    IPLRegressor,
    SVCDeltaPlus,
    SVCPlus,
    UnifiedSVC,
)
from lupi.datasets import make_biased_hiring, make_mediator, make_plane
from lupi.evaluation import cca_quality, compare
from lupi.inspection import (
    BoostingTraceDisplay,
    CCAQualityDisplay,
    FairnessFrontierDisplay,
    OnlineErrorDisplay,
    PrivilegedLearningCurveDisplay,
    SpacesDisplay,
)

figures = {}

# %%
# Two spaces, side by side. Row 1 violates its margin most, in both panels.
plane = make_plane("separable-privileged", 60, random_state=3)
rows = (plane.data, plane.target, plane.privileged)
model = SVCDeltaPlus(kernel="linear", privileged_kernel="linear")
model.fit(plane.data, plane.target, privileged=plane.privileged)
figures["spaces-delta-plus"] = SpacesDisplay.from_estimator(model, *rows).figure_

# %%
# SVM+ takes no heed of the class in X*: its function is the size of the slack.
model = SVCPlus(kernel="linear", privileged_gamma=0.5, privileged_reg=0.1)
model.fit(plane.data, plane.target, privileged=plane.privileged)
figures["spaces-svm-plus"] = SpacesDisplay.from_estimator(model, *rows).figure_

# %%
# SVMu has two functions on X*; this is the second.
model = UnifiedSVC(kernel="linear", similarity_kernel="linear", privileged_reg=0.1)
model.fit(plane.data, plane.target, privileged=plane.privileged)
display = SpacesDisplay.from_estimator(model, *rows, function=1)
figures["spaces-unified"] = display.figure_

# %%
# The fair model sees the group while it is trained, and never when it predicts.
hiring = make_biased_hiring(120, bias=0.5, random_state=0, as_frame=True)
fair = FairSVCDeltaPlus(
    kernel="linear", privileged_kernel="linear", delta=1.0, covariance_threshold=0.1
)
fair.fit(hiring.data, hiring.target, sensitive_features=hiring.privileged)
figures["spaces-fair"] = SpacesDisplay.from_estimator(
    fair, hiring.data, hiring.target, hiring.privileged
).figure_

# %%
# Accuracy paid for equal treatment, as the threshold moves.
figures["fairness-frontier"] = FairnessFrontierDisplay.from_estimator(
    fair, hiring.data, hiring.target, hiring.privileged
).figure_

# %%
# A comparison: scores, and the paired differences, whose intervals are narrower.
mediator = make_mediator(300, random_state=0)
comparison = compare(
    mediator.data,
    mediator.target,
    mediator.privileged,
    methods=[GeneralizedDistillationClassifier(), SVCPlus()],
    cv=5,
    search=4,
    random_state=0,
)
figures["gain"] = comparison.plot().figure_
figures["gain-difference"] = comparison.plot(kind="difference").figure_

# %%
# The gain melts as rows are added.
curve = PrivilegedLearningCurveDisplay.from_estimator(
    GeneralizedDistillationClassifier(),
    mediator.data,
    mediator.target,
    mediator.privileged,
    train_sizes=[20, 40, 80, 160],
    cv=StratifiedShuffleSplit(12, test_size=0.4, random_state=0),
    scoring="roc_auc",
    random_state=0,
)
figures["learning-curve"] = curve.figure_
figures["learning-curve-difference"] = curve.plot(kind="difference").figure_

# %%
# Do X and X* tell of the same thing? Training in the space that they share.
figures["cca-quality"] = CCAQualityDisplay.from_results(
    cca_quality(mediator.data, mediator.target, mediator.privileged, random_state=0)
).figure_

# %%
# Boosted trees whose X* is a disturbance of y: objective, passes, score.
rng = np.random.default_rng(0)
X = rng.uniform(size=(300, 5))
disturbance = rng.normal(size=(300, 3))
y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.5 * disturbance.sum(axis=1)
train, test = slice(0, 150), slice(150, 300)
truth = np.sin(6 * X[:, 0]) + X[:, 1]
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
figures["boosting-trace"] = BoostingTraceDisplay.from_estimator(
    models, X[test], truth[test]
).figure_
figures["boosting-surface"] = BoostingTraceDisplay.surface(
    IPLRegressor(n_estimators=30, random_state=0),
    X[train],
    y[train],
    disturbance[train],
    cv=3,
    scoring="r2",
).figure_

# %%
# Rules before the first row: the Adviceptron and the perceptron on the same streams.
stream = rng.normal(size=(400, 8))
label = (stream[:, 0] + 0.6 * stream[:, 1] > 0).astype(int)
rules = ["x0 >= 1 => 1", "x0 <= -1 => 0"]
figures["online-error"] = OnlineErrorDisplay.from_estimator(
    {
        "Adviceptron, two rules": Adviceptron(advice=rules, advice_weight=0.01),
        "perceptron": Adviceptron(),
    },
    stream[:100],
    label[:100],
    stream[100:],
    label[100:],
    every=2,
    random_state=0,
).figure_

if len(sys.argv) > 1:
    for name, figure in figures.items():
        figure.savefig(Path(sys.argv[1]) / f"inspection-{name}.png", dpi=90)
plt.show()
