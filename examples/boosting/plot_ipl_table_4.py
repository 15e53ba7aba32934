"""
Table IV: poses of the head, depth as privileged information
============================================================

**The paper** (Li et al., 2018, section V-E) tells three groups of face poses apart,
with the depth image as privileged information. SVM+(rbf) and L2-SVM+ are above the SVM
in 3 cases of 3, IPL above GBDT in 3, sparse IPL above IPL in 3, GB+ below GBDT in 3,
linear SVM+ worst. (The caption speaks of AP, the text of accuracies; these are
accuracies.)

**Here** rendered heads stand in (see figure 3), 16 principal components of each image;
40 % of the rows train, 30 % choose parameters, 30 % test, five times.

**Measured:** L2-SVM+ is above the SVM in 3 cases of 3 and SVM+(rbf) in 2, by up to 1.7
points, less than the scatter. IPL is within half a point of GBDT, and better with
shuffled X* in all three. Sparse IPL is within a point of IPL. GB+ is below GBDT in 3 of
3, and linear SVM+ is worst, as in the paper. The latter is often the trivial solution,
on which rounding decides: its figures differ from machine to machine.
"""

import matplotlib.pyplot as plt
import numpy as np
from ipl_protocol import (
    METHODS,
    SPARSE,
    accuracy_of,
    draw_table,
    faces,
    table,
    three_parts,
)

PRINTED = {
    (1, 2): [93.52, 94.53, 93.86, 95.76, 95.87, 90.71, 95.42, 95.76],
    (2, 3): [76.87, 78.50, 69.91, 78.66, 79.28, 74.12, 79.30, 80.89],
    (1, 3): [88.03, 88.52, 82.41, 88.66, 89.01, 82.43, 90.00, 90.63],
}
methods = METHODS | {"sparse IPL": SPARSE}

scores = {}
for pair in PRINTED:
    data = faces(pair)
    found = {name: [] for name in [*methods, "IPL, shuffled"]}
    for run in range(5):
        rows = np.arange(len(data.target))
        train, valid, test = three_parts(rows, data.target, run)
        for name in found:
            mixer = np.random.default_rng(run) if "shuffled" in name else None
            method = methods.get(name, METHODS["IPL"])
            found[name].append(
                accuracy_of(method, data, train, test, [(train, valid)], mixer)
            )
    scores[f"class {pair[0]} or {pair[1]}"] = found
print(table(scores).T.to_string())

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
for ax, (name, found), printed in zip(
    axes, scores.items(), PRINTED.values(), strict=True
):
    draw_table(ax, found, dict(zip(methods, printed, strict=True)))
    ax.set_title(name)
axes[0].legend(frameon=False)
plt.show()
