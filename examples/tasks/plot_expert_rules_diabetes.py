"""
Expert rules for diabetes
=========================

Experts know rules before the first patient is recorded: obese with high blood glucose
is at risk, normal weight with low blood glucose is not. Such rules are privileged
information about regions instead of rows. :class:`~lupi.advice.KnowledgeBasedSVC` uses
rules and rows.
"""

# %%
# The rules, as they are written
# ------------------------------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lupi.advice import KnowledgeBasedSVC, Rule
from lupi.datasets import load_pima

pima = load_pima(as_frame=True)
X = pd.concat([pima.data, pima.privileged], axis=1)
y = pima.target.to_numpy()
rules = [
    "bmi >= 30 and glucose >= 126 => 1",
    "bmi <= 25 and glucose <= 100 => 0",
]
for text in rules:
    rule = Rule.parse(text)
    inside = rule.contains(X)
    right = np.mean(y[inside] == rule.label)
    print(f"{text}: {inside.sum()} women, right for {right:.0%}")

# %%
# Rules beside few patients
# -------------------------
# Test error on 20 random choices of the training patients. Columns and rules are
# standardized by the means and deviations of the whole table, because those of five
# patients are too inaccurate.
usual = (X.mean(), X.std(ddof=0))
sizes = [5, 10, 20, 40, 80, 200]
errors = {"no rules": [], "two rules": []}
for n_rows in sizes:
    wrong = []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[:n_rows], order[200:]
        models = (
            KnowledgeBasedSVC(C=0.1, advice=advice, standardize=usual, classes=[0, 1])
            for advice in ((), rules)
        )
        wrong.append(
            [
                1 - model.fit(X.iloc[train], y[train]).score(X.iloc[test], y[test])
                for model in models
            ]
        )
    for values, mean in zip(errors.values(), np.mean(wrong, axis=0), strict=True):
        values.append(mean)
print(pd.DataFrame(errors, index=sizes).T.round(3).to_string())

# %%
# Ten patients with the two rules are as good as twenty or thirty patients without
# (0.293 against 0.300 at twenty); with 200 patients the rules add nothing. The first
# rule is right for only 70 % of its region, so that its weight must not be too large:
# search ``advice_weight``, with 0 among the values.
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(sizes, errors["no rules"], "s--", color="#7A7A7A", label="patients alone")
ax.plot(sizes, errors["two rules"], "o-", color="#0072B2", label="patients and rules")
ax.set(xscale="log", xlabel="training patients", ylabel="test error")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# What the model made of the rules
# --------------------------------
model = KnowledgeBasedSVC(C=0.1, advice=rules, standardize=usual).fit(X[:20], y[:20])
print("a whole region has its label:", model.advice_satisfied_)
print("weights:", dict(zip(X.columns, model.coef_[0].round(3).tolist(), strict=True)))
