"""
Figure 1: how good is X*, by canonical correlation
==================================================

**The paper** (Li et al., 2018, section V-B-3) maps X and X* to the space of their
canonical variates and boosts there: trained on X (GB_EF), on X* (GB_PF), or on both as
twice as many rows (GB_CCA), tested on X each time. It finds GB_PF and GB+ obviously
worse than GB_EF on Pima, with GB_CCA about equal; on Galaxy GB_PF slightly lower and
GB_CCA and GB+ slightly better. IPL is best in both.

**Measured:** on Pima the order of the first three is the paper's, but over five splits
the differences (0.705, 0.681, 0.684) are within one standard deviation or so. GB+
(0.700) is not behind, and IPL (0.687) is not ahead. On the stand-in for Galaxy, where
the largest correlation is 0.91, all five lie between 0.77 and 0.79, less than their
scatter: the tables tell of the same thing, and nothing is gained or lost by exchanging
them.
"""

import matplotlib.pyplot as plt
from ipl_protocol import draw_quality, galaxy, pima

from lupi.boosting import GBPlusClassifier, IPLClassifier
from lupi.evaluation import cca_quality

trees = {"max_depth": 2, "random_state": 0}
figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
for ax, (name, data) in zip(
    axes, {"Pima": pima(), "Galaxy (stand-in)": galaxy()}.items(), strict=True
):
    quality = cca_quality(
        data.data,
        data.target,
        data.privileged,
        estimator=IPLClassifier(**trees),
        also={"GB+": GBPlusClassifier(**trees), "IPL": IPLClassifier(**trees)},
        random_state=0,
    )
    draw_quality(ax, quality)
    ax.set_title(name, loc="left", fontweight="bold")
    largest = ", ".join(
        f"{value:.2f}" for value in quality.correlations.mean(axis=0)[:4]
    )
    print(f"{name}: largest canonical correlations {largest}")
    print(quality.summary().round(3).to_string(), "\n")
plt.show()
