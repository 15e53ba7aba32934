"""
Figure 5: depth of the trees, and their number
==============================================

**The paper** (Li et al., 2018, section V-F-2) follows the accuracy of IPL up to 500
trees of depth 2, 5 and 10. It finds that accuracy rises with the number of trees, fast
at first and then slowly; that depth 2 is best; and that depth 10 is significantly worse
than both.

**Measured** (up to 200 trees): rising, then flat, yes, with two exceptions: on Pima
depth 2 and 5 are past their best before 100 trees, and depths 5 and 10 on 40 digits
never rise. Depth 2 is best on three of four; on the rendered heads depth 5 is (0.77
against 0.75 after 200 trees), whose classes depend on two angles at once. Depth 10 is
worst on three of four. A deep tree fits its targets at once, so that there is nothing
left to boost: its curves are flat from the first trees on.
"""

import matplotlib.pyplot as plt
import numpy as np
from ipl_protocol import digits, faces, galaxy, pima
from sklearn.model_selection import StratifiedShuffleSplit

from lupi import IPLClassifier

DEPTHS = (2, 5, 10)
N_TREES = 200


def accuracies(data, n_train, depth, runs=4):
    """Test accuracy after each tree, one line per split."""
    X, y, P = data.data, data.target, data.privileged
    lines = []
    splits = StratifiedShuffleSplit(runs, train_size=n_train, random_state=0)
    for train, test in splits.split(X, y):
        model = IPLClassifier(n_estimators=N_TREES, max_depth=depth, random_state=0)
        model.fit(X[train], y[train], privileged=P[train])
        found = [np.mean(labels == y[test]) for labels in model.staged_predict(X[test])]
        lines.append(found + [found[-1]] * (N_TREES - len(found)))
    return np.array(lines)


cases = {
    "(a) Pima": (pima(), 614),
    "(b) Galaxy, stand-in": (galaxy(), 404),
    "(c) MNIST+, stand-in": (digits(), 40),
    "(d) RGB-D Face, stand-in": (faces(), 298),
}
figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained", sharex=True)
styles = {2: ("#0072B2", "-"), 5: ("#D55E00", "--"), 10: ("#009E73", "-.")}
for ax, (name, (data, rows)) in zip(axes.flat, cases.items(), strict=True):
    for depth in DEPTHS:
        mean = accuracies(data, rows, depth).mean(axis=0)
        colour, line = styles[depth]
        ax.plot(
            np.arange(1, N_TREES + 1), mean, line, color=colour, label=f"k = {depth}"
        )
        shown = "  ".join(f"{mean[n - 1]:.3f}" for n in (1, 10, 50, 100, 200))
        print(f"{name:25} k = {depth:2}: {shown}")
    ax.set_title(name, loc="left", fontweight="bold")
    ax.grid(color="#E6E6E6")
    ax.spines[["top", "right"]].set_visible(False)
axes[0, 0].legend(frameon=False)
for ax in axes[1]:
    ax.set_xlabel("number of trees")
for ax in axes[:, 0]:
    ax.set_ylabel("test accuracy (mean of 4 splits)")
plt.show()
