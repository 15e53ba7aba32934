"""
School: predict the exam before the term begins
===============================================

A university wants to predict before the term which of its students will need help with
the final exam. Earlier records are known then (X: earlier grades, the admission test,
the year). Attendance and the grades of homework are recorded during the term (X*); they
are known for past terms, and not at the time of prediction.

Exams are written at the end, so that in the middle of a term most rows have X and X*
and no y yet. `HedgedDistillationRegressor` uses them as well.
"""

# %%
# The table
# ---------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lupi import HedgedDistillationRegressor
from lupi.datasets import load_table

school = load_table("attendance")
X, P, y = school.data, school.privileged, school.target
print("before the term (X): ", ", ".join(X.columns))
print("during the term (X*):", ", ".join(P.columns))

# %%
# How many exams must be known?
# -----------------------------
# There are 400 training students; the exam is known for some of them, and the others
# are used without y. The baseline is ridge regression with a tuned penalty on the known
# exams.
ridge = make_pipeline(StandardScaler(), RidgeCV(10.0 ** np.arange(-3, 5)))
hedged = HedgedDistillationRegressor()
found = []
for seed in range(20):
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:400], order[400:]
    A, B, T = X.iloc[train], X.iloc[test], P.iloc[train]
    for n_known in (20, 40, 80, 160):
        known = y.iloc[train].where(np.arange(400) < n_known)
        labels = known.notna()
        scores = {
            "ridge regression on X": ridge.fit(A[labels], known[labels]),
            "hedged, without X*": hedged.fit(A, known),
        }
        scores = {name: m.score(B, y.iloc[test]) for name, m in scores.items()}
        hedged.fit(A, known, privileged=T)
        scores["hedged, with X*"] = hedged.score(B, y.iloc[test])
        found.append({"known": n_known} | scores)
found = pd.DataFrame(found)
means = found.groupby("known").mean()
print(means.round(3).to_string())

# %%
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
styles = {"#7b8794": "s:", "#0072B2": "o--", "#D55E00": "o-"}
for (name, column), (color, style) in zip(means.items(), styles.items(), strict=True):
    ax.plot(means.index, column, style, color=color, label=name)
ax.set(xscale="log", xlabel="exams that are known", ylabel="R² on other students")
ax.set_xticks(means.index, means.index)
ax.minorticks_off()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# With 20 known exams ridge regression predicts no better than the mean. The dependence
# of the exam on attendance and homework can be learned from few exams, and that of
# attendance and homework on the earlier records from all 400 students. With 160 known
# exams there is no difference.
