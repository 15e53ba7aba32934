"""
The gain melts as rows are added
================================

:class:`~lupi.inspection.PrivilegedLearningCurveDisplay` fits one estimator on training
sets of several sizes: without X*, with X*, and with shuffled X*. All three have the
same rows.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import StratifiedShuffleSplit

from lupi import GeneralizedDistillationClassifier
from lupi.datasets import make_mediator
from lupi.inspection import PrivilegedLearningCurveDisplay

mediator = make_mediator(300, random_state=0)
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

# %%
# The same as differences to “without X*”
# ---------------------------------------
curve.plot(kind="difference")
plt.show()
