"""
Analyzing the Adviceptron Analytically: the mistake bound
=========================================================

**The source** (Kunapuli et al., slides "Analyzing the Adviceptron Analytically")
states, for rows with ‖x‖ ≤ X, any w° of margin γ and ‖w° - r‖ ≤ R, at most

.. math:: M \\le \\frac{X^2 R^2}{\\gamma^2} \\, (1 + (1 - \\nu) M_a)

mistakes, where M_a is the number of mistakes of the advice r in one place and the
number of advice updates in another.

**Measured:** it does not hold, with either meaning. A bound that does is (1) of the
errata, proved there; `Adviceptron.mistake_bound` computes both. Streams that break the
printed bound are rare: none of the 200 random ones below, 58 of 10 000 in the errata.
Bound (1) is safe rather than sharp.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lupi.advice import Adviceptron

# %%
# A stream that breaks it: two rules, then rows that pull the other weight to and fro.
rules = ["x1 >= 1 => 1", "x1 <= -1 => 0"]
model = Adviceptron(
    advice=rules, advice_weight=0.5, learning_rate=10.0, fit_intercept=False
)
n_rows = 200
turned = np.array([[1.0, 0.0]] + [[(-1.0) ** t, 0.2] for t in range(1, n_rows)])
y = np.arange(n_rows) % 2
X = turned * np.where(y == 1, 1, -1)[:, None]
lengths = [10, 20, 50, 100, 200]
bounds = [model.mistake_bound(X[:n], y[:n], separator=[0.1, 1.0]) for n in lengths]
table = pd.DataFrame(
    {
        "mistakes": [found.mistakes for found in bounds],
        "printed bound": [found.printed_bound for found in bounds],
        "bound (1)": [found.bound for found in bounds],
        "mistakes of the advice": [found.advice_mistakes for found in bounds],
    },
    index=pd.Index(lengths, name="rows"),
)
print(table.round(1).to_string())
figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
ax.plot(lengths, table["mistakes"], "o-", color="#D55E00", label="mistakes")
ax.plot(lengths, table["printed bound"], "s--", color="0.5", label="bound as printed")
ax.plot(lengths, table["bound (1)"], "^-.", color="#0072B2", label="bound (1)")
ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="mistakes")
ax.set_xticks(lengths, labels=lengths)
ax.minorticks_off()
ax.grid(color="#E6E6E6")
ax.spines[["top", "right"]].set_visible(False)
ax.set_title("Every row is a mistake", loc="left", fontweight="bold")
ax.legend(frameon=False)
plt.show()

# %%
# Random streams that a plane separates, with rules that are right or nearly so, λ and μ
# from 0.0001 to 10. Both bounds hold on these.
rng = np.random.default_rng(0)
broken = {"printed": 0, "bound (1)": 0}
n_streams = 200
for _ in range(n_streams):
    X = rng.normal(size=(60, 3))
    plane = rng.normal(size=3)
    y = (X @ plane > 0).astype(int)
    weight, rate = 10.0 ** rng.uniform(-4, 1, size=2)
    model = Adviceptron(
        advice=["x0 >= 1 => 1", "x0 <= -1 => 0"],
        advice_weight=weight,
        learning_rate=rate,
        fit_intercept=False,
    )
    found = model.mistake_bound(X, y)
    broken["printed"] += found.mistakes > found.printed_bound
    broken["bound (1)"] += found.mistakes > found.bound
print({name: f"broken in {count} of {n_streams}" for name, count in broken.items()})
