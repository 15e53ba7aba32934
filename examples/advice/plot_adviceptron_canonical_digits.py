"""
Digit Recognition: canonical digits as advice
=============================================

An expert who draws a digit the way it ought to look gives advice about all digits of
that kind.

**The source** (Kunapuli et al., slide "Digit Recognition") asks ten experts for a
canonical digit each, looks at the drawings along the first four principal components
of the data, and makes the ranges that it finds there into a rule: who lies within them
is a 3.

**Here** the ten images closest to the mean of their digit stand in for the drawings,
which were not published. A rule is a box in four components: eight linear forms of all
64 pixels.

**Measured:** the boxes are small and right. In one split they hold 1 to 7 % of the test
images, all of the right kind. Advice on a region is still advice on the side of a
hyperplane, so the little that they hold is enough to tell most digits apart; the pages
on 3 or 5, 3 or 8, and 5 or 8 say how well.
"""

import matplotlib.pyplot as plt
import numpy as np
from adviceptron_protocol import box_rule, canonical, digits, images, split
from sklearn.decomposition import PCA

# %%
# The ten images that stand in for drawings, of each kind.
figure, panels = plt.subplots(3, 10, figsize=(10, 3.2), layout="constrained")
for line, digit in zip(panels, (3, 5, 8), strict=True):
    for ax, row in zip(line, canonical(digit), strict=True):
        ax.imshow(images[row].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(digit, rotation=0, labelpad=12, va="center")
plt.show()

# %%
# Their boxes along the first components, among the training images of one run.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
colours = {3: "#0072B2", 5: "#D55E00", 8: "#009E73"}
for ax, pair in zip(axes, [(3, 5), (3, 8), (5, 8)], strict=True):
    train, test = split(pair, seed=0)
    components = PCA(4).fit(images[train]).components_
    for digit, marker in zip(pair, "ox", strict=True):
        plane = images[train][digits[train] == digit] @ components[:2].T
        ax.scatter(*plane.T, s=14, c=colours[digit], marker=marker, alpha=0.6)
        box = images[canonical(digit)] @ components[:2].T
        low, high = box.min(axis=0), box.max(axis=0)
        edge = {"fill": False, "edgecolor": colours[digit], "lw": 2}
        ax.add_patch(plt.Rectangle(low, *(high - low), label=digit, **edge))
        rule = box_rule(digit, components)
        inside = rule.contains(images[test])
        right = np.mean(digits[test][inside] == digit)
        print(
            f"{pair[0]} or {pair[1]}, rule for {digit}: the box holds "
            f"{inside.mean():.0%} of the test images, {right:.0%} of them a {digit}"
        )
    ax.set(xlabel="first component", ylabel="second component")
    ax.set_title(f"{pair[0]} or {pair[1]}", loc="left", fontweight="bold")
    ax.legend(title="box of", frameon=False)
plt.show()
