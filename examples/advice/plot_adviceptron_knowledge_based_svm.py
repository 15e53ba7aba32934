"""
Knowledge-Based SVMs: the sketches
==================================

**The source** (Kunapuli et al., slides "Knowledge-Based SVMs", after Fung, Mangasarian
and Shavlik, 2003) draws a plane with rows of two classes, a boundary with its margins,
and then one region, or several, that an expert has labelled. Its data are not given;
the picture here is drawn from 30 random rows.

**It says:** each region becomes linear constraints on w and b, through multipliers u ≥
0; advice of either class has the same form; slacks soften the advice, so that it may be
imperfect.

**Measured:** all three. Where the rows leave the direction open, one rule is enough to
turn the boundary (second panel), and a rule of the other class moves it on (third), at
the price of a few rows. With a wrong rule among them and a weight of 1 nothing is taken
literally any more (fourth): the boundary is a compromise that violates every rule
somewhere and gets more rows right than the obedient ones.
"""

import matplotlib.pyplot as plt
import numpy as np

from lupi.advice import KnowledgeBasedSVC, Rule

rng = np.random.default_rng(3)
y = np.repeat([1, -1], 15)
X = rng.normal(scale=0.8, size=(30, 2)) + 1.1 * y[:, None] * [1, 0.3]
above = Rule.parse("x0 >= -2.2 and x0 <= -0.6 and x1 >= 1.8 and x1 <= 3 => 1")
below = Rule.parse("x0 >= 1.2 and x0 <= 2.8 and x1 >= -3 and x1 <= -1.6 => -1")
wrong = Rule.parse("x0 >= 1 and x0 <= 2.2 and x1 >= 0.6 and x1 <= 1.6 => -1")
cases = {
    "rows alone": ([], 1.0),
    "one rule": ([above], 10.0),
    "a rule of each class": ([above, below], 10.0),
    "softened, with a wrong rule": ([above, below, wrong], 1.0),
}
figure, axes = plt.subplots(
    1, 4, figsize=(13, 3.9), layout="constrained", sharex=True, sharey=True
)
colours = {1: "#0072B2", -1: "#D55E00"}
for ax, (name, (rules, weight)) in zip(axes, cases.items(), strict=True):
    model = KnowledgeBasedSVC(C=1.0, advice=rules, advice_weight=weight).fit(X, y)
    for label, marker in ((1, "s"), (-1, "o")):
        ax.scatter(*X[y == label].T, c=colours[label], marker=marker, s=22)
    for rule in rules:
        # Boxes: -x0 <= -low, x0 <= high and so on, in the order they were written.
        left, right, bottom, top = np.array([-1, 1, -1, 1]) * rule.d
        ax.add_patch(
            plt.Rectangle(
                (left, bottom),
                right - left,
                top - bottom,
                color=colours[int(rule.label)],
                alpha=0.3,
            )
        )
    x0, x1 = np.meshgrid(np.linspace(-4, 4, 100), np.linspace(-4, 4, 100))
    values = model.decision_function(np.column_stack([x0.ravel(), x1.ravel()]))
    ax.contour(
        x0,
        x1,
        values.reshape(x0.shape),
        levels=[-1, 0, 1],
        colors="0.2",
        linestyles=["--", "-", "--"],
    )
    ax.set(aspect="equal", xlim=(-4, 4), ylim=(-4, 4))
    ax.set_title(name, loc="left", fontweight="bold")
    told = ", ".join("yes" if held else "no" for held in model.advice_satisfied_)
    print(
        f"{name:31}: w = ({model.coef_[0, 0]:5.2f}, {model.coef_[0, 1]:5.2f}), "
        f"{np.mean(model.predict(X) == y):4.0%} of the rows right; "
        f"rules satisfied: {told or 'none given'}"
    )
plt.show()
