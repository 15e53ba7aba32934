"""
Table II: seven methods on Pima and Galaxy
==========================================

**The paper** (Li et al., 2018, section V-B) finds IPL best on both tables, 3.4 points
above GBDT on Pima and 3.7 on Galaxy; GB+ below GBDT on Pima; SVM+(rbf) and L2-SVM+
above the SVM; linear SVM+ far below everything.

**Here** five random splits of 80 to 20, as in the paper, and parameters from a thinned
grid by 3-fold cross-validation (5-fold in the paper). X and X* of Pima are as printed.
Galaxy is a stand-in, whose numbers are not to be compared with the printed ones. The
last line repeats IPL with shuffled X*.

**Measured:** linear SVM+ finds its trivial solution, a decision function of zero, on
which rounding decides: its line means nothing and differs from machine to machine. None
of the rest reproduces. IPL is no better than GBDT, nor than itself with shuffled X*.
SVM+(rbf) and L2-SVM+ are about 4 points *below* the SVM on Pima and 2 below on the
stand-in. GB+ is within about a point of GBDT on both. All the others are below their
printed figures on Pima; with the roles of the columns exchanged the baselines fit (see
the errata). The guide on boosting has the whole grid, for both roles.
"""

import matplotlib.pyplot as plt
import numpy as np
from ipl_protocol import METHODS, accuracy_of, draw_table, galaxy, pima, table
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

PRINTED = {
    "Pima": [75.53, 74.94, 67.16, 75.55, 75.86, 74.21, 78.92],
    "Galaxy": [73.68, 73.08, 61.78, 73.28, 73.86, 73.77, 77.42],
}


def five_splits(data, method, shuffle):
    y = data.target
    found = []
    splits = StratifiedShuffleSplit(5, test_size=0.2, random_state=0).split(y, y)
    for run, (train, test) in enumerate(splits):
        inner = StratifiedKFold(3, shuffle=True, random_state=run)
        folds = [(train[a], train[b]) for a, b in inner.split(train, y[train])]
        mixer = np.random.default_rng(run) if shuffle else None
        found.append(accuracy_of(method, data, train, test, folds, shuffled_by=mixer))
    return found


# %%
# Searched by three-fold cross-validation on the training rows.
scores = {}
for name, data in {"Pima": pima(), "Galaxy": galaxy()}.items():
    scores[name] = {
        method: five_splits(data, METHODS[method], False) for method in METHODS
    }
    scores[name]["IPL, shuffled"] = five_splits(data, METHODS["IPL"], True)
print(table(scores).T.to_string())

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, (name, found) in zip(axes, scores.items(), strict=True):
    draw_table(ax, found, dict(zip(METHODS, PRINTED[name], strict=True)))
    ax.set_title(name if name == "Pima" else "Galaxy (stand-in)")
axes[0].legend(frameon=False)
plt.show()
